// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/finding_record.h"

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

class FindingRecordTest : public testing::Test {
 protected:
  FindingRecordTest() : symbols_(NewSymbolTable()), symbolizer_(OwnModules()) {}
  std::unique_ptr<SymbolTable> symbols_;
  Symbolizer symbolizer_;
};

TEST_F(FindingRecordTest, HoldsNamesAndText) {
  auto finding = NewFinding("crash", "fault");
  finding->sequence = 5;
  finding->time_ms = 6;
  finding->request = WalkRequest();
  finding->request.edit_count = 1;
  finding->fault.address = 0x10;
  finding->presented.pc = 0x1234;
  SetChain(*finding, {0x99});
  SetField(finding->detail, "signal 11");
  SetField(finding->frame_text, "a.B.c()V @ 3");
  const FindingRecord record = MakeFindingRecord(*finding, symbolizer_, *symbols_, "x86_64");
  EXPECT_EQ(record.oracle, "crash");
  EXPECT_EQ(record.outcome, "fault");
  EXPECT_EQ(record.grade, Grade::kForbidden);
  EXPECT_EQ(record.realism, Realism::kEditedStack);
  EXPECT_EQ(record.detail, "signal 11");
  EXPECT_EQ(record.frames, "a.B.c()V @ 3");
  EXPECT_EQ(record.native, "unmapped pc\n");
  EXPECT_EQ(record.sequence, 5u);
  EXPECT_EQ(record.time_ms, 6u);
  const auto fault = nlohmann::json::parse(record.fault);
  EXPECT_EQ(fault["signal_name"], "SIGSEGV");
  EXPECT_EQ(fault["address"], "0x10");
  EXPECT_EQ(fault["presented"]["pc"], "0x1234");
  EXPECT_EQ(fault["native"][0], "0x99");
  WalkFile file;
  EXPECT_EQ(ParseText(record.request, "x", *symbols_, file), "");
  EXPECT_EQ(file.request, finding->request);
  EXPECT_EQ(MatchesExpect(file.expect, record.signature), Match::kExact);
}

TEST_F(FindingRecordTest, ExpectSurvivesTheFileForAnyFunctionName) {
  for (const char* function :
       {"f()::{lambda(int)#1}::operator()(int) const", "operator#", "a \"b\""}) {
    Signature signature;
    signature.expect = std::string("crash ") + function + "+0x1";
    WalkFile file;
    ASSERT_EQ(ParseText(ToText({WalkRequest(), signature.expect}, *symbols_), "x", *symbols_, file),
              "");
    EXPECT_EQ(MatchesExpect(file.expect, signature), Match::kExact) << function;
  }
}

TEST_F(FindingRecordTest, GradeComesFromTheTable) {
  EXPECT_EQ(
      MakeFindingRecord(*NewFinding("method-id", "unloaded"), symbolizer_, *symbols_, "x86_64")
          .grade,
      Grade::kInteresting);
  EXPECT_EQ(GradeOf("method-id", "unloaded", Grade::kForbidden), Grade::kInteresting);
  EXPECT_EQ(GradeOf("method-id", "no-such", Grade::kForbidden), Grade::kForbidden);
  EXPECT_EQ(GradeOf("no-such", "unloaded", Grade::kAcceptable), Grade::kAcceptable);
  for (const Grade grade : {Grade::kAcceptable, Grade::kInteresting, Grade::kForbidden})
    EXPECT_EQ(GradeFromWord(GradeWord(grade)), grade);
  EXPECT_EQ(GradeFromWord("?"), Grade::kForbidden);
}

TEST_F(FindingRecordTest, FaultsAreJsonWhateverTheTextSays) {
  auto finding = NewFinding("crash", "failed-check");
  SetChain(*finding, {0x99, 0x98});
  SetField(finding->where, "a \"quoted\" \\ name\n\tof 4 \xc3\xa4 \xff \x01");
  SetField(finding->fault.failed_check, "(a.cpp:1) assert(\"x\")");
  const auto fault = nlohmann::json::parse(FaultJson(*finding));
  EXPECT_EQ(fault["where"], "a \"quoted\" \\ name\n\tof 4 \xc3\xa4 ? ?");
  EXPECT_EQ(fault["failed_check"], "(a.cpp:1) assert(\"x\")");
  EXPECT_EQ(fault["native"], (std::vector<std::string>{"0x99", "0x98"}));
  std::vector<std::string> names;
  for (const auto& field : fault.items()) names.push_back(field.key());
  EXPECT_EQ(names.size(), 11U);
  finding->fault = {};
  const auto none = nlohmann::json::parse(FaultJson(*finding));
  EXPECT_EQ(none.size(), 3U) << none;
}

TEST_F(FindingRecordTest, DeathNamesTheKillerOrSaysThatItIsUnknown) {
  const WalkRequest request;
  FindingRecord record = MakeDeathRecord({SIGABRT, ""}, &request, *symbols_, 7, 8, "x86_64");
  EXPECT_EQ(record.signature.key, "death by signal 6");
  EXPECT_EQ(record.grade, Grade::kForbidden);
  EXPECT_EQ(record.sequence, 7u);
  EXPECT_EQ(record.time_ms, 8u);
  EXPECT_EQ(record.realism, RealismOf(request));
  EXPECT_NE(record.request.find("expect death by signal 6"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(record.fault)["signal_name"], "SIGABRT");
  EXPECT_NE(FindOracle(record.oracle), nullptr);
  EXPECT_NE(OutcomeIndex(record.oracle, record.outcome), 255);
  record = MakeDeathRecord({3 << 8, ""}, nullptr, *symbols_, 7, 8, "x86_64");
  EXPECT_EQ(record.request, "");
  EXPECT_EQ(nlohmann::json::parse(record.fault)["exit_status"], 3);
}

TEST_F(FindingRecordTest, ItsWalkersAreNamedWhereSeveralWalk) {
  const auto agct = static_cast<uint8_t>(*FindWalker("agct")),
             asgst = static_cast<uint8_t>(*FindWalker("asgst"));
  const auto title = [&](uint8_t walker, uint8_t against) {
    WalkRequest request;
    request.walker = walker;
    request.against = against;
    FindingRecord record;
    record.signature.title = record.signature.key = record.signature.expect = "x";
    NameWalkers(request, agct, record);
    EXPECT_EQ(record.signature.title, record.signature.key);
    EXPECT_EQ(record.signature.expect, "x");
    return record.signature.title;
  };
  EXPECT_EQ(title(agct, 0), "x");
  EXPECT_EQ(title(asgst, 0), "x, by asgst");
  EXPECT_EQ(title(asgst, agct + 1), "x: asgst against agct");
  EXPECT_EQ(title(agct, agct + 1), "x: agct against agct");
  EXPECT_EQ(title(255, 255), "x, by unknown walker");
}

TEST_F(FindingRecordTest, OfADamagedChildIsBounded) {
  auto finding = std::make_unique<RawFinding>();
  std::memset(static_cast<void*>(finding.get()), 0xff, sizeof(RawFinding));
  const FindingRecord record = MakeFindingRecord(*finding, symbolizer_, *symbols_, "x86_64");
  EXPECT_EQ(record.detail.size(), sizeof(finding->detail));
  EXPECT_EQ(record.grade, Grade::kForbidden);
  EXPECT_TRUE(nlohmann::json::accept(record.fault));
  const WalkRequest sane = SaneRequest(finding->request);
  EXPECT_EQ(sane.edit_count, WalkRequest::kMaxEdits);
  EXPECT_EQ(sane.anchor, AnchorMode::kCleared);
  EXPECT_EQ(sane.against, 0);
}

}  // namespace
}  // namespace walkhammer
