// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_writer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

RunWriter MustCreate(const std::string& dir) {
  Result<RunWriter> run = RunWriter::Create(dir, TestIdentity());
  if (!run.ok()) {
    std::fprintf(stderr, "%s\n", run.failure().message.c_str());
    std::abort();
  }
  return std::move(run.value());
}

TEST(RunWriter, KeepsIdentityAndTotals) {
  const TempDir dir;
  const std::string path = dir.Under("runs/deep/1/");
  {
    RunWriter run = MustCreate(path);
    ASSERT_OK(run.SetVm("Other VM", "Z"));
    const Result<RunStatus> status = run.Finish(RunStatus::kCleanEnd, TestTotals());
    ASSERT_OK(status);
    EXPECT_EQ(status.value(), RunStatus::kCleanEnd);
  }
  const Result<RunReader> run = RunReader::Open(path);
  ASSERT_OK(run);
  const Result<RunRow> row = run.value().Run();
  ASSERT_OK(row);
  RunIdentity wanted = TestIdentity();
  wanted.vm_version = "Other VM";
  wanted.vm_gc = "Z";
  wanted.run_id = row.value().identity.run_id;
  EXPECT_EQ(wanted.run_id.size(), 32u);
  EXPECT_EQ(row.value().identity, wanted);
  EXPECT_EQ(row.value().totals, TestTotals());
  EXPECT_EQ(row.value().status, RunStatus::kCleanEnd);
  EXPECT_FALSE(row.value().writer_alive);
  EXPECT_FALSE(fs::exists(path + "/run.db-wal"));
}

TEST(RunWriter, CreateRefusesWhatIsNotItsOwn) {
  const TempDir dir;
  {
    const RunWriter first = MustCreate(dir.path());
    const Result<RunWriter> second = RunWriter::Create(dir.path(), TestIdentity());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.failure().code, ExitCode::kBadInput);
    EXPECT_NE(second.failure().message.find("another run is writing"), std::string::npos);
  }
  const Result<RunWriter> third = RunWriter::Create(dir.path(), TestIdentity());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.failure().code, ExitCode::kBadInput);
  EXPECT_NE(third.failure().message.find("not empty"), std::string::npos);
  EXPECT_TRUE(RunReader::Open(dir.path()).ok());  // the first run is untouched
  std::ofstream(dir.Under("file")) << "x";
  for (const std::string& bad : {dir.Under("file"), dir.Under("file/under"), std::string()}) {
    const Result<RunWriter> failed = RunWriter::Create(bad, TestIdentity());
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.failure().code, ExitCode::kBadInput) << bad;
  }
  EXPECT_EQ(ReadFile(dir.Under("file")), "x");
}

TEST(RunWriter, CreateRefusesAFolderThatCannotBeWritten) {
  const Result<RunWriter> failed = RunWriter::Create("/proc/walkhammer-run", TestIdentity());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().code, ExitCode::kBadInput);
  EXPECT_NE(failed.failure().message.find("cannot be written"), std::string::npos);
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
  const TempDir dir;
  {
    const FullDisk full(4096);
    const Result<RunWriter> failed = RunWriter::Create(dir.Under("a/b"), TestIdentity());
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.failure().code, ExitCode::kBadInput);
  }
  EXPECT_FALSE(fs::exists(dir.Under("a")));
  EXPECT_TRUE(RunWriter::Create(dir.Under("a/b"), TestIdentity()).ok());
}

TEST(RunWriter, EveryWriteOnAFullDiskSaysSo) {
  const TempDir dir;
  RunWriter run = MustCreate(dir.path());
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  const Result<RunWriter::Added> added = run.AddFinding(record);
  ASSERT_OK(added);
  const auto shared = std::make_unique<SharedState>();
  for (auto& scene : shared->counts[0])
    for (auto& state : scene)
      for (auto& region : state)
        for (uint64_t& count : region) count = 1;
  {
    const FullDisk full(1);
    record.detail = std::string(100'000, 'x');
    const Result<RunWriter::Added> failed = run.AddFinding(record);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.failure().code, ExitCode::kToolFailed);
    EXPECT_FALSE(run.SaveCounts(CountRowsOf(*shared)).ok());
    EXPECT_FALSE(run.SaveScenes(SceneRowsOf(*shared)).ok());
    EXPECT_FALSE(run.SaveProgress(TestTotals()).ok());
    EXPECT_FALSE(run.SetVm(std::string(10'000, 'x'), "").ok());
    EXPECT_FALSE(run.SetConfirmed(added.value().bucket, 1, 2).ok());
    EXPECT_FALSE(run.SetSeen(added.value().bucket, 1).ok());
    EXPECT_FALSE(run.Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  }
  // Rows committed earlier are intact, and the run goes on once there is room.
  EXPECT_EQ(Read(run).Findings(added.value().bucket).value().size(), 1u);
  record.detail = "fits";
  ASSERT_OK(run.AddFinding(record));
  EXPECT_EQ(Read(run).Findings(added.value().bucket).value().size(), 2u);
}

TEST(RunWriter, FindingsJoinTheirBucketByKey) {
  const TempDir dir;
  RunWriter run = MustCreate(dir.path());
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kEditedStack);
  record.detail = std::string("a\0b \xff", 5);
  const Result<RunWriter::Added> first = run.AddFinding(record);
  ASSERT_OK(first);
  EXPECT_TRUE(first.value().is_new);
  EXPECT_TRUE(first.value().is_best);
  EXPECT_EQ(first.value().folder, "crashes/" + BucketName(record.signature));
  record.realism = Realism::kShifted;
  record.sequence = 7;
  record.time_ms = 3;
  const Result<RunWriter::Added> second = run.AddFinding(record);
  ASSERT_OK(second);
  EXPECT_FALSE(second.value().is_new);
  EXPECT_TRUE(second.value().is_best);  // more real
  EXPECT_EQ(second.value().bucket, first.value().bucket);
  EXPECT_EQ(second.value().folder, first.value().folder);
  EXPECT_FALSE(run.AddFinding(record).value().is_best);  // as good as the one before
  record.request = "w";
  EXPECT_TRUE(run.AddFinding(record).value().is_best);  // shorter
  record.request = "walk 1\n";
  record.signature.key = "other";
  EXPECT_TRUE(run.AddFinding(record).value().is_new);

  // Findings are committed: another connection sees them while the run goes on.
  const Result<RunReader> reader = RunReader::Open(dir.path());
  ASSERT_OK(reader);
  EXPECT_TRUE(reader.value().Run().value().writer_alive);
  const std::vector<BucketRow> buckets = reader.value().Buckets().value();
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].count, 4u);
  EXPECT_EQ(buckets[0].realism, Realism::kShifted);
  EXPECT_EQ(buckets[0].first_sequence, 7u);
  EXPECT_EQ(buckets[0].first_time_ms, 3u);
  EXPECT_EQ(buckets[0].signature.title, "t");
  EXPECT_EQ(buckets[0].signature.expect, record.signature.expect);
  EXPECT_EQ(buckets[0].oracle, "crash");
  EXPECT_EQ(buckets[0].outcome, "fault");
  const std::vector<FindingRecord> findings = reader.value().Findings(first.value().bucket).value();
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].sequence, 7u);
  EXPECT_EQ(findings[3].sequence, 42u);
  EXPECT_EQ(findings[3].time_ms, 1500u);
  EXPECT_EQ(findings[3].detail, record.detail);
  EXPECT_EQ(findings[3].request, record.request);
  EXPECT_EQ(findings[3].frames, record.frames);
  EXPECT_EQ(findings[3].native, record.native);
  EXPECT_EQ(findings[3].fault, record.fault);
  EXPECT_EQ(findings[3].realism, Realism::kEditedStack);
  EXPECT_EQ(findings[3].signature.key, "t key");
}

TEST(RunWriter, BucketsAreSortedAndRegraded) {
  const TempDir dir;
  RunWriter run = MustCreate(dir.path());
  const auto add = [&](const char* oracle, const char* outcome, const char* title, Realism realism,
                       Grade grade) {
    FindingRecord record = TestRecord(oracle, outcome, title, realism);
    record.grade = grade;
    return run.AddFinding(record).value().bucket;
  };
  add("method-id", "unloaded", "interesting", Realism::kGenuine, Grade::kInteresting);
  add("crash", "fault", "edited", Realism::kEditedStack, Grade::kForbidden);
  // `genuine` was recorded by a build that graded crashes lower: the table of this build counts.
  const int64_t refuted = add("crash", "fault", "refuted", Realism::kGenuine, Grade::kForbidden);
  add("crash", "fault", "untried", Realism::kGenuine, Grade::kForbidden);
  const int64_t genuine = add("crash", "fault", "genuine", Realism::kGenuine, Grade::kInteresting);
  // An oracle that this build does not have: the recorded grade counts.
  add("no-such-oracle", "odd", "unknown", Realism::kShifted, Grade::kForbidden);
  ASSERT_OK(run.SetConfirmed(genuine, 2, 3));
  ASSERT_OK(run.SetSeen(genuine, 1000));
  ASSERT_OK(run.SetConfirmed(refuted, 0, 1));
  const std::vector<BucketRow> buckets = Read(run).Buckets().value();
  ASSERT_EQ(buckets.size(), 6u);
  EXPECT_EQ(buckets[0].signature.title, "genuine");
  EXPECT_EQ(buckets[0].grade, Grade::kForbidden);
  EXPECT_EQ(buckets[0].recorded_grade, Grade::kInteresting);
  EXPECT_EQ(buckets[0].confirmed, 2);
  EXPECT_EQ(buckets[0].tries, 3);
  EXPECT_EQ(buckets[0].count, 1000u);
  EXPECT_EQ(buckets[1].signature.title, "untried");
  EXPECT_EQ(buckets[2].signature.title, "refuted");
  EXPECT_EQ(buckets[3].signature.title, "interesting");
  EXPECT_EQ(buckets[3].tries, 0);
  EXPECT_EQ(buckets[4].signature.title, "unknown");
  EXPECT_EQ(buckets[5].signature.title, "edited");
  EXPECT_FALSE(run.SetConfirmed(99, 1, 1).ok());
  EXPECT_FALSE(run.SetSeen(99, 1).ok());
}

TEST(RunWriter, SavesCountsScenesAndProgress) {
  const TempDir dir;
  RunWriter run = MustCreate(dir.path());
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
  ASSERT_OK(run.SaveCounts(CountRowsOf(*shared)));
  shared->counts[0][1][kStateInJava][0][kCodeFrames] = 7;  // totals, not increments
  ASSERT_OK(run.SaveCounts(CountRowsOf(*shared)));
  ASSERT_OK(run.SaveScenes(SceneRowsOf(*shared)));
  RunTotals totals = TestTotals();
  ASSERT_OK(run.SaveProgress(totals));
  totals.time_ms = 1000;
  ASSERT_OK(run.SaveProgress(totals));

  const std::vector<CountRow> counts = Read(run).Rows<CountRow>().value();
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

  const std::vector<SceneRow> scenes = Read(run).Rows<SceneRow>().value();
  ASSERT_EQ(scenes.size(), AllScenes().size());
  EXPECT_EQ(scenes[0].name, AllScenes()[0].name);
  EXPECT_TRUE(scenes[0].available);
  EXPECT_TRUE(scenes[0].pristine_true);
  EXPECT_EQ(scenes[0].tried, 9);
  EXPECT_EQ(scenes[0].truth_frames, 33);
  EXPECT_FALSE(scenes[1].available);
  EXPECT_EQ(scenes[1].reason, std::string(sizeof(shared->scenes[1].reason), 'x'));

  const std::vector<ProgressRow> progress = Read(run).Rows<ProgressRow>().value();
  ASSERT_EQ(progress.size(), 2u);
  EXPECT_EQ(progress[0].time_ms, 1000u);
  EXPECT_EQ(progress[1].walks, totals.walks);
}

TEST(RunWriter, SavesWhatSeveralWalkersAnsweredAndHowTheyAgreed) {
  const TempDir dir;
  RunWriter run = MustCreate(dir.path());
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
    ASSERT_OK(run.SaveCounts(CountRowsOf(*shared)));
    ASSERT_OK(run.Replace(kNoCell, AgreementRowsOf(*shared)));
    shared->agreement[1][edited][stub][bci]++;
  }
  const std::vector<CountRow> counts = Read(run).Rows<CountRow>().value();
  ASSERT_EQ(counts.size(), 2u);
  for (const CountRow& row : counts)
    EXPECT_EQ(row.count, row.walker == AllWalkers()[0].name ? 12u : 6u) << row.walker;
  const std::vector<AgreementRow> agreement = Read(run).Rows<AgreementRow>().value();
  ASSERT_EQ(agreement.size(), 1u);
  EXPECT_EQ(agreement[0], (AgreementRow{kNoCell, AllWalkers()[1].name, AllWalkers()[0].name,
                                        Realism::kEditedStack, "stub", "bci", 4}));
}

TEST(RunWriter, ACleanEndThatProvesNothingIsVacuous) {
  for (const bool walked : {false, true}) {
    const TempDir dir;
    RunWriter run = MustCreate(dir.path());
    RunTotals totals = TestTotals();
    if (!walked) totals.pristine_walks = 0;
    EXPECT_EQ(run.Finish(RunStatus::kCleanEnd, totals).value(),
              walked ? RunStatus::kCleanEnd : RunStatus::kVacuous);
    EXPECT_EQ(run.Finish(RunStatus::kFailed, totals, "why").value(), RunStatus::kFailed);
    EXPECT_EQ(Read(run).Run().value().reason, "why");
  }
}

// On a network disk, where there is no WAL, each reader keeps the writer waiting.
TEST(RunWriter, TheWriterWaitsLongForOneWhoKeepsTheFileLocked) {
  TempDir dir;
  RunWriter run = MustCreate(dir.Under("run"));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((dir.Under("run") + "/run.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::seconds(13));  // the wait was 10 s once
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  });
  const Status saved = run.SaveProgress(TestTotals());
  reader.join();
  sqlite3_close(other);
  ASSERT_OK(saved);
}

TEST(RunWriter, AKilledRunReadsUpToItsLastWrite) {
  const TempDir dir;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunWriter run = MustCreate(dir.Under("run"));
    if (!run.AddFinding(TestRecord("crash", "fault", "t", Realism::kGenuine)).ok()) _exit(1);
    if (!run.SaveProgress(TestTotals()).ok()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const Result<RunReader> run = RunReader::Open(dir.Under("run"));
  ASSERT_OK(run);
  EXPECT_EQ(run.value().Buckets().value().size(), 1u);
  const RunRow row = run.value().Run().value();
  EXPECT_EQ(row.status, RunStatus::kRunning);
  EXPECT_FALSE(row.writer_alive);
  EXPECT_EQ(row.totals.walks, TestTotals().walks);
}

TEST(RunWriter, OpenRefusesWhatItCannotRead) {
  const TempDir dir;
  const auto refused = [&](const char* part) {
    const Result<RunReader> run = RunReader::Open(dir.path());
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.failure().code, ExitCode::kBadInput);
    EXPECT_NE(run.failure().message.find(part), std::string::npos) << run.failure().message;
  };
  refused("no run folder");
  EXPECT_FALSE(fs::exists(dir.Under("run.db")));
  std::ofstream(dir.Under("run.db")) << std::string(5000, 'x');
  refused("no intact run database");
  fs::remove(dir.Under("run.db"));
  std::ofstream(dir.Under("run.db")).close();
  refused("not the database of a walkhammer run");
  fs::remove(dir.Under("run.db"));
  (void)MustCreate(dir.Under("sub")).Finish(RunStatus::kCleanEnd, TestTotals());
  fs::rename(dir.Under("sub/run.db"), dir.Under("run.db"));
  EXPECT_TRUE(RunReader::Open(dir.path()).ok());
  const auto set = [&](const char* pragma) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(dir.Under("run.db").c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, pragma, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  };
  constexpr char kOther[] = "/run.db: another version of walkhammer wrote this run; read it with";
  set("PRAGMA user_version = 2");
  refused(kOther);
  set("PRAGMA user_version = 1; PRAGMA application_id = 0x5748524e");  // before the first tag
  refused(kOther);
  set("PRAGMA application_id = 1");  // another program's
  refused("not the database of a walkhammer run");
}

}  // namespace
}  // namespace walkhammer
