// SPDX-License-Identifier: Apache-2.0
// The inside of the frame marks: what a mark is, the list of marks, when marks are reached.
// asgst_iterator.h says what marks do.
// A mark lowers its thread's poll word (poll_words.h) to its frame, as HotSpot's own stack
// watermarks do (StackWatermarkSet, JDK 17 and later). The return from the marked frame then stops
// at its poll and comes to StackWatermarkSet::before_unwind (the interpreter, native wrappers, and
// frames that are deoptimised) or after_unwind (compiled code), as exceptions do without a poll.
// Hooks there look for marks that are left. update_poll_values forgets the marks; the hook of
// own_polls.h lowers the word again. Signal-safe: MoveMark for the current thread's marks yes; the
// rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_FRAME_MARKS_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_FRAME_MARKS_H_

#include <atomic>
#include <vector>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/walk/java_walk.h"
#include "harness/base/result.h"

// The memory of a mark is never freed, and is reused late, so that a stale pointer leads to a mark
// that is not live.
struct ASGST_FrameMarkOpaque {
  enum State : int { kFree, kLive };

  std::atomic<int> state{kFree};
  std::atomic<uint64_t> sp{0};  // as given to ASGST_MoveFrameMark
  // The marked frame's place (PlaceOf): the frame is left once a frame with a higher stack pointer
  // goes on. 0: marks no frame.
  std::atomic<uint64_t> limit{0};
  // Where the marked frame's caller stands, and what runs on the thread (RunnerOf).
  // caller_pc is kNoCaller if the marked frame is the oldest, and 0 if the caller is not known.
  static constexpr uint64_t kNoCaller = 1;
  std::atomic<uint64_t> caller_place{0}, caller_pc{0}, runner{0};
  std::atomic<uint64_t> thread{0};  // JavaThread*
  int32_t os_thread = 0;
  int options = 0;
  ASGST_FrameMarkHandler fun = nullptr;
  void* argument = nullptr;
  ASGST_FrameMarkOpaque* next = nullptr;  // in the list of all marks, live or not
};

namespace walkhammer::asgst {

// --- the list ---

// Makes a live mark of `thread`, a JavaThread*, that marks no frame. Null if there is no memory.
ASGST_FrameMark* AddMark(uint64_t thread, ASGST_FrameMarkHandler fun, int options, void* argument);
// Ends the mark: it is not live from then on. Call with the ProcessingMutex held, or in a handler.
void RetireMark(ASGST_FrameMark* mark);
// Retires all marks of `thread`, a JavaThread*. Call as RetireMark.
void RetireMarksOf(uint64_t thread);
// The newest of all marks, for walks of the list, which need no lock.
ASGST_FrameMark* FirstMark();
bool IsLiveMarkOf(const ASGST_FrameMark& mark, uint64_t thread);
bool HasLiveMarks(uint64_t thread);
// False only if the thread has no live mark. Rarely true for a thread without marks. Reads one
// word, however many marks there are.
bool MayHaveMarks(uint64_t thread);

// --- marked frames ---

// Marks the frame that contains the stack pointer `sp`; 0: no frame. `stands`: the mark's thread is
// the current one, or stopped.
void MoveMark(ASGST_FrameMark& mark, uint64_t sp, bool stands);
// Lowers the thread's poll word for its marks again, after update_poll_values has raised it.
void LowerForMarks(uint64_t thread);
// Returns an address that identifies a physical frame while it exists: fp of an interpreted frame,
// whose sp moves; otherwise sp.
inline uint64_t PlaceOf(const JavaFrame& frame) { return frame.code == 0 ? frame.fp : frame.sp; }

// --- the hooks ---

// Hooks what threads call when a frame is left, once. Fails with kUnable where there can be no
// hooks.
Status StartMarks();
// True if this libjvm names all that StartMarks and StartOwnPolls need, and hooks are allowed. The
// first call reads libjvm's file.
bool CanMark();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_FRAME_MARKS_H_
