// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/guilt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/crash/crash_testing.h"
#include "harness/hs_err/testing/crash_log.h"

namespace walkhammer {
namespace {

GuiltVerdict GuiltOf(const std::string& text) {
  const CrashReport report = ParseCrashReport(text);
  return JudgeGuilt(report, ChainOf(report));
}

GuiltVerdict GuiltOfFrames(const std::vector<std::string>& frames, const std::string& extra = "") {
  return GuiltOf(LogWith(frames, extra));
}

constexpr char kProfilerLoaded[] =
    "Dynamic libraries:\n"
    "7f3500000000-7f3500100000 r-xp 00000000 08:01 12 /opt/libasyncProfiler.so\n"
    "7f3600000000-7f3600100000 r-xp 00000000 08:01 13 /usr/lib/jvm/lib/server/libjvm.so\n\n";

TEST(Guilt, NamesTheWalkerInTheChain) {
  const struct {
    const char* frame;
    const char* whose;
  } kCases[] = {
      {kAgct, "AsyncGetCallTrace"},
      {"V  [libjvm.so+0x1]  JfrThreadSampleClosure::sample_thread_in_java(JavaThread*)+0x1f",
       "JFR's thread sampler"},
      {"V  [libjvm.so+0x1]  JfrCPUTimeThreadSampler::handle_timer_signal(siginfo_t*, void*)+0x1f",
       "JFR's CPU-time sampler"},
      {"V  [libjvm.so+0x1]  JvmtiEnv::GetStackTrace(_jobject*, int, int)+0x1f",
       "JVMTI GetStackTrace"},
      {"V  [libjvm.so+0x1]  VM_GetAllStackTraces::doit()+0x1f", "JVMTI GetAllStackTraces"},
      {"C  [libasyncProfiler.so+0x1]  StackWalker::walkVM(void*, ASGCT_CallFrame*, int, int)+0x1f",
       "async-profiler's own walker"},
      {"C  [libjavaProfiler.so+0x1]  StackWalker::walkDwarf(void*, void const**, int)+0x1f",
       "java-profiler's own walker"},
  };
  for (const auto& test : kCases) {
    const GuiltVerdict verdict = GuiltOfFrames({kSender, test.frame, kHandler, kJava});
    EXPECT_EQ(verdict.guilt, Guilt::kWalker) << test.frame;
    ASSERT_NE(verdict.pattern, nullptr) << test.frame;
    EXPECT_STREQ(verdict.pattern->whose, test.whose);
  }
}

TEST(Guilt, DoesNotBlameAProfilerThatIsOnlyLoaded) {
  const GuiltVerdict verdict = GuiltOfFrames(
      {"V  [libjvm.so+0x1]  G1ParScanThreadState::copy_to_survivor_space(oop)+0x1f",
       "V  [libjvm.so+0x2]  GangWorker::run()+0x2", "V  [libjvm.so+0x3]  Thread::call_run()+0x3"},
      kProfilerLoaded);
  EXPECT_EQ(verdict.guilt, Guilt::kNone);
  EXPECT_EQ(verdict.pattern, nullptr);
  EXPECT_EQ(verdict.innocent, std::vector<std::string>{"async-profiler"});
}

TEST(Guilt, DoesNotBlameARecordingThatIsOn) {
  const GuiltVerdict verdict =
      GuiltOf(LogWith({"C  [libc.so.6+0x1]  __futex_abstimed_wait+0x1f",
                       "V  [libjvm.so+0x2]  WatcherThread::run()+0x2", kThreadStart}) +
              "Command Line: -XX:StartFlightRecording -Xmx1g\n");
  EXPECT_EQ(verdict.guilt, Guilt::kNone);
  EXPECT_EQ(verdict.innocent, std::vector<std::string>{"JFR"});
}

TEST(Guilt, DoesNotBlameFramesThatOnlyCalledJavaCodeNorTheLoopOfASampler) {
  EXPECT_EQ(GuiltOfFrames({kJava, kInterpreted, kAgct}).guilt, Guilt::kNone);
  EXPECT_EQ(GuiltOfFrames({"C  [libc.so.6+0x1]  __futex_abstimed_wait+0x1f",
                           "V  [libjvm.so+0x2]  JfrThreadSampler::run()+0x2",
                           "V  [libjvm.so+0x3]  Thread::call_run()+0x3"})
                .guilt,
            Guilt::kNone);
}

TEST(Guilt, SaysThatTheTextDoesNotTellEnough) {
  EXPECT_EQ(GuiltOfFrames({kSender}).guilt, Guilt::kPossible);
  const char* parse = "V  [libjvm.so+0x1]  Parse::do_one_block()+0x1";
  EXPECT_EQ(GuiltOfFrames({parse}).guilt, Guilt::kPossible);
  EXPECT_EQ(GuiltOfFrames({parse, kThreadStart}).guilt, Guilt::kNone);
}

TEST(Guilt, KnowsAProfilerByAnyPartOfItsLibrarysName) {
  const char* own = "  StackFrame::unwindStub(unsigned char*, char const*)+0x13";
  for (const char* file : {"libasyncProfiler.so", "spark-80455fabb02ff-libasyncProfiler.so.tmp",
                           "libasyncProfiler-4.1-linux-x64-0d1f.so"}) {
    const GuiltVerdict verdict =
        GuiltOfFrames({fmt::format("C  [{}+0x218d3]{}", file, own),
                       fmt::format("C  [{}+0x27d0c]  PerfEvents::signalHandler(int)+0xec", file),
                       "C  [libc.so.6+0x45320]", kJava});
    ASSERT_EQ(verdict.guilt, Guilt::kWalker) << file;
    EXPECT_STREQ(verdict.pattern->whose, "async-profiler's own walker") << file;
  }
  EXPECT_EQ(GuiltOfFrames({"V  [libjvm.so+0x1]  StackFrame::unwindStub()+0x13", kJava}).guilt,
            Guilt::kNone)
      << "a function of that name in libjvm is not the profiler's";
}

TEST(Guilt, KnowsTheNamesOfJavaProfilerSince1_41) {
  for (const char* function :
       {"HotspotSupport::walkVM(void*, ASGCT_CallFrame*, int)",
        "HotspotSupport::getJavaTraceAsync(void*, ASGCT_CallFrame*, int, StackContext*, bool*)",
        "HotspotSupport::walkJavaStack(StackWalkRequest&)",
        "JVMSupport::walkJavaStack(StackWalkRequest&)",
        "HotspotStackFrame::unwindStub(unsigned char*)", "HotspotStackFrame::unwindCompiled()",
        "_ZN14HotspotSupport13walkJavaStackER16StackWalkRequest"})
    for (const char* file : {"libjavaProfiler.so", "libjavaProfiler-dd-tmp7114.so"}) {
      const GuiltVerdict verdict = GuiltOfFrames(
          {fmt::format("C  [{}+0x418d3]  {}+0x213", file, function), kHandler, kJava});
      ASSERT_EQ(verdict.guilt, Guilt::kWalker) << function;
      EXPECT_STREQ(verdict.pattern->whose, "java-profiler's own walker") << function;
    }
  EXPECT_EQ(GuiltOfFrames({"C  [libjavaProfiler.so+0x1]  HotspotSupport::initialize()+0x2",
                           "C  [libjavaProfiler.so+0x2]  Agent_OnLoad+0x9",
                           "C  [libjli.so+0x3]  JavaMain+0x4"})
                .guilt,
            Guilt::kNone);
}

TEST(Guilt, TellsTheJdksOwnWalkerFromAProfilers) {
  const struct {
    const char* frame;
    const char* whose;
  } kCases[] = {
      {"V  [libjvm.so+0x1]  StackWalker::walk(frame)+0x1",
       "the JDK's own StackWalker (a pull request of OpenJDK)"},
      {"C  [libother.so+0x1]  StackWalker::walkFP(void*)+0x1",
       "a profiler's own walker (async-profiler's code or a descendant)"},
      {"V  [libjvm.so+0x1]  JvmtiEnv::RequestStackTrace(_jobject*)+0x1",
       "JVMTI RequestStackTrace (a pull request of OpenJDK)"},
  };
  for (const auto& test : kCases) {
    const GuiltVerdict verdict = GuiltOfFrames({kSender, test.frame, kThreadStart});
    ASSERT_EQ(verdict.guilt, Guilt::kWalker) << test.frame;
    EXPECT_STREQ(verdict.pattern->whose, test.whose);
  }
}

// A profiler's readers of vmStructs run in a walk, and at its start; libjvm has classes of these
// names.
TEST(Guilt, BlamesAReaderOnlyInASample) {
  const std::string reader = "C  [libasyncProfiler.so+0x78af]  NMethod::isNMethod()+0x1f";
  const std::string sample =
      "C  [libasyncProfiler.so+0x26df0]  Profiler::recordSample(void*, unsigned long long)+0x500";
  const std::string handler =
      "C  [libasyncProfiler.so+0x27d0c]  PerfEvents::signalHandler(int, siginfo*, void*)+0xec";
  const std::string libc = "C  [libc.so.6+0x45320]";
  const std::string alloc = "V  [libjvm.so+0x10]  ZPageCache::alloc_page(ZPageType)+0xdd";
  const GuiltVerdict inlined = GuiltOfFrames({reader, sample, handler, libc, alloc});
  ASSERT_EQ(inlined.guilt, Guilt::kWalker);
  EXPECT_STREQ(inlined.pattern->whose, "async-profiler's own walker");
  EXPECT_EQ(inlined.function, "NMethod::isNMethod");
  EXPECT_EQ(GuiltOfFrames({reader, handler, libc, alloc}).guilt, Guilt::kWalker);
  EXPECT_EQ(GuiltOfFrames(
                {"V  [libjvm.so+0x1]  ScopeDesc::decode_body()+0x1", sample, handler, libc, alloc})
                .guilt,
            Guilt::kWalker);
  EXPECT_EQ(GuiltOfFrames({reader}).guilt, Guilt::kPossible) << "its callers are not told";
  EXPECT_EQ(GuiltOfFrames({reader, "C  [libasyncProfiler.so+0x9]  Profiler::start(Args&)+0x9",
                           "C  [libjli.so+0x3]  JavaMain+0x4"})
                .guilt,
            Guilt::kNone);
  for (const char* own :
       {"ScopeDesc::decode_body()", "VMThread::run_task()", "JavaFrameAnchor::x()"})
    EXPECT_EQ(GuiltOfFrames({fmt::format("V  [libjvm.so+0x1]  {}+0x1f", own), kThreadStart}).guilt,
              Guilt::kNone)
        << own;
}

TEST(Guilt, ReadsMangledNames) {
  const GuiltVerdict verdict = GuiltOf(
      "#0  0x00007f2a300218d3 in _ZN11StackWalker6walkVMEPvP15ASGCT_CallFrameii () from "
      "/tmp/libasyncProfiler.so\n"
      "#1  0x00007f2a300300d1 in _ZN10PerfEvents13signalHandlerEiP9siginfo_tPv () from "
      "/tmp/libasyncProfiler.so\n"
      "#2  <signal handler called>\n#3  0x00007f2a3c123456 in ?? ()\n");
  ASSERT_EQ(verdict.guilt, Guilt::kWalker);
  EXPECT_EQ(verdict.function, "StackWalker::walkVM");
  EXPECT_EQ(GuiltOf("#0  0x00007f2a300218d3 in _ZN7Compile7OptimizeEv () from /jdk/libjvm.so\n"
                    "#1  0x00007f2a300300d1 in _ZL19thread_native_entryP6Thread () from "
                    "/jdk/libjvm.so\n")
                .guilt,
            Guilt::kNone);
}

// The check names its walker, also where the stack is cut before that.
TEST(Guilt, TakesTheFailedCheckForEvidence) {
  const std::string cut = "V  [libjvm.so+0x1]  CodeCache::find_blob(void*)+0xf4";
  const auto with = [](const std::vector<std::string>& frames) {
    std::string text = LogOfFailedCheck();
    const size_t begin = text.find("\nV  [", text.find("Native frames"));
    const size_t end = text.find("\n\n", begin);
    std::string stack;
    for (const std::string& frame : frames) stack += "\n" + frame;
    return GuiltOf(text.replace(begin, end - begin, stack));
  };
  const GuiltVerdict verdict = with({cut});
  ASSERT_EQ(verdict.guilt, Guilt::kWalker);
  EXPECT_STREQ(verdict.pattern->whose, "AsyncGetCallTrace");
  EXPECT_NE(verdict.why.find("is_in_asgct"), std::string::npos) << verdict.why;
  EXPECT_EQ(with({cut, "V  [libjvm.so+0x2]  VM_Operation::evaluate()+0x2", kThreadStart}).guilt,
            Guilt::kPossible)
      << "a whole stack without the walker speaks against it";
  EXPECT_EQ(GuiltOf(LogWith({cut, kThreadStart})).guilt, Guilt::kNone);
}

TEST(Guilt, AFullJavaHeapIsNotTheFaultOfAWalker) {
  const auto ended = [](const char* text) {
    return GuiltOf(std::string("#\n#  Internal Error (debug.cpp:362), pid=7, tid=8\n#  ") + text +
                   "\n#\nNative frames: (J=compiled Java code, j=interpreted)\n"
                   "V  [libjvm.so+0xc17f30]\nV  [libjvm.so+0x53ad17]\n\n")
        .guilt;
  };
  EXPECT_EQ(ended("fatal error: OutOfMemory encountered: Java heap space"), Guilt::kNone);
  EXPECT_EQ(ended("fatal error: something else"), Guilt::kPossible);
}

TEST(Guilt, NamesTheProtectionOnlyWithAWalker) {
  const char* protection =
      "V  [libjvm.so+0x9]  ThreadCrashProtection::call(CrashProtectionCallback&)+0x9";
  const GuiltVerdict inside = GuiltOfFrames(
      {kSender, "V  [libjvm.so+0x1]  JfrGetCallTrace::get_topframe(void*, frame&)+0x1",
       protection});
  EXPECT_EQ(inside.protection, "JFR's ThreadCrashProtection");
  EXPECT_EQ(
      GuiltOfFrames({"V  [libjvm.so+0x1]  os::malloc(unsigned long)+0x1", protection}).protection,
      "");
}

// A profiler's own protection covers the JVM's threads alone.
TEST(Guilt, SaysThatAProtectionDidNotHold) {
  const std::vector<std::string> frames = {
      "C  [libasyncProfiler.so+0x219a7]  StackWalker::walkVM(void*, ASGCT_CallFrame*)+0x87",
      kHandler, "C  [libc.so.6+0x42520]", "C  [libnative.so+0x1139]  worker_loop+0x29"};
  std::string text = LogWith(frames);
  const GuiltVerdict java = GuiltOf(text);
  EXPECT_EQ(java.protection, "the setjmp of StackWalker::walkVM");
  EXPECT_EQ(java.unprotected, "");
  const size_t begin = text.find("Current thread"), end = text.find("\n", begin);
  text.replace(begin, end - begin, "Current thread is native thread");
  const GuiltVerdict native = GuiltOf(text);
  EXPECT_EQ(native.protection, "the setjmp of StackWalker::walkVM");
  EXPECT_NE(native.unprotected.find("async-profiler #1626"), std::string::npos);
}

// Each log expects the owner of its walker, or none, or that it is unknown: some have JFR or
// async-profiler loaded, some have no names.
TEST(Guilt, OfRealLogsIsThatOfTheWalkerInThem) {
  int guilty = 0, innocent = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    const auto expected = std::find_if(
        log.expectations.begin(), log.expectations.end(),
        [](const CrashExpectation& expectation) { return expectation.item == "guilt"; });
    ASSERT_NE(expected, log.expectations.end()) << log.name << " expects no guilt";
    const GuiltVerdict verdict = GuiltOf(log.text);
    const bool is_walker = verdict.guilt == Guilt::kWalker;
    const char* other = verdict.guilt == Guilt::kPossible ? "unknown" : "none";
    EXPECT_EQ(is_walker ? verdict.pattern->whose : other, expected->value) << log.name;
    (is_walker ? guilty : innocent) += verdict.guilt == Guilt::kPossible ? 0 : 1;
  }
  EXPECT_GE(guilty, 9);
  EXPECT_GE(innocent, 20);
}

// Where the stack that has a walker is cut, at any byte, nobody may say "no".
TEST(Guilt, ACutLogOfAWalkerIsNeverANo) {
  int cuts = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    if (GuiltOf(log.text).guilt != Guilt::kWalker) continue;
    const size_t native = log.text.find("Native frames:");
    const size_t begin = log.is_hs_err() ? log.text.find('\n', native) + 1 : 0;
    const size_t end = std::min(log.text.find("\n\n", begin), log.text.size());
    for (size_t at = begin + 1; at <= end; at++, cuts++)
      ASSERT_NE(GuiltOf(log.text.substr(0, at)).guilt, Guilt::kNone)
          << log.name << " up to " << log.text.substr(begin, at - begin);
  }
  EXPECT_GT(cuts, 5000);
}

TEST(CrashedChain, LeavesOutWhatHandledTheCrash) {
  const CrashReport report = ParseCrashReport(
      "#0  0x00007f35362c0001 in raise () from /lib/libc.so.6\n"
      "#1  0x00007f35362c0002 in abort () from /lib/libc.so.6\n"
      "#2  0x00007f35362c0003 in os::abort(bool, void*, void const*) () from /jdk/libjvm.so\n"
      "#3  0x00007f35362c0004 in VMError::report_and_die(int) () from /jdk/libjvm.so\n"
      "#4  0x00007f35362c0005 in JVM_handle_linux_signal () from /jdk/libjvm.so\n"
      "#5  <signal handler called>\n"
      "#6  0x00007f35362c0006 in frame::sender(RegisterMap*) const () from /jdk/libjvm.so\n"
      "#7  0x00007f35362c0007 in AsyncGetCallTrace () from /jdk/libjvm.so\n"
      "#8  0x00007f35362c0008 in on_signal () from /opt/libprofiler.so\n"
      "#9  <signal handler called>\n"
      "#10 0x00007f3526ac7ddf in ?? ()\n");
  const CrashedChain chain = ChainOf(report);
  ASSERT_EQ(chain.calls.size(), 3U);
  EXPECT_EQ(ComparableFunction(chain.calls[0].symbol), "frame::sender");
  EXPECT_TRUE(chain.in_signal_handler);
  EXPECT_EQ(JudgeGuilt(report, chain).guilt, Guilt::kWalker);
}

std::vector<std::string> CallsOf(const std::string& text) {
  std::vector<std::string> calls;
  for (const CrashFrame& frame : ChainOf(ParseCrashReport(text)).calls)
    calls.push_back(frame.symbol);
  return calls;
}

TEST(CrashedChain, NamesThatWouldGrowStayAsTheyAre) {
  EXPECT_EQ(ComparableFunction("_ZN5frame6senderEP11RegisterMapS0_"), "frame::sender");
  std::string bomb = "_Z1fPFvvE";
  for (const char digit : std::string("0123456789ABCDEFGHIJKLMN"))
    bomb += std::string("PFS") + digit + "_S" + digit + "_E";
  EXPECT_EQ(ComparableFunction(bomb), bomb);
}

// A stack that does not show the signal's frame, as hs_err logs of failed checks.
TEST(CrashedChain, BeginsBehindTheHandlersWithoutASignalFrame) {
  EXPECT_EQ(CallsOf("V  [libjvm.so+0x1]  VMError::report_and_die(int)+0x1\n"
                    "V  [libjvm.so+0x2]  report_vm_error(char const*)+0x2\n"
                    "V  [libjvm.so+0x3]  frame::sender()+0x3\n"
                    "V  [libjvm.so+0x4]  AsyncGetCallTrace+0x4\n"),
            (std::vector<std::string>{"frame::sender()", "AsyncGetCallTrace"}));
  EXPECT_EQ(CallsOf("V  [libjvm.so+0x3]  frame::sender()+0x3\n"
                    "V  [libjvm.so+0x1]  VMError::report()+0x1\n"
                    "C  [libprofiler.so+0x4]  sample+0x4\n"),
            (std::vector<std::string>{"sample"}))
      << "what runs before the handlers do is of the handlers";
}

// Calls end where Java code begins; but it may itself be what crashed.
TEST(CrashedChain, EndsAtJavaCodeThatDidNotCrash) {
  const std::string java = "J 12 c2 a.B.c()V (5 bytes) @ 0x0000000000001020 [0x1000+0x20]\n";
  const std::string native = "C  [liba.so+0x4]  f+0x4\n";
  EXPECT_EQ(CallsOf(native + java), std::vector<std::string>{"f"});
  EXPECT_EQ(CallsOf(java + native), (std::vector<std::string>{"a.B.c()V", "f"}));
}

}  // namespace
}  // namespace walkhammer
