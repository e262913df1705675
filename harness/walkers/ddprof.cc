// SPDX-License-Identifier: Apache-2.0
// The walkers of Datadog's java-profiler (libjavaProfiler.so, a descendant of async-profiler), as
// its releases 1.4.0 to 1.22.0 hold them. ddprof-vm is StackWalker::walkVM, that profiler's
// cstack=vm. ddprof-fp and ddprof-dwarf are what cstack=fp and cstack=dwarf do: walkFP or walkDwarf
// leads from C to the newest Java frame, and Profiler::getJavaTraceAsync has AsyncGetCallTrace walk
// from there, and tries again with other registers where that fails.
#include "harness/walkers/agct.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/profiler_frames.h"
#include "harness/walkers/profiler_library.h"
#include "harness/walkers/rows.h"

namespace walkhammer {
namespace {

constexpr char kProfiler[] = "java-profiler";
constexpr char kWalkFp[] = "_ZN11StackWalker6walkFPE";
constexpr char kWalkDwarf[] = "_ZN11StackWalker9walkDwarfE";
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

// Where Java code begins: zero if the walk through C did not get there.
struct StackContext {
  const void* pc;
  uint64_t sp, fp;
};

// What leads through C to the newest Java frame.
struct NativeWalk {
  const char* name;
  const char* prefix;
  const char* form;
};
constexpr NativeWalk kFp = {"StackWalker::walkFP", kWalkFp,
                            "_ZN11StackWalker6walkFPEPvPPKviP12StackContextPb"};
constexpr NativeWalk kDwarf = {"StackWalker::walkDwarf", kWalkDwarf,
                               "_ZN11StackWalker9walkDwarfEPvPPKviP12StackContextPb"};

class DdprofNativeWalker : public Walker {
 public:
  explicit DdprofNativeWalker(const NativeWalk& native) : native_(native) {}

  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, kProfiler));
    is_native_ = host.is_native;
    ASSIGN_OR_RETURN(const auto to_java,
                     library.Find(native_.name, native_.prefix, {native_.form}));
    ASSIGN_OR_RETURN(
        const auto java,
        library.Find("Profiler::getJavaTraceAsync", "_ZN8Profiler17getJavaTraceAsyncE",
                     {"_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFrameiP12StackContextPb"}));
    auto* instance = static_cast<void**>(library.Variable("_ZN8Profiler9_instanceE"));
    if (instance == nullptr || *instance == nullptr)
      return Unable(host.provider + " has no Profiler::_instance");
    to_java_ = reinterpret_cast<ToJava*>(to_java.address);
    java_ = reinterpret_cast<JavaTrace*>(java.address);
    profiler_ = *instance;
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(input.depth);
    trace.frames = reinterpret_cast<Frame*>(frames);
    StackContext newest{};
    bool truncated = false;
    (void)to_java_(input.context, called_, kMostCalled, &newest, &truncated);
    const int count = java_(profiler_, input.context, frames, input.depth, &newest, &truncated);
    kJavaTraceFrames.Keep(frames, count, input.depth, is_native_, trace);
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  using ToJava = int(void*, const void**, int, StackContext*, bool*);
  using JavaTrace = int(void*, void*, AgctFrame*, int, StackContext*, bool*);
  static constexpr int kMostCalled = 128;  // MAX_NATIVE_FRAMES

  const NativeWalk& native_;
  ToJava* to_java_ = nullptr;
  JavaTrace* java_ = nullptr;
  void* profiler_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  const void* called_[kMostCalled] = {};
  CanaryBuffer<AgctFrame> buffer_;
};

template <const NativeWalk& native>
std::unique_ptr<Walker> Make() {
  return std::make_unique<DdprofNativeWalker>(native);
}

}  // namespace

const WalkerInfo kDdprofVmWalker = {
    .name = "ddprof-vm",
    .what = "java-profiler's own walker (1.21.1 to 1.22.0), with --provider libjavaProfiler.so",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kVmFramesCodes,
    .make = [] { return std::unique_ptr<Walker>(std::make_unique<DdprofVmWalker>()); },
    .refused_mode = WalksItsOwnStack,
    .replaceable = true,
    .local_function = kWalkVm,
};

const WalkerInfo kDdprofFpWalker = {
    .name = "ddprof-fp",
    .what = "java-profiler by frame pointers (1.4.0 to 1.22.0), with --provider libjavaProfiler.so",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kJavaTraceCodes,
    .make = Make<kFp>,
    .refused_mode = WalksItsOwnStack,
    .replaceable = true,
    .local_function = kWalkFp,
};

const WalkerInfo kDdprofDwarfWalker = {
    .name = "ddprof-dwarf",
    .what = "java-profiler by DWARF (1.4.0 to 1.22.0), with --provider libjavaProfiler.so",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kJavaTraceCodes,
    .make = Make<kDwarf>,
    .refused_mode = WalksItsOwnStack,
    .replaceable = true,
    .local_function = kWalkDwarf,
};

}  // namespace walkhammer
