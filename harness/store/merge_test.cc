// SPDX-License-Identifier: Apache-2.0
#include "harness/store/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <map>

#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Merge : public ::testing::Test {
 protected:
  using Fill = std::function<void(RunWriter&)>;

  // The reader's own time limit: a pipe that is waited for would take all of ctest's.
  void SetUp() override { alarm(60); }
  void TearDown() override { alarm(0); }

  std::string At(const std::string& name) const { return temp_.Under(name); }

  // A run that began in second `second`, with what `fill` adds.
  std::string Make(const std::string& name, int second, const Fill& fill = {},
                   const std::function<void(RunIdentity&)>& change = {}) {
    RunIdentity identity = TestIdentity();
    identity.started_at = fmt::format("2026-01-02T03:04:{:02}Z", second);
    if (change) change(identity);
    RunWriter run = NewRun(At(name), identity);
    if (fill) fill(run);
    RunTotals totals = TestTotals();
    totals.request_hash = uint64_t{1} << second;
    EXPECT_TRUE(run.Finish(RunStatus::kCleanEnd, totals).ok());
    return At(name);
  }
  // One finding with the title, and the files of its bucket.
  static void AddBucket(RunWriter& run, const std::string& title, uint64_t seen,
                        int confirmed = 0) {
    const auto added =
        run.AddFinding(TestRecord("crash", "fault", title, Realism::kGenuine)).value();
    EXPECT_TRUE(run.SetSeen(added.bucket, seen).ok());
    if (confirmed > 0) {
      EXPECT_TRUE(run.SetConfirmed(added.bucket, confirmed, 5).ok());
    }
    const std::string folder = run.dir() + "/" + added.folder;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/input.walk") << "of " << run.dir();
    std::ofstream(folder + "/other") << "no file of a run";
  }

  static void AddNote(RunWriter& run, uint64_t count, const char* detail) {
    const NoteRow note{kNoCell, NoteKind::kDropped, "findings", count, detail};
    EXPECT_TRUE(run.Replace(kNoCell, std::vector<NoteRow>{note}).ok());
  }

  MergeOutcome Merged(const std::vector<std::string>& dirs, const std::string& out) {
    return Must(MergeRuns(dirs, At(out)));
  }
  std::string Refused(const std::vector<std::string>& dirs, const std::string& out) {
    const auto outcome = MergeRuns(dirs, At(out));
    if (outcome.ok()) return "not refused";
    EXPECT_EQ(outcome.failure().code, ExitCode::kBadInput);
    EXPECT_FALSE(std::filesystem::exists(At(out)));
    return outcome.failure().message;
  }
  RunReader Open(const std::string& out) const { return Must(RunReader::Open(At(out))); }

  // All rows of all tables.
  std::string Dump(const std::string& out) const {
    const Database db = OpenDb(At(out));
    const auto append = [](void* to, int columns, char** row, char**) {
      for (int i = 0; i < columns; i++)
        *static_cast<std::string*>(to) += std::string(row[i] == nullptr ? "NULL" : row[i]) + "|";
      *static_cast<std::string*>(to) += "\n";
      return 0;
    };
    std::string tables, text;
    sqlite3_exec(db.handle(), "SELECT name FROM sqlite_master ORDER BY name", append, &tables,
                 nullptr);
    text = tables;
    size_t begin = 0;
    for (size_t end; (end = tables.find("|\n", begin)) != std::string::npos; begin = end + 2)
      sqlite3_exec(db.handle(), ("SELECT * FROM " + tables.substr(begin, end - begin)).c_str(),
                   append, &text, nullptr);
    return text;
  }

 private:
  TemporaryFolder temp_;
};

std::vector<CountRow> MergeCounts(uint64_t frames, uint64_t failed) {
  return {{"agct", "c2", "in_Java", "nmethod", "frames", frames},
          {"agct", "c2", "in_Java", "nmethod", "-5", failed}};
}

TEST_F(Merge, AddsCountsAndJoinsBuckets) {
  const std::string a = Make("a", 1, [&](RunWriter& run) {
    EXPECT_TRUE(run.SaveCounts(MergeCounts(10, 1)).ok());
    AddBucket(run, "both", 7);
    AddBucket(run, "only a", 1);
    AddNote(run, 3, "");
  });
  const std::string b = Make("b", 2, [&](RunWriter& run) {
    EXPECT_TRUE(run.SaveCounts(MergeCounts(5, 0)).ok());
    AddBucket(run, "both", 4);
    AddBucket(run, "only b", 2);
    AddNote(run, 4, "told");
  });
  EXPECT_EQ(Merged({b, a}, "m").runs, 2u);
  const RunReader m = Open("m");
  const auto counts = m.Rows<CountRow>().value();
  ASSERT_THAT(counts, SizeIs(2));
  EXPECT_EQ(counts[0].code, "-5");
  EXPECT_EQ(counts[0].count, 1u);
  EXPECT_EQ(counts[1].count, 15u);
  std::map<std::string, uint64_t> seen;
  const auto buckets = m.Buckets().value();
  for (const BucketRow& bucket : buckets) {
    seen[bucket.signature.title] = bucket.count;
    EXPECT_THAT(m.Findings(bucket.id).value(), SizeIs(bucket.count == 11 ? 2 : 1));
    EXPECT_EQ(ReadFile(m.dir() + "/" + bucket.folder + "/input.walk"),
              "of " + (bucket.signature.title == "only b" ? b : a));  // the first that had it
    EXPECT_FALSE(std::filesystem::exists(m.dir() + "/" + bucket.folder + "/other"));
  }
  EXPECT_EQ(seen, (std::map<std::string, uint64_t>{{"both", 11}, {"only a", 1}, {"only b", 2}}));
  const auto notes = m.Rows<NoteRow>().value();
  EXPECT_THAT(notes, ElementsAre(NoteRow{kNoCell, NoteKind::kDropped, "findings", 7, "told"}));
  const RunRow run = m.Run().value();
  EXPECT_EQ(run.totals.walks, 2 * TestTotals().walks);
  EXPECT_EQ(run.totals.request_hash, 6u);
  EXPECT_EQ(run.status, RunStatus::kCleanEnd);
  const auto parts = m.Parts().value();
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[0].identity.started_at, "2026-01-02T03:04:01Z");
  EXPECT_EQ(parts[1].identity.run_id,
            RunReader::Open(b).value().Parts().value()[0].identity.run_id);
}

TEST_F(Merge, AReplayedInputTakesThePlaceOfOneThatIsNot) {
  const std::string a = Make("a", 1, [](RunWriter& run) { AddBucket(run, "t", 1); });
  const std::string b = Make("b", 2, [](RunWriter& run) { AddBucket(run, "t", 1, 4); });
  const std::string c = Make("c", 3, [](RunWriter& run) { AddBucket(run, "t", 1, 5); });
  Merged({a, b, c}, "m");
  const RunReader m = Open("m");
  const BucketRow bucket = m.Buckets().value().at(0);
  EXPECT_EQ(bucket.confirmed, 4);
  EXPECT_EQ(ReadFile(m.dir() + "/" + bucket.folder + "/input.walk"), "of " + b);
}

// Whatever is merged in whatever order, and again: the same rows in all tables.
TEST_F(Merge, NothingCountsTwice) {
  const auto fill = [](uint64_t frames) {
    return [frames](RunWriter& run) {
      EXPECT_TRUE(run.SaveCounts(MergeCounts(frames, 1)).ok());
      AddBucket(run, "t", frames, static_cast<int>(frames));
      EXPECT_TRUE(run.SetCoverage(TestCoverage()).ok());
      EXPECT_TRUE(run.SaveBlocks(std::vector<uint8_t>{1, frames > 1, 0, 0, 0, 1}, 100).ok());
      Periods periods;
      periods.End(1000,
                  {frames, MergeCounts(frames, 1), {{"agct", "c2", 64, frames}}, {{1, frames}}});
      EXPECT_TRUE(run.SavePeriods(kNoCell, periods).ok());
    };
  };
  const std::string a = Make("a", 1, fill(1)), b = Make("b", 2, fill(2)), c = Make("c", 3, fill(3));
  std::filesystem::copy(a, At("copy"), std::filesystem::copy_options::recursive);
  Merged({a, b, c}, "m");
  EXPECT_EQ(Open("m").Rows<CountRow>().value().at(1).count, 6u);
  EXPECT_EQ(Open("m").Run().value().totals.blocks, 3u);
  EXPECT_THAT(Open("m").Rows<PeriodCountRow>().value(), SizeIs(6));

  Merged({c, b, a}, "backwards");
  EXPECT_EQ(Dump("backwards"), Dump("m"));
  const MergeOutcome with_part = Merged({a, At("m"), At("copy")}, "with-part");
  EXPECT_EQ(with_part.runs, 3u);
  EXPECT_THAT(with_part.left_out, SizeIs(2));
  EXPECT_THAT(with_part.left_out.at(0), HasSubstr(At("m") + " holds"));
  EXPECT_EQ(Dump("with-part"), Dump("m"));
  Merged({a, b}, "ab");
  Merged({At("ab"), c}, "ab-c");
  EXPECT_EQ(Dump("ab-c"), Dump("m"));

  Merged({b, c}, "bc");
  EXPECT_THAT(Refused({At("ab"), At("bc")}, "both"), HasSubstr("share some of their runs"));
}

TEST_F(Merge, WhatDiffersIsRefused) {
  const std::string a = Make("a", 1);
  const struct {
    const char* what;
    std::function<void(RunIdentity&)> change;
  } others[] = {
      {"build of the JVM", [](RunIdentity& run) { run.libjvm_build_id = "00fe"; }},
      {"kind of run", [](RunIdentity& run) { run.engine = "stress"; }},
      {"walker", [](RunIdentity& run) { run.walker = "asgst"; }},
      {"provider", [](RunIdentity& run) { run.provider = "ref"; }},
      {"choice of JVM flags", [](RunIdentity& run) { run.jvm_flags = ""; }},
  };
  for (const auto& other : others) {
    SCOPED_TRACE(other.what);
    const std::string b = Make(other.what, 2, {}, other.change);
    const std::string said = Refused({a, b}, "m");
    EXPECT_THAT(said, HasSubstr("differ in their " + std::string(other.what)));
    EXPECT_THAT(said, HasSubstr(a));
    EXPECT_THAT(said, HasSubstr(b));
  }
  // What tells machines and campaigns apart does not matter.
  const std::string c = Make("c", 3, {}, [](RunIdentity& run) {
    run.engine = "afl";
    run.seed = 9;
    run.cpu_model = "another";
    run.jdk_path = "elsewhere";
  });
  EXPECT_EQ(Merged({a, c}, "m").runs, 2u);
  const RunIdentity identity = Open("m").Run().value().identity;
  EXPECT_EQ(identity.engine, "afl, random");
  EXPECT_EQ(identity.jdk_path, "elsewhere, " + TestIdentity().jdk_path);
  EXPECT_EQ(identity.cpu_model, "another, " + TestIdentity().cpu_model);
  EXPECT_EQ(identity.kernel, TestIdentity().kernel);
  EXPECT_EQ(identity.tool_version, TestIdentity().tool_version);
  EXPECT_EQ(identity.workers, 2 * TestIdentity().workers);
  EXPECT_NE(identity.run_id, Open("m").Parts().value()[0].identity.run_id);
}

// Counts are added up, the agent's memory is the most that it ever took, and the worse status wins.
TEST_F(Merge, WhatACellMeasuredIsAddedUp) {
  const auto fill = [](uint64_t number, CellStatus status, const char* reason) {
    return [=](RunWriter& run) {
      CellRow cell = TestCell(0);
      cell.time_ms = cell.starts = cell.contained_crashes = cell.agent_kib = cell.output_bytes =
          number;
      cell.status = status;
      cell.reason = reason;
      if (number == 3) cell.vm_version = cell.vm_gc = "";
      EXPECT_TRUE(run.SaveCell(cell).ok());
    };
  };
  const std::string a = Make("a", 1, fill(3, CellStatus::kDied, "it died")),
                    b = Make("b", 2, fill(7, CellStatus::kPassed, "")),
                    c = Make("c", 3, fill(5, CellStatus::kPassed, ""));
  Merged({a, b, c}, "m");
  const auto cells = Open("m").Rows<CellRow>().value();
  ASSERT_THAT(cells, SizeIs(1));
  CellRow sum = TestCell(0);  // with the version of the first JVM that booted
  sum.time_ms = sum.starts = sum.contained_crashes = sum.output_bytes = 15;
  sum.agent_kib = 7;
  sum.status = CellStatus::kDied;
  sum.reason = "it died";
  for (uint64_t Delivery::*number :
       {&Delivery::requested, &Delivery::delivered, &Delivery::coalesced, &Delivery::missed,
        &Delivery::walks, &Delivery::successful})
    sum.delivery.*number *= 3;
  EXPECT_EQ(cells[0], sum);
}

TEST_F(Merge, ARunThatGoesOnIsRefusedAndAKilledOneIsNot) {
  const std::string a = Make("a", 1);
  {
    const RunWriter going = NewRun(At("going"));
    EXPECT_THAT(Refused({a, At("going")}, "m"), HasSubstr("still goes on"));
  }
  EXPECT_EQ(Merged({a, At("going")}, "m").runs, 2u);
  const RunRow run = Open("m").Run().value();
  EXPECT_EQ(run.status, RunStatus::kInterrupted);
  EXPECT_THAT(run.reason, HasSubstr("1 were killed"));
  EXPECT_THAT(Refused({}, "n"), HasSubstr("at least one"));
  EXPECT_THAT(Refused({a, At("nowhere")}, "n"), HasSubstr("is not a run folder"));
}

TEST_F(Merge, CellsAreAddedAndShardsKeepTheirPositions) {
  const auto fill = [](int64_t position, const char* label, const char* stack) {
    return [=](RunWriter& run) {
      CellRow cell = TestCell(position);
      cell.label = label;
      EXPECT_TRUE(run.SaveCell(cell).ok());
      EXPECT_TRUE(run.Replace(position, TestThreads()).ok());
      EXPECT_TRUE(run.Replace(position, TestRegions()).ok());
      EXPECT_TRUE(
          run.SaveCounts(std::vector<CountRow>{{"agct", label, "in_Java", "", "frames", 5}}).ok());
      StackTree stacks{{stack, 2}, {"main", 1}};
      EXPECT_TRUE(run.SaveStacks(position, stacks).ok());
    };
  };
  const std::string a = Make("a", 1, fill(0, "x", "main\na")), b = Make("b", 2, fill(1, "y", "b")),
                    c = Make("c", 3, fill(0, "x", "main\nc"));
  Merged({a, b, c}, "m");
  const RunReader m = Open("m");
  const auto cells = m.Rows<CellRow>().value();
  ASSERT_THAT(cells, SizeIs(2));
  EXPECT_EQ(cells[0].label, "x");
  EXPECT_EQ(cells[0].delivery.walks, 2 * TestCell(0).delivery.walks);
  EXPECT_EQ(cells[1].position, 1);
  EXPECT_EQ(cells[1].delivery.walks, TestCell(1).delivery.walks);
  EXPECT_EQ(m.Stacks(0).value().Stacks(),
            (std::map<std::string, uint64_t>{{"main", 2}, {"main\na", 2}, {"main\nc", 2}}));
  EXPECT_EQ(m.Stacks(1).value().Stacks(), (std::map<std::string, uint64_t>{{"b", 2}, {"main", 1}}));
  EXPECT_THAT(m.Rows<CellThreadRow>().value(), SizeIs(9));
  const auto regions = m.Rows<StepRegionRow>().value();
  ASSERT_THAT(regions, SizeIs(6));
  EXPECT_EQ(regions[0].steps, 2 * TestRegions()[0].steps);
  EXPECT_EQ(regions[0].pcs, TestRegions()[0].pcs);
  EXPECT_EQ(m.Rows<CountRow>().value().at(0).count, 10u);
}

TEST_F(Merge, SaysWhichShardIsMissing) {
  const auto shard = [](const char* text) {
    return [text](RunIdentity& run) { run.shard = text; };
  };
  const std::string a = Make("a", 1, {}, shard("1/3")), b = Make("b", 2, {}, shard("3/3")),
                    c = Make("c", 3, {}, shard("2/3"));
  Merged({a, b}, "m");
  const auto notes = Open("m").Rows<NoteRow>().value();
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_THAT(notes[0].detail, HasSubstr("2/3 is the first that is missing"));
  Merged({At("m"), c}, "all");
  EXPECT_THAT(Open("all").Rows<NoteRow>().value(), IsEmpty());
}

TEST_F(Merge, ShardsOfOneSecondComeInTheirOrder) {
  std::vector<std::string> dirs;
  for (int i = 8; i >= 1; i--)
    dirs.push_back(Make(fmt::format("s{}", i), 1, {},
                        [&](RunIdentity& run) { run.shard = fmt::format("{}/8", i); }));
  Merged(dirs, "m");
  const auto parts = Open("m").Parts().value();
  std::vector<std::string> shards;
  for (const RunRow& part : parts) shards.push_back(part.identity.shard);
  EXPECT_THAT(shards, ElementsAre("1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"));
}

// --- untrusted folders --------------------------------------------------------------------------

TEST_F(Merge, SaysHowManyRunsSayNothing) {
  const auto told = [&](const std::vector<std::string>& dirs, const std::string& out) {
    Merged(dirs, out);
    const std::vector<NoteRow> notes = Open(out).Rows<NoteRow>().value();
    std::string text;
    for (const NoteRow& note : notes)
      if (note.name == "vacuous runs") text += note.detail;
    return text;
  };
  const auto vacuous = [&](const std::string& name, int second) {
    const std::string dir = Make(name, second);
    ExecSql(dir, "UPDATE run SET status = 'vacuous'");
    return dir;
  };
  const std::string a = Make("a", 1), b = Make("b", 2);
  const std::string none = vacuous("none", 3), nor = vacuous("nor", 4);
  EXPECT_EQ(told({a, b}, "both say something"), "");
  EXPECT_EQ(told({a, b, none}, "one of three"), "1 of 3 merged runs say nothing about the walker");
  EXPECT_EQ(told({a, none, nor}, "two of three"),
            "2 of 3 merged runs say nothing about the walker");
  EXPECT_EQ(told({none, nor}, "all"), "") << "the verdict says it";
}

TEST_F(Merge, FilesAreTakenOnlyFromTheirPlace) {
  std::filesystem::create_directories(At("secret"));
  std::ofstream(At("secret/input.walk")) << "secret";
  for (const char* folder : {"crashes/../../secret", "/etc", "crashes/", "crashes/..", "secret"}) {
    SCOPED_TRACE(folder);
    const std::string a = Make("a", 1, [](RunWriter& run) { AddBucket(run, "t", 1); });
    ExecSql(a, "UPDATE bucket SET folder = '" + std::string(folder) + "'");
    Merged({a}, "m");
    EXPECT_FALSE(std::filesystem::exists(At("m") + "/crashes"));
    EXPECT_THAT(Open("m").Rows<NoteRow>().value(), SizeIs(1));  // it says so
    for (const char* dir : {"a", "m"}) std::filesystem::remove_all(At(dir));
  }
}

TEST_F(Merge, LinksAndPipesInCrashFoldersAreLeftAlone) {
  std::filesystem::create_directories(At("secret"));
  std::ofstream(At("secret/input.walk")) << "secret";
  const std::string a = Make("a", 1, [](RunWriter& run) { AddBucket(run, "t", 1); });
  const std::string folder = a + "/" + RunReader::Open(a).value().Buckets().value().at(0).folder;
  const auto merged = [&](const char* out) {
    Merged({a}, out);
    return ReadFile(At(out) + folder.substr(a.size()) + "/input.walk");
  };
  EXPECT_EQ(merged("intact"), "of " + a);
  std::filesystem::remove(folder + "/input.walk");
  std::filesystem::create_symlink(At("secret/input.walk"), folder + "/input.walk");
  EXPECT_EQ(merged("link"), "");
  std::filesystem::remove(folder + "/input.walk");
  ASSERT_EQ(mkfifo((folder + "/input.walk").c_str(), 0600), 0);
  EXPECT_EQ(merged("pipe"), "");
  std::filesystem::remove_all(folder);
  std::filesystem::create_symlink(At("secret"), folder);
  EXPECT_EQ(merged("folder"), "");
  std::filesystem::remove_all(a + "/crashes");
  std::filesystem::create_symlink(At("."), a + "/crashes");
  EXPECT_EQ(merged("crashes"), "");
}

TEST_F(Merge, CountsWithoutMeasureDoNotOverflow) {
  const auto fill = [](RunWriter& run) {
    EXPECT_TRUE(run.SaveCounts(MergeCounts(INT64_MAX, 1)).ok());
    AddBucket(run, "t", INT64_MAX);
  };
  const std::string a = Make("a", 1, fill), b = Make("b", 2, fill);
  ExecSql(a, "UPDATE run SET walks = 9223372036854775807, time_ms = -1");
  Merged({a, b}, "m");
  EXPECT_GT(Open("m").Rows<CountRow>().value().at(1).count, uint64_t{1} << 43);
  EXPECT_GT(Open("m").Run().value().totals.walks, uint64_t{1} << 43);
}

TEST_F(Merge, WhatIsNoIntactRunIsRefused) {
  const std::string a = Make("a", 1, [](RunWriter& run) { AddBucket(run, "t", 1); });
  const std::string b = Make("b", 2, [](RunWriter& run) { AddBucket(run, "t", 1); });
  ExecSql(b, "CREATE TRIGGER fires AFTER UPDATE ON run BEGIN SELECT 1; END");
  EXPECT_THAT(Refused({a, b}, "m"), HasSubstr("is not a table that a run has"));
  ExecSql(b, "DROP TRIGGER fires; UPDATE run SET run_id = '../../a'");
  EXPECT_THAT(Refused({a, b}, "m"), HasSubstr("no id of 32 hex digits"));
  ExecSql(b, "UPDATE run SET run_id = printf('%032d', 1); ALTER TABLE finding RENAME TO gone");
  EXPECT_THAT(Refused({a, b}, "m"), HasSubstr("the run database is damaged"));
}

}  // namespace
}  // namespace walkhammer
