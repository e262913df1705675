// SPDX-License-Identifier: Apache-2.0
// The live examination of the frame marks of provider jdk: a thread marks a frame, the frame
// returns, and the mark's handler must be called before the frame's caller goes on, on that thread.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_MARK_EXAM_H_
#define WALKHAMMER_HARNESS_WALKERS_MARK_EXAM_H_

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/result.h"
#include "harness/walkers/jdk_iterator.h"

namespace walkhammer {

struct MarkApi {
  decltype(&ASGST_RegisterFrameMark) make = nullptr;
  decltype(&ASGST_MoveFrameMark) move = nullptr;
  decltype(&ASGST_GetFrameMarkStackPointer) stack_pointer = nullptr;
  decltype(&ASGST_RemoveFrameMark) end = nullptr;
};

// kUnable: the library lacks a function of marks, or its capabilities say that it has no marks.
Result<MarkApi> FindMarkApi(const ProviderLibrary& library, const std::string& prefix);

// Examines the marks on the calling thread, which must be attached to `vm`: takes some hundred
// milliseconds. Returns what is wrong with them, in static memory; null: nothing. At most 1 % of
// the handlers may be late: deoptimisation passes no poll. Fails as CallRounds does.
Result<const char*> ExamineMarks(const MarkApi& api, const JdkIterator& iterator, JavaVM* vm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_MARK_EXAM_H_
