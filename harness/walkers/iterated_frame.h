// An ASGST_Frame as a walker's answer has it. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_
#define WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_

#include "harness/reference/profile2.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/trace.h"

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

// Whether options of the iterator end a walk before the stack does.
inline bool EndEarly(uint32_t options) { return (options & ASGST_END_ON_FIRST_JAVA_FRAME) != 0; }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ITERATED_FRAME_H_
