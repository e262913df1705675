// SPDX-License-Identifier: Apache-2.0
// PlaceRecorder: keeps StressState::methods and areas, so that the words of a sample can be named
// after the JVM has died. Thread-safe. Signal-safe: no.
#ifndef WALKHAMMER_STRESS_PLACE_RECORDER_H_
#define WALKHAMMER_STRESS_PLACE_RECORDER_H_

#include <mutex>

#include "harness/jvm/live/boot.h"
#include "harness/shared/stress_state.h"

namespace walkhammer::stress {

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

#endif  // WALKHAMMER_STRESS_PLACE_RECORDER_H_
