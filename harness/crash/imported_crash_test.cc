// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/imported_crash.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

TEST(ImportTexts, JudgesEachCrash) {
  const std::string guilty = LogWith({kSender, kAgct, kHandler, kJava});
  const std::string innocent = LogWith({kHandler, kJava});
  const auto crashes = Must(ImportTexts(guilty + innocent, "a.log", {}));
  ASSERT_EQ(crashes.size(), 2U);
  EXPECT_EQ(crashes[0].which, "crash 1 of 2");
  EXPECT_EQ(crashes[0].guilt.guilt, Guilt::kWalker);
  EXPECT_EQ(crashes[1].which, "crash 2 of 2");
  EXPECT_NE(crashes[1].guilt.guilt, Guilt::kWalker);
  EXPECT_EQ(crashes[1].name, "a.log");
  EXPECT_EQ(Must(ImportTexts(guilty, "a.log", {}))[0].which, "");
}

TEST(ImportTexts, OfOpenJ9AreNoRequestsForHotSpot) {
  const std::string stack =
      "#0  0x10 in getSendSlotsFromSignature () from /j/libj9jit29.so\n"
      "#1  0x20 in AsyncGetCallTrace () from /j/libjvm.so\n#2  <signal handler called>\n";
  const auto crashes = Must(ImportTexts(stack, "a.txt", {}));
  EXPECT_EQ(crashes[0].guilt.guilt, Guilt::kWalker);
  EXPECT_TRUE(crashes[0].candidates.empty());
  EXPECT_TRUE(crashes[0].resemblances.empty());
  // HotSpot's.
  const std::string hotspot = stack.substr(stack.find("#1"));
  EXPECT_FALSE(Must(ImportTexts(hotspot, "a.txt", {}))[0].candidates.empty());
}

TEST(ImportTexts, RefusesAThreadDump) {
  EXPECT_THAT(ImportTexts("Full thread dump OpenJDK 64-Bit Server VM:\n", "a.txt", {}),
              FailsWith(ExitCode::kBadInput));
}

}  // namespace
}  // namespace walkhammer
