// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/resemblance.h"

#include <gtest/gtest.h>

#include "harness/bugs/bug_store.h"
#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

std::map<std::string, Bug> KnownIssues() {
  const auto issues = BugStore::Read(WALKHAMMER_CORPORA "/known-issues");
  EXPECT_TRUE(issues.ok()) << issues.failure().message;
  return issues.ok() ? issues.value().bugs() : std::map<std::string, Bug>();
}

CrashVersion VersionOf(const std::string& jdk, const std::string& vm, int feature) {
  CrashVersion version;
  if (!jdk.empty()) version.jdk = {jdk, 1};
  if (!vm.empty()) version.vm_version = {vm, 1};
  if (feature > 0) version.feature = {feature, 1};
  return version;
}

TEST(Resemblances, OfTwoBugsWithOneCheckTheAffectedVersionIsFirst) {
  CrashReport report = ParseCrashReport(LogWith({kSender, kAgct, kHandler, kJava}));
  report.version = VersionOf("17.0.15+6", "", 17);
  report.internal.text =
      "guarantee(is_result_safe || is_in_asgct()) failed: unsafe access to zombie";
  CrashTarget target;
  target.check = "(codeCache.cpp) guarantee(is_result_safe || is_in_asgct()) failed";
  const auto bugs =
      ResemblancesOf(report, JudgeGuilt(report, ChainOf(report)), target, KnownIssues());
  ASSERT_EQ(bugs.size(), 2U);
  EXPECT_EQ(bugs.front().bug.id, "JDK-8352649");
  EXPECT_TRUE(bugs.front().by_check);
  EXPECT_EQ(bugs.front().affected, Affected::kYes);
  EXPECT_EQ(bugs.back().bug.id, "JDK-8283849");
  EXPECT_EQ(bugs.back().affected, Affected::kNo);
}

TEST(Resemblances, OneOfEqualRankComesByItsClass) {
  CrashReport report = ParseCrashReport(LogWith({kSender, kAgct, kHandler, kJava}));
  CrashTarget target;
  target.function = "frame::is_interpreted_frame_valid(JavaThread*) const";
  const auto ids = [&] {
    std::string all;
    for (const Resemblance& one :
         ResemblancesOf(report, JudgeGuilt(report, ChainOf(report)), target, KnownIssues()))
      all += one.bug.id + " ";
    return all;
  };
  EXPECT_EQ(ids(), "JDK-8313796 JDK-8297967 ");
  target.function = "frame::safe_for_sender(JavaThread*)";
  EXPECT_EQ(ids(), "JDK-8297967 ") << "the other one is of aarch64 alone";
  report.arch = CrashArch::kAarch64;
  EXPECT_EQ(ids(), "JDK-8315380 JDK-8297967 ");
}

TEST(Resemblances, AnAssertIsOfDebugBuildsAlone) {
  CrashReport report = ParseCrashReport(LogWith({kSender, kAgct, kHandler, kJava}));
  report.internal.text = "assert(sender.is_older()) failed";
  CrashTarget target;
  target.check = "(frame.cpp) assert(sender.is_older()) failed";
  const auto found = [&] {
    return ResemblancesOf(report, JudgeGuilt(report, ChainOf(report)), target, KnownIssues())
        .size();
  };
  for (const char* release : {"", "release"}) {
    report.version.debug_level.value = release;
    EXPECT_EQ(found(), 0U) << release;
  }
  report.version.debug_level.value = "fastdebug";
  EXPECT_EQ(found(), 1U);
}

TEST(Resemblances, VersionsOfTheVmCountFromJdk9On) {
  Bug bug;
  bug.affected = "[17,28-ea)";
  EXPECT_EQ(AffectedByCrash(bug, VersionOf("", "25.0.3+9", 25)), Affected::kYes);
  for (const auto& version :
       {VersionOf("", "25.504-b01", 8), VersionOf("25.504-b01", "", 8),
        VersionOf("28-ea+18", "", 28), VersionOf("x", "", 0), VersionOf("", "", 0)})
    EXPECT_EQ(AffectedByCrash(bug, version), Affected::kUnknown);
}

// A bug is known by its own check, or by a function in which the JVM did not stop by itself.
TEST(Resemblances, AnotherBugsCheckIsNoResemblance) {
  const CrashReport report =
      ParseCrashReport(LogWith({"V  [libjvm.so+0x1]  frame::safe_for_sender(JavaThread*)+0x1",
                                "V  [libjvm.so+0x2]  AsyncGetCallTrace+0x2"}));
  const CrashedChain chain = ChainOf(report);
  const GuiltVerdict guilt = JudgeGuilt(report, chain);
  CrashTarget target = TargetOf(report, chain);
  const auto issues = KnownIssues();
  ASSERT_TRUE(target.check.empty());
  EXPECT_FALSE(ResemblancesOf(report, guilt, target, issues).empty());
  target.check = "(frame.cpp) guarantee(x) failed";
  EXPECT_TRUE(ResemblancesOf(report, guilt, target, issues).empty());
  target.check.clear();
  target.function = "nothing";
  target.callers.clear();
  EXPECT_TRUE(ResemblancesOf(report, guilt, target, issues).empty());
  target.callers = {"something_else", "forte_fill_call_trace_given_top"};
  EXPECT_TRUE(ResemblancesOf(report, guilt, target, issues).empty());
  target.callers = {"something_else", "frame::safe_for_sender(JavaThread*)"};
  EXPECT_FALSE(ResemblancesOf(report, guilt, target, issues).empty()) << "a caller tells, too";
}

TEST(Resemblances, OfAnInnocentChainThereAreNone) {
  const CrashReport report =
      ParseCrashReport(LogWith({"V  [libjvm.so+0x1]  frame::safe_for_sender(JavaThread*)+0x1",
                                "V  [libjvm.so+0x2]  StackFrameStream::next()+0x2",
                                "V  [libjvm.so+0x3]  G1RootProcessor::run()+0x3"}));
  const CrashedChain chain = ChainOf(report);
  EXPECT_TRUE(
      ResemblancesOf(report, JudgeGuilt(report, chain), TargetOf(report, chain), KnownIssues())
          .empty());
}

}  // namespace
}  // namespace walkhammer
