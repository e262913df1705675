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
      // Of several threads, the one that a signal interrupted is kept.
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
  };
  for (const auto& [text, name, address] : kCases) {
    const CrashReport report = ParseCrashReport(text);
    EXPECT_EQ(report.signal.name.value, name);
    EXPECT_EQ(report.error, CrashError::kSignal) << name;
    EXPECT_EQ(ValuesOf(report, "address"), address) << name;
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
