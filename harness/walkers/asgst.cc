// SPDX-License-Identifier: Apache-2.0
// asgst: AsyncGetStackTrace, from libasgst.so (asgst) or from a JDK that exports it (asgst@jdk):
// see asgst_layout.h.
#include <algorithm>

#include "harness/walkers/agct.h"
#include "harness/walkers/asgst_layout.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/provider_library.h"
#include "harness/walkers/stderr_watch.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

constexpr uint16_t kNoBci = 65535;
constexpr uint64_t kCanary = 0xcafe0dd5ba11ad5e;
// What the late prototype writes to stderr when it hides a crash of its own as UNKNOWN_STATE.
// The walker changes that answer to a code that no API declares, so that the crash is a finding.
constexpr char kHiddenCrashLine[] = "catched crash";
constexpr jint kHiddenCrash = -7777;
constexpr const char* kNames[] = {"AsyncGetStackTrace", "AsyncGetCallTrace2"};

class AsgstWalker : public Walker {
 public:
  // `further`: bits of the reference's options, set in each walk.
  explicit AsgstWalker(bool reference, uint32_t further = 0)
      : reference_(reference), further_(further) {}

  Status Bind(const WalkerHost& host) override {
    if (reference_) {
      ASSIGN_OR_RETURN(auto library, OpenReference(host.vm));
      return FindIn(library, kNames[0], function_, "asgst_walk_end", walk_end_,
                    "asgst_guessed_from", guessed_from_);
    }
    ASSIGN_OR_RETURN(auto library, ProviderLibrary::Open(host));
    for (const char* name : kNames)
      if (function_ == nullptr) library.Find(name, function_);
    if (function_ == nullptr) return library.Lacks(kNames[0]);
    ASSIGN_OR_RETURN(layout_, LayoutOf(function_, host.vm));
    if (layout_ == AsgstLayout::kLate) stderr_.Begin();
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    ASGST_CallFrame* frames = buffer_.Paint(input.depth);
    call_.before = call_.after = kCanary;
    if (layout_ == AsgstLayout::kLate)
      call_.late = {kNoAnswer, 0, 0, frames, nullptr};
    else
      call_.early = {kNoAnswer, 0, frames, nullptr};  // the draft's too, where `kind` is padding
    const uint32_t must = layout_ == AsgstLayout::kLate ? kAsgstSameThread : further_;
    function_(&call_.early, input.depth, input.context, input.options | must);
    int count = call_.early.num_frames;
    if (count == ASGST_UNKNOWN_STATE && layout_ == AsgstLayout::kLate &&
        stderr_.Saw(kHiddenCrashLine))
      count = kHiddenCrash;
    if (reference_) trace.end = static_cast<WalkEnd>(walk_end_());
    const int guessed_from = reference_ ? guessed_from_() : -1;
    const int kept = Convert(std::min<int>(count, input.depth), guessed_from, trace.guessed_from);
    // An oracle must see a count beyond the buffer. If all frames are of C code, the answer is 0:
    // no Java frame.
    trace.num_frames = count > input.depth ? count : count > 0 ? kept : count;
    trace.frames = frames_;
    trace.ended_on_request = count == input.depth;
  }

  bool BufferIntact(const WalkInput& input) const override {
    const ASGST_CallFrame* frames =
        layout_ == AsgstLayout::kLate ? call_.late.frames : call_.early.frames;
    return buffer_.Intact(input.depth) && frames == buffer_.frames() && call_.before == kCanary &&
           call_.after == kCanary;
  }

 private:
  // Probes a function only once: the agent has many walkers.
  static Result<AsgstLayout> LayoutOf(AsgstFunction function, JavaVM* vm) {
    static AsgstFunction known = nullptr;
    static AsgstLayout layout = AsgstLayout::kDraft;
    if (function == known) return layout;
    Result<AsgstLayout> found = ToolFailed("AsyncGetStackTrace was not probed");
    RETURN_IF_ERROR(CallFromJava(vm, [&](const KnownFrames& frames) {
      ucontext_t context;
      getcontext(&context);
      found = ProbeAsgst(function, frames, &context);
    }));
    ASSIGN_OR_RETURN(layout, std::move(found));
    known = function;
    return layout;
  }

  // Converts the first `count` frames; returns how many it kept. Leaves out frames of stubs, C and
  // C++, which hold a pc instead of a method. Sets `guess` to the first kept frame from
  // `guessed_from` on (-1: none).
  int Convert(int count, int guessed_from, int32_t& guess) {
    const ASGST_CallFrame* frames = buffer_.frames();
    const int last = layout_ == AsgstLayout::kLate ? int{kAsgstLateCppFrame} : ASGST_FRAME_CPP;
    int kept = 0;
    for (int i = 0; i < count; i++) {
      const ASGST_JavaFrame& from = frames[i].java_frame;
      if (from.type >= ASGST_FRAME_STUB && from.type <= last) continue;
      if (guess < 0 && guessed_from >= 0 && i >= guessed_from) guess = kept;
      const int bci = from.bci == kNoBci ? -1 : from.bci;
      frames_[kept++] = {from.type == ASGST_FRAME_NATIVE ? kAgctNativeBci : bci,
                         KindOfFrame(from.type, from.comp_level), from.method_id};
    }
    return kept;
  }

  const bool reference_;
  const uint32_t further_;
  AsgstFunction function_ = nullptr;
  decltype(&asgst_walk_end) walk_end_ = nullptr;          // of the reference
  decltype(&asgst_guessed_from) guessed_from_ = nullptr;  // of the reference
  AsgstLayout layout_ = AsgstLayout::kDraft;
  StderrWatch stderr_;
  struct {
    uint64_t before;
    union {
      AsgstEarlyTrace early;
      AsgstLateTrace late;
    };
    uint64_t after;
  } call_{};
  CanaryBuffer<ASGST_CallFrame> buffer_;
  Frame frames_[WalkRequest::kMaxDepth];
};

}  // namespace

// No other walker returns frozen frames. The walk leaves them out, as they would count as depth.
std::unique_ptr<Walker> MakeAsgst() {
  return std::make_unique<AsgstWalker>(true, ASGST_WITHOUT_FROZEN_FRAMES);
}

std::unique_ptr<Walker> MakeAsgstUncached() {
  constexpr uint32_t kOptions = uint32_t{ASGST_WITHOUT_CACHES} | ASGST_WITHOUT_FROZEN_FRAMES;
  return std::make_unique<AsgstWalker>(true, kOptions);
}

std::unique_ptr<Walker> MakeAsgstJdk() { return std::make_unique<AsgstWalker>(false); }

}  // namespace walkhammer
