// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/candidates.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/crash/crash_testing.h"
#include "harness/crash/imported_crash.h"
#include "harness/crash/shapes.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

ImportedCrash Import(const std::string& text, const std::vector<BugRequest>& known = {}) {
  return Must(ImportTexts(text, "a.log", {known, {}, ""}))[0];
}

const CrashCandidate* CandidateAbout(const ImportedCrash& crash, const std::string& words) {
  for (const CrashCandidate& candidate : crash.candidates)
    if (candidate.what.find(words) != std::string::npos) return &candidate;
  return nullptr;
}

TEST(Candidates, AreRequestsThatExpectTheSignature) {
  for (const char* version : {"1.8.0_492-b09", "11.0.5+10", "17.0.15+6", "21.0.4+7", "28-ea+18"}) {
    const ImportedCrash crash =
        Import(LogWith({kSender, kAgct, kHandler, kJava, kInterpreted}, "", version));
    ASSERT_GE(crash.candidates.size(), 10U) << version;
    EXPECT_LE(crash.candidates.size(), kMostCandidates);
    for (const CrashCandidate& candidate : crash.candidates) {
      auto symbols = NewSymbolTable();
      WalkFile file;
      ASSERT_EQ(ParseText(candidate.text, "c", *symbols, file), "") << candidate.text;
      EXPECT_EQ(file.expect, "crash frame::sender(RegisterMap*) const+0x325");
      EXPECT_FALSE(candidate.fields.empty()) << candidate.what;
    }
  }
}

TEST(BadValues, TheLikeliestIsByTheFaultsCodeAndAddress) {
  const struct {
    const char* siginfo;
    const char* value;  // empty: the address says nothing
  } kFaults[] = {
      {"si_code: 1 (SEGV_MAPERR), si_addr: 0x0000000000000018", "0x0"},
      {"si_code: 1 (SEGV_MAPERR), si_addr: 0x00007f0000001000", "unmapped"},
      {"si_code: 2 (SEGV_ACCERR), si_addr: 0x00007f0000001000", "no-access"},
      {"si_code: 128 (SI_KERNEL), si_addr: 0x0000000000000000", ""},
  };
  for (const auto& [siginfo, value] : kFaults) {
    const auto values = BadValuesOf(
        ParseCrashReport(std::string("siginfo: si_signo: 11 (SIGSEGV), ") + siginfo + "\n"));
    ASSERT_FALSE(values.empty());
    const bool likely = values.front().confidence == Confidence::kLikely;
    EXPECT_EQ(likely ? values.front().value : "", value) << siginfo;
  }
}

TEST(Candidates, BestOnesComeFirst) {
  const ImportedCrash crash = Import(LogWith({kSender, kAgct, kHandler, kJava}));
  for (size_t i = 1; i < crash.candidates.size(); i++)
    EXPECT_GE(crash.candidates[i - 1].rank, crash.candidates[i].rank);
}

TEST(Candidates, TakeTheInterruptedFramesOfTheReport) {
  const ImportedCrash crash = Import(LogWith({kSender, kAgct, kHandler, kJava, kInterpreted}));
  const CrashCandidate* context = CandidateAbout(crash, "frames that the report shows");
  ASSERT_NE(context, nullptr);
  EXPECT_NE(context->text.find("scene sampled\n"), std::string::npos);
  EXPECT_NE(context->text.find("pc nmethod \"java.lang.String.hashCode()I\"+0xbf\n"),
            std::string::npos);
  EXPECT_NE(context->text.find("= bytecodes \"wh.App.main([Ljava/lang/String;)V\"+0xc\n"),
            std::string::npos);
  EXPECT_NE(context->text.find("state in_Java\n"), std::string::npos);
}

TEST(Candidates, TakeKnownInputsWithTheSameFunctionAndNoOthers) {
  const std::vector<BugRequest> known = {
      {"same.walk", "walk 1\nscene c2\nexpect crash frame::sender(RegisterMap*) const+0x325\n"},
      {"other.walk",
       "walk 1\nscene c1\nexpect crash Method::bcp_from(unsigned char*) const+0x3\n"}};
  const ImportedCrash crash = Import(LogWith({kSender, kAgct, kHandler, kJava}), known);
  ASSERT_FALSE(crash.candidates.empty());
  EXPECT_EQ(crash.candidates.front().what, "the known input same.walk");
  EXPECT_EQ(CandidateAbout(crash, "other.walk"), nullptr);
}

TEST(Candidates, OfAnInnocentChainThereAreNone) {
  const ImportedCrash crash =
      Import(LogWith({"V  [libjvm.so+0x1]  Parse::do_one_block()+0x1",
                      "V  [libjvm.so+0x2]  Compile::Compile(ciEnv*)+0x2", kThreadStart}));
  EXPECT_EQ(crash.guilt.guilt, Guilt::kNone);
  EXPECT_TRUE(crash.candidates.empty());
}

TEST(Candidates, FollowFromSomething) {
  EXPECT_TRUE(CandidatesOf({}, {}, {}, {}, {}, "agct", kMostCandidates).empty());
  const ImportedCrash parse = Import(LogWith({"V  [libjvm.so+0x1]  Parse::do_one_block()+0x1"}));
  EXPECT_EQ(parse.guilt.guilt, Guilt::kPossible);
  EXPECT_TRUE(parse.candidates.empty()) << "no shape goes with that function";
  const ImportedCrash sender = Import(LogWith({kSender}));
  EXPECT_EQ(sender.guilt.guilt, Guilt::kPossible);
  EXPECT_FALSE(sender.candidates.empty());
  const ImportedCrash guilty = Import(LogWith({kSender, kAgct}));
  EXPECT_LT(sender.candidates.size(), guilty.candidates.size());
}

TEST(Candidates, AreForHotSpotAlone) {
  const char* openj9 =
      "#0  0x1 in getSendSlots () from /jdk/libj9jit29.so\n"
      "#1  0x2 in AsyncGetCallTrace () from /jdk/libjvm.so\n";
  const ImportedCrash crash = Import(openj9);
  EXPECT_EQ(crash.guilt.guilt, Guilt::kWalker);
  EXPECT_TRUE(crash.candidates.empty());
  EXPECT_EQ(crash.report.vm, CrashVm::kOpenJ9);
  EXPECT_EQ(Import(LogWith({kSender, kAgct})).report.vm, CrashVm::kHotSpot);
}

TEST(Candidates, SayWhereTheyComeFrom) {
  const std::vector<BugRequest> known = {
      {"same.walk", "walk 1\nscene c2\nexpect crash frame::sender(RegisterMap*) const+0x325\n"}};
  const ImportedCrash crash = Import(LogWith({kSender, kAgct, kHandler, kJava}), known);
  int of[3] = {};
  for (const CrashCandidate& candidate : crash.candidates) of[static_cast<int>(candidate.source)]++;
  EXPECT_EQ(of[static_cast<int>(CandidateSource::kKnownInput)], 1);
  EXPECT_EQ(of[static_cast<int>(CandidateSource::kReport)], 3);
  EXPECT_GE(of[static_cast<int>(CandidateSource::kShape)], 8);
  EXPECT_STREQ(CandidateSourceText(crash.candidates.front().source), "a known input of walkhammer");
}

TEST(ImportedCrash, RefusesTextsWithoutACrash) {
  EXPECT_THAT(ImportTexts("nothing of interest\n", "a.txt", {}), FailsWith(ExitCode::kBadInput));
}

}  // namespace
}  // namespace walkhammer
