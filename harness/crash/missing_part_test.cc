// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/missing_part.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

constexpr char kParse[] = "V  [libjvm.so+0x1]  Parse::do_one_block()+0x1";
constexpr char kCompile[] = "V  [libjvm.so+0x2]  Compile::Compile(ciEnv*)+0x2";
constexpr char kNativeLib[] = "C  [libfoo.so+0x3]  Java_Foo_bar+0x3";
constexpr char kNoName[] = "V  [libjvm.so+0x74c308]";

MissingPart MissingIn(const std::string& text) {
  const CrashReport report = ParseCrashReport(text);
  return MissingPartOf(report, ChainOf(report));
}

std::string WhyOf(const std::vector<std::string>& frames, const std::string& extra = "") {
  return MissingIn(LogWith(frames, extra)).why;
}

TEST(MissingPart, AChainIsWholeByItsEnd) {
  for (const char* start :
       {kThreadStart, "V  [libjvm.so+0x3]  Thread::call_run()+0x3",
        "C  [libjli.so+0x4]  JavaMain+0x4", "V  [libjvm.so+0x5]  java_start(Thread*)+0x5",
        "C  [libc.so.6+0x6]  clone+0x3f", "C  [libc.so.6+0x6]  start_thread+0x3f",
        "C  [libsystem_pthread.dylib+0x1]  _pthread_start+0x88",
        "C  [KERNEL32.DLL+0x17344]  BaseThreadInitThunk+0x14", "C  [app+0x139d]  main+0x204"})
    EXPECT_EQ(WhyOf({kParse, kCompile, start}), "") << start;
  EXPECT_EQ(WhyOf({kNativeLib, kJava}), "");
  EXPECT_EQ(WhyOf({kNativeLib, "v  ~StubRoutines::call_stub"}), "");
  EXPECT_EQ(WhyOf({kJava}), "") << "nothing calls Java code but Java code";
  EXPECT_EQ(WhyOf({kNativeLib, kHandler, "C  [libc.so.6+0x42520]", kJava}), "");
  EXPECT_EQ(WhyOf({kNativeLib, "C  [libc.so.6+0x94ac3]"}, "Registers:\nRAX=0x1\n"), "")
      << "the C library starts threads in a function without a name";
}

// A paste may begin anywhere, unless a headline or the head of the log tells the newest frame.
TEST(MissingPart, AStackMayBeginBeforeTheText) {
  const std::string whole = LogWith({kParse, kCompile, kThreadStart});
  EXPECT_EQ(MissingIn(whole).why, "");
  const std::string frames = whole.substr(whole.rfind(kParse));
  EXPECT_EQ(MissingIn("Native frames: (J=compiled Java code)\n" + frames).why, "");
  const std::string why = "the text may begin within the stack, after the newest frames";
  EXPECT_EQ(MissingIn(frames).why, why);
  EXPECT_EQ(MissingIn(std::string(kJava) + "\n" + kInterpreted + "\n").why, why);
  const std::string gdb = "#3  0x10 in f () from /a/libfoo.so\n#4  0x20 in main ()\n";
  EXPECT_EQ(MissingIn(gdb).why, why);
  EXPECT_EQ(MissingIn("#0  0x10 in f () from /a/libfoo.so\n#1  0x20 in main ()\n").why, "");
}

TEST(MissingPart, AChainWithoutAnEndMayGoOn) {
  EXPECT_EQ(WhyOf({kParse}),
            "the text tells only the frame that crashed, Parse::do_one_block, and not its callers");
  EXPECT_EQ(WhyOf({kParse, kCompile}),
            "the stack ends at Compile::Compile, and the text does not tell its callers");
  EXPECT_EQ(WhyOf({kSender, kParse}),
            "frame::sender runs in most stack walks, and the text does not tell its callers");
  EXPECT_NE(WhyOf({kNativeLib, "C  0x00007f0000001000"}), "") << "the JVM lost the way";
  const std::string more = "...<more frames>...";
  EXPECT_NE(WhyOf({kParse, more}), "");
  EXPECT_EQ(WhyOf({kNativeLib, kJava, more}), "") << "what called Java code is of no interest";
}

// Java code calls the C library by native methods alone, and no signal's handler is in it.
TEST(MissingPart, TheCLibraryAloneHasCallers) {
  const std::string copy = "C  [libc.so.6+0x1]  memcpy+0x1f";
  EXPECT_NE(WhyOf({copy, kJava}), "");
  EXPECT_NE(WhyOf({copy, "j  a.B.c()V+7"}), "");
  EXPECT_NE(WhyOf({copy, "C  [libc.so.6+0x42520]  __restore_rt+0x0", kJava}), "");
  EXPECT_EQ(WhyOf({copy, kNativeLib, kJava}), "");
  EXPECT_EQ(WhyOf({copy, "j  a.B.nativeMethod()V+0"}), "");
  EXPECT_EQ(WhyOf({copy,
                   "J 12  a.B.nativeMethod()V (0 bytes) @ 0x00007f3526ac7ddf "
                   "[0x00007f3526ac7d20+0x00000000000000bf]"}),
            "");
}

TEST(MissingPart, AFrameThatALibraryHidesMayBeAWalker) {
  EXPECT_EQ(WhyOf({kNoName, kCompile, kThreadStart}), "1 frame of libjvm.so has no name");
  EXPECT_EQ(WhyOf({kNoName, kNoName, kThreadStart}), "2 frames of libjvm.so have no name");
  EXPECT_EQ(WhyOf({"C  [libasyncProfiler.so+0x1]", kThreadStart}),
            "1 frame of libasyncProfiler.so has no name");
  EXPECT_EQ(WhyOf({"C  [libfoo.so+0x1]", kThreadStart}), "") << "not a library that walks";
  EXPECT_EQ(WhyOf({"C  [libfoo.so+0x1]", kHandler, "C  [libc.so.6+0x42520]", kJava}),
            "1 frame of libfoo.so has no name")
      << "but in the handler of a signal";
}

// A stripped JDK of Alpine under a stripped profiler.
TEST(MissingPart, NamesTheProfilerThatCalled) {
  const MissingPart missing =
      MissingIn(LogWith({kNoName, "V  [libjvm.so+0x74d0f4]", "C  [libjavaProfiler.so+0x4284a]",
                         "C  [ld-musl-x86_64.so.1+0x48a1c]", kJava},
                        "", "25.0.1+8-alpine-r0"));
  EXPECT_EQ(
      missing.why,
      "java-profiler called into libjvm from a signal handler that interrupted Java code, and "
      "2 frames of libjvm.so have no name");
  EXPECT_NE(missing.help.find("openjdk25-dbg"), std::string::npos) << missing.help;
  EXPECT_EQ(missing.command, "addr2line -Cfe libjvm.so 0x74c308 0x74d0f4");
}

TEST(MissingPart, AWalkMayBeInlined) {
  const std::string sample =
      "C  [libasyncProfiler.so+0x26df0]  Profiler::recordSample(void*)+0x500";
  const std::string handler = "C  [libasyncProfiler.so+0x27d0c]  CTimer::signalHandler(int)+0xec";
  const std::string put = "C  [libasyncProfiler.so+0x1111]  CallTraceStorage::put(int)+0x3";
  const std::string libc = "C  [libc.so.6+0x45320]";
  const MissingPart missing = MissingIn(LogWith({sample, handler, libc, kJava}));
  EXPECT_EQ(missing.why, "Profiler::recordSample crashed, into which a walk may be inlined");
  EXPECT_EQ(missing.command, "addr2line -Cfie libasyncProfiler.so 0x26df0");
  EXPECT_NE(WhyOf({handler, libc, kJava}), "");
  EXPECT_EQ(WhyOf({put, sample, handler, libc, kJava}), "") << "it called what crashed";
  const std::string loop = "V  [libjvm.so+0x1]  JfrThreadSampler::run()+0x99";
  EXPECT_NE(WhyOf({loop, kThreadStart}), "");
  EXPECT_EQ(WhyOf({"V  [libjvm.so+0x2]  Semaphore::wait()+0x9", loop, kThreadStart}), "");
}

TEST(MissingPart, NamesThePackageOfTheSymbols) {
  EXPECT_NE(MissingIn(LogWith({kNoName, kThreadStart}, "", "17.0.15+6-Debian-1deb12u1"))
                .help.find("package openjdk-17-dbg"),
            std::string::npos);
  EXPECT_EQ(MissingIn(LogWith({kNoName, kThreadStart})).help.find("package"), std::string::npos);
}

TEST(MissingPart, ATextMayLeaveFramesOut) {
  EXPECT_EQ(WhyOf({kParse, "...", kThreadStart}),
            "the text leaves frames out between those of the crash");
  EXPECT_EQ(WhyOf({kNativeLib, kJava, "...", kThreadStart}), "");
  const std::string zero = "#0  0x1 in Parse::do_one_block () from /jdk/libjvm.so\n";
  const std::string start = "  0x2 in start_thread () from /lib/libc.so.6\n";
  EXPECT_EQ(MissingIn(zero + "#1" + start).why, "");
  EXPECT_NE(MissingIn(zero + "#7" + start).why, "");
}

// The JVM prints the stack of its own death last, and may die of that.
TEST(MissingPart, TheStackMayEndInTheReport) {
  const std::string failed =
      "[error occurred during error reporting (printing native stack (with source info)), id 0xb]";
  EXPECT_EQ(WhyOf({kParse}, failed), "the JVM failed to print all of the native stack");
  EXPECT_EQ(WhyOf({kParse, kThreadStart}, failed), "");
  const MissingPart aborted = MissingIn(
      "#0  __pthread_kill_implementation (no_tid=0) at ./nptl/pthread_kill.c:44\n"
      "#1  0x00007ffff7e30f4f in __pthread_kill_internal (signo=6) at ./nptl/pthread_kill.c:78\n"
      "#2  0x00007ffff7de1fb2 in __GI_raise (sig=6) at ../sysdeps/posix/raise.c:26\n"
      "#3  0x00007ffff7dcc472 in __GI_abort () at ./stdlib/abort.c:79\n");
  EXPECT_EQ(aborted.why,
            "the stack ends within what ends the process, before the code that failed");
  EXPECT_EQ(aborted.command, "gdb -batch -ex \"thread apply all bt\" JAVA -c CORE");
  EXPECT_EQ(MissingIn("#0  0x1 in raise () from /lib/libc.so.6\n#1  0x2 in abort () from "
                      "/lib/libc.so.6\n#2  0x3 in quit () from /opt/libfoo.so\n"
                      "#3  0x4 in main () from /opt/app\n")
                .why,
            "");
}

TEST(MissingPart, ADebuggerWithoutLibrariesKnowsNoFrame) {
  const std::string end = "#2  0x3 in start_thread () from /lib/libc.so.6\n";
  EXPECT_EQ(MissingIn("#0  0x1 in ?? ()\n#1  0x2 in ?? ()\n" + end).why, "2 frames have no name");
  EXPECT_EQ(MissingIn("#0  0x1 in ?? ()\n#1  0x2 in JavaMain () from /jdk/libjvm.so\n" + end).why,
            "")
      << "it knows libjvm, so this is generated code";
}

TEST(MissingPart, OfAHangTheProcessIsAsked) {
  std::string text = LogWith({kParse});
  const std::string fault = "SEGV_MAPERR";
  text.replace(text.find(fault), fault.size(), "SI_USER");
  EXPECT_EQ(MissingIn(text).command, "gdb -batch -ex \"thread apply all bt\" -p PID");
}

// Wherever a log is cut within its native frames, it never says that they are all.
TEST(MissingPart, ACutLogIsNeverWhole) {
  const std::string text = LogWith({kParse, kCompile, kCompile, kThreadStart});
  const size_t begin = text.find("V  [", text.find("Native frames"));
  const size_t end = text.find("thread_native_entry", begin);
  for (size_t at = begin; at <= end; at++)
    EXPECT_NE(MissingIn(text.substr(0, at)).why, "") << text.substr(begin, at - begin);
  EXPECT_EQ(MissingIn(text).why, "");
}

}  // namespace
}  // namespace walkhammer
