// SPDX-License-Identifier: Apache-2.0
// CodeRecorder and PlaceRecorder: record in shared memory what names the addresses of a sample,
// even after the JVM has died. CodeRecorder records generated code in StressState::code.
// PlaceRecorder records methods and mapped memory in StressState::methods and StressState::areas.
// Thread-safe, except HeapBytes() and RecordAreas(). Signal-safe: no.
#ifndef WALKHAMMER_STRESS_CODE_RECORDER_H_
#define WALKHAMMER_STRESS_CODE_RECORDER_H_

#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "harness/ipc/stress_state.h"
#include "harness/jvm/live/boot.h"
#include "harness/jvm/live/methods.h"

namespace walkhammer::stress {

// What is known of a piece of code beside its name; see CodeEntry.
struct CodeFacts {
  int frame_complete = 0, frame_words = 0, entry = 0;
  uint64_t id_at = 0;
};

class CodeRecorder {
 public:
  CodeRecorder(StressState& state, MethodRegistry& names) : state_(state), names_(names) {}

  // Records the code in [begin, end), and replaces an earlier entry for `begin`. If the table is
  // full, replaces an entry whose code is gone; without such an entry, records nothing. `level`:
  // compile level of an nmethod, else -1. Add() reads the id at `facts.id_at`.
  void Add(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end, int level,
           const CodeFacts& facts = {});
  // Marks the code at `begin` as gone; the entry stays until Add() replaces it.
  void Remove(uint64_t begin);
  uint64_t HeapBytes() const { return places_.size() * 40; }  // about 40 bytes a node

 private:
  StressState& state_;
  MethodRegistry& names_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, uint32_t> places_;  // index into StressState::code, by begin
  uint32_t next_reused_ = 0;
};

class PlaceRecorder {
 public:
  PlaceRecorder(StressState& state, Jvm& jvm);

  // Records a method. If the table is full, replaces the oldest. The caller records the methods
  // that are known already, and lets MethodRegistry::on_add record later ones.
  void AddMethod(const MethodEntry& entry);
  // Records which memory is mapped now, and whether it is readable, in place of the last record.
  void RecordAreas();

 private:
  StressState& state_;
  Jvm& jvm_;
  uint64_t const_method_bytes_ = 0;  // sizeof(ConstMethod); 0: unknown, no bytecodes are recorded
  std::mutex mutex_;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_CODE_RECORDER_H_
