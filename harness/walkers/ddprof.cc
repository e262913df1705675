// SPDX-License-Identifier: Apache-2.0
// The walkers of Datadog's java-profiler (libjavaProfiler.so, a descendant of async-profiler), as
// its releases 1.4.0 to 1.22.0 hold them. ddprof-vm is StackWalker::walkVM, that profiler's
// cstack=vm. ddprof-fp and ddprof-dwarf are what cstack=fp and cstack=dwarf do: walkFP or walkDwarf
// leads from C to the newest Java frame, and Profiler::getJavaTraceAsync has AsyncGetCallTrace walk
// from there, and tries again with other registers where that fails.
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

class DdprofVmWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, kProfiler));
    is_native_ = host.is_native;
    ASSIGN_OR_RETURN(
        const auto form,
        library.Find("StackWalker::walkVM", kWalkVm,
                     {"_ZN11StackWalker6walkVMEPvP15ASGCT_CallFramei11StackDetailPb"}));
    walk_ = reinterpret_cast<Function*>(form.address);
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(input.depth);
    trace.frames = reinterpret_cast<Frame*>(frames);
    bool truncated = false;
    const int count = walk_(input.context, frames, input.depth, kNormalDetail, &truncated);
    kVmFrames.Keep(frames, count, input.depth, is_native_, trace);
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  using Function = int(void*, AgctFrame*, int, int, bool*);
  Function* walk_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  CanaryBuffer<AgctFrame> buffer_;
};

constexpr std::string_view kDdprofJavaForms[] = {
    "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFrameiP12StackContextPb"};
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
