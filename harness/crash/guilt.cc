// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/guilt.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/crash/missing_part.h"
#include "harness/crash/profiler_library.h"

namespace walkhammer {
namespace {

constexpr char kAgct[] = "AsyncGetCallTrace";
constexpr char kAsgst[] = "AsyncGetStackTrace";
constexpr char kJfrSampler[] = "JFR's thread sampler";
constexpr char kJfrCpu[] = "JFR's CPU-time sampler";
constexpr char kJfrEvents[] = "JFR's stack traces of events";
constexpr char kJvmtiOne[] = "JVMTI GetStackTrace";
constexpr char kJvmtiAll[] = "JVMTI GetAllStackTraces";
constexpr char kAsyncProfilers[] = "async-profiler's own walker";
constexpr char kJavaProfilers[] = "java-profiler's own walker";
constexpr char kJdkWalker[] = "the JDK's own StackWalker (a pull request of OpenJDK)";
constexpr char kJvmtiRequest[] = "JVMTI RequestStackTrace (a pull request of OpenJDK)";
constexpr char kAnyProfiler[] = "a profiler's own walker (async-profiler's code or a descendant)";

using enum WalkerLibrary;

// In the order in which they are tried on a whole chain: the more special first. Function names:
// OpenJDK 8 to 28 and its open pull requests, async-profiler 1 to 4.6, java-profiler 1 to 1.49.
constexpr WalkerPattern kPatterns[] = {
    {"AsyncGetCallTrace$", kOfAny, "agct", kAgct},
    {"forte_fill_call_trace", kOfAny, "agct", kAgct},
    {"vframeStreamForte::", kOfAny, "agct", kAgct},
    {"find_initial_Java_frame$", kOfAny, "agct", kAgct},
    {"AsyncGetStackTrace$", kOfAny, "asgst", kAsgst},
    {"ASGST_", kOfAny, "asgst", kAsgst},
    {"asgst_", kOfAny, "asgst", kAsgst},
    {"walkhammer::asgst::", kOfAny, "asgst", kAsgst},
    {"AsyncGetCallTrace2$", kOfAny, "asgst", kAsgst},
    {"JfrCPUTimeThreadSampl", kOfAny, "", kJfrCpu},
    {"JfrCPUSamplerThread", kOfAny, "", kJfrCpu},
    {"JfrCPUTimeTraceQueue", kOfAny, "", kJfrCpu},
    {"handle_timer_signal$", kOfLibjvm, "", kJfrCpu},
    {"JfrThreadSampl", kOfAny, "", kJfrSampler},
    {"JfrSamplerThread", kOfAny, "", kJfrSampler},
    {"JfrSampleRequestBuilder", kOfAny, "", kJfrSampler},
    {"OSThreadSampler", kOfAny, "", kJfrSampler},
    {"JfrGetCallTrace", kOfAny, "", kJfrSampler},
    {"JfrNativeSamplerCallback", kOfAny, "", kJfrSampler},
    {"JfrStackTrace::record", kOfAny, "", kJfrEvents},
    {"JfrStackTraceRepository::record", kOfAny, "", kJfrEvents},
    {"StackWalker::walkDwarf", kOfAsyncProfiler, "asprof-dwarf", kAsyncProfilers},
    {"StackWalker::walkFP", kOfAsyncProfiler, "asprof-fp", kAsyncProfilers},
    {"StackWalker::", kOfAsyncProfiler, "asprof-vm", kAsyncProfilers},
    {"Profiler::getJavaTrace", kOfAsyncProfiler, "asprof-fp", kAsyncProfilers},
    {"Profiler::getNativeTrace", kOfAsyncProfiler, "asprof-fp", kAsyncProfilers},
    {"PerfEvents::walk", kOfAsyncProfiler, "asprof-fp", kAsyncProfilers},
    {"StackFrame::", kOfAsyncProfiler, "asprof-vm", kAsyncProfilers},
    {"StackWalker::walkDwarf", kOfJavaProfiler, "ddprof-dwarf", kJavaProfilers},
    {"StackWalker::walkFP", kOfJavaProfiler, "ddprof-fp", kJavaProfilers},
    {"StackWalker::", kOfJavaProfiler, "ddprof-vm", kJavaProfilers},
    {"Profiler::getJavaTrace", kOfJavaProfiler, "ddprof-fp", kJavaProfilers},
    {"Profiler::getNativeTrace", kOfJavaProfiler, "ddprof-fp", kJavaProfilers},
    {"PerfEvents::walk", kOfJavaProfiler, "ddprof-fp", kJavaProfilers},
    {"StackFrame::", kOfJavaProfiler, "ddprof-vm", kJavaProfilers},
    {"HotspotSupport::walk", kOfOthers, "", kJavaProfilers},
    {"HotspotSupport::getJavaTrace", kOfOthers, "", kJavaProfilers},
    {"JVMSupport::walk", kOfOthers, "", kJavaProfilers},
    {"HotspotStackFrame::unwind", kOfOthers, "", kJavaProfilers},
    {"StackWalker::walk", kOfOthers, "", kAnyProfiler},
    {"StackFrame::unwind", kOfOthers, "", kAnyProfiler},
    {"Profiler::getJavaTrace", kOfOthers, "", kAnyProfiler},
    {"StackWalker::", kOfLibjvm, "", kJdkWalker},
    {"JvmtiEnv::RequestStackTrace$", kOfAny, "", kJvmtiRequest},
    {"jvmti_RequestStackTrace$", kOfAny, "", kJvmtiRequest},
    {"RequestStackTrace", kOfLibjvm, "", kJvmtiRequest},
    {"JvmtiRequestStackTrace", kOfAny, "", kJvmtiRequest},
    {"JfrAsyncStackTrace", kOfAny, "", kJvmtiRequest},
    {"JfrStackWalkerCallback", kOfAny, "", kJvmtiRequest},
    {"VM_GetAllStackTraces", kOfAny, "", kJvmtiAll},
    {"VM_GetThreadListStackTraces", kOfAny, "", kJvmtiAll},
    {"MultipleStackTracesCollector", kOfAny, "", kJvmtiAll},
    {"JvmtiEnv::GetAllStackTraces$", kOfAny, "", kJvmtiAll},
    {"JvmtiEnv::GetThreadListStackTraces$", kOfAny, "", kJvmtiAll},
    {"jvmti_GetAllStackTraces$", kOfAny, "", kJvmtiAll},
    {"jvmti_GetThreadListStackTraces$", kOfAny, "", kJvmtiAll},
    {"GetStackTraceClosure", kOfAny, "", kJvmtiOne},
    {"JvmtiEnv::GetStackTrace$", kOfAny, "", kJvmtiOne},
    {"JvmtiEnvBase::get_stack_trace$", kOfAny, "", kJvmtiOne},
    {"jvmti_GetStackTrace$", kOfAny, "", kJvmtiOne},
    {"VM_ThreadDump", kOfAny, "", "a thread dump"},
    {"VM_PrintThreads", kOfAny, "", "a thread dump"},
    {"StackWalk::", kOfLibjvm, "", "java.lang.StackWalker"},
};
static_assert(std::ranges::all_of(kPatterns, [](const WalkerPattern& pattern) {
  return *pattern.function != 0 && *pattern.whose != 0;
}));

// What of a profiler reads the JVM's structures by itself, for the most part in a walk. libjvm has
// classes of some of these names, and profilers read at their start, too: see BlameReader.
constexpr const char* kReaders[] = {
    "NMethod::",         "CodeHeap::findNMethod", "VMStructs::", "InterpreterFrame::", "VMThread::",
    "JavaFrameAnchor::", "ScopeDesc::",           "Dwarf",       "VMMethod::",         "VMKlass::"};
constexpr WalkerPattern kAsyncReader = {"", kOfAsyncProfiler, "asprof-vm", kAsyncProfilers};
constexpr WalkerPattern kJavaReader = {"", kOfJavaProfiler, "ddprof-vm", kJavaProfilers};
constexpr WalkerPattern kAnyReader = {"", kOfOthers, "", kAnyProfiler};

// A failed check that names its walker: whatever the chain lacks, this one ran.
struct WalkerCheck {
  const char* text;  // a part of the failed check
  WalkerPattern pattern;
};
constexpr WalkerCheck kChecks[] = {{"in_asgct", {"", kOfAny, "agct", kAgct}}};

struct Protection {
  const char* function;  // the comparable name begins with it
  const char* what;
  const char* only;  // which threads it protects, if not all
};

constexpr Protection kProtections[] = {
    {"ThreadCrashProtection::", "JFR's ThreadCrashProtection", ""},
    {"os::ThreadCrashProtection::", "JFR's ThreadCrashProtection", ""},
    {"StackWalker::walkVM", "the setjmp of StackWalker::walkVM",
     "async-profiler before 4.3 protects only threads with a VMThread (async-profiler #1626)"},
    {"HotspotSupport::walkVM", "the setjmp of HotspotSupport::walkVM",
     "java-profiler before 1.49 protects only threads with a VMThread"},
    {"SafeAccess::", "SafeAccess of the profiler", ""},
    {"SafeFetch", "HotSpot's SafeFetch", ""},
};

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (name.ends_with("::run")) return false;  // the loop of a thread, which mostly waits
  if (!pattern.ends_with('$')) return name.starts_with(pattern);
  pattern.remove_suffix(1);
  return name == pattern;
}

bool IsOf(WalkerLibrary library, const CrashFrame& frame) {
  const auto is_named = [&](std::string_view name) {
    const char* profiler = ProfilerOf(frame);
    return profiler != nullptr && name == profiler;
  };
  switch (library) {
    case kOfLibjvm:
      return IsLibjvmFrame(frame);
    case kOfOthers:
      return !IsLibjvmFrame(frame);
    case kOfAsyncProfiler:
      return is_named(kAsyncProfilerName);
    case kOfJavaProfiler:
      return is_named(kJavaProfilerName);
    default:
      return true;
  }
}

std::vector<std::string> LoadedProfilers(const CrashReport& report) {
  std::vector<std::string> names;
  const auto add = [&](const char* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const CrashModule& module : report.modules)
    if (const char* profiler = ProfilerByName(module.path)) add(profiler);
  if (report.command_line.value.find("FlightRecord") != std::string::npos) add("JFR");
  const auto is_jfr = [](const CrashThread& thread) { return thread.name.starts_with("JFR "); };
  if (std::any_of(report.threads.begin(), report.threads.end(), is_jfr)) add("JFR");
  return names;
}

// Takes profilers that are in the chain out of the list of those not to blame.
void RemoveGuilty(const GuiltVerdict& verdict, const CrashedChain& chain,
                  std::vector<std::string>& names) {
  std::erase_if(names, [&](const std::string& name) {
    if (verdict.guilt == Guilt::kWalker && name == "JFR" &&
        std::string_view(verdict.pattern->whose).starts_with("JFR"))
      return true;
    return std::any_of(chain.calls.begin(), chain.calls.end(), [&](const CrashFrame& frame) {
      const char* profiler = ProfilerOf(frame);
      return profiler != nullptr && name == profiler;
    });
  });
}

void Blame(const WalkerPattern& pattern, const CrashFrame& frame, GuiltVerdict& verdict) {
  verdict.guilt = Guilt::kWalker;
  verdict.pattern = &pattern;
  verdict.function = ComparableFunction(frame.symbol);
  verdict.line = frame.line;
  verdict.why = fmt::format("{} is in the chain of calls that crashed", verdict.function);
}

bool BlameWalker(const CrashedChain& chain, GuiltVerdict& verdict) {
  std::vector<std::string> names;
  for (const CrashFrame& frame : chain.calls) names.push_back(ComparableFunction(frame.symbol));
  for (const WalkerPattern& pattern : kPatterns)
    for (size_t i = 0; i < names.size(); i++) {
      const CrashFrame& frame = chain.calls[i];
      if (!NameMatches(pattern.function, names[i]) || !IsOf(pattern.library, frame)) continue;
      Blame(pattern, frame, verdict);
      return true;
    }
  return false;
}

bool IsReader(const CrashFrame& frame) {
  const std::string name = ComparableFunction(frame.symbol);
  return std::any_of(std::begin(kReaders), std::end(kReaders),
                     [&](const char* reader) { return name.starts_with(reader); });
}

// The frame of the function that takes a sample, into which a walk may be inlined.
const CrashFrame* SampleOf(const CrashedChain& chain, size_t from) {
  for (size_t i = from; i < chain.calls.size(); i++)
    if (ComparableFunction(chain.calls[i].symbol).starts_with("Profiler::recordSample"))
      return &chain.calls[i];
  return nullptr;
}

// A reader is in a walk if a sample is being taken, or if a profiler handles a signal.
bool BlameReader(const CrashedChain& chain, GuiltVerdict& verdict) {
  for (size_t i = 0; i < chain.calls.size(); i++) {
    const CrashFrame& frame = chain.calls[i];
    if (!IsReader(frame)) continue;
    const CrashFrame* sample = SampleOf(chain, i + 1);
    const bool handles = chain.end == ChainEnd::kSignal && ProfilerOf(frame) != nullptr;
    if (sample == nullptr && !handles) continue;
    const CrashFrame& owner = sample != nullptr ? *sample : frame;
    const WalkerPattern& pattern = IsOf(kOfAsyncProfiler, owner)  ? kAsyncReader
                                   : IsOf(kOfJavaProfiler, owner) ? kJavaReader
                                                                  : kAnyReader;
    Blame(pattern, frame, verdict);
    return true;
  }
  return false;
}

// A chain that is given in full and has no walker speaks against the check's text.
bool BlameCheck(const CrashReport& report, bool is_complete, GuiltVerdict& verdict) {
  for (const WalkerCheck& check : kChecks) {
    if (report.internal.text.find(check.text) == std::string::npos) continue;
    verdict.guilt = is_complete ? Guilt::kPossible : Guilt::kWalker;
    verdict.why = fmt::format("the failed check, {}, is one that {} must pass",
                              report.internal.text, check.pattern.whose);
    if (!is_complete) verdict.pattern = &check.pattern;
    if (is_complete) verdict.why += ", but its frame is not in the chain";
    verdict.line = report.internal.kind.line;
    return true;
  }
  return false;
}

void BlameNobodyOrAnybody(const CrashReport& report, const CrashedChain& chain,
                          GuiltVerdict& verdict) {
  if (report.error == CrashError::kJavaHeapFull) {
    verdict.why = "the Java heap was full, and the JVM was set to end then";
    return;
  }
  const MissingPart missing = MissingPartOf(report, chain);
  if (BlameCheck(report, missing.why.empty(), verdict)) return;
  verdict.guilt = missing.why.empty() ? Guilt::kNone : Guilt::kPossible;
  verdict.why = missing.why;
  verdict.help = missing.help;
  verdict.command = missing.command;
  if (verdict.guilt == Guilt::kNone)
    verdict.why = chain.calls.front().is_java()
                      ? "Java code crashed, which no stack walker calls"
                      : "no function of a stack walker is in the chain of calls that crashed";
}

void FindProtection(const CrashReport& report, const CrashedChain& chain, GuiltVerdict& verdict) {
  for (const CrashFrame& frame : chain.calls)
    for (const Protection& protection : kProtections) {
      if (!ComparableFunction(frame.symbol).starts_with(protection.function)) continue;
      verdict.protection = protection.what;
      if (report.thread.kind == "native thread") verdict.unprotected = protection.only;
      return;
    }
}

}  // namespace

bool IsOfLibrary(const GuiltVerdict& guilt) {
  if (guilt.pattern == nullptr) return false;
  const auto walker = FindWalker(guilt.pattern->walker);
  return walker && !AllWalkers()[static_cast<size_t>(*walker)].local_functions.empty();
}

int WalkerFor(const GuiltVerdict& guilt, const std::string& library) {
  std::string_view name = guilt.pattern != nullptr ? guilt.pattern->walker : "";
  if (library.empty()) {
    if (IsOfLibrary(guilt)) name = "";
  } else if (guilt.pattern == nullptr) {
    const char* profiler = ProfilerByContents(library);
    if (profiler != nullptr)
      name = std::string_view(profiler) == kAsyncProfilerName ? "asprof-vm" : "ddprof-vm";
  }
  return FindWalker(name).value_or(FindWalker("agct").value_or(0));
}

GuiltVerdict JudgeGuilt(const CrashReport& report, const CrashedChain& chain) {
  GuiltVerdict verdict;
  verdict.innocent = LoadedProfilers(report);
  if (!BlameWalker(chain, verdict) && !BlameReader(chain, verdict))
    BlameNobodyOrAnybody(report, chain, verdict);
  if (verdict.guilt == Guilt::kWalker) FindProtection(report, chain, verdict);
  RemoveGuilty(verdict, chain, verdict.innocent);
  return verdict;
}

}  // namespace walkhammer
