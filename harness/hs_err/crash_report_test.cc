// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/crash_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>

#include "harness/base/testing/sanitized.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(CrashFrame, OfEveryKind) {
  const std::pair<const char*, const char*> kFrames[] = {
      {"V  [libjvm.so+0x8282d2]  f(X*, Y const&) const+0x302  (a.cpp:415)",
       "vm module=libjvm.so at=0x8282d2 symbol=f(X*, Y const&) const offset=0x302"
       " source=a.cpp:415"},
      {"C  [/lib/x86_64-linux-gnu/libc.so.6+0x3c050]", "native module=libc.so.6 at=0x3c050"},
      {"C  0x0000000000001234", "native pc=0x1234"},
      {"J 44% c2 a.B.c(I)V java.base@17 (55 bytes) @ 0x00007f0000001020 [0x00007f0000001000+0x20]",
       "compiled symbol=a.B.c(I)V offset=0x20 in=java.base@17 id=44 compiler=c2 bytes=55"
       " pc=0x7f0000001020 code=0x7f0000001000 tier=4 osr"},
      {"J 12  java.lang.Object.hashCode()I (0 bytes) @ 0x1 [0x1+0x0]",
       "compiled symbol=java.lang.Object.hashCode()I offset=0x0 id=12 bytes=0 pc=0x1 code=0x1"
       " wrapper"},
      {"J  java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;",  // JDK 6
       "compiled symbol=java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;"},
      {"A 3  a.B.c()V (5 bytes) @ 0x0000000000001020 [0x0000000000001000+0x20]",
       "aot symbol=a.B.c()V offset=0x20 id=3 bytes=5 pc=0x1020 code=0x1000"},
      {"j  a.B.c(I)V+12 java.base@17", "interpreted symbol=a.B.c(I)V in=java.base@17 bci=12"},
      {"v  ~StubRoutines::call_stub 0x00007f7e17d38cc6",
       "stub symbol=StubRoutines::call_stub pc=0x7f7e17d38cc6"},
  };
  for (const auto& [line, frame] : kFrames)
    EXPECT_THAT(ValuesOf(ParseCrashReport(std::string(line) + "\n"), "frame"),
                ElementsAre(std::string("0 ") + frame));
}

TEST(CrashFrame, CutWithinItsOffsetKeepsItsName) {
  for (const char* end : {"", "+", "+0", "+0x", "+0x1"}) {
    const CrashStack stack =
        ParseCrashReport("Native frames:\nV  [libjvm.so+0x6c8526]  AsyncGetCallTrace" +
                         std::string(end))
            .native_stack;
    ASSERT_EQ(stack.frames.size(), 1U) << end;
    EXPECT_EQ(stack.frames[0].symbol, "AsyncGetCallTrace") << end;
    EXPECT_TRUE(stack.truncated) << end;
  }
}

TEST(CrashFrame, ProseIsNone) {
  for (const char* line :
       {"C is a language", "V [libjvm.so", "J 2 o", "j foo", "v1.2.3", "C  [x]", "A  b.c", "Java 8",
        "J. Doe (CEO) wrote:", "V  for Vendetta (2005)", "j  ()", "C  "}) {
    const CrashReport report = ParseCrashReport(line);
    EXPECT_EQ(report.text_kind, CrashText::kNone) << line;
    EXPECT_TRUE(report.native_stack.frames.empty()) << line;
  }
}

TEST(CrashReport, OfNothing) {
  for (const std::string& text : {std::string(), std::string("\n\n"), std::string(1000, '\0'),
                                  std::string("hello world\nthis is an application's log\n")}) {
    const CrashReport report = ParseCrashReport(text);
    EXPECT_EQ(report.text_kind, CrashText::kNone);
    EXPECT_EQ(report.error, CrashError::kUnknown);
    ASSERT_EQ(report.unread.size(), 1u);
  }
}

TEST(CrashReport, OnlyAStack) {
  const CrashReport report = ParseCrashReport(
      "We see this:\n\n"
      "V  [libjvm.so+0x6c5e95]  frame::sender(RegisterMap*) const+0x325\n"
      "C  [libprofiler.so+0x1462]  onProf+0x18d\n"
      "C  [libc.so.6+0x406b0]\n"
      "j  a.B.c()V+12\n");
  EXPECT_EQ(report.text_kind, CrashText::kStack);
  ASSERT_EQ(report.native_stack.frames.size(), 4u);
  EXPECT_EQ(report.native_stack.frames[0].line, 3);
  EXPECT_EQ(report.native_stack.signal_frames, std::vector<size_t>{2});
}

// The text may end within a frame, and people leave frames out.
TEST(CrashReport, AFrameKeepsItsNameWhereItsOffsetIsCut) {
  for (const char* cut : {"+", "+0", "+0x"})
    EXPECT_EQ(ParseCrashReport(std::string("V  [libjvm.so+0x12]  AsyncGetCallTrace") + cut + "\n")
                  .native_stack.frames.at(0)
                  .symbol,
              "AsyncGetCallTrace");
}

TEST(CrashReport, FramesThatAreLeftOutAreAGap) {
  const std::string first = "V  [libjvm.so+0x12]  f+0x1\n", second = "C  [liba.so+0x12]  g+0x1\n";
  for (const char* mark : {"...", "[...]", "[snip]", "<...>", "\u2026"}) {
    const CrashReport report = ParseCrashReport(first + mark + "\n" + second);
    EXPECT_EQ(report.native_stack.frames.size(), 2U) << mark;
    EXPECT_EQ(report.native_stack.gap, 1U) << mark;
  }
  for (const char* prose : {"", "and then", ".", "2026-11-27 .. started"})
    EXPECT_FALSE(ParseCrashReport(first + prose + "\n" + second).native_stack.gap) << prose;
  EXPECT_FALSE(ParseCrashReport("...\n" + first + second).native_stack.gap);
}

TEST(CrashReport, ALibraryOfCIsNoSignalFrameByItself) {
  const CrashReport report = ParseCrashReport(
      "C  [libc.so.6+0x9cefc]\n"
      "C  [libfoo.so+0x1462]  compare+0x18d\n"
      "C  [libc.so.6+0x406b0]\n"
      "C  [libfoo.so+0x1000]  sort+0x10\n");
  EXPECT_EQ(report.native_stack.frames.size(), 4u);
  EXPECT_TRUE(report.native_stack.signal_frames.empty());
}

TEST(CrashReport, NamedRestorers) {
  for (const char* frame :
       {"C  [libpthread.so.0+0x12cf0]  __restore_rt+0x0",
        "C  [libc.so.6+0x42520]  __sigaction+0x50", "C  [libc.so.6+0x3ef20]  killpg+0x40",
        "C  [libpthread.so.0+0x14420]  funlockfile+0x60",
        "C  [libsystem_platform.dylib+0x4a24]  _sigtramp+0x38"}) {
    const CrashReport report = ParseCrashReport(std::string("V  [libjvm.so+0x1]  f()+0x1\n") +
                                                frame + "\nV  [libjvm.so+0x2]  g()+0x2\n");
    EXPECT_EQ(report.native_stack.signal_frames, std::vector<size_t>{1}) << frame;
  }
  const CrashReport report =
      ParseCrashReport("C  [libc.so.6+0x42520]  __sigaction+0x10\nV  [libjvm.so+0x2]  g()+0x2\n");
  EXPECT_TRUE(report.native_stack.signal_frames.empty());
}

TEST(CrashReport, NamesTheThreadThatFailed) {
  const auto tid = [](const std::string& error) {
    return ParseCrashReport(error + "\n").tid.value;
  };
  EXPECT_EQ(tid("#  SIGSEGV (0xb) at pc=0x00007fb1c6cd2f94, pid=4891, tid=4892"), 4892);
  EXPECT_EQ(tid("#  Internal Error (frame.cpp:123), pid=4891, tid=2147483647"), 2147483647);
  EXPECT_EQ(tid("#  SIGSEGV (0xb) at pc=0x1, pid=4891, tid=0x00007fb1c6cd2f94"), 0);  // JDK 8
  EXPECT_EQ(tid("#  SIGSEGV (0xb) at pc=0x1, pid=4891, tid="), 0);
  EXPECT_EQ(tid("#  SIGSEGV (0xb) at pc=0x1"), 0);
  EXPECT_EQ(tid("#  SIGSEGV (0xb) at pc=0x1, pid=4891, tid=0x00007fb1c6cd2f94\n"
                "Current thread (0x0000555592d2d000):  JavaThread \"main\" [_thread_in_native, "
                "id=27755, stack(0x00007ffe5718b000,0x00007ffe5728b000)]"),
            27755);
  EXPECT_FALSE(ParseCrashReport("#  SIGSEGV (0xb) at pc=0x1, pid=0, tid=0\n").tid.known());
  EXPECT_FALSE(ParseCrashReport("#  SIGSEGV (0xb) at pc=0x1, pid=0, tid=1\n").pid.known());
}

// A pthread's address may be small enough for an id.
TEST(CrashReport, AnAddressIsNoThreadId) {
  const CrashReport report = ParseCrashReport(
      "# An unexpected error has been detected by Java Runtime Environment:\n#\n"
      "#  SIGSEGV (0xb) at pc=0x00002aaaebe05e11, pid=7215, tid=1074792784\n#\n"
      "# Java VM: IcedTea 64-Bit Server VM (1.7.0-b21 mixed mode linux-amd64)\n"
      "Current thread (0x0000000000609000):  JavaThread \"main\" [_thread_in_vm, id=7217, "
      "stack(0x0000000040000000,0x0000000040101000)]\n");
  EXPECT_EQ(report.tid.value, 7217);
  EXPECT_EQ(report.tid.line, 6);
  EXPECT_EQ(report.version.feature.value, 7);
}

TEST(CrashReport, PointeesOfJdk6) {
  const CrashReport report = ParseCrashReport(
      "Register to memory mapping:\n\n"
      "RAX=0x0000000000000005\n0x0000000000000005 is pointing to unknown location\n\n"
      "RBX=0x00007f0000001010\n0x00007f0000001010: <offset 0x1010> in /lib/a.so at "
      "0x00007f0000000000\n\n"
      "RSP=0x0000000000002000\n0x0000000000002000 is pointing into the stack for thread: "
      "0x0000000000609000\n\"main\" prio=10 tid=0x0000000000609000 nid=0x60f runnable\n");
  EXPECT_THAT(
      ValuesOf(report, "pointee"),
      ElementsAre("rax 0x5 unknown",
                  "rbx 0x7f0000001010 library name=/lib/a.so base=0x7f0000000000 offset=0x1010",
                  "rsp 0x2000 stack base=0x609000"));
}

TEST(CrashReport, WordsOf32Bits) {
  const CrashReport report = ParseCrashReport(
      "# Java VM: Java HotSpot(TM) Client VM (20.6-b01 mixed mode, sharing linux-x86 )\n"
      "Registers:\nEAX=0x00000000, EBX=0x00001374\nESP=0xb18cd28c, EBP=0xb18cd398\n"
      "EIP=0xb7705416, CR2=0xb76f6100\n"
      "Top of Stack: (sp=0xb18cd28c)\n0xb18cd28c:   b76e5e6e b76eeff4 b11ab880 b0b8b743\n");
  EXPECT_EQ(report.arch, CrashArch::kX86);
  EXPECT_EQ(report.Register("ebp"), 0xb18cd398u);
  EXPECT_THAT(ValuesOf(report, "word"),
              ElementsAre("0xb18cd28c: 0xb76e5e6e", "0xb18cd290: 0xb76eeff4",
                          "0xb18cd294: 0xb11ab880", "0xb18cd298: 0xb0b8b743"));
}

// As a terminal of 80 columns does.
TEST(CrashReport, WordsBrokenByATerminal) {
  const CrashReport report = ParseCrashReport(
      "# Java VM: OpenJDK 64-Bit Server VM (11.0.10+9-LTS, mixed mode, parallel gc, linux-\n"
      "amd64)\n"
      "Current thread (0x00007fec4403f800):  JavaThread \"A\" daemon [_thread_in_native, id=7, "
      "stack(0x00007febed3\nfd000,0x00007febedffe000)]\n");
  EXPECT_EQ(report.platform.value, "linux-amd64");
  EXPECT_EQ(report.thread.stack_begin, 0x00007febed3fd000u);
  EXPECT_EQ(report.thread.stack_end, 0x00007febedffe000u);
}

TEST(CrashReport, CodeWrappedByATerminal) {
  const auto bytes = [](int wrapped) {
    std::string log =
        "Instructions: (pc=0x0000000000001000)\n0x0000000000000ff0:   00 01 02 03 04 05 06 07\n";
    for (int i = 0; i < wrapped; i++) log += "aa ";
    const auto code = ParseCrashReport(log + "\n").instructions;
    return code ? code->bytes.size() : 0;
  };
  EXPECT_EQ(bytes(16), 24U);
  EXPECT_EQ(bytes(17), 8U) << "not half a line";
}

TEST(CrashReport, SiginfoOfEveryStyle) {
  const struct {
    const char* line;
    std::vector<std::string>
        values;  // of signal, signal number, code, code number, address, sender
  } kStyles[] = {
      {"siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x0000000000000010",
       {"SIGSEGV", "11", "SEGV_MAPERR", "1", "0x10"}},
      {"siginfo:si_signo=SIGSEGV: si_errno=0, si_code=2 (SEGV_ACCERR), si_addr=0x20",
       {"SIGSEGV", "SEGV_ACCERR", "2", "0x20"}},
      {"siginfo: si_signo: 11 (SIGSEGV), si_code: 0 (SI_USER), si_pid: 26163, si_uid: 0",
       {"SIGSEGV", "11", "SI_USER", "0", "26163"}},
      {"siginfo: si_signo: 11 (SIGSEGV), si_code: 0 (SI_USER), sent from pid: 27746 (uid: 0)",
       {"SIGSEGV", "11", "SI_USER", "0", "27746"}},
      {"siginfo: EXCEPTION_ACCESS_VIOLATION (0xc0000005), reading address 0x30", {"0x30"}},
  };
  for (const auto& [line, values] : kStyles) {
    const CrashReport report = ParseCrashReport(std::string(line) + "\n");
    std::vector<std::string> read;
    for (const char* item : {"signal", "signal number", "code", "code number", "address", "sender"})
      for (const std::string& value : ValuesOf(report, item)) read.push_back(value);
    EXPECT_EQ(read, values) << line;
  }
}

constexpr char kProtectionFault[] =
    "# A fatal error has been detected by the Java Runtime Environment:\n"
    "#  SIGSEGV (0xb) at pc=0x0000000000001000, pid=1, tid=2\n"
    "# Java VM: OpenJDK 64-Bit Server VM (17+1, mixed mode, g1 gc, linux-amd64)\n"
    "siginfo: si_signo: 11 (SIGSEGV), si_code: 128 (SI_KERNEL), si_addr: 0x0000000000000000\n"
    "Registers:\nRAX=0x00dead00beef0000, RCX=0x0000000000000002, RSP=0x0000000000002000\n";

// mov rax, [rax + rcx*8 + 0x10]
constexpr char kInstruction[] =
    "Instructions: (pc=0x0000000000001000)\n0x0000000000001000:   48 8b 44 c8 10 c3\n";

TEST(FaultAddress, OfAProtectionFaultIsComputed) {
  CrashReport report = ParseCrashReport(std::string(kProtectionFault) + kInstruction);
  EXPECT_THAT(ValuesOf(report, "computed address"), ElementsAre("0xdead00beef0020"));
  EXPECT_EQ(report.signal.address.line, 8);
  report = ParseCrashReport(kProtectionFault);
  EXPECT_THAT(ValuesOf(report, "address"), ElementsAre("0x0"));
  EXPECT_THAT(ValuesOf(report, "unread"), Contains(StartsWith("fault address: ")));
}

TEST(FaultAddress, OfAMappingFaultStays) {
  std::string text = kProtectionFault;
  text.replace(text.find("128 (SI_KERNEL)"), 15, "1 (SEGV_MAPERR)");
  EXPECT_THAT(ValuesOf(ParseCrashReport(text + kInstruction), "address"), ElementsAre("0x0"));
}

TEST(FaultAddress, OnAarch64) {
  // ldr x0, [x1, x2, lsl #3]
  const CrashReport report = ParseCrashReport(
      "#  SIGSEGV (0xb) at pc=0x0000000000001000, pid=1, tid=2\n"
      "# Java VM: OpenJDK 64-Bit Server VM (17+1, mixed mode, g1 gc, linux-aarch64)\n"
      "Registers:\nR0=0x0\nR1=0x0000000000003000\nR2=0x0000000000000004\n"
      "Instructions: (pc=0x0000000000001000)\n0x0000000000001000:   f8627820\n");
  EXPECT_EQ(report.Register("x1"), 0x3000u);
  EXPECT_FALSE(report.Register("r1"));
  EXPECT_THAT(ValuesOf(report, "computed address"), ElementsAre("0x3020"));
}

TEST(CrashReport, LinesOfAnEventUpTo4KiB) {
  const auto event = [](size_t bytes) {
    const CrashReport report =
        ParseCrashReport("Internal exceptions (1 events):\nEvent: 0.1 Thread 0x1 x\n" +
                         std::string(bytes, 'y') + "\n\n");
    return report.events.empty() ? std::string() : report.events.front().text;
  };
  EXPECT_EQ(event(4095), "x\n" + std::string(4095, 'y'));
  EXPECT_EQ(event(4096), "x");
}

TEST(CrashReport, TheThreadOfAnEventIsAnAddress) {
  const CrashReport report = ParseCrashReport(
      "Internal exceptions (2 events):\nEvent: 0.1 Thread 0x1f x\n"
      "Event: 0.2 Thread main y\n\n");
  ASSERT_EQ(report.events.size(), 2U);
  EXPECT_EQ(report.events[0].thread, 0x1fU);
  EXPECT_EQ(report.events[0].text, "x");
  EXPECT_EQ(report.events[1].thread, 0U) << "not known";
}

TEST(CrashReport, InstructionsAloneTellThePc) {
  const CrashReport report = ParseCrashReport(
      "#  Internal Error (space.cpp:96), pid=1930, tid=1989\n\n"
      "Instructions: (pc=0x00007f071757ceeb)\n"
      "0x00007f071757cedb:   48 8b 40 f8 49 89 44 24 28 eb 8e ff d0 e9 2a ff\n");
  EXPECT_EQ(report.pc.value, 0x7f071757ceebU);
  EXPECT_EQ(report.pc.line, 3);
}

TEST(CrashReport, TheFirstOfTwoLogs) {
  const std::string a = CrashLogText(WALKHAMMER_CRASH_LOGS, "17.0.15-agct-3.log");
  const std::string b = CrashLogText(WALKHAMMER_CRASH_LOGS, "8-native-jump.log");
  const CrashReport both = ParseCrashReport(a + b), first = ParseCrashReport(a);
  EXPECT_EQ(both.pc.value, first.pc.value);
  EXPECT_EQ(both.version.vm.value, first.version.vm.value);
  EXPECT_EQ(both.native_stack.frames.size(), first.native_stack.frames.size());
  EXPECT_THAT(ValuesOf(both, "unread"), Contains(StartsWith("what follows: ")));
}

TEST(CrashReports, OfEachLogInItsOrder) {
  const std::string a = CrashLogText(WALKHAMMER_CRASH_LOGS, "17.0.15-agct-3.log");
  const std::string b = CrashLogText(WALKHAMMER_CRASH_LOGS, "8-native-jump.log");
  const std::vector<CrashReport> both = ParseCrashReports(a + "restarted\n" + b);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].version.vm.value, ParseCrashReport(a).version.vm.value);
  EXPECT_EQ(ValuesOf(both[1], "frame"), ValuesOf(ParseCrashReport(b), "frame"));
  EXPECT_GT(both[1].pc.line, std::count(a.begin(), a.end(), '\n'));
  // A log, and its head from the console.
  EXPECT_EQ(ParseCrashReports(a + a.substr(0, a.find("---------------"))).size(), 1U);
  EXPECT_EQ(ParseCrashReports("nothing\n").size(), 1U);
  std::string many;
  while (many.size() < 20 * b.size()) many += b;
  EXPECT_EQ(ParseCrashReports(many).size(), kMostCrashReports);
}

TEST(CrashReport, TheHeadOnTheConsoleAndThenTheLog) {
  const std::string log = CrashLogText(WALKHAMMER_CRASH_LOGS, "17.0.15-agct-3.log");
  const std::string head = log.substr(0, log.find("---------------"));
  const CrashReport report = ParseCrashReport(head + "Aborted\n\n" + log);
  EXPECT_EQ(report.native_stack.frames.size(), ParseCrashReport(log).native_stack.frames.size());
  EXPECT_GT(report.registers.size(), 10u);
}

TEST(CrashReport, AnyBytes) {
  const std::string log = CrashLogText(WALKHAMMER_CRASH_LOGS, "21-agct-2.log");
  std::mt19937 random(1);
  for (int i = 0; i < (kSanitized ? 30 : 300); i++) {
    std::string damaged = log;
    for (int k = 0; k < 200; k++) damaged[random() % log.size()] = static_cast<char>(random());
    EXPECT_LE(ParseCrashReport(damaged).registers.size(), 128u);
  }
}

// Measures a processor's time: other programs run beside tests. The least of up to three tries, as
// long as they take more than `enough`: a shared processor may be slowed down for a while.
double Seconds(const std::string& text, CrashReport& report, double enough) {
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  double least = HUGE_VAL;
  for (int tries = 0; tries < 3 && least >= enough; tries++) {
    const double begin = now();
    report = ParseCrashReport(text);
    least = kSanitized ? 0 : std::min(least, now() - begin);
  }
  return least;
}

long PeakKib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(CrashReport, GarbageIsRefusedInASecondAnd64MiB) {
  std::mt19937_64 random(1);
  constexpr size_t kSize = kSanitized ? 2 << 20 : 100 << 20;
  std::string garbage(kSize, '\0');
  for (size_t i = 0; i + 8 <= garbage.size(); i += 8) {
    const uint64_t word = random();
    std::memcpy(&garbage[i], &word, 8);
  }
  const std::string lines(kSize, '\n');
  CrashReport report;
  const long before = PeakKib();
  for (const std::string& text : {std::cref(garbage), std::cref(lines)}) {
    EXPECT_LT(Seconds(text, report, 1), 1);
    EXPECT_EQ(report.text_kind, CrashText::kNone);
    EXPECT_EQ(report.unread[0].what, kSanitized ? "everything" : "a part of the text");
  }
  if (!kSanitized) {
    EXPECT_LT(PeakKib() - before, 64 << 10);
  }
}

TEST(CrashReport, TenMegabytesAreReadInAFifthOfASecond) {
  std::string log = CrashLogText(WALKHAMMER_CRASH_LOGS, "21-agct-2.log");
  const size_t modules = log.find("Dynamic libraries:\n") + 19;
  std::string more;
  while (more.size() < (kSanitized ? 2 << 20 : 10 << 20))
    more += "7f16ac000000-7f16ac021000 r-xp 00001000 08:01 123   /opt/a/library/of/many.so\n";
  log.insert(modules, more);
  CrashReport report;
  EXPECT_LT(Seconds(log, report, 0.2), 0.2);
  EXPECT_EQ(report.modules.size(), kMostCrashItems);
  EXPECT_GT(report.flags.size(), 5u);
}

// What grows with the square of its size would take minutes.
TEST(CrashReport, TextsMadeToBeSlowAreNot) {
  const auto repeated = [](std::string text, const std::string& part) {
    while (text.size() < (kSanitized ? 128 << 10 : 8 << 20)) text += part;
    return text;
  };
  CrashReport report;
  for (const std::string& text :
       {repeated("V  [a+0x1]  f(\n", "abc\n"), repeated("", "V  [a+0x1]  f(\nabc\n"),
        repeated("Register to memory mapping:\nRAX=0x1 x\n", "abc\n"),
        repeated("#0  0x1 in f (\n", "abc\n"), repeated("", "#0  0x1 in f ()\n"),
        repeated("Native frames:\n", "Native frames:\nC  [a+0x1]\n"),
        repeated("x events):\n", "Event: 1 a\n"), repeated("", "> "), repeated("", "("),
        repeated("Top of Stack: (sp=0x8)\n", "0x0000000000000010:   0000000000000000\n"),
        repeated("", "[error occurred during error reporting (a), id 1\n")})
    EXPECT_LT(Seconds(text, report, 2), 2) << text.substr(0, 40);
}

}  // namespace
}  // namespace walkhammer
