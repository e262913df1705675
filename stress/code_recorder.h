// SPDX-License-Identifier: Apache-2.0
// What the agent records so that addresses can be named after the JVM has died. CodeRecorder keeps
// StressState::code, which says where generated code is. PlaceRecorder keeps StressState::methods
// and areas, for the words of a sample. Thread-safe. Signal-safe: no.
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

class CodeRecorder {
 public:
  CodeRecorder(StressState& state, MethodRegistry& names) : state_(state), names_(names) {}

  // Records the code in [begin, end), in place of any earlier entry for `begin`. `level`: compile
  // level of an nmethod, else -1. `frame_complete`: see CodeEntry.
  void Add(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end, int level,
           int frame_complete = 0);
  // Marks the code at `begin` as gone; the entry stays until its place is needed.
  void Remove(uint64_t begin);
  uint64_t HeapBytes() const { return places_.size() * 40; }  // about

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

  // Records a method: those known already and, as MethodRegistry::on_add, those that come later.
  void AddMethod(const MethodEntry& entry);
  // Records what memory is mapped now.
  void RecordAreas();

 private:
  StressState& state_;
  Jvm& jvm_;
  uint64_t const_method_bytes_ = 0;  // 0: not known, so byte codes cannot be found
  std::mutex mutex_;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_CODE_RECORDER_H_
