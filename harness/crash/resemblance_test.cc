// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/resemblance.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/bugs/bug_store.h"
#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

constexpr char kForSender[] = "V  [libjvm.so+0x1]  frame::safe_for_sender(JavaThread*)+0x1";

CrashVersion VersionOf(const std::string& jdk, const std::string& vm, int feature) {
  CrashVersion version;
  if (!jdk.empty()) version.jdk = {jdk, 1};
  if (!vm.empty()) version.vm_version = {vm, 1};
  if (feature > 0) version.feature = {feature, 1};
  return version;
}

class ResemblancesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto issues = Must(BugStore::Read(WALKHAMMER_CORPORA "/known-issues"));
    issues_ = issues.bugs();
  }
  void ReadLog(const std::string& text) {
    report_ = ParseCrashReport(text);
    const CrashedChain chain = ChainOf(report_);
    guilt_ = JudgeGuilt(report_, chain);
    target_ = TargetOf(report_, chain);
  }
  std::string Ids() const {
    std::string ids;
    for (const Resemblance& one : ResemblancesOf(report_, guilt_, target_, issues_))
      ids += one.bug.id + " ";
    return ids;
  }

  std::map<std::string, Bug> issues_;
  CrashReport report_;
  GuiltVerdict guilt_;
  CrashTarget target_;
};

TEST_F(ResemblancesTest, OfTwoBugsWithOneCheckTheAffectedVersionIsFirst) {
  ReadLog(LogOfFailedCheck());
  const auto bugs = ResemblancesOf(report_, guilt_, target_, issues_);
  ASSERT_EQ(bugs.size(), 2U);
  EXPECT_EQ(bugs.front().bug.id, "JDK-8352649");
  EXPECT_TRUE(bugs.front().by_check);
  EXPECT_EQ(bugs.front().affected, Affected::kYes);
  EXPECT_EQ(bugs.back().bug.id, "JDK-8283849");
  EXPECT_EQ(bugs.back().affected, Affected::kNo);
}

TEST_F(ResemblancesTest, OneOfEqualRankComesByItsClass) {
  ReadLog(LogWith({kForSender, kAgct}));
  EXPECT_EQ(Ids(), "JDK-8297967 ") << "the other one is of aarch64 alone";
  report_.arch = CrashArch::kAarch64;
  report_.version = {};  // else what is known of this JDK comes first
  EXPECT_EQ(Ids(), "JDK-8315380 JDK-8297967 ");
  target_.function = "frame::is_interpreted_frame_valid(JavaThread*) const";
  EXPECT_EQ(Ids(), "JDK-8313796 JDK-8297967 ");
}

TEST_F(ResemblancesTest, AnAssertIsOfDebugBuildsAlone) {
  ReadLog(LogWith({kSender, kAgct}));
  target_.check = report_.internal.text = "assert(sender.is_older()) failed";
  for (const char* release : {"", "release"}) {
    report_.version.debug_level.value = release;
    EXPECT_EQ(Ids(), "") << release;
  }
  report_.version.debug_level.value = "fastdebug";
  EXPECT_EQ(Ids(), "JDK-8382486 ");
}

// A bug is known by its own check, or by a function in which the JVM did not stop by itself.
TEST_F(ResemblancesTest, AnotherBugsCheckIsNoResemblance) {
  ReadLog(LogWith({kForSender, "V  [libjvm.so+0x2]  AsyncGetCallTrace+0x2"}));
  ASSERT_TRUE(target_.check.empty());
  EXPECT_NE(Ids(), "");
  target_.check = "(frame.cpp) guarantee(x) failed";
  EXPECT_EQ(Ids(), "");
  target_.check.clear();
  target_.function = "nothing";
  target_.callers.clear();
  EXPECT_EQ(Ids(), "");
  target_.callers = {"something_else", "forte_fill_call_trace_given_top"};
  EXPECT_EQ(Ids(), "");
  target_.callers = {"something_else", "frame::safe_for_sender(JavaThread*)"};
  EXPECT_NE(Ids(), "") << "a caller tells, too";
}

TEST_F(ResemblancesTest, OfAnInnocentChainThereAreNone) {
  ReadLog(LogWith({kForSender, "V  [libjvm.so+0x2]  StackFrameStream::next()+0x2",
                   "V  [libjvm.so+0x3]  G1RootProcessor::run()+0x3", kThreadStart}));
  EXPECT_EQ(Ids(), "");
}

TEST(AffectedByCrashTest, VersionsOfTheVmCountFromJdk9On) {
  Bug bug;
  bug.affected = "[17,28-ea)";
  EXPECT_EQ(AffectedByCrash(bug, VersionOf("", "25.0.3+9", 25)), Affected::kYes);
  for (const auto& version :
       {VersionOf("", "25.504-b01", 8), VersionOf("25.504-b01", "", 8),
        VersionOf("28-ea+18", "", 28), VersionOf("x", "", 0), VersionOf("", "", 0)})
    EXPECT_EQ(AffectedByCrash(bug, version), Affected::kUnknown);
}

}  // namespace
}  // namespace walkhammer
