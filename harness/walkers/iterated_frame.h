// SPDX-License-Identifier: Apache-2.0
// An ASGST_Frame as a walker's answer has it. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_
#define WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/trace.h"
#include "harness/walkers/agct.h"

namespace walkhammer {

// Answers are of methods: frames of stubs and of C and C++ code, which have none, are left out.
inline bool BelongsIntoAnswer(const ASGST_Frame& frame) {
  return frame.type != ASGST_FRAME2_NON_JAVA;
}

// `id`: the method's jmethodID.
inline Frame AnswerOf(const ASGST_Frame& frame, void* id) {
  return {frame.type == ASGST_FRAME2_JAVA_NATIVE ? kAgctNativeBci : frame.bci,
          KindOfFrame(frame.type, frame.comp_level), id};
}

// Whether it was ASGST_END_ON_FIRST_JAVA_FRAME that ended a walk, by what ASGST_NextFrame answered
// at last: only then does it tell of a frame that it does not return.
inline bool EndedByOption(int result, const ASGST_Frame& last) {
  return result == ASGST_NO_FRAME && last.type == ASGST_FRAME2_JAVA;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_
