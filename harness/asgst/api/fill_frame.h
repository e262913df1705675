// SPDX-License-Identifier: Apache-2.0
// Turns a walk's frames into those of asgst.h. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_API_FILL_FRAME_H_
#define WALKHAMMER_HARNESS_ASGST_API_FILL_FRAME_H_

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/unwind/unwind_service.h"

namespace walkhammer::asgst {

inline void Fill(const JavaFrame& from, ASGST_CallFrame& to) {
  constexpr uint16_t kNoBci = 65535;
  if (from.type == FrameType::kStub || from.type == FrameType::kCpp) {
    to.non_java_frame.type = static_cast<uint8_t>(from.type);
    to.non_java_frame.pc = reinterpret_cast<void*>(from.pc);
    return;
  }
  to.java_frame.type = static_cast<uint8_t>(from.type);
  to.java_frame.comp_level = static_cast<uint8_t>(from.level);
  to.java_frame.bci = from.bci < 0 ? kNoBci : static_cast<uint16_t>(from.bci);
  to.java_frame.method_id = reinterpret_cast<jmethodID>(from.facts.id);
}

// Walks from `start` and fills in trace.frames, at most `depth` of them. Returns how many, or a
// code of asgst.h.
inline jint WalkInto(ASGST_CallTrace& trace, jint depth, const WalkStart& start,
                     const LiveMemory& memory) {
  JavaWalk walk(*Live(), memory, start);
  const WalkStatus status = walk.Begin();
  const bool found = status == WalkStatus::kFound;
  jint count = 0;
  for (JavaFrame frame; found && count < depth && walk.Next(frame); count++)
    Fill(frame, trace.frames[count]);
  AskForTables();
  if (!found) return static_cast<jint>(status);
  return count > 0 || !walk.broken() ? count : static_cast<jint>(ASGST_UNKNOWN_JAVA);
}

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_API_FILL_FRAME_H_
