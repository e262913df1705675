// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/guilt.h"

#include <fmt/format.h>

#include <algorithm>

namespace walkhammer {
namespace {

constexpr char kAgct[] = "AsyncGetCallTrace";
constexpr char kAsgst[] = "AsyncGetStackTrace";
constexpr char kJfrSampler[] = "JFR's thread sampler";
constexpr char kJfrCpu[] = "JFR's CPU-time sampler";
constexpr char kJfrEvents[] = "JFR's stack traces of events";
constexpr char kJvmtiOne[] = "JVMTI GetStackTrace";
constexpr char kJvmtiAll[] = "JVMTI GetAllStackTraces";
constexpr char kAsyncProfiler[] = "async-profiler's own walker";
constexpr char kJavaProfiler[] = "java-profiler's own walker";
constexpr char kAnyProfiler[] = "a profiler's own walker (async-profiler's code or a descendant)";

constexpr char kAsyncProfilerFile[] = "libasyncProfiler";
constexpr char kJavaProfilerFile[] = "libjavaProfiler";

// In the order in which they are tried on a whole chain: the more special first. Function names:
// OpenJDK 8 to 28, async-profiler 1 to 4.6, java-profiler 1.22.
constexpr WalkerPattern kPatterns[] = {
    {"AsyncGetCallTrace$", "", "agct", kAgct},
    {"forte_fill_call_trace", "", "agct", kAgct},
    {"vframeStreamForte::", "", "agct", kAgct},
    {"find_initial_Java_frame$", "", "agct", kAgct},
    {"AsyncGetStackTrace$", "", "asgst", kAsgst},
    {"ASGST_", "", "asgst", kAsgst},
    {"asgst_", "", "asgst", kAsgst},
    {"walkhammer::asgst::", "", "asgst", kAsgst},
    {"AsyncGetCallTrace2$", "", "asgst", kAsgst},
    {"JfrCPUTimeThreadSampl", "", "", kJfrCpu},
    {"JfrCPUSamplerThread", "", "", kJfrCpu},
    {"JfrCPUTimeTraceQueue", "", "", kJfrCpu},
    {"handle_timer_signal$", "libjvm", "", kJfrCpu},
    {"JfrThreadSampl", "", "", kJfrSampler},
    {"JfrSamplerThread", "", "", kJfrSampler},
    {"JfrSampleRequestBuilder", "", "", kJfrSampler},
    {"OSThreadSampler", "", "", kJfrSampler},
    {"JfrGetCallTrace", "", "", kJfrSampler},
    {"JfrNativeSamplerCallback", "", "", kJfrSampler},
    {"JfrStackTrace::record", "", "", kJfrEvents},
    {"JfrStackTraceRepository::record", "", "", kJfrEvents},
    {"StackWalker::", kAsyncProfilerFile, "", kAsyncProfiler},
    {"StackFrame::", kAsyncProfilerFile, "", kAsyncProfiler},
    {"Profiler::getJavaTrace", kAsyncProfilerFile, "", kAsyncProfiler},
    {"Profiler::getNativeTrace", kAsyncProfilerFile, "", kAsyncProfiler},
    {"StackWalker::", kJavaProfilerFile, "", kJavaProfiler},
    {"StackFrame::", kJavaProfilerFile, "", kJavaProfiler},
    {"Profiler::getJavaTrace", kJavaProfilerFile, "", kJavaProfiler},
    {"Profiler::getNativeTrace", kJavaProfilerFile, "", kJavaProfiler},
    {"StackWalker::walk", "", "", kAnyProfiler},
    {"VM_GetAllStackTraces", "", "", kJvmtiAll},
    {"VM_GetThreadListStackTraces", "", "", kJvmtiAll},
    {"MultipleStackTracesCollector", "", "", kJvmtiAll},
    {"JvmtiEnv::GetAllStackTraces$", "", "", kJvmtiAll},
    {"JvmtiEnv::GetThreadListStackTraces$", "", "", kJvmtiAll},
    {"jvmti_GetAllStackTraces$", "", "", kJvmtiAll},
    {"jvmti_GetThreadListStackTraces$", "", "", kJvmtiAll},
    {"GetStackTraceClosure", "", "", kJvmtiOne},
    {"JvmtiEnv::GetStackTrace$", "", "", kJvmtiOne},
    {"JvmtiEnvBase::get_stack_trace$", "", "", kJvmtiOne},
    {"jvmti_GetStackTrace$", "", "", kJvmtiOne},
    {"VM_ThreadDump", "", "", "a thread dump"},
    {"VM_PrintThreads", "", "", "a thread dump"},
    {"StackWalk::", "libjvm", "", "java.lang.StackWalker"},
};
static_assert(std::ranges::all_of(kPatterns, [](const WalkerPattern& pattern) {
  return *pattern.function != 0 && *pattern.whose != 0;
}));

struct Protection {
  const char* function;  // the comparable name begins with it
  const char* what;
};

constexpr Protection kProtections[] = {
    {"ThreadCrashProtection::", "JFR's ThreadCrashProtection"},
    {"os::ThreadCrashProtection::", "JFR's ThreadCrashProtection"},
    {"StackWalker::walkVM", "the setjmp of StackWalker::walkVM"},
    {"SafeAccess::", "SafeAccess of the profiler"},
    {"SafeFetch", "HotSpot's SafeFetch"},
};

struct LoadedProfiler {
  const char* file;  // the file name begins with it
  const char* name;
};

constexpr LoadedProfiler kProfilers[] = {{kAsyncProfilerFile, "async-profiler"},
                                         {kJavaProfilerFile, "java-profiler"},
                                         {"libyjpagent", "YourKit"},
                                         {"libjprofilerti", "JProfiler"},
                                         {"liblagent", "Honest Profiler"},
                                         {"libwalkhammer_agent", "walkhammer's agent"},
                                         {"walkhammer_agent", "walkhammer's agent"},
                                         {"libasgst", "libasgst"},
                                         {"libperfagent", "perf-map-agent"},
                                         {"liboneagentjava", "Dynatrace"}};

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (name.ends_with("::run")) return false;  // the loop of a thread, which mostly waits
  if (!pattern.ends_with('$')) return name.starts_with(pattern);
  pattern.remove_suffix(1);
  return name == pattern;
}

std::string FileName(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::vector<std::string> LoadedProfilers(const CrashReport& report) {
  std::vector<std::string> names;
  const auto add = [&](const char* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const CrashModule& module : report.modules)
    for (const LoadedProfiler& profiler : kProfilers)
      if (FileName(module.path).starts_with(profiler.file)) add(profiler.name);
  if (report.command_line.value.find("FlightRecord") != std::string::npos) add("JFR");
  const auto is_jfr = [](const CrashThread& thread) { return thread.name.starts_with("JFR "); };
  if (std::any_of(report.threads.begin(), report.threads.end(), is_jfr)) add("JFR");
  return names;
}

// Takes profilers that are in the chain out of the list of innocent ones.
void RemoveGuilty(const GuiltVerdict& verdict, const CrashedChain& chain,
                  std::vector<std::string>& names) {
  std::erase_if(names, [&](const std::string& name) {
    if (verdict.guilt == Guilt::kWalker && name == "JFR" &&
        std::string_view(verdict.pattern->whose).starts_with("JFR"))
      return true;
    for (const LoadedProfiler& profiler : kProfilers)
      for (const CrashFrame& frame : chain.calls)
        if (name == profiler.name && frame.module.starts_with(profiler.file)) return true;
    return false;
  });
}

bool BlameWalker(const CrashedChain& chain, GuiltVerdict& verdict) {
  for (const WalkerPattern& pattern : kPatterns)
    for (const CrashFrame& frame : chain.calls) {
      if (!frame.module.starts_with(pattern.module)) continue;
      if (!NameMatches(pattern.function, ComparableFunction(frame.symbol))) continue;
      verdict.guilt = Guilt::kWalker;
      verdict.pattern = &pattern;
      verdict.function = ComparableFunction(frame.symbol);
      verdict.line = frame.line;
      return true;
    }
  return false;
}

// Code of the JVM that every stack walk runs, and that little else does.
bool IsOftenAWalk(std::string_view function) {
  for (const char* prefix : {"frame::", "vframeStream", "RegisterMap::", "CodeCache::find_blob",
                             "PcDescContainer::", "JavaThread::pd_get_top_frame",
                             "Method::is_valid", "StackFrameStream", "CodeBlob::"})
    if (function.starts_with(prefix)) return true;
  return false;
}

std::string WhyNone(const CrashReport& report, const CrashedChain& chain) {
  if (chain.calls.empty()) {
    return report.problematic_frame ? "the code that crashed was not called by any native code"
                                    : "the text tells nothing of the stack";
  }
  return "no function of a stack walker is in the chain of calls that crashed";
}

}  // namespace

GuiltVerdict JudgeGuilt(const CrashReport& report, const CrashedChain& chain) {
  GuiltVerdict verdict;
  verdict.innocent = LoadedProfilers(report);
  if (BlameWalker(chain, verdict)) {
    verdict.why = fmt::format("{} is in the chain of calls that crashed", verdict.function);
  } else {
    const int blamed = BlamedFrame(chain.calls);
    const std::string function =
        blamed < 0 ? "" : ComparableFunction(chain.calls[static_cast<size_t>(blamed)].symbol);
    const bool nothing_known = chain.calls.empty() && !report.problematic_frame;
    verdict.why = WhyNone(report, chain);
    if (nothing_known) verdict.guilt = Guilt::kPossible;
    if (chain.is_partial && IsOftenAWalk(function)) {
      verdict.guilt = Guilt::kPossible;
      verdict.why = function + " runs in most stack walks, and the text does not tell its callers";
    }
  }
  for (const CrashFrame& frame : chain.calls)
    for (const Protection& protection : kProtections)
      if (verdict.guilt == Guilt::kWalker && verdict.protection.empty() &&
          ComparableFunction(frame.symbol).starts_with(protection.function))
        verdict.protection = protection.what;
  RemoveGuilty(verdict, chain, verdict.innocent);
  return verdict;
}

}  // namespace walkhammer
