// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/target.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/crash/crash_testing.h"
#include "harness/crash/known_crashes.h"

namespace walkhammer {
namespace {

std::vector<KnownBug> BugsOfTheCorpora() {
  auto bugs = ReadKnownBugs(WALKHAMMER_KNOWN_BUGS);
  EXPECT_TRUE(bugs.ok());
  return bugs.ok() ? std::move(bugs).value() : std::vector<KnownBug>();
}

CrashVersion VersionOf(const std::string& jdk, const std::string& vm, int feature) {
  CrashVersion version;
  if (!jdk.empty()) version.jdk = {jdk, 1};
  if (!vm.empty()) version.vm_version = {vm, 1};
  if (feature > 0) version.feature = {feature, 1};
  return version;
}

CrashTarget TargetOfText(const std::string& text) {
  const CrashReport report = ParseCrashReport(text);
  return TargetOf(report, ChainOf(report));
}

TEST(CrashTarget, ComparesByFunctionAndOffset) {
  const CrashTarget target = TargetOfText(LogWith({kSender, kAgct, kHandler, kJava}));
  EXPECT_EQ(target.function, "frame::sender");
  EXPECT_EQ(target.expect, "crash frame::sender(RegisterMap*) const+0x325");
  EXPECT_EQ(Compare(target, "crash frame::sender(RegisterMap*) const+0x325", ""),
            Closeness::kExact);
  EXPECT_EQ(Compare(target, "crash frame::sender(RegisterMap*) const+0x10", ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash frame::sender(bool)+0x325", ""), Closeness::kExact);
  EXPECT_EQ(Compare(target, "death SIGSEGV frame::sender(RegisterMap*) const+0x10", ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash memcpy+0x10 from frame::sender(RegisterMap*) const+0x8", ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash frame::sender_for_entry_frame(RegisterMap*) const+0x325", ""),
            Closeness::kNone);
  EXPECT_EQ(Compare(target, "truth/frames", ""), Closeness::kNone);
  EXPECT_EQ(Compare(target, "", ""), Closeness::kNone);
}

TEST(CrashTarget, OfAnExpectLineIsMetByADeath) {
  const CrashTarget crash = TargetOfExpect("crash frame::sender(RegisterMap*) const+0x325");
  EXPECT_EQ(Compare(crash, "death SIGSEGV frame::sender(RegisterMap*) const+0x325", ""),
            Closeness::kExact);
  EXPECT_EQ(Compare(crash, "death SIGSEGV frame::sender_blob()+0x325", ""), Closeness::kNone);
  EXPECT_FALSE(TargetOfExpect("truth/frames").told());
}

TEST(CrashTarget, KnowsCallersAndCalleesAsTheSameClass) {
  const CrashTarget target = TargetOfText(
      LogWith({"V  [libjvm.so+0x1]  Method::bcp_from(unsigned char*) const+0x3",
               "V  [libjvm.so+0x2]  frame::is_interpreted_frame_valid(JavaThread*) const+0x5f",
               kAgct, kHandler, kJava}));
  EXPECT_EQ(Compare(target, "crash frame::is_interpreted_frame_valid(JavaThread*) const+0x9", ""),
            Closeness::kClass);
  EXPECT_EQ(Compare(target, "crash Symbol::as_C_string() const+0x9",
                    "libjvm.so Symbol::as_C_string() const+0x9\n"
                    "libjvm.so Method::bcp_from(unsigned char*) const+0x8\n"),
            Closeness::kClass);
  // Every crash has the entry: it says nothing.
  EXPECT_EQ(Compare(target, "crash AsyncGetCallTrace+0x9", "libjvm.so AsyncGetCallTrace+0x9\n"),
            Closeness::kNone);
}

TEST(CrashTarget, ComparesChecksWithoutTheirLines) {
  std::string text = LogWith({"V  [libjvm.so+0x1]  VMError::report_and_die(int)+0x1", kAgct});
  const std::string signal = "#  SIGSEGV (0xb) at pc=0x00007f35362c5e95, pid=16184, tid=16247\n#\n";
  text.replace(
      text.find(signal), signal.size(),
      "#  Internal Error (codeCache.cpp:645), pid=16184, tid=16247\n"
      "#  guarantee(is_result_safe || is_in_asgct()) failed: unsafe access to zombie method"
      "\n#\n");
  const CrashTarget target = TargetOfText(text);
  EXPECT_EQ(target.check, "(codeCache.cpp) guarantee(is_result_safe || is_in_asgct()) failed");
  EXPECT_EQ(Compare(target,
                    "failed-check (codeCache.cpp:645) guarantee(is_result_safe || is_in_asgct()) "
                    "failed",
                    ""),
            Closeness::kExact);
  EXPECT_EQ(Compare(target,
                    "death Internal Error (codeCache.cpp:9) guarantee(is_result_safe || "
                    "is_in_asgct()) failed: unsafe access to zombie method",
                    ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "failed-check (codeCache.cpp:645) guarantee(x) failed", ""),
            Closeness::kClass);
  EXPECT_EQ(Compare(target, "crash CodeCache::find_blob(void*)+0x1", ""), Closeness::kNone);
  const CrashReport report = ParseCrashReport(text);
  const auto bugs =
      ResemblancesOf(report, JudgeGuilt(report, ChainOf(report)), target, BugsOfTheCorpora());
  ASSERT_FALSE(bugs.empty());
  EXPECT_STREQ(bugs.front().bug->id, "JDK-8352649");
  EXPECT_TRUE(bugs.front().by_check);
  EXPECT_EQ(bugs.front().affected, Affected::kYes);
  ASSERT_EQ(bugs.size(), 2U);
  EXPECT_STREQ(bugs.back().bug->id, "JDK-8283849");
  EXPECT_EQ(bugs.back().affected, Affected::kNo);
}

TEST(CrashTarget, TakesACrashInTheFunctionThatChecked) {
  CrashTarget target = TargetOfExpect("failed-check (codeCache.cpp:645) guarantee(x) failed");
  target.function = "CodeCache::find_blob";
  EXPECT_EQ(Compare(target, "crash CodeCache::find_blob(void*)+0x1", ""), Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash CodeCache::find_nmethod(void*)+0x1", ""), Closeness::kNone);
}

TEST(KnownCrashes, VersionsComeFromTheFolderOfTheBug) {
  const KnownCrash bug = {"JDK-1", "", "", "", "", "[25,28-ea)", "", false, 0};
  KnownBug folder, other;
  folder.id = "JDK-1";
  folder.versions_affected = ParseVersionRanges("[11.0.5,11.0.14)").value();
  folder.versions_clean = ParseVersionRanges("[17,)").value();
  other.id = "JDK-2";
  const auto affected = [&](const char* jdk, const std::vector<KnownBug>& folders) {
    return AffectedByCrash(bug, folders, VersionOf(jdk, "", 0));
  };
  EXPECT_EQ(affected("11.0.13+8", {other, folder}), Affected::kYes);
  EXPECT_EQ(affected("11.0.14+1", {other, folder}), Affected::kUnknown);
  EXPECT_EQ(affected("25.0.3+9", {other, folder}), Affected::kNo);
  for (const char* yes : {"25", "25.0.3+9", "27.0.9"})
    EXPECT_EQ(affected(yes, {other}), Affected::kYes) << yes;
  for (const char* unknown : {"25-ea+3", "24.0.2", "28-ea+18", "28", "", "x"})
    EXPECT_EQ(affected(unknown, {other}), Affected::kUnknown) << unknown;
}

TEST(KnownCrashes, VersionsOfTheVmCountFromJdk9On) {
  const KnownCrash bug = {"", "", "", "", "", "[17,28-ea)", "", false, 0};
  EXPECT_EQ(AffectedByCrash(bug, {}, VersionOf("", "25.0.3+9", 25)), Affected::kYes);
  EXPECT_EQ(AffectedByCrash(bug, {}, VersionOf("", "25.504-b01", 8)), Affected::kUnknown);
  EXPECT_EQ(AffectedByCrash(bug, {}, VersionOf("25.504-b01", "", 8)), Affected::kUnknown);
}

TEST(KnownCrashes, TellVersionsOnceOnly) {
  const std::vector<KnownBug> folders = BugsOfTheCorpora();
  size_t with_folder = 0;
  for (const KnownCrash& bug : AllKnownCrashes()) {
    EXPECT_TRUE(ParseVersionRanges(bug.affected).ok()) << bug.id;
    if (std::none_of(folders.begin(), folders.end(),
                     [&](const KnownBug& folder) { return folder.id == bug.id; }))
      continue;
    with_folder++;
    EXPECT_STREQ(bug.affected, "") << bug.id << " has a folder, which tells its versions";
  }
  EXPECT_GE(with_folder, 3U);
}

// A bug is known by its own check, or by a function in which the JVM did not stop by itself.
TEST(KnownCrashes, AnotherBugsCheckIsNoResemblance) {
  const CrashReport report =
      ParseCrashReport(LogWith({"V  [libjvm.so+0x1]  frame::safe_for_sender(JavaThread*)+0x1",
                                "V  [libjvm.so+0x2]  AsyncGetCallTrace+0x2"}));
  const CrashedChain chain = ChainOf(report);
  const GuiltVerdict guilt = JudgeGuilt(report, chain);
  CrashTarget target = TargetOf(report, chain);
  ASSERT_TRUE(target.check.empty());
  EXPECT_FALSE(ResemblancesOf(report, guilt, target, {}).empty());
  target.check = "(frame.cpp) guarantee(x) failed";
  EXPECT_TRUE(ResemblancesOf(report, guilt, target, {}).empty());
  target.check.clear();
  target.function = "nothing";
  target.callers.clear();
  EXPECT_TRUE(ResemblancesOf(report, guilt, target, {}).empty());
  target.callers = {"something_else", "forte_fill_call_trace_given_top"};
  EXPECT_TRUE(ResemblancesOf(report, guilt, target, {}).empty());
  target.callers = {"something_else", "frame::safe_for_sender(JavaThread*)"};
  EXPECT_FALSE(ResemblancesOf(report, guilt, target, {}).empty()) << "a caller tells, too";
}

TEST(KnownCrashes, OfAnInnocentChainThereAreNone) {
  const CrashReport report =
      ParseCrashReport(LogWith({"V  [libjvm.so+0x1]  frame::safe_for_sender(JavaThread*)+0x1",
                                "V  [libjvm.so+0x2]  StackFrameStream::next()+0x2",
                                "V  [libjvm.so+0x3]  G1RootProcessor::run()+0x3"}));
  const CrashedChain chain = ChainOf(report);
  EXPECT_TRUE(
      ResemblancesOf(report, JudgeGuilt(report, chain), TargetOf(report, chain), {}).empty());
}

}  // namespace
}  // namespace walkhammer
