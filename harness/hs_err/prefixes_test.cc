// SPDX-License-Identifier: Apache-2.0
// What precedes each line is learned, and nothing of the lines themselves.
#include "harness/hs_err/prefixes.h"

#include <gtest/gtest.h>

#include "harness/base/text.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {
namespace {

TEST(LinePrefixes, AreNotInABareLog) {
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    const LinePrefixes prefixes(log.text);
    for (const std::string& line : Split(log.text, '\n'))
      ASSERT_EQ(prefixes.Without(line), line) << log.name;
  }
}

TEST(LinePrefixes, DifferInNumbersBracketsAndWords) {
  const LinePrefixes prefixes(
      "10:11:12 INFO [main] a.B : # Problematic frame:\n"
      "10:11:12 INFO [main] a.B : # C  [a.so+0x1]\n"
      "10:11:13 INFO [main] a.B : Registers:\n");
  EXPECT_EQ(prefixes.Without("10:11:12 INFO [main] a.B : x"), "x");
  EXPECT_EQ(prefixes.Without("9:1:999 WARN [http-1 (2)] c.D$3 : x y"), "x y");
  EXPECT_EQ(prefixes.Without("10:11:12 INFO [main] a.B :"), "");
  for (const char* other : {"10:11:12 INFO main a.B : x", "10:11 INFO [main] a.B : x", "x", "",
                            "10:11:12 INFO [main] a.B x", "at 10:11:12 INFO [main] a.B : x"})
    EXPECT_EQ(prefixes.Without(other), other);
}

// Only a word: it must be that word.
TEST(LinePrefixes, OfWordsAlone) {
  const LinePrefixes prefixes("app | Problematic frame:\napp | C  [a.so+0x1]\n");
  EXPECT_EQ(prefixes.Without("app | x"), "x");
  EXPECT_EQ(prefixes.Without("db | x"), "db | x");
}

TEST(LinePrefixes, EndWhereAWordEnds) {
  const LinePrefixes prefixes("#11 1.5 Problematic frame:\n#11 1.6 C  [a.so+0x1]\n");
  EXPECT_EQ(prefixes.Without("#11 12.34 x"), "x");
  EXPECT_EQ(prefixes.Without("#11 12.34x"), "#11 12.34x");
}

TEST(LinePrefixes, AreLearnedFromTwoLines) {
  EXPECT_EQ(LinePrefixes("1: Problematic frame:\n").Without("2: x"), "2: x");
  EXPECT_EQ(LinePrefixes("1: Registers:\n2: siginfo:\n").Without("3: x"), "x");
}

TEST(LinePrefixes, OfABuildAreNoFramesOfGdb) {
  const CrashReport report = ParseCrashReport(
      "#11 1.50 Program terminated with signal SIGSEGV, Segmentation fault.\n"
      "#11 1.51 #0  0x10 in f () from /a.so\n#11 1.52 #1  0x20 in g ()\n");
  EXPECT_EQ(ValuesOf(report, "frame"),
            (std::vector<std::string>{"0 native module=a.so symbol=f pc=0x10",
                                      "1 native symbol=g pc=0x20"}));
  EXPECT_EQ(report.signal.name.value, "SIGSEGV");
}

}  // namespace
}  // namespace walkhammer
