// SPDX-License-Identifier: Apache-2.0
// CodeRecorder: keeps StressState::code: which generated code lies where, for whoever has to name
// an address after the JVM has died. Thread-safe. Signal-safe: no.
#ifndef WALKHAMMER_STRESS_CODE_RECORDER_H_
#define WALKHAMMER_STRESS_CODE_RECORDER_H_

#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "harness/jvm/live/methods.h"
#include "harness/shared/stress_state.h"

namespace walkhammer::stress {

class CodeRecorder {
 public:
  CodeRecorder(StressState& state, MethodRegistry& names) : state_(state), names_(names) {}

  // `level`: compile level of an nmethod, else -1. `frame_complete`: see CodeEntry. What stood at
  // `begin` before is replaced.
  void Add(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end, int level,
           int frame_complete = 0);
  // The code at `begin` is gone; its entry stays until its place is needed.
  void Remove(uint64_t begin);
  uint64_t HeapBytes() const { return places_.size() * 40; }  // about

 private:
  StressState& state_;
  MethodRegistry& names_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, uint32_t> places_;  // by begin
  uint32_t next_reused_ = 0;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_CODE_RECORDER_H_
