#include "harness/walkers/asgst.h"

#include "harness/reference/profile.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/painted_buffer.h"
#include "harness/walkers/reference_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

using AsgstFunction = void (*)(ASGST_CallTrace*, jint depth, void* context, uint32_t options);
constexpr uint16_t kNoBci = 65535;
constexpr jint kNoAnswer = -9999;  // num_frames before the call: no walker returns it

class AsgstWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    auto library = OpenReference(host.vm);
    if (!library.ok()) return library.failure();
    return FindIn(library.value(), "AsyncGetStackTrace", function_);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    ASGST_CallFrame* frames = buffer_.Paint(input.depth);
    call_ = {kNoAnswer, frames, nullptr};
    function_(&call_, input.depth, input.context, input.options);
    trace.num_frames = call_.num_frames;
    trace.frames = frames_;
    for (int i = 0; i < call_.num_frames && i < input.depth; i++) {
      const ASGST_JavaFrame& from = frames[i].java_frame;
      const int bci = from.bci == kNoBci ? -1 : from.bci;
      frames_[i] = {from.type == ASGST_FRAME_NATIVE ? kAgctNativeBci : bci,
                    KindOfFrame(from.type, from.comp_level), from.method_id};
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
    .provider = "ref",
};

}  // namespace walkhammer
