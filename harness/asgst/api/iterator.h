// SPDX-License-Identifier: Apache-2.0
// The inside of the ASGST iterator: a walk and the frame that comes next. An iterator is on the
// stack of the code that offers it to a handler. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_API_ITERATOR_H_
#define WALKHAMMER_HARNESS_ASGST_API_ITERATOR_H_

#include <span>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/walk/activations.h"

struct ASGST_IteratorOpaque {
  using JavaFrame = walkhammer::asgst::JavaFrame;
  using JavaWalk = walkhammer::asgst::JavaWalk;
  using LiveMemory = walkhammer::asgst::LiveMemory;
  using Located = walkhammer::asgst::Located;
  using WalkStart = walkhammer::asgst::WalkStart;
  using WalkStatus = walkhammer::asgst::WalkStatus;
  enum class From { kContext, kRegisters, kElement, kOutsideJava };

  // With kElement, the iterator begins at the frame of the queue element `of`. It returns `frames`,
  // then what `where` says. All three must outlive the iterator; the other arguments are copied.
  ASGST_IteratorOpaque(const WalkStart& from, const LiveMemory& with, int32_t opts, From first,
                       const Located* where = nullptr, std::span<const JavaFrame> frames = {},
                       const ASGST_QueueElement* of = nullptr)
      : start(from),
        memory(with),
        options(opts),
        begin(first),
        located(where),
        recorded(frames),
        element(of) {
    start.non_java = (options & ASGST_INCLUDE_NON_JAVA_FRAMES) != 0;
  }

  // Goes to the newest frame.
  void Rewind();
  void Advance();
  // The documents' result of a walk at its newest frame: the kind of trace, or why there is none.
  int Result() const {
    if (state < 0) return state;
    if (state == ASGST_NO_FRAME && !at_first_java) return ASGST_NO_TOP_JAVA_FRAME;
    return walk->has_java() ? ASGST_JAVA_TRACE : ASGST_NON_JAVA_TRACE;
  }

  WalkStart start;
  const LiveMemory memory;
  const int32_t options;
  const From begin;
  const Located* const located;               // with kElement
  const std::span<const JavaFrame> recorded;  // frames before those of `walk`
  const ASGST_QueueElement* const element;
  JavaWalk* walk = nullptr;
  alignas(JavaWalk) char storage[sizeof(JavaWalk)];
  size_t recorded_done = 0;  // number of `recorded` frames passed, `next` included
  JavaFrame next{};
  int state = ASGST_NO_FRAME;  // 1: `next` is valid and comes next
  bool at_first_java = false;  // the walk ended by ASGST_END_ON_FIRST_JAVA_FRAME
  int mark_state = 0;          // ASGST_MARK_ value
  bool is_guess = false;       // JavaFrame::guessed of the frame that was returned last

 private:
  WalkStatus Begin();
  // Moves `next` to the next frame. Returns what ASGST_State then returns.
  int Next();
};

#endif  // WALKHAMMER_HARNESS_ASGST_API_ITERATOR_H_
