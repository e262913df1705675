#include "harness/walkers/asgst.h"

#include <dlfcn.h>

#include <filesystem>

#include "harness/reference/profile.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/painted_buffer.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

using AsgstFunction = void (*)(ASGST_CallTrace*, jint depth, void* context, uint32_t options);
constexpr jint kNoAnswer = -9999;  // num_frames before the call: no walker returns it

// The reference provider lies beside what this code is part of: the child, or the agent.
Result<AsgstFunction> OpenReference() {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&AllWalkers), &own);
  std::error_code error;
  const auto self = std::filesystem::canonical(own.dli_fname, error);
  const std::string path = self.parent_path() / "libasgst.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Unable(std::string("cannot load the reference provider: ") + dlerror());
  auto attach = reinterpret_cast<decltype(&asgst_attach)>(dlsym(library, "asgst_attach"));
  auto reason = reinterpret_cast<decltype(&asgst_error)>(dlsym(library, "asgst_error"));
  auto walk = reinterpret_cast<AsgstFunction>(dlsym(library, "AsyncGetStackTrace"));
  if (attach == nullptr || reason == nullptr || walk == nullptr)
    return ToolFailed(path + " is not that of this walkhammer: rebuild both");
  if (attach() != 0) return Unable(std::string("the reference provider: ") + reason());
  return walk;
}

class AsgstWalker : public Walker {
 public:
  Status Bind(const WalkerHost&) override {
    auto found = OpenReference();
    if (!found.ok()) return found.failure();
    function_ = found.value();
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    ASGST_CallFrame* frames = buffer_.Paint(input.depth);
    call_ = {kNoAnswer, frames, nullptr};
    function_(&call_, input.depth, input.context, input.options);
    trace.num_frames = call_.num_frames;
    trace.frames = frames_;
    for (int i = 0; i < call_.num_frames && i < input.depth; i++) {
      const ASGST_JavaFrame& from = frames[i].java_frame;
      frames_[i] = {from.type == ASGST_FRAME_NATIVE ? kAgctNativeBci : from.bci,
                    from.type | from.comp_level << 8, from.method_id};
    }
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  AsgstFunction function_ = nullptr;
  ASGST_CallTrace call_{};
  PaintedBuffer<ASGST_CallFrame> buffer_;
  Frame frames_[WalkRequest::kMaxDepth];
};

constexpr DeclaredCode kCodes[] = {
    {ASGST_NO_JAVA_FRAME, "no_Java_frame"},
    {ASGST_NO_CLASS_LOAD, "no_class_load"},
    {ASGST_GC_ACTIVE, "GC_active"},
    {ASGST_UNKNOWN_NOT_JAVA, "unknown_not_Java"},
    {ASGST_NOT_WALKABLE_NOT_JAVA, "not_walkable_not_Java"},
    {ASGST_UNKNOWN_JAVA, "unknown_Java"},
    {ASGST_UNKNOWN_STATE, "unknown_state"},
    {ASGST_THREAD_EXIT, "thread_exit"},
    {ASGST_DEOPT, "deopt"},
    {ASGST_THREAD_NOT_JAVA, "thread_not_Java"},
};

}  // namespace

const WalkerInfo kAsgstWalker = {
    .name = "asgst",
    .what = "AsyncGetStackTrace of JEP 435, from the reference provider",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kCodes,
    .make = [] { return std::unique_ptr<Walker>(std::make_unique<AsgstWalker>()); },
};

}  // namespace walkhammer
