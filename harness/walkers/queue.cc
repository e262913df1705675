// SPDX-License-Identifier: Apache-2.0
// queue: puts a frame into a safepoint queue and walks from the element that comes out, as
// libasgst.so implements both on a stock JDK. No safepoint: queue_api_test.cc has the live tests.
#include "harness/asgst/include/asgst_iterator.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/iterated_frame.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/provider_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

// A code that no function of the API returns: the queue contradicts itself or the iterator.
constexpr int kContradiction = -9998;
constexpr int kCapacity = 4;

bool SamePlace(const ASGST_QueueElement& a, const ASGST_QueueElement& b) {
  return a.pc == b.pc && a.sp == b.sp && a.fp == b.fp;
}

class QueueWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, OpenReference(host.vm));
    RETURN_IF_ERROR(FindFunctions(library));
    queue_ = make_(kCapacity);
    return queue_ != nullptr ? Ok() : ToolFailed("libasgst.so makes no queue: out of memory");
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    depth_ = input.depth;
    count_ = 0;
    buffer_.Paint(depth_);
    trace.frames = buffer_.frames();
    ASGST_QueueElement element;
    trace.num_frames = PassThrough(input.context, element);
    if (trace.num_frames <= 0) return;
    const auto options = static_cast<int32_t>(input.options);
    // An element's frame has bytecodes. Newer frames, of native methods, come from the iterator.
    ended_at_ = {};
    run_(input.context, options | ASGST_END_ON_FIRST_JAVA_FRAME, Store, this);
    if (count_ < depth_ && !SamePlace(ended_at_, element)) {
      trace.num_frames = kContradiction;
      return;
    }
    cut_ = false;
    const int result = run_from_frame_(element.sp, element.fp, element.pc, options, Store, this);
    trace.ended_on_request = result > 0 && cut_;
    trace.num_frames = result > 0 ? count_ : result;
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  Status FindFunctions(void* library) {
    return FindIn(library, "asgst_unbound_queue", make_, "asgst_clear_queue", clear_,
                  "ASGST_GetEnqueuableElement", peek_, "ASGST_Enqueue", enqueue_,
                  "ASGST_GetQueueElement", element_, "ASGST_GetQueueSizeInfo", info_,
                  "ASGST_RunWithIterator", run_, "ASGST_RunWithIteratorFromFrame", run_from_frame_,
                  "ASGST_NextFrame", next_, "ASGST_MethodToJMethodID", id_of_);
  }

  // Returns the kind or error that the queue answers with; `element`: what came out of the queue.
  int PassThrough(void* context, ASGST_QueueElement& element) {
    clear_(queue_);  // a walk that crashed may have left an element
    ASGST_QueueElement expected;
    const int peeked = peek_(context, &expected);
    const int result = enqueue_(queue_, context, this);
    const ASGST_QueueElement* const oldest = element_(queue_, 0);
    const ASGST_QueueElement* const youngest = element_(queue_, -1);
    const int size = info_(queue_).size;
    if (result != peeked || oldest != youngest || size != (result > 0 ? 1 : 0))
      return kContradiction;
    if (result <= 0) return result;
    if (youngest == nullptr || !SamePlace(*youngest, expected) || youngest->arg != this)
      return kContradiction;
    element = *youngest;
    return result;
  }

  static void Store(ASGST_Iterator* iterator, void* self) {
    static_cast<QueueWalker*>(self)->Store(iterator);
  }
  void Store(ASGST_Iterator* iterator) {
    Frame* frames = buffer_.frames();
    for (ASGST_Frame frame; count_ < depth_;) {
      const int result = next_(iterator, &frame);
      if (result != 1) {
        cut_ = EndedByOption(result, frame);
        ended_at_ = {frame.pc, frame.fp, frame.sp, nullptr};
        return;
      }
      if (BelongsIntoAnswer(frame)) frames[count_++] = AnswerOf(frame, id_of_(frame.method));
    }
  }

  decltype(&asgst_unbound_queue) make_ = nullptr;
  decltype(&asgst_clear_queue) clear_ = nullptr;
  decltype(&ASGST_GetEnqueuableElement) peek_ = nullptr;
  decltype(&ASGST_Enqueue) enqueue_ = nullptr;
  decltype(&ASGST_GetQueueElement) element_ = nullptr;
  decltype(&ASGST_GetQueueSizeInfo) info_ = nullptr;
  decltype(&ASGST_RunWithIterator) run_ = nullptr;
  decltype(&ASGST_RunWithIteratorFromFrame) run_from_frame_ = nullptr;
  decltype(&ASGST_NextFrame) next_ = nullptr;
  decltype(&ASGST_MethodToJMethodID) id_of_ = nullptr;
  ASGST_Queue* queue_ = nullptr;
  ASGST_QueueElement ended_at_{};
  int depth_ = 0, count_ = 0;
  bool cut_ = false;
  CanaryBuffer<Frame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeQueue() { return std::make_unique<QueueWalker>(); }

}  // namespace walkhammer
