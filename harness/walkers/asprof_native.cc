// SPDX-License-Identifier: Apache-2.0
// How async-profiler, releases 4.2 to 4.6, walks where it is told not to walk by vmStructs. Its
// cstack=fp and cstack=dwarf name the frames of C by getNativeTrace (walkFP is a part of that) or
// by walkDwarf; Profiler::getJavaTraceAsync has AsyncGetCallTrace walk the Java frames. Up to 4.3
// the walk through C leads to the newest Java frame, and a walk that fails is tried again from
// other registers; from 4.4 on AsyncGetCallTrace's answer stands. The answer keeps the Java frames.
#include "harness/walkers/agct.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/profiler_frames.h"
#include "harness/walkers/profiler_library.h"
#include "harness/walkers/rows.h"

namespace walkhammer {
namespace {

constexpr int kSampleByTimer = 1;  // EventType: not one that perf events walk
constexpr int kMostCFrames = 128;  // MAX_NATIVE_FRAMES

// Where Java code begins: zero if the walk through C did not get there. From 4.4 on not asked for.
struct JavaContext {
  const void* pc;
  uint64_t sp, fp;
};

// What leads through C. In its older form it takes a StackContext*, in its newer form (index 0)
// nothing in that place, or a pointer to a number (of perf events, which is not written here).
// Passing one parameter more than a function has does no harm.
struct CWalk {
  const char* name;
  const char* prefix;
  const char* newer;
  const char* older;
  bool of_profiler;  // a member of Profiler, which names the frames
};
constexpr CWalk kNamedByFp = {
    "Profiler::getNativeTrace", "_ZN8Profiler14getNativeTraceE",
    "_ZN8Profiler14getNativeTraceEPvP15ASGCT_CallFrame9EventTypeiPy",
    "_ZN8Profiler14getNativeTraceEPvP15ASGCT_CallFrame9EventTypeiP12StackContext", true};
constexpr CWalk kCalledByDwarf = {"StackWalker::walkDwarf", "_ZN11StackWalker9walkDwarfE",
                                  "_ZN11StackWalker9walkDwarfEPvPPKvi",
                                  "_ZN11StackWalker9walkDwarfEPvPPKviP12StackContext", false};

class AsprofNativeWalker : public Walker {
 public:
  explicit AsprofNativeWalker(const CWalk& through_c) : through_c_(through_c) {}

  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, "async-profiler"));
    is_native_ = host.is_native;
    ASSIGN_OR_RETURN(const auto c, library.Find(through_c_.name, through_c_.prefix,
                                                {through_c_.newer, through_c_.older}));
    ASSIGN_OR_RETURN(
        const auto java,
        library.Find("Profiler::getJavaTraceAsync", "_ZN8Profiler17getJavaTraceAsyncE",
                     {"_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFramei",
                      "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFrameiP12StackContext"}));
    if (c.index != java.index) return Unable(host.provider + " is of no release that is known");
    auto* instance = static_cast<void**>(library.Variable("_ZN8Profiler9_instanceE"));
    if (instance == nullptr || *instance == nullptr)
      return Unable(host.provider + " has no Profiler::_instance");
    c_ = c.address;
    java_ = reinterpret_cast<JavaTrace*>(java.address);
    profiler_ = *instance;
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(input.depth);
    trace.frames = reinterpret_cast<Frame*>(frames);
    JavaContext newest{};
    WalkThroughC(input, newest);
    const int count = java_(profiler_, input.context, frames, input.depth, &newest);
    kJavaTraceFrames.Keep(frames, count, input.depth, is_native_, trace);
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  using NativeTrace = int(void*, void*, AgctFrame*, int, int, JavaContext*);
  using CallChain = int(void*, const void**, int, JavaContext*);
  using JavaTrace = int(void*, void*, AgctFrame*, int, JavaContext*);

  void WalkThroughC(const WalkInput& input, JavaContext& newest) {
    if (through_c_.of_profiler)
      (void)reinterpret_cast<NativeTrace*>(c_)(profiler_, input.context, named_, kSampleByTimer, 0,
                                               &newest);
    else
      (void)reinterpret_cast<CallChain*>(c_)(input.context, called_, kMostCFrames, &newest);
  }

  const CWalk& through_c_;
  void* c_ = nullptr;
  JavaTrace* java_ = nullptr;
  void* profiler_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  AgctFrame named_[kMostCFrames + 1] = {};
  const void* called_[kMostCFrames] = {};
  CanaryBuffer<AgctFrame> buffer_;
};

template <const CWalk& through_c>
std::unique_ptr<Walker> MakeThroughC() {
  return std::make_unique<AsprofNativeWalker>(through_c);
}

}  // namespace

const WalkerInfo kAsprofFpWalker = {
    .name = "asprof-fp",
    .what = "async-profiler by frame pointers (4.2 to 4.6), with --provider libasyncProfiler.so",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kJavaTraceCodes,
    .make = MakeThroughC<kNamedByFp>,
    .refused_mode = WalksItsOwnStack,
    .replaceable = true,
    .local_function = kNamedByFp.prefix,
};

const WalkerInfo kAsprofDwarfWalker = {
    .name = "asprof-dwarf",
    .what = "async-profiler by DWARF (4.2 to 4.6), with --provider libasyncProfiler.so",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kJavaTraceCodes,
    .make = MakeThroughC<kCalledByDwarf>,
    .refused_mode = WalksItsOwnStack,
    .replaceable = true,
    .local_function = kCalledByDwarf.prefix,
};

}  // namespace walkhammer
