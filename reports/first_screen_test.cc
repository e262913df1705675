// SPDX-License-Identifier: Apache-2.0
// The first screen, and what stores of known bugs make of a run's verdict.
#include "reports/first_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/base/text.h"
#include "harness/findings/crash_folder.h"
#include "reports/report_testing.h"

namespace walkhammer {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class FirstScreenTest : public ReportedRun {
 protected:
  void SetUp() override {
    for (const char* name : {"issues", "team"}) std::filesystem::create_directory(dir_.Under(name));
    ASSERT_TRUE(run_->SetVm("OpenJDK VM 25.0.3+9", "G1").ok());
  }
  void Add(const char* title, Realism realism = Realism::kEditedStack, const char* oracle = "crash",
           const char* outcome = "fault") {
    ASSERT_TRUE(run_->AddFinding(TestRecord(oracle, outcome, title, realism)).ok());
  }
  RunSummary Judged(bool strict = false) {
    EXPECT_TRUE(run_->Finish(RunStatus::kCleanEnd, TestTotals(), "").ok());
    Judging judging = Knowing("issues", "team");
    judging.strict = strict;
    return ReadRun(Opened(), judging).value();
  }
  std::string Screen() { return FirstScreen(Judged(), "run/report.html"); }
};

TEST_F(FirstScreenTest, WhatIsKnownDoesNotFailARun) {
  Know("issues", "WH-1", "crash in f");
  Add("crash in f reading 8 bytes");
  Add("crash in f reading 4 bytes", Realism::kGenuine);
  EXPECT_EQ(Judged().verdict.word, "KNOWN");
  EXPECT_EQ(Judged().verdict.exit, ExitCode::kClean);
  EXPECT_EQ(Judged().verdict.sentence, "2 buckets of 1 known issue");
  EXPECT_EQ(Judged(true).verdict.word, "FINDINGS");
  EXPECT_EQ(Judged(true).verdict.exit, ExitCode::kFindings);
  EXPECT_THAT(Screen(), AllOf(HasSubstr("\nKnown\n  WH-1          genuine          about crash"),
                              Not(HasSubstr("New\n"))));
}

TEST_F(FirstScreenTest, OneThatNobodyKnowsFailsIt) {
  Know("issues", "WH-1", "crash in f");
  Add("crash in f");
  Add("crash in g");
  Add("crash in h", Realism::kGenuine);
  const RunSummary run = Judged();
  EXPECT_EQ(run.verdict.word, "FINDINGS");
  EXPECT_EQ(run.verdict.exit, ExitCode::kFindings);
  EXPECT_EQ(run.verdict.sentence, "2 new Forbidden buckets; 1 bucket of 1 known issue");
  const std::string screen = Screen();
  EXPECT_THAT(screen, StartsWith("FINDINGS: 2 new Forbidden buckets"));
  EXPECT_LT(screen.find("agct: crash in h"), screen.find("agct: crash in g")) << "the most real";
  EXPECT_LT(screen.find("agct: crash in g"), screen.find("\nKnown\n"));
}

TEST_F(FirstScreenTest, AnIssueIsKnownOnTheJdksThatItStates) {
  Know("issues", "WH-1", "crash in f", "affected = \"[17,18)\"\n");
  Know("issues", "WH-2", "crash in g", "");
  Know("issues", "WH-3", "crash in h", "affected = \"[8,25.0.4)\"\n");
  Add("crash in f");
  Add("crash in g");
  Add("crash in h");
  const RunSummary run = Judged();
  EXPECT_EQ(run.verdict.sentence, "2 new Forbidden buckets; 1 bucket of 1 known issue");
  EXPECT_EQ(NameText(run.names[0]), "NEW (like WH-1, known on other JDKs)");
  // A team's bug that says nothing of JDKs is known on all.
  Know("team", "T-1", "crash in g", "");
  EXPECT_EQ(Judged().verdict.sentence, "1 new Forbidden bucket; 2 buckets of 2 known issues");
}

TEST_F(FirstScreenTest, AnIssueThatStatesNoJdkHidesNone) {
  Know("issues", "WH-1", "crash in", "affected = \"[25,26)\"\n");
  Know("issues", "WH-2", "crash in f and more", "");
  Add("crash in f and more");
  EXPECT_EQ(Judged().names[0].word.id, "WH-1");
}

TEST_F(FirstScreenTest, ATeamsWordCounts) {
  Know("issues", "WH-1", "crash in f");
  Know("team", "T-1", "crash in f", "");
  Add("crash in f");
  EXPECT_EQ(Judged().names[0].word.id, "T-1");
  std::ofstream(dir_.Under("team/T-1.toml"))
      << "title = \"t\"\nsignatures = [\"agct: crash in f*\"]\nstate = \"fixed\"\n"
         "fixed-in = \"25\"\n";
  EXPECT_EQ(Judged().names[0].word.id, "WH-1") << "the issue says more than a look-alike";
  std::filesystem::remove(dir_.Under("issues/WH-1.toml"));
  EXPECT_EQ(Judged().names[0].word.verdict, BugVerdict::kReopened);
  EXPECT_EQ(Judged().verdict.word, "FINDINGS");
}

TEST_F(FirstScreenTest, InterestingBucketsHaveNamesAndFailNothing) {
  Add("method-id/unloaded", Realism::kGenuine, "method-id", "unloaded");
  EXPECT_EQ(Judged().verdict.sentence, "1 new Interesting bucket");
  EXPECT_EQ(Judged().verdict.exit, ExitCode::kClean);
  Know("issues", "WH-1", "method-id/unloaded");
  EXPECT_EQ(Judged().verdict.sentence, "1 bucket of 1 known issue");
  EXPECT_EQ(Judged().verdict.word, "CLEAN");
}

TEST_F(FirstScreenTest, HasAtMost25LinesOf80Columns) {
  for (int i = 0; i < 40; i++) {
    const std::string known = "crash in known" + std::to_string(i) + "x";
    Know("issues", "WH-" + std::to_string(i), known);
    Add(known.c_str());
    CrashCase crash;
    crash.record =
        TestRecord("crash", "fault", "crash in new" + std::to_string(i) + std::string(200, 'n'),
                   Realism::kEditedStack);
    EXPECT_TRUE(WriteCrashFolder(dir_.Under("run"), crash).ok());
    Add(("crash in new" + std::to_string(i) + std::string(200, 'n')).c_str());
    Save(kNoCell, std::vector<NoteRow>(
                      1, {kNoCell, NoteKind::kDropped, std::string(200, 'd'), 7, "detail"}));
  }
  SceneRow scene;
  scene.name = std::string(100, 's');
  scene.available = true;
  scene.tried = 1;
  ASSERT_TRUE(run_->SaveScenes({scene}).ok());
  const std::string screen = Screen();
  std::vector<std::string> lines = Split(screen, '\n');
  EXPECT_EQ(lines.back(), "");
  EXPECT_EQ(lines.size() - 1, static_cast<size_t>(kMostScreenLines));
  EXPECT_THAT(screen, AllOf(HasSubstr("  and 37 more\n"), HasSubstr("  and 38 more\n"),
                            HasSubstr("\nPage  run/report.html\nMore  walkhammer report ")));
  std::erase_if(lines, [](const std::string& line) {
    return line.starts_with("    walkhammer show ") || line.starts_with("More  ");
  });
  EXPECT_THAT(lines, Each(SizeIs(testing::Le(80U))));
}

TEST_F(FirstScreenTest, ScenesOfFewWalksAreCounted) {
  SceneRow walked, other;
  walked.name = "c1";
  other.name = "c2";
  walked.tried = other.tried = 1;
  walked.available = walked.pristine_true = other.available = other.pristine_true = true;
  SceneRow absent;  // this JDK has no such threads
  absent.name = "virtual-mounted";
  absent.tried = 1;
  ASSERT_TRUE(run_->SaveScenes({walked, other, absent}).ok());
  const CountRow enough{"agct", "c1", "in_Java", "nmethod", "frames", kLeastWalks};
  CountRow few = enough;
  few.scene = "c2";
  few.count--;
  ASSERT_TRUE(run_->SaveCounts({enough, few}).ok());
  EXPECT_THAT(Screen(), HasSubstr("right in 2 of 2 scenes; 1 with fewer than 100 walks\n"));
  few.count++;
  ASSERT_TRUE(run_->SaveCounts({enough, few}).ok());
  EXPECT_THAT(Screen(), HasSubstr("right in 2 of 2 scenes\n"));
}

TEST_F(FirstScreenTest, KnownIssuesHaveTheRoomThatIsLeft) {
  for (int i = 0; i < 16; i++) {
    const std::string known = "crash in known" + std::to_string(i) + "x";
    Know("issues", "WH-" + std::to_string(i), known);
    Add(known.c_str());
    const std::vector<std::string> lines = Split(Screen(), '\n');
    EXPECT_LE(lines.size() - 1, static_cast<size_t>(kMostScreenLines));
    EXPECT_THAT(lines, Not(testing::Contains(HasSubstr(" more")))) << i;
  }
}

TEST_F(FirstScreenTest, AVerdictThatSaysWhyIsWrapped) {
  std::string reason;
  for (int i = 0; i < 30; i++) reason += " word" + std::to_string(i);
  ASSERT_TRUE(run_->Finish(RunStatus::kFailed, TestTotals(), reason).ok());
  const std::vector<std::string> lines = Split(FirstScreen(ReadRun(Opened()).value(), ""), '\n');
  EXPECT_THAT(lines, Each(SizeIs(testing::Le(80U))));
  EXPECT_THAT(lines[0], StartsWith("FAILED: the run failed: word0 word1 "));
  EXPECT_THAT(lines[1], StartsWith("  word"));
  EXPECT_THAT(lines[2], testing::EndsWith("..."));
  EXPECT_THAT(lines[3], StartsWith("  agct on "));
}

TEST_F(FirstScreenTest, CommandsAreThoseOfTheUser) {
  Add("crash in f");
  RunSummary run = Judged();
  run.files[0].input = "crashes/one/input.walk";
  const std::string screen = FirstScreen(run, "", 80, "'/my build/walkhammer'");
  EXPECT_THAT(screen, AllOf(HasSubstr("\n    '/my build/walkhammer' show "),
                            HasSubstr("\nMore  '/my build/walkhammer' report ")));
}

// Whole words, but for the paths of commands.
TEST_F(FirstScreenTest, FitsIntoANarrowTerminal) {
  Know("issues", "WH-1", "crash in f");
  Add("crash in f");
  Add("crash in frame::sender_for_compiled_frame while the caller of a deoptimized frame is "
      "walked");
  const RunSummary run = Judged();
  const std::string narrow = FirstScreen(run, "", 60), wide = FirstScreen(run, "", 2000);
  EXPECT_THAT(narrow, HasSubstr("...\n"));
  EXPECT_THAT(wide, Not(HasSubstr("...")));
  const std::vector<std::string> words = Words(wide);
  for (const std::string& line : Split(narrow, '\n')) {
    EXPECT_TRUE(line.size() <= 60 || line.find("walkhammer ") != line.npos) << line;
    for (std::string word : Words(line)) {
      if (word.ends_with("...")) word.resize(word.size() - 3);
      EXPECT_THAT(words, testing::Contains(word)) << line;
    }
  }
}

TEST_F(FirstScreenTest, ShowsNoControlCharacters) {
  Add("crash in \x1b]0;f\n");
  EXPECT_THAT(Screen(), AllOf(Not(HasSubstr("\x1b")), HasSubstr("crash in ?]0;f?")));
}

}  // namespace
}  // namespace walkhammer
