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
    chain_ = ChainOf(report_);
    guilt_ = JudgeGuilt(report_, chain_);
    target_ = TargetOf(report_, chain_);
  }
  std::string Ids() const {
    std::string ids;
    for (const Resemblance& one : ResemblancesOf(report_, chain_, guilt_, target_, issues_))
      ids += one.bug.id + " ";
    return ids;
  }

  std::map<std::string, Bug> issues_;
  CrashReport report_;
  CrashedChain chain_;
  GuiltVerdict guilt_;
  CrashTarget target_;
};

TEST_F(ResemblancesTest, OfBugsWithOneCheckThoseOfTheVersionCount) {
  ReadLog(LogOfFailedCheck());
  const auto bugs = ResemblancesOf(report_, chain_, guilt_, target_, issues_);
  ASSERT_EQ(Ids(), "JDK-8352649 ");
  EXPECT_TRUE(bugs.front().by_check);
  EXPECT_EQ(bugs.front().affected, Affected::kYes);
  report_.version = VersionOf("17.0.16+8", "", 17);
  EXPECT_EQ(Ids(), "JDK-8283849 JDK-8352649 JDK-8339133 ") << "it has none of them";
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

// The check of 17.0.13 to 17.0.15, which JDK 8 fails for another reason.
TEST_F(ResemblancesTest, OneCheckMayHaveACauseForEachRelease) {
  ReadLog(LogOfFailedCheck());
  target_.check = report_.internal.text;
  EXPECT_EQ(ResemblancesOf(report_, chain_, guilt_, target_, issues_).front().bug.id,
            "JDK-8352649");
  report_.version = VersionOf("1.8.0_412-b08", "", 8);
  const auto bugs = ResemblancesOf(report_, chain_, guilt_, target_, issues_);
  EXPECT_EQ(bugs.front().bug.id, "JDK-8339133");
  EXPECT_EQ(bugs.front().versions, "8u412 has it; fixed in 8u432");
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

// A profiler's recording that resolves a stale id, with the frames of async-profiler #974.
TEST_F(ResemblancesTest, ABugWithoutAWalkerExplainsANo) {
  const std::vector<std::string> frames = {
      "V  [libjvm.so+0x766108]  oopDesc::is_a(Klass*) const+0x48",
      "V  [libjvm.so+0x7635ec]  jvmti_GetClassSignature+0x15c",
      "C  [libasyncProfiler.so+0x35389]  Recording::finishChunk()+0x20c9",
      "C  [libasyncProfiler.so+0x3599c]  FlightRecorder::stop()+0x9c",
      "V  [libjvm.so+0x8e2f]  java_start(Thread*)+0x108"};
  ReadLog(LogWith(frames, "", "1.8.0_412-b08"));
  EXPECT_EQ(guilt_.guilt, Guilt::kNone);
  EXPECT_EQ(Ids(), "JDK-8268364 JDK-8313816 ");
  const auto bugs = ResemblancesOf(report_, chain_, guilt_, target_, issues_);
  EXPECT_EQ(bugs.front().versions, "8u412 has it; fixed in 11.0.26");
  ReadLog(LogWith({frames[0], frames[1], frames[4]}));
  EXPECT_EQ(Ids(), "") << "other callers of JVMTI";
  ReadLog(LogWith(
      {"V  [libjvm.dylib+0x482d08]  AccessInternal::oop_access_barrier(void*)+0x8",
       "V  [libjvm.dylib+0x6b6b74]  JvmtiClassFileLoadHookPoster::post_to_env(JvmtiEnv*, "
       "bool)+0x78",
       "V  [libjvm.dylib+0x4ccc14]  InterpreterRuntime::resolve_from_cache()+0x98", kInterpreted},
      "", "21.0.5+11"));
  EXPECT_EQ(guilt_.guilt, Guilt::kNone);
  EXPECT_EQ(Ids(), "JDK-8337331 ");
}

TEST_F(ResemblancesTest, TheAllocatorsAbortIsOneOfBrokenMemory) {
  ReadLog(
      "#0  0x1 in raise () from /lib/libc.so.6\n#1  0x2 in abort () from /lib/libc.so.6\n"
      "#2  0x3 in __libc_message () from /lib/libc.so.6\n"
      "#3  0x4 in malloc_printerr () from /lib/libc.so.6\n"
      "#4  0x5 in os::free(void*) () from /jdk/libjvm.so\n"
      "#5  0x6 in Thread::call_run() () from /jdk/libjvm.so\n");
  EXPECT_EQ(guilt_.guilt, Guilt::kNone);
  EXPECT_EQ(Ids(), "heap-corruption ");
}

TEST_F(ResemblancesTest, VersionsAreRanges) {
  const Bug& bug = issues_.at("JDK-8352649");
  EXPECT_EQ(VersionsText(bug, VersionOf("17.0.13+11", "", 17)), "17.0.13 has it; fixed in 17.0.16");
  EXPECT_EQ(VersionsText(bug, VersionOf("17.0.15+6-Debian-1deb12u1", "", 17)),
            "17.0.15 has it; fixed in 17.0.16");
  EXPECT_EQ(VersionsText(bug, VersionOf("17.0.16+8", "", 17)), "but 17.0.16 is without it");
  EXPECT_EQ(VersionsText(bug, VersionOf("17.0.11+9", "", 17)),
            "whether 17.0.11 has it is not known here; fixed in 17.0.16");
  EXPECT_EQ(VersionsText(bug, {}), "whether this version has it is not known here");
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
