// SPDX-License-Identifier: Apache-2.0
// iterator, iterator-frame: the ASGST iterator from a ucontext, and from pc, sp and fp alone, as
// libasgst.so implements it on a stock JDK; with @jdk, as a JDK exports it.
#include "harness/guard/arch.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/iterated_frame.h"
#include "harness/walkers/iterator_drift.h"
#include "harness/walkers/jdk_iterator.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/provider_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

class IteratorWalker : public Walker {
 public:
  // `options`: added to those of each request.
  IteratorWalker(bool from_frame, bool reference, uint32_t options)
      : from_frame_(from_frame), reference_(reference), options_(options) {}

  Status Bind(const WalkerHost& host) override {
    if (!reference_) return BindToJdk(host);
    ASSIGN_OR_RETURN(auto library, OpenReference(host.vm));
    return FindIn(library, "ASGST_RunWithIterator", api_.run, "ASGST_RunWithIteratorFromFrame",
                  api_.run_from_frame, "ASGST_NextFrame", api_.next, "ASGST_MethodToJMethodID",
                  api_.id_of, "asgst_iterator_end", end_, "asgst_frame_is_guess", is_guess_);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    depth_ = input.depth;
    count_ = 0;
    cut_ = false;
    ended_ = WalkEnd::kUntold;
    guessed_from_ = -1;
    buffer_.Paint(depth_);
    const auto options = static_cast<int32_t>(input.options | options_);
    const auto store = [](ASGST_Iterator* iterator, void* self) {
      static_cast<IteratorWalker*>(self)->Store(iterator);
    };
    int result = 0;
    if (from_frame_) {
      const Registers at = ReadContext(*input.context);
      result = api_.run_from_frame(reinterpret_cast<void*>(at.sp), reinterpret_cast<void*>(at.fp),
                                   reinterpret_cast<void*>(at.pc), options, store, this);
    } else {
      result = api_.run(input.context, options, store, this);
    }
    trace.ended_on_request = result > 0 && cut_;
    result = result > 0 ? count_ : result;
    trace.num_frames = drift_.older_errors ? NewerIteratorError(result) : result;
    trace.frames = buffer_.frames();
    trace.end = ended_;
    trace.guessed_from = guessed_from_;
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  Status BindToJdk(const WalkerHost& host) {
    ASSIGN_OR_RETURN(auto library, ProviderLibrary::Open(host));
    ASSIGN_OR_RETURN(auto found, OpenJdkIterator(library, host.vm));
    if (from_frame_ && found.api.run_from_frame == nullptr)
      return library.Lacks(found.prefix + "RunWithIteratorFromFrame");
    api_ = found.api;
    drift_ = found.drift;
    return Ok();
  }

  void Store(ASGST_Iterator* iterator) {
    Frame* frames = buffer_.frames();
    int result = 1;
    ASGST_Frame frame{};
    while (count_ < depth_ && (result = api_.next(iterator, &frame)) == 1) {
      if (!BelongsIntoAnswer(frame)) continue;
      if (reference_ && guessed_from_ < 0 && is_guess_(iterator)) guessed_from_ = count_;
      frames[count_++] = AnswerOf(frame, IdOf(frame.method));
    }
    if (reference_) ended_ = static_cast<WalkEnd>(end_(iterator));
    if (reference_ && ended_ == WalkEnd::kUntold && count_ == depth_) ended_ = WalkEnd::kDepth;
    cut_ = EndedByOption(result, frame);
    if (count_ == 0 && result < 0) count_ = result;
  }

  void* IdOf(ASGST_Method method) const {
    return api_.id_of == nullptr ? static_cast<void*>(method) : api_.id_of(method);
  }

  const bool from_frame_, reference_;
  const uint32_t options_;
  IteratorApi api_;
  decltype(&asgst_iterator_end) end_ = nullptr;         // of the reference
  decltype(&asgst_frame_is_guess) is_guess_ = nullptr;  // of the reference
  WalkEnd ended_ = WalkEnd::kUntold;
  int32_t guessed_from_ = -1;
  IteratorDrift drift_;
  int depth_ = 0, count_ = 0;
  bool cut_ = false;
  CanaryBuffer<Frame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeIterator() { return std::make_unique<IteratorWalker>(false, true, 0); }

std::unique_ptr<Walker> MakeIteratorFrame() {
  return std::make_unique<IteratorWalker>(true, true, 0);
}

std::unique_ptr<Walker> MakeIteratorC() {
  return std::make_unique<IteratorWalker>(false, true, ASGST_INCLUDE_NON_JAVA_FRAMES);
}

std::unique_ptr<Walker> MakeIteratorJdk() {
  return std::make_unique<IteratorWalker>(false, false, 0);
}

std::unique_ptr<Walker> MakeIteratorFrameJdk() {
  return std::make_unique<IteratorWalker>(true, false, 0);
}

}  // namespace walkhammer
