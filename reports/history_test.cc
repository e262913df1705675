// SPDX-License-Identifier: Apache-2.0
#include "reports/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/findings/crash_folder.h"
#include "harness/store/record_testing.h"
#include "harness/store/run_writer.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::Not;

class HistoryTest : public testing::Test {
 protected:
  // Makes a run of a million walks that started on this day and saw these titles.
  void Run(const char* name, const char* day, const std::vector<std::string>& titles,
           uint64_t seen = 2, const char* engine = "random") {
    RunIdentity identity = TestIdentity();
    identity.engine = engine;
    identity.started_at = std::string(day) + "T00:00:00Z";
    RunWriter run = std::move(RunWriter::Create(dir_.Under(name), identity).value());
    for (const std::string& title : titles) {
      FindingRecord record = TestRecord("crash", "fault", title, Realism::kGenuine);
      record.signature.key = title + " in build " + name;
      const int64_t bucket = run.AddFinding(record).value().bucket;
      EXPECT_TRUE(run.SetSeen(bucket, seen).ok());
    }
    RunTotals totals = TestTotals();
    totals.walks = 1'000'000;
    EXPECT_TRUE(run.Finish(RunStatus::kCleanEnd, totals).ok());
  }
  History Read() { return ReadHistory({dir_.path()}).value(); }

  TemporaryFolder dir_;
};

TEST_F(HistoryTest, JoinsBucketsOfBuildsByTheirTitle) {
  Run("z-first", "2026-01-01", {"crash in a", "crash in gone"});
  Run("nested/b", "2026-01-02", {});
  Run("a-last", "2026-01-03", {"crash in a", "crash in new"}, 4);
  const History history = Read();
  ASSERT_EQ(history.runs.size(), 3u);
  EXPECT_THAT(history.runs[0].dir, HasSubstr("z-first"));
  EXPECT_THAT(history.runs[1].dir, HasSubstr("nested/b"));
  EXPECT_EQ(history.runs[0].new_buckets, 2u);
  EXPECT_EQ(history.runs[2].new_buckets, 1u);
  ASSERT_EQ(history.buckets.size(), 3u);
  const HistoryBucket& a = history.buckets[0];
  EXPECT_EQ(a.title, "crash in a");
  EXPECT_EQ(a.first, 0u);
  EXPECT_EQ(a.last, 2u);
  EXPECT_EQ(a.runs, 2u);
  EXPECT_THAT(a.seen, testing::ElementsAre(2, 0, 4));
  EXPECT_DOUBLE_EQ(a.PerMillion(history.runs), 2.0);
  EXPECT_EQ(history.buckets[1].title, "crash in new");
  EXPECT_DOUBLE_EQ(history.buckets[1].PerMillion(history.runs), 4.0);  // not in runs before it
  EXPECT_EQ(history.buckets[2].title, "crash in gone");
  EXPECT_EQ(history.exit, ExitCode::kFindings);
}

// As in all verbs: what a real signal meets comes first, also if it is less severe.
TEST_F(HistoryTest, TheMostRealComesFirstThenTheMostSevere) {
  RunWriter run = std::move(RunWriter::Create(dir_.Under("1"), TestIdentity()).value());
  const auto add = [&](const char* oracle, const char* outcome, Realism realism) {
    const std::string title = fmt::format("{} {}", RealismWord(realism), oracle);
    ASSERT_TRUE(run.AddFinding(TestRecord(oracle, outcome, title, realism)).ok());
  };
  for (const Realism realism :
       {Realism::kEditedStack, Realism::kRandomRegisters, Realism::kShifted, Realism::kGenuine}) {
    add("bci", "unknown", realism);  // Interesting
    add("crash", "fault", realism);  // Forbidden
  }
  ASSERT_TRUE(run.Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  std::vector<std::string> titles;
  for (const HistoryBucket& bucket : Read().buckets) titles.push_back(bucket.title);
  EXPECT_THAT(titles,
              testing::ElementsAre("genuine crash", "genuine bci", "shifted crash", "shifted bci",
                                   "random-registers crash", "random-registers bci",
                                   "edited-stack crash", "edited-stack bci"));
}

TEST_F(HistoryTest, SaysWhatIsNewAndWhatIsGone) {
  Run("1", "2026-01-01", {"crash in a", "crash in gone"});
  Run("2", "2026-01-02", {"crash in a", "crash in new"});
  const std::string text = HistoryText(Read());
  EXPECT_THAT(text, HasSubstr("2 runs from 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z: "
                              "2,000,000 walks, 3 buckets\n"));
  EXPECT_THAT(text, HasSubstr("in 1 of 2 runs, 2 per million walks  NEW in the newest run\n      "
                              "crash in new\n"));
  EXPECT_THAT(text, HasSubstr("in 1 of 2 runs, 1 per million walks  not in the newest 1 run\n      "
                              "crash in gone\n"));
  EXPECT_THAT(text, HasSubstr("in 2 of 2 runs, 2 per million walks\n      crash in a\n"));
}

// A stress run says nothing of what a fuzz run found.
TEST_F(HistoryTest, NewestIsAmongRunsOfOneKind) {
  Run("1", "2026-01-01", {"crash in a"});
  Run("2", "2026-01-02", {"crash in a", "crash in new"});
  Run("3", "2026-01-03", {"crash in b"}, 2, "step");
  const std::string text = HistoryText(Read());
  EXPECT_THAT(text, Not(HasSubstr("not in the newest")));
  EXPECT_THAT(text, HasSubstr("  NEW in the newest run\n      crash in new\n"));
  EXPECT_THAT(text, Not(HasSubstr("  NEW in the newest run\n      crash in b\n")));
}

TEST_F(HistoryTest, OfOneRunNothingIsNew) {
  Run("1", "2026-01-01", {"crash in a"});
  EXPECT_THAT(HistoryText(Read()), Not(HasSubstr("NEW")));
}

TEST_F(HistoryTest, NamesWhatItCannotRead) {
  Run("1", "2026-01-01", {});
  std::filesystem::create_directory(dir_.Under("bad"));
  ASSERT_TRUE(WriteFileAtomically(dir_.Under("bad/run.db"), "no database").ok());
  const History history = Read();
  EXPECT_EQ(history.runs.size(), 1u);
  ASSERT_EQ(history.bad.size(), 1u);
  EXPECT_EQ(history.exit, ExitCode::kClean);
  EXPECT_THAT(HistoryText(history), HasSubstr("  not read: " + history.bad[0].first));
  EXPECT_EQ(nlohmann::json::parse(HistoryJson(history))["not_read"].size(), 1u);
}

TEST_F(HistoryTest, AFolderWithoutRunsIsBadInput) {
  EXPECT_EQ(ReadHistory({dir_.path()}).failure().code, ExitCode::kBadInput);
  EXPECT_EQ(ReadHistory({dir_.Under("nowhere")}).failure().code, ExitCode::kBadInput);
  std::filesystem::create_directory(dir_.Under("bad"));
  ASSERT_TRUE(WriteFileAtomically(dir_.Under("bad/run.db"), "no database").ok());
  EXPECT_EQ(ReadHistory({dir_.path()}).failure().code, ExitCode::kBadInput);
}

TEST_F(HistoryTest, JsonSaysTheSame) {
  Run("1", "2026-01-01", {"crash in a"});
  Run("2", "2026-01-02", {});
  const auto json = nlohmann::json::parse(HistoryJson(Read()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["runs"][1]["verdict"], "CLEAN");
  EXPECT_EQ(json["buckets"][0]["seen"], nlohmann::json({2, 0}));
  EXPECT_EQ(json["buckets"][0]["last_run"], 0);
  EXPECT_EQ(json["buckets"][0]["input"], nullptr);
}

// An override of the direction of text would reorder what a terminal shows after it.
TEST_F(HistoryTest, JsonIsAscii) {
  Run("1", "2026-01-01", {"crash in \u202e"});
  const std::string json = HistoryJson(Read());
  EXPECT_THAT(json, HasSubstr("\"crash in \\u202e\""));
  EXPECT_THAT(json, Not(HasSubstr("\u202e")));
}

TEST_F(HistoryTest, ThePageMarksTheRunsThatSawABucket) {
  Run("1", "2026-01-01", {"crash in <a>"});
  Run("2", "2026-01-02", {"crash in new"});
  Run("3", "2026-01-03", {"crash in <a>"});
  const std::string page = HistoryHtml(Read());
  EXPECT_THAT(page, HasSubstr("<title>walkhammer: history of 3 runs</title>"));
  EXPECT_THAT(page, HasSubstr("crash in &lt;a&gt;</th>"));
  EXPECT_THAT(page, HasSubstr("d=\"M0 0h1v10h-1zM2 0h1v10h-1z\""));
  EXPECT_THAT(page, HasSubstr("d=\"M1 0h1v10h-1z\""));
  EXPECT_THAT(page, Not(HasSubstr("<strong>new")));
  Run("4", "2026-01-04", {"crash in newest"});
  EXPECT_THAT(HistoryHtml(Read()), HasSubstr("crash in newest <strong>new</strong>"));
}

TEST_F(HistoryTest, ThePageDrawsTheNewestOfManyRuns) {
  History history;
  for (int i = 0; i < 300; i++)
    history.runs.push_back({"dir", "2026-01-01", "", "", "", {}, 1, 0, 0});
  HistoryBucket bucket{"crash", "fault", "old", Grade::kForbidden, Realism::kGenuine, {}, 0,
                       299,     2,       ""};
  bucket.seen.resize(300);
  bucket.seen[99] = bucket.seen[100] = bucket.seen[299] = 1;
  history.buckets.push_back(bucket);
  EXPECT_THAT(HistoryHtml(history), HasSubstr("d=\"M0 0h1v10h-1zM199 0h1v10h-1z\""));
}

}  // namespace
}  // namespace walkhammer
