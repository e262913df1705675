// SPDX-License-Identifier: Apache-2.0
// queue@jdk, marks@jdk: the queues and frame marks of a JDK that exports them. Both walk by its
// iterator, queue@jdk from the element that the JDK would enqueue. When they bind, the API is
// examined live; what is wrong with it stands in each answer.
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/iterated_frame.h"
#include "harness/walkers/jdk_iterator.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/mark_exam.h"
#include "harness/walkers/provider_library.h"
#include "harness/walkers/queue_exam.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

// The examination's answer, which is asked for once: the agent has many walkers.
template <typename Api>
Result<const char*> Examined(Result<const char*> (*examine)(const Api&, const JdkIterator&,
                                                            JavaVM*),
                             const Api& api, const JdkIterator& iterator, JavaVM* vm) {
  static decltype(api.make) examined = nullptr;
  static const char* complaint = nullptr;
  if (examined == api.make) return complaint;
  ASSIGN_OR_RETURN(complaint, examine(api, iterator, vm));
  examined = api.make;
  return complaint;
}

class DocumentWalker : public Walker {
 public:
  explicit DocumentWalker(bool queue) : is_queue_(queue) {}

  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProviderLibrary::Open(host));
    ASSIGN_OR_RETURN(iterator_, OpenJdkIterator(library, host.vm));
    return is_queue_ ? BindQueue(library, host.vm) : BindMarks(library, host.vm);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    depth_ = input.depth;
    count_ = 0;
    cut_ = false;
    buffer_.Paint(depth_);
    const auto options = static_cast<int32_t>(input.options);
    int result = is_queue_ ? WalkFromElement(input.context, options)
                           : iterator_.api.run(input.context, options, Store, this);
    trace.ended_on_request = result > 0 && cut_;
    result = result > 0 ? count_ : result;
    trace.num_frames = iterator_.CodeOf(result);
    trace.frames = buffer_.frames();
    trace.complaint = complaint_;
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  Status BindQueue(const ProviderLibrary& library, JavaVM* vm) {
    ASSIGN_OR_RETURN(auto api, FindQueueApi(library, iterator_.prefix));
    if (iterator_.api.run_from_frame == nullptr)
      return library.Lacks(iterator_.prefix + "RunWithIteratorFromFrame");
    ASSIGN_OR_RETURN(complaint_, Examined(ExamineQueues, api, iterator_, vm));
    peek_ = api.peek;
    return Ok();
  }

  Status BindMarks(const ProviderLibrary& library, JavaVM* vm) {
    ASSIGN_OR_RETURN(auto api, FindMarkApi(library, iterator_.prefix));
    ASSIGN_OR_RETURN(complaint_, Examined(ExamineMarks, api, iterator_, vm));
    return Ok();
  }

  // An element's frame has bytecodes. Newer frames, of native methods, come from the iterator,
  // which is asked to end there.
  int WalkFromElement(void* context, int32_t options) {
    ASGST_QueueElement element{};
    const int peeked = peek_(context, &element);
    if (peeked <= 0) return peeked;
    iterator_.api.run(context, options | ASGST_END_ON_FIRST_JAVA_FRAME, StoreNative, this);
    cut_ = false;
    return iterator_.api.run_from_frame(element.sp, element.fp, element.pc, options, Store, this);
  }

  static void Store(ASGST_Iterator* iterator, void* self) {
    static_cast<DocumentWalker*>(self)->Store(iterator, false);
  }
  static void StoreNative(ASGST_Iterator* iterator, void* self) {
    static_cast<DocumentWalker*>(self)->Store(iterator, true);
  }

  // `native`: stops at the first frame with bytecodes, also where a build knows no such option.
  void Store(ASGST_Iterator* iterator, bool native) {
    Frame* frames = buffer_.frames();
    int result = 1;
    ASGST_Frame frame{};
    while (count_ < depth_ && (result = iterator_.api.next(iterator, &frame)) == 1) {
      if (!BelongsIntoAnswer(frame)) continue;
      if (native && frame.type != ASGST_FRAME2_JAVA_NATIVE) return;
      frames[count_++] = AnswerOf(frame, iterator_.IdOf(frame.method));
    }
    cut_ = EndedByOption(result, frame);
    // An error on the way to the element says nothing of the walk from there.
    if (!native && count_ == 0 && result < 0) count_ = result;
  }

  const bool is_queue_;
  JdkIterator iterator_;
  decltype(&ASGST_GetEnqueuableElement) peek_ = nullptr;
  const char* complaint_ = nullptr;
  int depth_ = 0, count_ = 0;
  bool cut_ = false;
  CanaryBuffer<Frame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeQueueJdk() { return std::make_unique<DocumentWalker>(true); }

std::unique_ptr<Walker> MakeMarksJdk() { return std::make_unique<DocumentWalker>(false); }

}  // namespace walkhammer
