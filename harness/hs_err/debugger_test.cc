// SPDX-License-Identifier: Apache-2.0
// Back-traces of gdb and lldb: each part of a frame, lines that gdb broke, and bounds.
#include <gtest/gtest.h>

#include <string>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {
namespace {

std::vector<CrashFrame> FramesOf(const std::string& text) {
  return ParseCrashReport(text).native_stack.frames;
}

TEST(DebuggerFrame, NumbersTellAGap) {
  const auto gap = [](const std::string& text) { return ParseCrashReport(text).native_stack.gap; };
  const std::string zero = "#0  0x10 in f ()\n", one = "#1  0x20 in g ()\n";
  EXPECT_FALSE(gap(zero + one + "#2  0x30 in h ()\n"));
  EXPECT_EQ(gap(zero + one + "#4  0x30 in h ()\n#5  0x40 in i ()\n#9  0x50 in j ()\n"), 2U);
  EXPECT_FALSE(gap("#3  0x10 in f ()\n#4  0x20 in g ()\n")) << "what is before them is not told";
  EXPECT_FALSE(gap("Thread 1\n" + zero + one + "Thread 2\n" + zero + one));
}

TEST(DebuggerFrame, HasAllItsParts) {
  const struct {
    const char* text;
    std::vector<std::string> frames;
  } kCases[] = {
      {"#0  0x00007f01 in f (a=1) from /usr/lib/libjvm.so\n",
       {"0 vm module=libjvm.so symbol=f pc=0x7f01"}},
      {"#0  walk (n=3) at ./src/a/frame.cpp:12\n", {"0 native symbol=walk source=frame.cpp:12"}},
      {"#0  0x10 in ?? ()\n#1  <signal handler called>\n#2  0x20 in g ()\n",
       {"0 native pc=0x10", "1 signal", "2 native symbol=g pc=0x20"}},
      // Broken at the terminal's width.
      {"#0  0x10 in f (a=1,\n    b=2) at f.cpp:3\n"
       "#1  0x20 in g ()\n    from /lib/libjvm.so\n"
       "#2  0x30 in h ()\nrax            0x5                 5\n",
       {"0 native symbol=f source=f.cpp:3 pc=0x10", "1 vm module=libjvm.so symbol=g pc=0x20",
        "2 native symbol=h pc=0x30"}},
      {"* frame #0: 0x0000000010 libjvm.dylib`f(X*) + 12 at f.cpp:12:3 [opt]\n"
       "  frame #1: 0x0000000020 /usr/lib/libc.dylib`[inlined] g at g.cpp:1\n"
       "  frame #2: 0x0000000030 a.out`___lldb_unnamed_symbol7 + 4\n"
       "  frame #3: 0x0000000040\n",
       {"0 vm module=libjvm.dylib symbol=f(X*) offset=0xc source=f.cpp:12:3 pc=0x10",
        "1 native module=libc.dylib symbol=g source=g.cpp:1 pc=0x20 inlined",
        "2 native module=a.out offset=0x4 pc=0x30", "3 native pc=0x40"}},
      // The one of several threads that a signal interrupted is kept.
      {"Thread 2 (LWP 2):\n#0  0x10 in waits ()\n\nThread 1 (LWP 1):\n"
       "#0  0x20 in handler ()\n#1  <signal handler called>\n#2  0x30 in crashes ()\n\n"
       "Thread 3 (LWP 3):\n#0  0x40 in other ()\n",
       {"0 native symbol=handler pc=0x20", "1 signal", "2 native symbol=crashes pc=0x30"}},
  };
  for (const auto& [text, frames] : kCases)
    EXPECT_EQ(ValuesOf(ParseCrashReport(text), "frame"), frames);
  EXPECT_EQ(FramesOf(kCases[0].text)[0].line, 1);
  EXPECT_EQ(FramesOf(kCases[3].text)[2].text.find("rax"), std::string::npos);
}

TEST(DebuggerFrame, OfOtherWriters) {
  const struct {
    const char* text;
    CrashText kind;
    std::vector<std::string> frames;
  } kCases[] = {
      // coredumpctl, eu-stack
      {"#0  0x0000000000000010 f (libjvm.so + 0x1f)\n#1  0x20 n/a (n/a + 0x0)\n"
       "#2  0x30 n/a (libc.so.6 + 0x2f)\n#3  0x40 - 1 g\n",
       CrashText::kGdb,
       {"0 vm module=libjvm.so at=0x1f symbol=f pc=0x10", "1 native at=0x0 pc=0x20",
        "2 native module=libc.so.6 at=0x2f pc=0x30", "3 native symbol=g pc=0x40"}},
      // AddressSanitizer
      {"    #0 0x10 in a::f(void*, int) /src/a.cpp:12:3\n"
       "    #1 0x20  (/lib/libc.so.6+0x2f) (BuildId: 1122)\n    #2 0x30  (<unknown module>)\n",
       CrashText::kGdb,
       {"0 native symbol=a::f(void*, int) source=a.cpp:12:3 pc=0x10",
        "1 signal module=libc.so.6 at=0x2f pc=0x20", "2 native pc=0x30"}},
      // minidump-stackwalk
      {" 0  libjvm.so!f(X*, int) [f.cpp : 12 + 0x3]\n    Found by: call frame info\n"
       " 1  libjvm.so!g() const + 0x1f\n 2  libc.so.6 + 0x2f\n 3  0x30\n",
       CrashText::kMinidump,
       {"0 vm module=libjvm.so symbol=f(X*, int) source=f.cpp:12",
        "1 vm module=libjvm.so symbol=g() const offset=0x1f", "2 signal module=libc.so.6 at=0x2f",
        "3 native pc=0x30"}},
      // Apple's crash reporter
      {"0   libjvm.dylib \t 0x0000000000000010 f(X*) + 12 (f.cpp:3)\n"
       "1   ???  0x20 0x0 + 32\n2   libsystem_platform.dylib  0x30 _sigtramp + 56\n"
       "3   ???  0x40 ???\n",
       CrashText::kApple,
       {"0 vm module=libjvm.dylib symbol=f(X*) offset=0xc source=f.cpp:3 pc=0x10",
        "1 native at=0x20 pc=0x20",
        "2 signal module=libsystem_platform.dylib symbol=_sigtramp offset=0x38 pc=0x30",
        "3 native pc=0x40"}},
  };
  for (const auto& [text, kind, frames] : kCases) {
    const CrashReport report = ParseCrashReport(text);
    EXPECT_EQ(ValuesOf(report, "frame"), frames);
    EXPECT_EQ(report.text_kind, kind) << text;
  }
}

TEST(DebuggerFrame, IsNoNumberedListOfProse) {
  for (const char* line :
       {"1 a!b\n", "2  libjvm.so + 0x1f\n", "3 libjvm.so  0x10 f + 12\n", "0 \x01!b\n", "0 a b!c\n",
        "0 of 3 + 4\n", "0000 0x10\n", "0 0x10\n", "01 a!b\n", "0 libjvm.so 0x10 f\n"})
    EXPECT_EQ(ParseCrashReport(line).text_kind, CrashText::kNone) << line;
}

TEST(DebuggerFrame, OfAMinidumpMayHaveOnlyAnAddress) {
  const std::string frame = " 0  0x10\n";
  EXPECT_EQ(
      ParseCrashReport("Crash reason:  SIGSEGV / SEGV_MAPERR\n" + frame).native_stack.frames.size(),
      1U);
}

TEST(DebuggerStack, IsThatOfTheThreadThatCrashed) {
  const CrashReport minidump = ParseCrashReport(
      "Crash reason:  SIGSEGV / SEGV_MAPERR\nCrash address: 0x70\n\n"
      "Thread 0\n 0  libc.so.6!poll + 0x1\n    rax = 0x9\n\n"
      "Thread 3 (crashed)\n 0  libjvm.so!f + 0x1\n    rax = 0x7   rdx = 0x8\n"
      " 1  libjvm.so!g + 0x2\n    rsp = 0x6\n\nThread 4\n 0  libc.so.6!read + 0x1\n");
  EXPECT_EQ(ValuesOf(minidump, "frame"),
            (std::vector<std::string>{"0 vm module=libjvm.so symbol=f offset=0x1",
                                      "1 vm module=libjvm.so symbol=g offset=0x2"}));
  EXPECT_EQ(ValuesOf(minidump, "register"), (std::vector<std::string>{"rax 0x7", "rdx 0x8"}));
  const CrashReport apple = ParseCrashReport(
      "Thread 0:: Dispatch queue: main\n0   libc.dylib  0x10 read + 1\n\n"
      "Thread 5 Crashed:: Java: main\n0   libjvm.dylib  0x20 f + 1\n\n"
      "Thread 5 crashed with X86 Thread State (64-bit):\n  rax: 0x7  rbx: 0x8\n\n"
      "Binary Images:\n  0x104b4c000 - 0x105bff000  libjvm.dylib (*) <11> /l/libjvm.dylib\n");
  EXPECT_EQ(ValuesOf(apple, "frame"),
            (std::vector<std::string>{"0 vm module=libjvm.dylib symbol=f offset=0x1 pc=0x20"}));
  EXPECT_EQ(ValuesOf(apple, "register"), (std::vector<std::string>{"rax 0x7", "rbx 0x8"}));
}

TEST(DebuggerStack, OfAJavacore) {
  const CrashReport report = ParseCrashReport(
      "1XHEXCPCODE    J9Generic_Signal_Number: 00000018\n"
      "1XHEXCPCODE    Signal_Number: 0000000B\n1XHEXCPCODE    Signal_Code: 00000001\n"
      "1XHEXCPCODE    InaccessibleAddress: 0000000000000070\n"
      "1XMCURTHDINFO  Current thread\n3XMTHREADINFO      \"a\" J9VMThread:0x1\n"
      "4XENATIVESTACK               f+0x1c (0x00007F01 [libj9jit29.so+0x1f])\n"
      "4XENATIVESTACK               (0x00007F02 [libpthread.so.0+0x2f])\n"
      "1XMTHDINFO     Thread Details\n3XMTHREADINFO      \"b\" J9VMThread:0x2\n"
      "4XENATIVESTACK               poll+0x1 (0x00007F03 [libc.so.6+0x1])\n");
  EXPECT_EQ(ValuesOf(report, "frame"),
            (std::vector<std::string>{
                "0 native module=libj9jit29.so at=0x1f symbol=f offset=0x1c pc=0x7f01",
                "1 native module=libpthread.so.0 at=0x2f pc=0x7f02"}));
  EXPECT_EQ(report.text_kind, CrashText::kJavacore);
  EXPECT_EQ(report.vm, CrashVm::kOpenJ9);
  EXPECT_EQ(report.signal.name.value, "SIGSEGV");
  EXPECT_EQ(report.signal.address.value, 0x70U);
}

TEST(DebuggerStack, IsTheLongestOfThoseThatBeginAlike) {
  const std::string first = "#0  0x10 in f () from /a.so\n", second = "#1  0x20 in g ()\n";
  EXPECT_EQ(FramesOf(first + first + second).size(), 2U);
  EXPECT_EQ(FramesOf(first + second + first).size(), 2U);
  // Of another thread.
  EXPECT_EQ(FramesOf(first + "#0  0x30 in h ()\n" + second).size(), 1U);
}

TEST(DebuggerStack, IsCutWhereFramesAreMissing) {
  const auto is_cut = [](const std::string& text) {
    return ParseCrashReport(text).native_stack.truncated;
  };
  EXPECT_FALSE(is_cut("#0  0x10 in f ()\n#1  0x20 in g ()\n"));
  EXPECT_TRUE(is_cut("#1  0x10 in f ()\n#2  0x20 in g ()\n"));
  EXPECT_TRUE(is_cut("#0  0x10 in f ()\n#2  0x20 in g ()\n"));
  EXPECT_TRUE(is_cut("#0  0x10 in f ()\n#1  0x20 in g (a=1,\n"));
  EXPECT_TRUE(is_cut("#0  0x10 in f ()\n(More stack frames follow...)\n"));
  EXPECT_TRUE(is_cut("#0  0x10 in f ()\nBacktrace stopped: frame did not save the PC\n"));
}

TEST(CrashVm, IsToldByItsOwnNames) {
  const auto vm = [](const std::string& text) { return ParseCrashReport(text).vm; };
  EXPECT_EQ(vm("#0  0x10 in walkStackFrames () from /j/libj9vm29.so\n"
               "#1  0x20 in AsyncGetCallTrace () from /j/libjvm.so\n"),
            CrashVm::kOpenJ9);
  EXPECT_EQ(vm("#0  0x20 in AsyncGetCallTrace () from /j/libjvm.so\n"), CrashVm::kHotSpot);
  EXPECT_EQ(vm("#0  0x20 in main ()\n"), CrashVm::kUnknown);
  // The environment may name another VM.
  EXPECT_EQ(vm("# Java VM: OpenJDK 64-Bit Server VM (17+1, mixed mode, linux-amd64)\n"
               "Environment Variables:\nPATH=/opt/Eclipse OpenJ9/bin\n"),
            CrashVm::kHotSpot);
}

TEST(ThreadDump, IsNoCrash) {
  const std::string dump =
      "Debugger attached successfully.\nJVM version is 25+36\n----------------- 9 ------\n"
      "0x0000000000000010\tAsyncGetCallTrace + 0x1d4\n";
  EXPECT_EQ(ParseCrashReport(dump).text_kind, CrashText::kThreadDump);
  const std::string head =
      "# A fatal error has been detected by the Java Runtime Environment:\n"
      "#  SIGSEGV (0xb) at pc=0x10, pid=1, tid=2\n";
  EXPECT_EQ(ParseCrashReport(dump + head).text_kind, CrashText::kHsErr);
}

TEST(GdbFrame, IsNoLineThatOnlyBeginsLikeOne) {
  for (const char* line : {"#0\n", "#0x 0x10 in f ()\n", "# 0x10 in f ()\n", "#1 a comment\n"})
    EXPECT_EQ(FramesOf(line).size(), 0u) << line;
}

// 32 lines are added to a frame's first one.
TEST(GdbFrame, HasALimitOfLines) {
  auto broken = [](int lines) {
    std::string text = "#0  0x10 in f (a=1,\n";
    for (int i = 1; i < lines; i++) text += "    b=2,\n";
    return text + "    last=3)\n";
  };
  EXPECT_NE(FramesOf(broken(32))[0].text.find("last=3)"), std::string::npos);
  EXPECT_EQ(FramesOf(broken(33))[0].text.find("last=3)"), std::string::npos);
  EXPECT_EQ(FramesOf(broken(33))[0].symbol, "f");
}

// 4 KiB of lines are joined.
TEST(GdbFrame, HasALimitOfBytes) {
  const std::string first = "#0  0x10 in f (a=1,";
  const std::string fits(4096 - first.size() - 1, 'x');
  EXPECT_NE(FramesOf(first + "\n" + fits + ")\n")[0].text.find("x)"), std::string::npos);
  EXPECT_EQ(FramesOf(first + "\n" + fits + "x)\n")[0].text.find("x)"), std::string::npos);
}

TEST(DebuggerSignal, OfEachDebugger) {
  using Values = std::vector<std::string>;
  const struct {
    const char *text, *name;
    Values address;
  } kCases[] = {
      {"Thread 5 \"main\" received signal SIGSEGV, Segmentation fault.\n#0  0x10 in f ()\n",
       "SIGSEGV",
       {}},
      {"Program terminated with signal SIGBUS, Bus error.\n#0  0x10 in f ()\n", "SIGBUS", {}},
      {"* thread #1, stop reason = signal SIGILL: fault address: 0x18\n  frame #0: 0x10 a`f\n",
       "SIGILL",
       {"0x18"}},
      {"* thread #1, stop reason = EXC_BAD_ACCESS (code=1, address=0x1c)\n  frame #0: 0x10 a`f\n",
       "EXC_BAD_ACCESS",
       {"0x1c"}},
      {"Program received signal SIGSEGV, Segmentation fault.\n"
       "(gdb) p $_siginfo._sifields._sigfault.si_addr\n$1 = (void *) 0x70\n"
       "(gdb) p x\n$2 = (void *) 0x71\n#0  0x10 in f ()\n",
       "SIGSEGV",
       {"0x70"}},
      {"Program received signal SIGSEGV, Segmentation fault.\n$2 = (void *) 0x71\n#0  0x10 in f "
       "()\n",
       "SIGSEGV",
       {}},
      {"==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000010 (pc 0x1f bp 0x2f sp "
       "0x3f T31)\n    #0 0x1f in f() /a.cpp:1\n",
       "SIGSEGV",
       {"0x10"}},
      {"==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x18 at pc 0x1f bp 0x2f sp "
       "0x3f\n    #0 0x1f in f() /a.cpp:1\n",
       "heap-use-after-free",
       {"0x18"}},
      {"Crash reason:  SIGBUS / BUS_ADRALN\nCrash address: 0x20\n 0  a!f + 0x1\n",
       "SIGBUS",
       {"0x20"}},
      {"           PID: 4711 (java)\n        Signal: 11 (SEGV)\n  Command Line: java -jar a.jar\n"
       "Stack trace of thread 4790:\n#0  0x10 f (a.so + 0x1)\n",
       "SIGSEGV",
       {}},
      {"Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\n"
       "Exception Codes: KERN_INVALID_ADDRESS at 0x0000000000000028\n0   a  0x10 f + 1\n",
       "SIGSEGV",
       {"0x28"}},
  };
  for (const auto& [text, name, address] : kCases) {
    const CrashReport report = ParseCrashReport(text);
    EXPECT_EQ(report.signal.name.value, name);
    EXPECT_EQ(report.error, CrashError::kSignal) << name;
    EXPECT_EQ(ValuesOf(report, "address"), address) << name;
    EXPECT_NE(report.text_kind, CrashText::kHsErr) << name;
    EXPECT_EQ(report.native_stack.frames.size(), 1U) << text;
  }
}

TEST(GdbRegister, HasANameOfTwoToSixCharacters) {
  const CrashReport report = ParseCrashReport(
      "#0  0x10 in f ()\nr8             0x7                 7\neflags         0x246   [ PF ]\n"
      "x              0x1                 1\nfs_base        0x2                 2\n");
  EXPECT_EQ(ValuesOf(report, "register"), (std::vector<std::string>{"r8 0x7", "eflags 0x246"}));
  EXPECT_EQ(report.registers[0].line, 2);
}

}  // namespace
}  // namespace walkhammer
