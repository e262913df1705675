// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/crash_error_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace walkhammer {
namespace {

// Heads as JDK 17.0.15 and 25.0.3 write them (vmError.cpp).
constexpr char kBegin[] =
    "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n";
constexpr char kVersion[] =
    "#\n# JRE version: OpenJDK Runtime Environment Temurin-25.0.3+9 (25.0.3+9)\n"
    "# Java VM: OpenJDK 64-Bit Server VM (25.0.3+9-LTS, mixed mode, g1 gc, linux-amd64)\n";
constexpr char kEnd[] =
    "#\n# No core dump will be written. Core dumps have been disabled.\n#\n\n"
    "---------------  S U M M A R Y ------------\n\n# Problematic frame:\n# C  [late.so+0x1]\n";

std::string Head(const std::string& error, const std::string& frame) {
  std::string text = kBegin + error + kVersion;
  if (!frame.empty()) text += "# Problematic frame:\n# " + frame + "\n";
  return text + kEnd;
}

TEST(HsErrHead, SignalsAndInternalErrors) {
  const struct {
    const char *error, *frame;
    HsErrHead said;  // error, message, module, frame
  } heads[] = {
      {"#  SIGSEGV (0xb) at pc=0x00007fb1c6cd2f94, pid=4891, tid=4892\n",
       "V  [libjvm.so+0xed2f94]  frame::sender(RegisterMap*) const+0x1f",
       {"SIGSEGV", "", "libjvm.so", "frame::sender(RegisterMap*) const+0x1f"}},
      {"#  SIGSEGV (0xb) at pc=0x00007f7323a7af14 (sent by kill), pid=4910, tid=4910\n",
       "C  [libc.so.6+0x85f14]",
       {"SIGSEGV", "", "libc.so.6", "libc.so.6+0x85f14"}},
      {"#  Internal Error (frame.cpp:123), pid=1, tid=2\n"
       "#  guarantee(is_ok(p)) failed: bad 0x00007f00dead0000 at 00007f00dead0008\n",
       "",
       {"Internal Error (frame.cpp:123)", "guarantee(is_ok(p)) failed: bad 0x? at 0x?", "", ""}},
      {"#  Internal Error (/build/src/share/runtime/frame.cpp:9), pid=1, tid=2\n"
       "#  assert(x) failed: first line\n#  second line\n",
       "",
       {"Internal Error (frame.cpp:9)", "assert(x) failed: first line", "", ""}},
      {"#  Internal Error (debug.cpp:362), pid=1, tid=2\n"
       "#  fatal error: OutOfMemory encountered: Java heap space\n",
       "",
       {"Internal Error (debug.cpp:362)", "fatal error: OutOfMemory encountered: Java heap space",
        "", ""}},
      {"#  Internal Error (debug.cpp:362), pid=1, tid=2\n",
       "",
       {"Internal Error (debug.cpp:362)", "", "", ""}},
  };
  for (const auto& [error, frame, said] : heads) {
    const HsErrHead head = ParseHsErrHead(Head(error, frame));
    EXPECT_EQ(head.error, said.error);
    EXPECT_EQ(head.message, said.message);
    EXPECT_EQ(head.module, said.module);
    EXPECT_EQ(head.frame, said.frame);
  }
}

TEST(HsErrHead, JavaAndStubFrames) {
  const std::string error = "#  SIGBUS (0x7) at pc=0x00007fb1c6cd2f94, pid=4891, tid=4892\n";
  EXPECT_EQ(ParseHsErrHead(Head(error,
                                "J 44% c2 java.util.HashMap.get(I)V java.base@25 (10 bytes) "
                                "@ 0x00007f [0x00007f+0x12]"))
                .frame,
            "c2 java.util.HashMap.get(I)V java.base@25");
  EXPECT_EQ(ParseHsErrHead(Head(error, "v  ~StubRoutines::call_stub 0x00007f3c9c7b9d1e")).frame,
            "StubRoutines::call_stub");
  EXPECT_EQ(ParseHsErrHead(Head(error, "v  ~StubRoutines::call_stub")).frame,
            "StubRoutines::call_stub");
  EXPECT_EQ(ParseHsErrHead(Head(error, "j  a.B.c()V+12")).frame, "a.B.c()V+12");
  EXPECT_EQ(ParseHsErrHead(Head(error, "C  0x0000000000000000")).frame, "0x?");
}

TEST(HsErrHead, OutOfNativeMemory) {
  EXPECT_EQ(ParseHsErrHead("#\n# There is insufficient memory for the Java Runtime Environment to "
                           "continue.\n# Native memory allocation (mmap) failed to map 1 bytes.\n")
                .error,
            "insufficient memory");
}

TEST(KilledBy, TheProcessThatSentTheSignal) {
  const auto killed_by = [](const std::string& siginfo) {
    return KilledBy(Head("#  SIGSEGV (0xb) at pc=0x00007fb1c6cd2f94, pid=4891, tid=4892\n", "") +
                    "siginfo: si_signo: 11 (SIGSEGV), " + siginfo + "\n");
  };
  EXPECT_EQ(killed_by("si_code: 0 (SI_USER), si_pid: 7, si_uid: 0"), "SIGSEGV of pid 7");
  EXPECT_EQ(killed_by("si_code: -6 (SI_TKILL), si_pid: 7, si_uid: 0"), "SIGSEGV of pid 7");
  EXPECT_EQ(killed_by("si_code: 0 (SI_USER), sent from pid: 7 (uid: 0)"), "SIGSEGV of pid 7");
  // For a process that this one's namespace does not show.
  EXPECT_EQ(killed_by("si_code: 0 (SI_USER), si_pid: 0, si_uid: 0"), "SIGSEGV of pid 0");
  EXPECT_EQ(killed_by("si_code: -6 (SI_TKILL), si_pid: 4891 (current process), si_uid: 0"), "");
  EXPECT_EQ(killed_by("si_code: 1 (SEGV_MAPERR), si_addr: 0x0000000000000007"), "");
  EXPECT_EQ(killed_by("si_code: 128 (SI_KERNEL), si_addr: 0x0000000000000000"), "");
  EXPECT_EQ(KilledBy("siginfo: si_signo: 11 (SIGSEGV), si_code: 0 (SI_USER), si_pid: 7"), "");
  EXPECT_EQ(KilledBy(""), "");
}

TEST(HsErrHead, OtherTextSaysNothing) {
  for (const char* text : {"", "#", "#\n#\n", "hello\nworld", "SIGSEGV (0xb) at pc=0x1"})
    EXPECT_EQ(ParseHsErrHead(text).error, "") << text;
  EXPECT_EQ(ParseHsErrHead(std::string(kBegin)).error, "");
}

TEST(HsErrHead, CutAndDamagedHeadsDoNoHarm) {
  const std::string whole = Head("#  SIGSEGV (0xb) at pc=0x00007fb1c6cd2f94, pid=4891, tid=4892\n",
                                 "J 44 c2 a.B.c()V (10 bytes) @ 0x1 [0x1+0x2]");
  std::mt19937 random(1);
  for (size_t size = 0; size <= whole.size(); size++) {
    ParseHsErrHead(std::string_view(whole).substr(0, size));
    std::string damaged = whole;
    for (int i = 0; i < 8; i++) damaged[random() % whole.size()] = static_cast<char>(random());
    ParseHsErrHead(damaged);
  }
  for (const char* frame : {"V [", "V []", "V [+]", "J", "J 1", "v ~", "C  [a", "Q  ]["})
    ParseHsErrHead(Head("#  SIGSEGV (0xb) at pc=0x1, pid=1, tid=1\n", frame));
}

TEST(NormalizeHex, ReplacesAddressesOnly) {
  EXPECT_EQ(NormalizeHex("at 0xAB, 0x1"), "at 0x?, 0x?");
  EXPECT_EQ(NormalizeHex("f+0x1f of 0x00007f0012345678", 9), "f+0x1f of 0x?");
  EXPECT_EQ(NormalizeHex("00007f00dead0008 deadbeef cafebabe0123_x"),
            "0x? deadbeef cafebabe0123_x");
  EXPECT_EQ(NormalizeHex("fox0x1 0x 0xg"), "fox0x1 0x 0xg");
}

}  // namespace
}  // namespace walkhammer
