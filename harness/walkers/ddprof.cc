// SPDX-License-Identifier: Apache-2.0
// The walkers of Datadog's java-profiler (libjavaProfiler.so, a descendant of async-profiler), as
// its releases 1.4.0 to 1.44.0 hold them. ddprof-vm is StackWalker::walkVM (since 1.41
// HotspotSupport::walkVM), that profiler's cstack=vm. ddprof-fp and ddprof-dwarf are what cstack=fp
// and cstack=dwarf do: walkFP or walkDwarf leads from C to the newest Java frame, and
// Profiler::getJavaTraceAsync has AsyncGetCallTrace walk from there, and tries again with other
// registers where that fails.
#include "harness/walkers/agct.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/java_trace.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/profiler_frames.h"
#include "harness/walkers/profiler_library.h"

namespace walkhammer {
namespace {

constexpr char kProfiler[] = "java-profiler";
constexpr int kNormalDetail = 1;  // StackDetail: kinds of frames and stubs, not C
// Since 1.41: EventType, for frames of stubs, too; StackWalkFeatures, a struct of 16 bits, all off;
// and the number of a lock, by which the profiler finds buffers of its own, which no walk needs.
constexpr int kSampledByTimer = 1;
constexpr uint16_t kNoFeatures = 0;
constexpr int kAnyLock = 0;

class DdprofVmWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, kProfiler));
    is_native_ = host.is_native;
    ASSIGN_OR_RETURN(
        const auto form,
        library.Find(
            "StackWalker::walkVM", kDdprofWalkVm,
            {"_ZN11StackWalker6walkVMEPvP15ASGCT_CallFramei11StackDetailPb",
             "_ZN14HotspotSupport6walkVMEPvP16_asgct_callframei17StackWalkFeatures9EventTypeiPb"}));
    if (form.index == 0) walk_ = reinterpret_cast<Function*>(form.address);
    if (form.index == 1) walk_with_features_ = reinterpret_cast<WithFeatures*>(form.address);
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(Room(input));
    trace.frames = reinterpret_cast<Frame*>(frames);
    bool truncated = false;
    const int count = walk_ != nullptr
                          ? walk_(input.context, frames, input.depth, kNormalDetail, &truncated)
                          : walk_with_features_(input.context, frames, Room(input) - 1, kNoFeatures,
                                                kSampledByTimer, kAnyLock, &truncated);
    kVmFrames.Keep(frames, count, input.depth, is_native_, trace);
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(Room(input)); }

 private:
  // Since 1.41, a walk that is to tell whether it was truncated writes one frame beyond its depth,
  // for which the profiler's buffers have places (RESERVED_FRAMES).
  int Room(const WalkInput& input) const {
    return walk_ != nullptr ? input.depth : std::min(input.depth + 1, int{WalkRequest::kMaxDepth});
  }

  using Function = int(void*, AgctFrame*, int, int, bool*);
  using WithFeatures = int(void*, AgctFrame*, int, uint16_t, int, int, bool*);
  Function* walk_ = nullptr;  // or walk_with_features_
  WithFeatures* walk_with_features_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  CanaryBuffer<AgctFrame> buffer_;
};

constexpr std::string_view kDdprofJavaForms[] = {
    "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFrameiP12StackContextPb",
    "_ZN14HotspotSupport17getJavaTraceAsyncEPvP16_asgct_callframeiP12StackContextPb"};
constexpr std::string_view kDdprofFpForms[] = {"_ZN11StackWalker6walkFPEPvPPKviP12StackContextPb"};
constexpr std::string_view kDdprofDwarfForms[] = {
    "_ZN11StackWalker9walkDwarfEPvPPKviP12StackContextPb"};

constexpr JavaTraceForms kDdprofFp = {kProfiler, "StackWalker::walkFP", kWalkFp, kDdprofFpForms,
                                      false,     kDdprofJavaForms};
constexpr JavaTraceForms kDdprofDwarf = {
    kProfiler, "StackWalker::walkDwarf", kWalkDwarf, kDdprofDwarfForms, false, kDdprofJavaForms};

}  // namespace

std::unique_ptr<Walker> MakeDdprofVm() { return std::make_unique<DdprofVmWalker>(); }

std::unique_ptr<Walker> MakeDdprofFp() { return MakeJavaTraceWalker(kDdprofFp); }

std::unique_ptr<Walker> MakeDdprofDwarf() { return MakeJavaTraceWalker(kDdprofDwarf); }

}  // namespace walkhammer
