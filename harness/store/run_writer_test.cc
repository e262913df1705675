// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "harness/base/testing/fails_with.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

using RunWriterTest = NewRunTest;

TEST(RunWriter, KeepsIdentityAndTotals) {
  const TemporaryFolder dir;
  const std::string path = dir.Under("runs/deep/1/");
  RunIdentity wanted = TestIdentity();
  wanted.workers = 4;
  {
    RunWriter run = NewRun(path, wanted);
    ASSERT_OK(run.SetVm("Other VM", "Z"));
    const auto status = Must(run.Finish(RunStatus::kCleanEnd, TestTotals()));
    EXPECT_EQ(status, RunStatus::kCleanEnd);
  }
  const Result<RunReader> run = RunReader::Open(path);
  ASSERT_OK(run);
  const auto row = Must(run.value().Run());
  wanted.vm_version = "Other VM";
  wanted.vm_gc = "Z";
  wanted.run_id = row.identity.run_id;
  EXPECT_EQ(wanted.run_id.size(), 32u);
  EXPECT_EQ(row.identity, wanted);
  EXPECT_EQ(row.totals, TestTotals());
  EXPECT_EQ(row.status, RunStatus::kCleanEnd);
  EXPECT_FALSE(row.writer_alive);
  EXPECT_FALSE(fs::exists(path + "/run.db-wal"));
}

TEST(RunWriter, CreateRefusesWhatIsNotItsOwn) {
  const TemporaryFolder dir;
  {
    const RunWriter first = NewRun(dir.path());
    EXPECT_THAT(RunWriter::Create(dir.path(), TestIdentity()),
                FailsWith(ExitCode::kBadInput, HasSubstr("another run is writing")));
  }
  EXPECT_THAT(RunWriter::Create(dir.path(), TestIdentity()),
              FailsWith(ExitCode::kBadInput, HasSubstr("not empty")));
  EXPECT_TRUE(RunReader::Open(dir.path()).ok());  // the first run is untouched
  dir.Write("file", "x");
  for (const std::string& bad : {dir.Under("file"), dir.Under("file/under"), std::string()})
    EXPECT_THAT(RunWriter::Create(bad, TestIdentity()), FailsWith(ExitCode::kBadInput)) << bad;
  EXPECT_EQ(ReadFile(dir.Under("file")), "x");
}

TEST(RunWriter, CreateRefusesAFolderThatCannotBeWritten) {
  EXPECT_THAT(RunWriter::Create("/proc/walkhammer-run", TestIdentity()),
              FailsWith(ExitCode::kBadInput, HasSubstr("cannot be written")));
}

// No file of this process may grow past `bytes` while the object lives, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST(RunWriter, CreateOnAFullDiskFailsAndLeavesNothing) {
  const TemporaryFolder dir;
  {
    const FullDisk full(4096);
    EXPECT_THAT(RunWriter::Create(dir.Under("a/b"), TestIdentity()),
                FailsWith(ExitCode::kBadInput));
  }
  EXPECT_FALSE(fs::exists(dir.Under("a")));
  EXPECT_TRUE(RunWriter::Create(dir.Under("a/b"), TestIdentity()).ok());
}

TEST_F(RunWriterTest, EveryWriteOnAFullDiskSaysSo) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  const auto added = Must(run_.AddFinding(record));
  const auto shared = std::make_unique<SharedState>();
  for (auto& scene : shared->counts[0])
    for (auto& state : scene)
      for (auto& region : state)
        for (uint64_t& count : region) count = 1;
  {
    const FullDisk full(1);
    record.detail = std::string(100'000, 'x');
    EXPECT_THAT(run_.AddFinding(record), FailsWith(ExitCode::kToolFailed));
    EXPECT_FALSE(run_.SaveCounts(CountRowsOf(*shared)).ok());
    EXPECT_FALSE(run_.SaveScenes(SceneRowsOf(*shared)).ok());
    EXPECT_FALSE(run_.SaveProgress(TestTotals()).ok());
    EXPECT_FALSE(run_.SetVm(std::string(10'000, 'x'), "").ok());
    EXPECT_FALSE(run_.SetConfirmed(added.bucket, 1, 2).ok());
    EXPECT_FALSE(run_.SetSeen(added.bucket, 1).ok());
    EXPECT_FALSE(run_.Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  }
  // Rows committed earlier are intact, and the run goes on once there is room.
  EXPECT_EQ(Read(run_).Findings(added.bucket).value().size(), 1u);
  record.detail = "fits";
  ASSERT_OK(run_.AddFinding(record));
  EXPECT_EQ(Read(run_).Findings(added.bucket).value().size(), 2u);
}

// ci/test/cli.bats has a disk that is full.
TEST_F(RunWriterTest, RoomForTheEndIsKeptUntilTheEnd) {
  struct stat info {};
  const std::string file = run_.dir() + "/" + kLockName;
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, kReserve);
  ASSERT_OK(run_.Finish(RunStatus::kCleanEnd, TestTotals()));
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 0);
}

TEST_F(RunWriterTest, FindingsJoinTheirBucketByKey) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kEditedStack);
  record.detail = std::string("a\0b \xff", 5);
  const auto first = Must(run_.AddFinding(record));
  EXPECT_TRUE(first.is_new);
  EXPECT_TRUE(first.is_best);
  EXPECT_EQ(first.folder, "crashes/" + BucketName(record.signature));
  const FindingRecord oldest = record;
  record.realism = Realism::kShifted;
  record.sequence = 7;
  record.time_ms = 3;
  const auto second = Must(run_.AddFinding(record));
  EXPECT_FALSE(second.is_new);
  EXPECT_TRUE(second.is_best);  // more real
  EXPECT_EQ(second.bucket, first.bucket);
  EXPECT_EQ(second.folder, first.folder);
  EXPECT_FALSE(run_.AddFinding(record).value().is_best);  // as good as the one before
  record.request = "w";
  EXPECT_TRUE(run_.AddFinding(record).value().is_best);  // shorter
  record.request = "walk 1\n";
  record.signature.key = "other";
  EXPECT_TRUE(run_.AddFinding(record).value().is_new);

  // Findings are committed: another connection sees them while the run goes on.
  const auto reader = Must(RunReader::Open(run_.dir()));
  EXPECT_TRUE(reader.Run().value().writer_alive);
  const std::vector<BucketRow> buckets = reader.Buckets().value();
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].count, 4u);
  EXPECT_EQ(buckets[0].realism, Realism::kShifted);
  EXPECT_EQ(buckets[0].first_sequence, 7u);
  EXPECT_EQ(buckets[0].first_time_ms, 3u);
  EXPECT_EQ(buckets[0].signature.title, "t");
  EXPECT_EQ(buckets[0].signature.expect, record.signature.expect);
  EXPECT_EQ(buckets[0].oracle, "crash");
  EXPECT_EQ(buckets[0].outcome, "fault");
  const std::vector<FindingRecord> findings = reader.Findings(first.bucket).value();
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].sequence, 7u);
  EXPECT_EQ(findings[3], oldest);
}

TEST_F(RunWriterTest, BucketsAreSortedAndRegraded) {
  const auto add = [&](const char* oracle, const char* outcome, const char* title, Realism realism,
                       Grade grade) {
    FindingRecord record = TestRecord(oracle, outcome, title, realism);
    record.grade = grade;
    return run_.AddFinding(record).value().bucket;
  };
  add("method-id", "unloaded", "interesting", Realism::kGenuine, Grade::kInteresting);
  add("crash", "fault", "edited", Realism::kEditedStack, Grade::kForbidden);
  // `genuine` was recorded by a build that graded crashes lower: the table of this build counts.
  const int64_t refuted = add("crash", "fault", "refuted", Realism::kGenuine, Grade::kForbidden);
  add("crash", "fault", "untried", Realism::kGenuine, Grade::kForbidden);
  const int64_t genuine = add("crash", "fault", "genuine", Realism::kGenuine, Grade::kInteresting);
  // An oracle that this build does not have: the recorded grade counts.
  add("no-such-oracle", "odd", "unknown", Realism::kShifted, Grade::kForbidden);
  ASSERT_OK(run_.SetConfirmed(genuine, 2, 3));
  ASSERT_OK(run_.SetSeen(genuine, 1000));
  ASSERT_OK(run_.SetConfirmed(refuted, 0, 1));
  const std::vector<BucketRow> buckets = Read(run_).Buckets().value();
  std::vector<std::string> titles;
  for (const BucketRow& bucket : buckets) titles.push_back(bucket.signature.title);
  ASSERT_THAT(titles, testing::ElementsAre("genuine", "untried", "refuted", "interesting",
                                           "unknown", "edited"));
  EXPECT_EQ(buckets[0].grade, Grade::kForbidden);
  EXPECT_EQ(buckets[0].recorded_grade, Grade::kInteresting);
  EXPECT_EQ(buckets[0].confirmed, 2);
  EXPECT_EQ(buckets[0].tries, 3);
  EXPECT_EQ(buckets[0].count, 1000u);
  EXPECT_EQ(buckets[3].tries, 0);
  EXPECT_FALSE(run_.SetConfirmed(99, 1, 1).ok());
  EXPECT_FALSE(run_.SetSeen(99, 1).ok());
}

TEST_F(RunWriterTest, SavesCountsScenesAndProgress) {
  const auto shared = std::make_unique<SharedState>();
  shared->counts[0][1][kStateInJava][0][kCodeFrames] = 5;
  shared->counts[0][1][kStateInJava][2][6] = 4;
  shared->counts[0][1][kMaxStates - 1][0][kCodeCrash] = 3;
  shared->counts[0][1][1][0][1] = 2;
  shared->counts[0][kMaxScenes - 1][kStateInJava][0][kCodeOther] = 1;
  shared->scenes[0].available = true;
  shared->scenes[0].pristine_true = true;
  shared->scenes[0].tried = 9;
  shared->scenes[0].truth_frames = 33;
  std::memset(shared->scenes[1].reason, 'x', sizeof(shared->scenes[1].reason));
  ASSERT_OK(run_.SaveCounts(CountRowsOf(*shared)));
  shared->counts[0][1][kStateInJava][0][kCodeFrames] = 7;  // totals, not increments
  ASSERT_OK(run_.SaveCounts(CountRowsOf(*shared)));
  ASSERT_OK(run_.SaveScenes(SceneRowsOf(*shared)));
  RunTotals totals = TestTotals();
  ASSERT_OK(run_.SaveProgress(totals));
  totals.time_ms = 1000;
  ASSERT_OK(run_.SaveProgress(totals));

  const std::vector<CountRow> counts = Read(run_).Rows<CountRow>().value();
  const auto count = [&](const std::string& scene, const std::string& state,
                         const std::string& code) -> uint64_t {
    for (const CountRow& row : counts)
      if (row.scene == scene && row.state == state && row.code == code) {
        EXPECT_EQ(row.walker, AllWalkers()[0].name);
        return row.count;
      }
    return 0;
  };
  const char* scene = AllScenes()[1].name;
  EXPECT_EQ(counts.size(), 5u);
  EXPECT_EQ(count(scene, "in_Java", "frames"), 7u);
  EXPECT_EQ(count(scene, "in_Java", "-5"), 4u);
  EXPECT_EQ(count(scene, "undeclared", "crash"), 3u);
  EXPECT_EQ(count(scene, "state-1", "0"), 2u);
  EXPECT_EQ(count("scene-31", "in_Java", "other"), 1u);

  const std::vector<SceneRow> scenes = Read(run_).Rows<SceneRow>().value();
  ASSERT_EQ(scenes.size(), AllScenes().size());
  EXPECT_EQ(scenes[0], (SceneRow{AllScenes()[0].name, true, true, 9, 33, ""}));
  EXPECT_EQ(scenes[1], (SceneRow{AllScenes()[1].name, false, false, 0, 0,
                                 std::string(sizeof(shared->scenes[1].reason), 'x')}));

  const std::vector<ProgressRow> progress = Read(run_).Rows<ProgressRow>().value();
  ASSERT_EQ(progress.size(), 2u);
  EXPECT_EQ(progress[0].time_ms, 1000u);
  EXPECT_EQ(progress[1].walks, totals.walks);
}

TEST_F(RunWriterTest, SavesWhatSeveralWalkersAnsweredAndHowTheyAgreed) {
  const auto shared = std::make_unique<SharedState>();
  shared->job.walker = 0;
  shared->job.other_count = 2;
  shared->job.others[0] = 1;  // others[1] is 0: the first walker again
  shared->counts[0][1][kStateInJava][0][kCodeFrames] = 5;
  shared->counts[1][1][kStateInJava][0][kCodeFrames] = 6;
  shared->counts[2][1][kStateInJava][0][kCodeFrames] = 7;
  const auto edited = static_cast<size_t>(Realism::kEditedStack);
  const auto stub = static_cast<size_t>(PcRegion::kStub);
  const auto bci = static_cast<size_t>(Disagreement::kBci);
  shared->agreement[1][edited][stub][bci] = 3;
  for (int i = 0; i < 2; i++) {  // totals, not increments
    ASSERT_OK(run_.SaveCounts(CountRowsOf(*shared)));
    ASSERT_OK(run_.Replace(kNoCell, AgreementRowsOf(*shared)));
    shared->agreement[1][edited][stub][bci]++;
  }
  const std::vector<CountRow> counts = Read(run_).Rows<CountRow>().value();
  ASSERT_EQ(counts.size(), 2u);
  for (const CountRow& row : counts)
    EXPECT_EQ(row.count, row.walker == AllWalkers()[0].name ? 12u : 6u) << row.walker;
  const std::vector<AgreementRow> agreement = Read(run_).Rows<AgreementRow>().value();
  ASSERT_EQ(agreement.size(), 1u);
  EXPECT_EQ(agreement[0], (AgreementRow{kNoCell, AllWalkers()[1].name, AllWalkers()[0].name,
                                        Realism::kEditedStack, "stub", "bci", 4}));
}

TEST(RunWriter, ACleanEndThatProvesNothingIsVacuous) {
  for (const bool walked : {false, true}) {
    const TemporaryFolder dir;
    RunWriter run = NewRun(dir.path());
    RunTotals totals = TestTotals();
    if (!walked) totals.pristine_walks = 0;
    EXPECT_EQ(run.Finish(RunStatus::kCleanEnd, totals).value(),
              walked ? RunStatus::kCleanEnd : RunStatus::kVacuous);
    EXPECT_EQ(run.Finish(RunStatus::kFailed, totals, "why").value(), RunStatus::kFailed);
    EXPECT_EQ(Read(run).Run().value().reason, "why");
  }
}

// On a network disk, where there is no WAL, each reader keeps the writer waiting.
TEST_F(RunWriterTest, TheWriterWaitsLongForOneWhoKeepsTheFileLocked) {
  Database other = OpenDb(run_.dir());
  auto held = std::make_unique<Transaction>(other);
  ASSERT_OK(held->begun());
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::seconds(13));  // other waits take 10 s
    held.reset();
  });
  const Status saved = run_.SaveProgress(TestTotals());
  reader.join();
  ASSERT_OK(saved);
}

TEST(RunWriter, AKilledRunReadsUpToItsLastWrite) {
  const TemporaryFolder dir;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunWriter run = NewRun(dir.Under("run"));
    if (!run.AddFinding(TestRecord("crash", "fault", "t", Realism::kGenuine)).ok()) _exit(1);
    if (!run.SaveProgress(TestTotals()).ok()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto run = Must(RunReader::Open(dir.Under("run")));
  EXPECT_EQ(run.Buckets().value().size(), 1u);
  const RunRow row = run.Run().value();
  EXPECT_EQ(row.status, RunStatus::kRunning);
  EXPECT_FALSE(row.writer_alive);
  EXPECT_EQ(row.totals.walks, TestTotals().walks);
}

TEST(RunWriter, OpenRefusesWhatItCannotRead) {
  const TemporaryFolder dir;
  const auto refused = [&](const char* part) {
    EXPECT_THAT(RunReader::Open(dir.path()), FailsWith(ExitCode::kBadInput, HasSubstr(part)));
  };
  refused("not a run folder");
  EXPECT_FALSE(fs::exists(dir.Under("run.db")));
  dir.Write("run.db", std::string(5000, 'x'));
  refused("the run database is damaged");
  dir.Write("run.db", "");
  refused("not the database of a walkhammer run");
  fs::remove(dir.Under("run.db"));
  (void)NewRun(dir.Under("sub")).Finish(RunStatus::kCleanEnd, TestTotals());
  fs::rename(dir.Under("sub/run.db"), dir.Under("run.db"));
  EXPECT_TRUE(RunReader::Open(dir.path()).ok());
  constexpr char kOther[] = "/run.db: another version of walkhammer wrote this run; read it with";
  ExecSql(dir.path(), "PRAGMA user_version = 2");
  refused(kOther);
  ExecSql(dir.path(),
          "PRAGMA user_version = 1; PRAGMA application_id = 0x5748524e");  // before the first tag
  refused(kOther);
  ExecSql(dir.path(), "PRAGMA application_id = 1");  // another program's
  refused("not the database of a walkhammer run");
}

}  // namespace
}  // namespace walkhammer
