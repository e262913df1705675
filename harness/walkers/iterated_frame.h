// SPDX-License-Identifier: Apache-2.0
// What walkers by the ASGST iterator have in common: their codes, and ASGST_Frame as a Frame of the
// answer. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_
#define WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/trace.h"
#include "harness/request/walker_table.h"
#include "harness/walkers/agct.h"

namespace walkhammer {

extern const DeclaredCode kIteratorCodes[7];  // of all walkers that use libasgst.so's iterator

// True for frames of methods. Answers leave out frames of stubs, C and C++, which have no method.
inline bool BelongsIntoAnswer(const ASGST_Frame& frame) {
  return frame.type != ASGST_FRAME2_NON_JAVA;
}

// `id`: the method's jmethodID.
inline Frame AnswerOf(const ASGST_Frame& frame, void* id) {
  return {frame.type == ASGST_FRAME2_JAVA_NATIVE ? kAgctNativeBci : frame.bci,
          KindOfFrame(frame.type, frame.comp_level), id};
}

// True if ASGST_END_ON_FIRST_JAVA_FRAME ended a walk. `result`, `last`: the last answer of
// ASGST_NextFrame, which fills in a frame without returning it only at such an end.
inline bool EndedByOption(int result, const ASGST_Frame& last) {
  return result == ASGST_NO_FRAME && last.type == ASGST_FRAME2_JAVA;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_
