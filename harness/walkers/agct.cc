// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/agct.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>

#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/provider_library.h"

namespace walkhammer {
namespace {

// Frames are passed on without a copy.
static_assert(sizeof(AgctFrame) == sizeof(Frame));
static_assert(offsetof(AgctFrame, lineno) == offsetof(Frame, bci));
static_assert(offsetof(AgctFrame, method_id) == offsetof(Frame, method));
static_assert(sizeof(AgctTrace) == 24);

class AgctWalker : public Walker {
 public:
  AgctWalker(AgctFunction function, AgctFunction* real) : function_(function), real_(real) {}
  explicit AgctWalker(bool of_library) : of_library_(of_library) {}

  Status Bind(const WalkerHost& host) override {
    if (of_library_) {
      ASSIGN_OR_RETURN(const auto library, ProviderLibrary::Open(host));
      library.Find("AsyncGetCallTrace", function_);
      return function_ != nullptr ? Ok() : library.Lacks("AsyncGetCallTrace");
    }
    auto found = reinterpret_cast<AgctFunction>(dlsym(host.libjvm, "AsyncGetCallTrace"));
    if (found == nullptr) return Unable("this libjvm does not export AsyncGetCallTrace");
    if (real_ != nullptr) *real_ = found;
    if (function_ == nullptr) function_ = found;
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(input.depth);
    call_ = {input.env, kNoAnswer, frames};
    function_(&call_, input.depth, input.context);
    trace.num_frames = call_.num_frames;
    auto* handed_on = reinterpret_cast<Frame*>(frames);
    // AsyncGetCallTrace reports no kinds; a canary of an earlier walk may be in their place.
    const int count = std::min(call_.num_frames, input.depth);
    for (int i = 0; i < count; i++) handed_on[i].kind = 0;
    trace.frames = handed_on;
  }

  bool BufferIntact(const WalkInput& input) const override {
    return buffer_.Intact(input.depth) && call_.frames == buffer_.frames();
  }

 private:
  const bool of_library_ = false;
  AgctFunction function_ = nullptr;
  AgctFunction* real_ = nullptr;
  AgctTrace call_{};
  CanaryBuffer<AgctFrame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeAgctWalker(AgctFunction function, AgctFunction* real) {
  return std::make_unique<AgctWalker>(function, real);
}

std::unique_ptr<Walker> MakeAgct() { return MakeAgctWalker(nullptr, nullptr); }

std::unique_ptr<Walker> MakeAgctLibrary() { return std::make_unique<AgctWalker>(true); }

}  // namespace walkhammer
