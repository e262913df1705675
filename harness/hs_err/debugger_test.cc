// SPDX-License-Identifier: Apache-2.0
// Back-traces of gdb and lldb: each part of a frame, lines that gdb broke, and bounds.
#include <gtest/gtest.h>

#include <string>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {
namespace {

std::vector<CrashFrame> FramesOf(const std::string& text) {
  return ParseCrashReport(text).native_stack.frames;
}

TEST(GdbFrame, OfALibrary) {
  const auto frames = FramesOf("#0  0x00007f01 in f (a=1) from /usr/lib/libjvm.so\n");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, CrashFrameKind::kVm);
  EXPECT_EQ(frames[0].pc, 0x7f01u);
  EXPECT_EQ(frames[0].symbol, "f");
  EXPECT_EQ(frames[0].module, "libjvm.so");
  EXPECT_EQ(frames[0].source, "");
  EXPECT_EQ(frames[0].line, 1);
}

TEST(GdbFrame, OfASourceFile) {
  const auto frames = FramesOf("#0  walk (n=3) at ./src/a/frame.cpp:12\n");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, CrashFrameKind::kNative);
  EXPECT_FALSE(frames[0].pc);
  EXPECT_EQ(frames[0].symbol, "walk");
  EXPECT_EQ(frames[0].source, "frame.cpp:12");
  EXPECT_EQ(frames[0].module, "");
}

TEST(GdbFrame, WithoutASymbol) {
  const auto frames =
      FramesOf("#0  0x10 in ?? ()\n#1  <signal handler called>\n#2  0x20 in g ()\n");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].symbol, "");
  EXPECT_EQ(frames[1].kind, CrashFrameKind::kSignalHandler);
  EXPECT_EQ(frames[2].symbol, "g");
}

TEST(GdbFrame, IsNoLineThatOnlyBeginsLikeOne) {
  for (const char* line : {"#0\n", "#0x 0x10 in f ()\n", "# 0x10 in f ()\n", "#1 a comment\n"})
    EXPECT_EQ(FramesOf(line).size(), 0u) << line;
}

TEST(GdbFrame, BrokenAtTheTerminalsWidth) {
  const auto frames = FramesOf(
      "#0  0x10 in f (a=1,\n    b=2) at f.cpp:3\n"
      "#1  0x20 in g ()\n    from /lib/libjvm.so\n"
      "#2  0x30 in h ()\nrax            0x5                 5\n");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].source, "f.cpp:3");
  EXPECT_EQ(frames[1].kind, CrashFrameKind::kVm);
  EXPECT_EQ(frames[1].pc, 0x20u);
  EXPECT_EQ(frames[2].text.find("rax"), std::string::npos);
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

TEST(LldbFrame, HasAllItsParts) {
  const auto frames = FramesOf(
      "* frame #0: 0x0000000010 libjvm.dylib`f(X*) + 12 at f.cpp:12:3 [opt]\n"
      "  frame #1: 0x0000000020 /usr/lib/libc.dylib`[inlined] g at g.cpp:1\n"
      "  frame #2: 0x0000000030 a.out`___lldb_unnamed_symbol7 + 4\n"
      "  frame #3: 0x0000000040\n");
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0].kind, CrashFrameKind::kVm);
  EXPECT_EQ(frames[0].pc, 0x10u);
  EXPECT_EQ(frames[0].module, "libjvm.dylib");
  EXPECT_EQ(frames[0].symbol, "f(X*)");
  EXPECT_EQ(frames[0].symbol_offset, 12u);
  EXPECT_EQ(frames[0].source, "f.cpp:12:3");
  EXPECT_FALSE(frames[0].is_inlined);
  EXPECT_EQ(frames[1].kind, CrashFrameKind::kNative);
  EXPECT_EQ(frames[1].module, "libc.dylib");
  EXPECT_EQ(frames[1].symbol, "g");
  EXPECT_TRUE(frames[1].is_inlined);
  EXPECT_FALSE(frames[1].symbol_offset);
  EXPECT_EQ(frames[2].symbol, "");
  EXPECT_EQ(frames[2].symbol_offset, 4u);
  EXPECT_EQ(frames[3].pc, 0x40u);
  EXPECT_EQ(frames[3].module, "");
}

TEST(DebuggerSignal, OfEachDebugger) {
  CrashReport report = ParseCrashReport(
      "Thread 5 \"main\" received signal SIGSEGV, Segmentation fault.\n#0  0x10 in f ()\n");
  EXPECT_EQ(report.signal.name.value, "SIGSEGV");
  EXPECT_EQ(report.error, CrashError::kSignal);
  EXPECT_FALSE(report.signal.address.known());
  report =
      ParseCrashReport("Program terminated with signal SIGBUS, Bus error.\n#0  0x10 in f ()\n");
  EXPECT_EQ(report.signal.name.value, "SIGBUS");
  report = ParseCrashReport(
      "* thread #1, stop reason = signal SIGILL: fault address: 0x18\n  frame #0: 0x10 a`f\n");
  EXPECT_EQ(report.signal.name.value, "SIGILL");
  EXPECT_EQ(report.signal.address.value, 0x18u);
  report = ParseCrashReport(
      "* thread #1, stop reason = EXC_BAD_ACCESS (code=1, address=0x1c)\n  frame #0: 0x10 a`f\n");
  EXPECT_EQ(report.signal.name.value, "EXC_BAD_ACCESS");
  EXPECT_EQ(report.error, CrashError::kSignal);
  EXPECT_EQ(report.signal.address.value, 0x1cu);
}

TEST(GdbRegister, HasANameOfTwoToSixCharacters) {
  const CrashReport report = ParseCrashReport(
      "#0  0x10 in f ()\nr8             0x7                 7\neflags         0x246   [ PF ]\n"
      "x              0x1                 1\nfs_base        0x2                 2\n");
  ASSERT_EQ(report.registers.size(), 2u);
  EXPECT_EQ(report.registers[0].name, "r8");
  EXPECT_EQ(report.registers[0].value, 7u);
  EXPECT_EQ(report.registers[0].line, 2);
  EXPECT_EQ(report.registers[1].name, "eflags");
}

// Of several threads, the one that a signal interrupted is kept.
TEST(DebuggerStack, OfTheThreadWithASignalHandler) {
  const auto frames = FramesOf(
      "Thread 2 (LWP 2):\n#0  0x10 in waits ()\n\nThread 1 (LWP 1):\n"
      "#0  0x20 in handler ()\n#1  <signal handler called>\n#2  0x30 in crashes ()\n\n"
      "Thread 3 (LWP 3):\n#0  0x40 in other ()\n");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].symbol, "handler");
}

}  // namespace
}  // namespace walkhammer
