// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/java_trace.h"

#include "harness/walkers/agct.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/profiler_frames.h"
#include "harness/walkers/profiler_library.h"

namespace walkhammer {
namespace {

constexpr int kSampleByTimer = 1;  // EventType: not one that perf events walk
constexpr int kMostCFrames = 128;  // MAX_NATIVE_FRAMES
constexpr const char* kOfProfiler = "_ZN8Profiler17getJavaTraceAsyncE";
constexpr const char* kJavaPrefixes[] = {kOfProfiler, "_ZN14HotspotSupport17getJavaTraceAsyncE"};

// Where Java code begins: zero if the walk through C did not get there, or was not asked.
struct StackContext {
  const void* pc;
  uint64_t sp, fp;
};

class JavaTraceWalker : public Walker {
 public:
  explicit JavaTraceWalker(const JavaTraceForms& forms) : forms_(forms) {}

  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, forms_.profiler));
    is_native_ = host.is_native;
    ASSIGN_OR_RETURN(const auto c, library.Find(forms_.name, forms_.prefixes, forms_.through_c));
    ASSIGN_OR_RETURN(const auto java,
                     library.Find("Profiler::getJavaTraceAsync", kJavaPrefixes, forms_.java));
    if (forms_.through_c.size() == forms_.java.size() && c.index != java.index)
      return Unable(host.provider + " is not of a known release");
    through_c_ = c.address;
    if (!forms_.java[java.index].starts_with(kOfProfiler)) {
      static_java_ = reinterpret_cast<StaticJavaTrace*>(java.address);
      return Ok();
    }
    auto* instance = static_cast<void**>(library.Variable("_ZN8Profiler9_instanceE"));
    if (instance == nullptr || *instance == nullptr)
      return Unable(host.provider + " has no Profiler::_instance");
    java_ = reinterpret_cast<JavaTrace*>(java.address);
    profiler_ = *instance;
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(input.depth);
    trace.frames = reinterpret_cast<Frame*>(frames);
    StackContext newest{};
    bool truncated = false;
    if (forms_.names_frames)
      (void)reinterpret_cast<NamesFrames*>(through_c_)(profiler_, input.context, named_,
                                                       kSampleByTimer, 0, &newest);
    else
      (void)reinterpret_cast<ListsCalls*>(through_c_)(input.context, called_, kMostCFrames, &newest,
                                                      &truncated);
    const int count =
        static_java_ != nullptr
            ? static_java_(input.context, frames, input.depth, &newest, &truncated)
            : java_(profiler_, input.context, frames, input.depth, &newest, &truncated);
    kJavaTraceFrames.Keep(frames, count, input.depth, is_native_, trace);
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  using NamesFrames = int(void*, void*, AgctFrame*, int, int, StackContext*);
  using ListsCalls = int(void*, const void**, int, StackContext*, bool*);
  using JavaTrace = int(void*, void*, AgctFrame*, int, StackContext*, bool*);
  using StaticJavaTrace = int(void*, AgctFrame*, int, StackContext*, bool*);

  const JavaTraceForms& forms_;
  void* through_c_ = nullptr;
  JavaTrace* java_ = nullptr;  // or static_java_
  StaticJavaTrace* static_java_ = nullptr;
  void* profiler_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  AgctFrame named_[kMostCFrames + 1] = {};
  const void* called_[kMostCFrames] = {};
  CanaryBuffer<AgctFrame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeJavaTraceWalker(const JavaTraceForms& forms) {
  return std::make_unique<JavaTraceWalker>(forms);
}

}  // namespace walkhammer
