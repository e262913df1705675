// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_db.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "harness/base/files.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"
#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

// A night must not end because somebody looks at it: without WAL, a reader locks the writer out.
constexpr int kWriterWaitsMs = 300'000;

std::string Under(const std::string& dir, const char* name) {
  return (fs::path(dir) / name).string();
}

Failure NotWritable(const std::string& dir, int error) {
  if (error == ENOSPC || error == EDQUOT)
    return BadInput(
        fmt::format("--out {}: the disk is full; free space or choose another folder", dir));
  return BadInput(fmt::format("--out {}: cannot be written ({}); choose another folder", dir,
                              std::strerror(error)));
}

// Removes what Create made, unless kept, so that the next try does not fail with "is not empty".
class Undo {
 public:
  explicit Undo(std::string dir) : dir_(std::move(dir)) {}
  ~Undo() {
    if (kept_) return;
    std::error_code ignored;
    if (made_files_)
      for (const char* name : {"run.db", "run.db-wal", "run.db-shm", "run.db-journal", "run.lock"})
        fs::remove(fs::path(dir_) / name, ignored);
    for (auto made = made_dirs_.rbegin(); made != made_dirs_.rend(); ++made)
      fs::remove(*made, ignored);
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  void MadeDir(fs::path path) { made_dirs_.push_back(std::move(path)); }
  void MadeFiles() { made_files_ = true; }
  void Keep() { kept_ = true; }

 private:
  std::string dir_;
  std::vector<fs::path> made_dirs_;
  bool made_files_ = false;
  bool kept_ = false;
};

// Makes `path` unless it is a folder already. Returns 0 or an errno.
int MakeDir(const fs::path& path, Undo& undo) {
  if (mkdir(path.c_str(), 0777) == 0) {
    undo.MadeDir(path);
    return 0;
  }
  const int error = errno;
  std::error_code ignored;
  if (error == EEXIST) return fs::is_directory(path, ignored) ? 0 : ENOTDIR;
  return error;
}

int MakeDirs(const fs::path& path, Undo& undo) {
  const int error = MakeDir(path, undo);
  if (error != ENOENT || path.parent_path().empty() || path.parent_path() == path) return error;
  if (const int above = MakeDirs(path.parent_path(), undo); above != 0) return above;
  return MakeDir(path, undo);  // may say ENOENT again, as in /proc
}

std::string StateName(int index) {
  if (index == kMaxStates - 1) return "undeclared";
  const char* word = StateWord(static_cast<uint8_t>(index));
  return word == nullptr ? fmt::format("state-{}", index) : word;
}

std::string CodeText(int slot) {
  switch (slot) {
    case kCodeFrames:
      return "frames";
    case kCodeOther:
      return "other";
    case kCodeCrash:
      return "crash";
    case kCodeHang:
      return "hang";
    default:
      return std::to_string(1 - slot);
  }
}

std::string WalkerName(uint8_t index) {
  return index < AllWalkers().size() ? AllWalkers()[index].name : fmt::format("walker-{}", index);
}

std::string SceneName(size_t index) {
  return index < AllScenes().size() ? AllScenes()[index].name : fmt::format("scene-{}", index);
}

std::vector<AgreementRow> AgreementRowsOf(const SharedState& shared) {
  std::vector<AgreementRow> rows;
  for (int w = 1; w < WalkerCount(shared.job); w++)
    for (int realism = 0; realism < kRealisms; realism++)
      for (int region = 0; region < kPcRegions; region++)
        for (int kind = 0; kind < kDisagreements; kind++)
          if (const uint64_t requests = shared.agreement[w][realism][region][kind]; requests > 0)
            rows.push_back({kNoCell, WalkerName(WalkerAt(shared.job, w)),
                            WalkerName(WalkerAt(shared.job, w - 1)), static_cast<Realism>(realism),
                            PcRegionWord(static_cast<PcRegion>(region)),
                            DisagreementWord(static_cast<Disagreement>(kind)), requests});
  return rows;
}

std::vector<CountRow> CountRowsOf(const SharedState& shared) {
  // A walker that the job names twice has one row, with the counts of both places.
  std::map<uint8_t, std::vector<int>> places;
  for (int i = 0; i < WalkerCount(shared.job); i++) places[WalkerAt(shared.job, i)].push_back(i);
  std::vector<CountRow> rows;
  for (const auto& [walker, at] : places)
    for (int scene = 0; scene < kMaxScenes; scene++)
      for (int state = 0; state < kMaxStates; state++)
        for (int region = 0; region < kPcRegions; region++)
          for (int code = 0; code < kCodeSlots; code++) {
            uint64_t count = 0;
            for (const int i : at) count += shared.counts[i][scene][state][region][code];
            if (count > 0)
              rows.push_back({WalkerName(walker), SceneName(static_cast<size_t>(scene)),
                              StateName(state), PcRegionWord(static_cast<PcRegion>(region)),
                              CodeText(code), count});
          }
  return rows;
}

std::vector<WalkTimeRow> WalkTimeRowsOf(const SharedState& shared) {
  std::vector<WalkTimeRow> rows;
  for (int i = 0; i < WalkerCount(shared.job); i++)
    for (size_t scene = 0; scene < kMaxScenes; scene++)
      for (int slot = 0; slot < kTimeSlots; slot++)
        if (const uint64_t count = shared.walk_times[i][scene][slot]; count > 0)
          rows.push_back(
              {WalkerName(WalkerAt(shared.job, i)), SceneName(scene), TimeSlotBegin(slot), count});
  return rows;
}

}  // namespace

CountsSoFar CountsOf(const SharedState& shared) {
  return {shared.walks.load(), CountRowsOf(shared), WalkTimeRowsOf(shared), {}};
}

RunDb::RunDb(RunDb&& other) noexcept
    : dir_(std::move(other.dir_)),
      db_(std::move(other.db_)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      saved_(std::move(other.saved_)),
      why_no_coverage_(std::move(other.why_no_coverage_)) {}

RunDb::~RunDb() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

Result<RunDb> RunDb::Create(const std::string& given, const RunIdentity& identity) {
  fs::path path = fs::path(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "runs/1/"
  if (path.empty()) return BadInput("--out: give the name of a new folder");
  const std::string dir = path.string();
  Undo undo(dir);
  if (const int error = MakeDirs(path, undo); error != 0) return NotWritable(dir, error);

  std::error_code error;
  const fs::directory_iterator entries(path, error);
  if (error) return NotWritable(dir, error.value());
  if (entries != fs::directory_iterator()) {
    if (HasWriter(dir))
      return BadInput(
          fmt::format("--out {}: another run is writing there; choose another folder", dir));
    return BadInput(
        fmt::format("--out {}: exists and is not empty; choose another folder or remove it", dir));
  }
  RunDb run;
  run.dir_ = dir;
  run.lock_fd_ = OpenFile(Under(dir, kLockName), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (run.lock_fd_ < 0) {
    if (errno != EEXIST) return NotWritable(dir, errno);
    undo.Keep();  // the folder is the other run's now
    return BadInput(
        fmt::format("--out {}: another run has just begun there; choose another folder", dir));
  }
  undo.MadeFiles();
  if (flock(run.lock_fd_, LOCK_EX | LOCK_NB) != 0)
    return BadInput(fmt::format("--out {}: cannot be locked ({}); choose a folder on a local disk",
                                dir, std::strerror(errno)));
  const std::string file = Under(dir, kDbName);
  Result<Database> db =
      Database::Open(file, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW);
  if (!db.ok()) return BadInput("--out " + db.failure().message);
  run.db_ = std::move(db.value());
  sqlite3_busy_timeout(run.db_.handle(), kWriterWaitsMs);
  if (const Status status = run.Initialize(identity); !status.ok())
    return BadInput("--out " + status.failure().message);
  undo.Keep();
  return run;
}

Status RunDb::Initialize(const RunIdentity& identity) {
  // WAL: a network disk may refuse it, and the run is then slower but as safe. FULL: a finding that
  // was shown survives even a crash of the machine.
  for (const char* pragma :
       {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"})
    if (Status status = db_.Exec(pragma); !status.ok()) return status;
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  const std::string versions = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                           kApplicationId, kSchemaVersion);
  if (Status status = db_.Exec(versions.c_str()); !status.ok()) return status;
  if (Status status = db_.Exec(RunSchema().c_str()); !status.ok()) return status;
  Only<StoredRun> run;
  run.row.identity = identity;
  if (run.row.identity.run_id.empty()) run.row.identity.run_id = NewRunId();
  Statement insert(db_, InsertInto<Only<StoredRun>>("run"));
  BindRow(insert, run);
  RETURN_IF_ERROR(insert.Run());
  return transaction.Commit();
}

namespace {

// True if `finding` would be the best of `bucket`: see RunDb::Added.
Result<bool> IsBest(const Database& db, int64_t bucket, const FindingRecord& finding) {
  Statement others(db,
                   "SELECT realism, LENGTH(CAST(request AS BLOB)) FROM finding"
                   " WHERE bucket = ?");
  others.Bind(bucket);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, others.Step());
    if (!more) return true;
    const Realism realism = RealismFromWord(others.Text());
    const auto size = static_cast<size_t>(others.Int());
    if (std::tie(realism, size) <= std::make_tuple(finding.realism, finding.request.size()))
      return false;
  }
}

}  // namespace

Result<RunDb::Added> RunDb::AddFinding(const FindingRecord& finding) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun().failure();
  const Signature& signature = finding.signature;
  Added added{0, true, true, "crashes/" + BucketName(signature)};
  Statement find(db_, "SELECT id, folder FROM bucket WHERE key = ?");
  find.Bind(signature.key);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (found) {
    added.is_new = false;
    added.bucket = find.Int();
    added.folder = find.Text();
    ASSIGN_OR_RETURN(added.is_best, IsBest(db_, added.bucket, finding));
  } else {
    StoredBucket bucket;
    bucket.signature = signature;
    bucket.folder = added.folder;
    Statement insert(db_, InsertInto<StoredBucket>("bucket"));
    BindRow(insert, bucket);
    RETURN_IF_ERROR(insert.Run());
    added.bucket = sqlite3_last_insert_rowid(db_.handle());
  }
  Statement insert(db_, InsertInto<StoredFinding>("finding"));
  BindRow(insert, StoredFinding{std::nullopt, added.bucket, finding});
  RETURN_IF_ERROR(insert.Run());
  RETURN_IF_ERROR(transaction.Commit());
  return added;
}

Status RunDb::SetConfirmed(int64_t bucket, int confirmed, int tries) {
  Statement update(db_, "UPDATE bucket SET confirmed = ?, tries = ? WHERE id = ?");
  return UpdateBucket(update.Bind(confirmed).Bind(tries).Bind(bucket), bucket);
}

Status RunDb::SetSeen(int64_t bucket, uint64_t times) {
  Statement update(db_, "UPDATE bucket SET seen = ? WHERE id = ?");
  return UpdateBucket(update.Bind(times).Bind(bucket), bucket);
}

Status RunDb::UpdateBucket(Statement& update, int64_t bucket) {
  RETURN_IF_ERROR(update.Run());
  if (sqlite3_changes(db_.handle()) != 1)
    return ToolFailed(fmt::format("{}: there is no bucket {}", dir_, bucket));
  return Ok();
}

Status RunDb::SetVm(std::string_view vm_version, std::string_view vm_gc) {
  return Statement(db_, "UPDATE run SET vm_version = ?, vm_gc = ?")
      .Bind(vm_version)
      .Bind(vm_gc)
      .Run();
}

Status RunDb::SaveCounts(const SharedState& shared) {
  RETURN_IF_ERROR(SaveCountRows(CountRowsOf(shared)));
  if (shared.job.other_count == 0) return Ok();
  return SaveAgreement(kNoCell, AgreementRowsOf(shared));
}

Status RunDb::SaveScenes(const SharedState& shared) {
  std::vector<Placed<SceneRow>> scenes;
  for (size_t i = 0; i < AllScenes().size() && i < kMaxScenes; i++) {
    const SceneReport& report = shared.scenes[i];
    scenes.push_back({static_cast<int64_t>(i),
                      {AllScenes()[i].name, report.available != 0, report.pristine_true != 0,
                       report.tried, report.truth_frames, FieldText(report.reason)}});
  }
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  RETURN_IF_ERROR(
      InsertAll(Statement(db_, InsertInto<Placed<SceneRow>>("scene", "OR REPLACE")), scenes));
  return transaction.Commit();
}

}  // namespace walkhammer
