// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/guilt.h"

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
  const GuiltVerdict verdict = GuiltOf(LogWith({"C  [libc.so.6+0x1]  __futex_abstimed_wait+0x1f"}) +
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
  EXPECT_EQ(GuiltOfFrames({"V  [libjvm.so+0x1]  Parse::do_one_block()+0x1"}).guilt, Guilt::kNone);
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

// Each log expects the owner of its walker, or none: some have JFR or async-profiler loaded.
TEST(Guilt, OfRealLogsIsThatOfTheWalkerInThem) {
  int guilty = 0, innocent = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    const auto expected = std::find_if(
        log.expectations.begin(), log.expectations.end(),
        [](const CrashExpectation& expectation) { return expectation.item == "guilt"; });
    ASSERT_NE(expected, log.expectations.end()) << log.name << " expects no guilt";
    const GuiltVerdict verdict = GuiltOf(log.text);
    const bool is_walker = verdict.guilt == Guilt::kWalker;
    EXPECT_EQ(is_walker ? verdict.pattern->whose : "none", expected->value) << log.name;
    EXPECT_TRUE(is_walker || verdict.guilt == Guilt::kNone) << log.name;
    (is_walker ? guilty : innocent)++;
  }
  EXPECT_GE(guilty, 9);
  EXPECT_GE(innocent, 20);
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
