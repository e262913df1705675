#include "harness/walkers/iterator.h"

#include "harness/guard/arch.h"
#include "harness/reference/profile2.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/painted_buffer.h"
#include "harness/walkers/reference_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

class IteratorWalker : public Walker {
 public:
  explicit IteratorWalker(bool from_frame) : from_frame_(from_frame) {}

  Status Bind(const WalkerHost& host) override {
    auto library = OpenReference(host.vm);
    if (!library.ok()) return library.failure();
    Status found = FindIn(library.value(), "ASGST_RunWithIterator", run_);
    if (found.ok())
      found = FindIn(library.value(), "ASGST_RunWithIteratorFromFrame", run_from_frame_);
    if (found.ok()) found = FindIn(library.value(), "ASGST_NextFrame", next_);
    if (found.ok()) found = FindIn(library.value(), "ASGST_MethodToJMethodID", id_of_);
    return found;
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    depth_ = input.depth;
    count_ = 0;
    buffer_.Paint(depth_);
    const auto options = static_cast<int32_t>(input.options);
    const auto store = [](ASGST_Iterator* iterator, void* self) {
      static_cast<IteratorWalker*>(self)->Store(iterator);
    };
    int result = 0;
    if (from_frame_) {
      const Registers at = ReadContext(*input.context);
      result = run_from_frame_(reinterpret_cast<void*>(at.sp), reinterpret_cast<void*>(at.fp),
                               reinterpret_cast<void*>(at.pc), options, store, this);
    } else {
      result = run_(input.context, options, store, this);
    }
    trace.num_frames = result > 0 ? count_ : result;
    trace.frames = buffer_.frames();
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  void Store(ASGST_Iterator* iterator) {
    Frame* frames = buffer_.frames();
    int result = 1;
    for (ASGST_Frame frame; count_ < depth_ && (result = next_(iterator, &frame)) == 1; count_++)
      frames[count_] = {frame.type == ASGST_FRAME2_JAVA_NATIVE ? kAgctNativeBci : frame.bci,
                        frame.type | frame.comp_level << 8, id_of_(frame.method)};
    if (count_ == 0 && result < 0) count_ = result;
  }

  const bool from_frame_;
  decltype(&ASGST_RunWithIterator) run_ = nullptr;
  decltype(&ASGST_RunWithIteratorFromFrame) run_from_frame_ = nullptr;
  decltype(&ASGST_NextFrame) next_ = nullptr;
  decltype(&ASGST_MethodToJMethodID) id_of_ = nullptr;
  int depth_ = 0, count_ = 0;
  PaintedBuffer<Frame> buffer_;
};

}  // namespace

const DeclaredCode kIteratorCodes[7] = {
    {ASGST_NO_FRAME, "no_frame"},
    {ASGST_NO_THREAD, "no_thread"},
    {ASGST_THREAD_IS_EXITING, "thread_exit"},
    {ASGST_UNSAFE_STATE, "unsafe_state"},
    {ASGST_NO_TOP_JAVA_FRAME, "no_top_Java_frame"},
    {ASGST_BROKEN_STACK, "broken_stack"},
    {ASGST_NOT_ATTACHED, "not_attached"},
};

const WalkerInfo kIteratorWalker = {
    .name = "iterator",
    .what = "the ASGST iterator from a ucontext, from the reference provider",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kIteratorCodes,
    .make = [] { return std::unique_ptr<Walker>(std::make_unique<IteratorWalker>(false)); },
    .provider = "ref",
};

const WalkerInfo kIteratorFrameWalker = {
    .name = "iterator-frame",
    .what = "the ASGST iterator from pc, sp and fp, from the reference provider",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kIteratorCodes,
    .make = [] { return std::unique_ptr<Walker>(std::make_unique<IteratorWalker>(true)); },
    .provider = "ref",
};

}  // namespace walkhammer
