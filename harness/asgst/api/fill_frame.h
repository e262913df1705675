// SPDX-License-Identifier: Apache-2.0
// Turns a walk's frames into those of asgst.h. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_API_FILL_FRAME_H_
#define WALKHAMMER_HARNESS_ASGST_API_FILL_FRAME_H_

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/unwind/unwind_service.h"

namespace walkhammer::asgst {

static_assert(static_cast<int>(WalkEnd::kNoMethod) == ASGST_WALK_END_NO_METHOD &&
              static_cast<int>(WalkEnd::kReturnBarrier) == ASGST_WALK_END_RETURN_BARRIER &&
              static_cast<int>(WalkEnd::kNoJava) == ASGST_WALK_END_NO_JAVA &&
              static_cast<int>(WalkEnd::kGuessed) == ASGST_WALK_END_GUESSED);

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

// What asgst_walk_end and asgst_guessed_from answer. The storage is there before a thread's first
// signal: a plain thread_local may allocate at its first use.
struct LastWalk {
  jint end = ASGST_WALK_END_UNTOLD;
  jint guessed_from = -1;
};
LastWalk& LastWalkOfThread();

// Walks from `start` and fills in trace.frames, at most `depth` of them. Returns how many, or a
// code of asgst.h.
inline jint WalkInto(ASGST_CallTrace& trace, jint depth, const WalkStart& start,
                     const LiveMemory& memory) {
  JavaWalk walk(*Live(), memory, start);
  const WalkStatus status = walk.Begin();
  const bool found = status == WalkStatus::kFound;
  jint count = 0, guessed_from = -1;
  for (JavaFrame frame; found && count < depth && walk.Next(frame); count++) {
    Fill(frame, trace.frames[count]);
    if (frame.guessed && guessed_from < 0) guessed_from = count;
  }
  const bool is_full = walk.end() == WalkEnd::kUntold && count == depth;
  LastWalkOfThread() = {static_cast<jint>(is_full ? WalkEnd::kDepth : walk.end()), guessed_from};
  AskForTables();
  if (!found) return static_cast<jint>(status);
  return count > 0 || !walk.broken() ? count : static_cast<jint>(ASGST_UNKNOWN_JAVA);
}

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_API_FILL_FRAME_H_
