// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "harness/base/hash.h"
#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

// No run counts as far: what a file says beyond it counts as this. A million of these can be added.
constexpr uint64_t kMostCount = uint64_t{1} << 43;

template <typename Row>
void Clamp(Row& row) {
  for (const auto& [number, joins] : JoinedNumbers(row)) *number = std::min(*number, kMostCount);
}

// Adds the numbers of `more` to those of `sum`, as merging joins them.
template <typename Row>
void Join(Row more, Row& sum) {
  Clamp(more);
  const auto from = JoinedNumbers(more), to = JoinedNumbers(sum);
  for (size_t i = 0; i < from.size(); i++) {
    const uint64_t number = *from[i].first;
    uint64_t& joined = *to[i].first;
    joined = from[i].second == Joins::kSum ? joined + number : std::max(joined, number);
  }
}

// While rows are joined, an index finds the row that a further one belongs to.
template <typename... Rows>
std::string IndexesOfKeys() {
  return (fmt::format("CREATE UNIQUE INDEX key_of_{0} ON {0} ({1});", kTable<Rows>.name,
                      KeysOf<Rows>()) +
          ...);
}
template <typename... Rows>
std::string DropIndexesOfKeys() {
  return (fmt::format("DROP INDEX key_of_{};", kTable<Rows>.name) + ...);
}

// All that cells must have in common to be added up. The label names workload, JDK and profile, and
// CheckAlike has seen that the JDKs are the same builds.
std::string AllThatIsAlike(const CellRow& cell) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{} {}", CellLabel(cell), cell.workload,
                     cell.profile, cell.jvm_flags, cell.walker, cell.mode, cell.sampler,
                     cell.interval_min_ns, cell.interval_max_ns);
}

// Notes of merging that are made anew of the runs that a folder holds.
constexpr char kVacuousRuns[] = "vacuous runs";
constexpr char kAllShards[] = "all shards of seed ";

// Orders what a verdict makes of cells: the most severe has the highest rank.
int RankOf(CellStatus status) {
  switch (status) {
    case CellStatus::kPassed:
      return 0;
    case CellStatus::kUnavailable:
    case CellStatus::kNotHotspot:
    case CellStatus::kNotForJdk:
      return 1;
    case CellStatus::kVacuous:
      return 3;
    default:
      return 2;
  }
}

// 128 bits over texts, as 32 hex digits. Tells runs apart, and does not withstand who forges one.
class TextHash {
 public:
  void Add(std::string_view text) {
    for (const char c : text) AddByte(static_cast<uint8_t>(c));
    AddByte(0xff);  // in no UTF-8, so that the ends of texts count
  }
  std::string Digits() const { return fmt::format("{:016x}{:016x}", Scramble(one_), other_); }

 private:
  void AddByte(uint8_t byte) {
    one_ = Fnv1a(one_, byte);
    other_ = Mix(other_, byte);
  }
  uint64_t one_ = kFnvBegin, other_ = 0;
};

// The id of the folder that holds the runs with these ids, which are sorted.
std::string IdOfRuns(const std::set<std::string>& ids) {
  TextHash hash;
  for (const std::string& id : ids) hash.Add(id);
  return hash.Digits();
}

// The few values that runs have of something, as one text.
std::string Several(const std::set<std::string>& values) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t shown = 0;
  for (const std::string& value : values) {
    if (value.empty()) continue;
    if (shown++ == kMost) return fmt::format("{}, and {} more", text, values.size() - kMost);
    text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

// How many of the times are at most `time`. `times` is sorted.
uint64_t CountUpTo(const std::vector<uint64_t>& times, uint64_t time) {
  return static_cast<uint64_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin());
}

// Ranks what a bucket's folder shows: replayed is better than not, minimised better than whole.
std::pair<bool, bool> RankOf(const StoredBucket& bucket) {
  return {bucket.confirmed > 0, bucket.minimized_edits.has_value()};
}

bool HasSameBlocks(const CoverageRows& a, const CoverageRows& b) {
  return a.build_id == b.build_id && a.functions.size() == b.functions.size() &&
         std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                    [](const CoverageBlockRow& one, const CoverageBlockRow& other) {
                      return one.address == other.address && one.size == other.size;
                    });
}

}  // namespace

template <typename Row, typename Change>
Status RunMerger::CopyRows(const RunReader& from, std::string_view conflict, const Change& change) {
  Statement insert(out_.db(), fmt::format("{} {}", InsertInto<Row>(), conflict));
  return EachRow<Row>(from.db(),
                      [&](Row& row) { return change(row) ? RunWith(insert, row) : Ok(); });
}

Status RunMerger::Begin() {
  // A merge that does not end leaves nothing behind that counts, and can be repeated.
  RETURN_IF_ERROR(out_.db().Exec("PRAGMA synchronous = OFF"));
  return out_.db().Exec(
      IndexesOfKeys<AgreementRow, EvidenceRow, WalkEndRow, StepRegionRow, StepRangeRow,
                    FramePlaceRow, FrameWalkerRow, FrameDifferenceRow, FramePredictionRow,
                    FrameRefutedRow, NoteRow>()
          .c_str());
}

Status RunMerger::Add(const RunReader& from) {
  ASSIGN_OR_RETURN(const RunRow run, from.Run());
  ASSIGN_OR_RETURN(const auto parts, from.Parts());
  adding_ = Adding{};
  adding_.first_part = static_cast<int64_t>(parts_.size());
  adding_.offset_ms = totals_.time_ms;
  adding_.walks_before = totals_.walks;
  if (vm_version_.empty()) vm_version_ = run.identity.vm_version;
  if (vm_gc_.empty()) vm_gc_ = run.identity.vm_gc;
  RETURN_IF_ERROR(AddCoverage(from));
  Transaction transaction(out_.db());
  RETURN_IF_ERROR(transaction.begun());
  RETURN_IF_ERROR(AddParts(parts));
  RETURN_IF_ERROR(AddCells(from));
  RETURN_IF_ERROR(AddBuckets(from));
  RETURN_IF_ERROR(AddFindings(from));
  RETURN_IF_ERROR(AddScenes(from));
  RETURN_IF_ERROR(AddProgress(from));
  RETURN_IF_ERROR(AddCounts(from));
  RETURN_IF_ERROR(AddCellRows(from));
  RETURN_IF_ERROR(AddPeriods(from));
  AddTotals(run.totals);
  return transaction.Commit();
}

Status RunMerger::AddParts(const std::vector<RunRow>& parts) {
  Statement insert(out_.db(), InsertInto<Placed<RunRow>>());
  for (const RunRow& part : parts) {
    RETURN_IF_ERROR(RunWith(insert, Placed<RunRow>{static_cast<int64_t>(parts_.size()), part}));
    const RunIdentity& run = part.identity;
    ids_.insert(run.run_id);
    for (size_t i = 0; i < several_.size(); i++)
      if (several_[i].size() < 100) several_[i].insert(run.*kSeveral[i]);
    uint64_t index = 0, shards = 0;
    if (std::sscanf(run.shard.c_str(), "%lu/%lu", &index, &shards) == 2 && shards <= 100'000)
      shards_[fmt::format("{} {}", run.seed, shards)].insert(index);
    if (parts_.empty()) {
      parts_.push_back(part);
    } else {
      RunRow& kept = parts_.emplace_back();
      kept.status = part.status;
      kept.totals = part.totals;
      kept.identity.workers = run.workers;
      kept.identity.run_id = run.run_id;
    }
  }
  return Ok();
}

void RunMerger::AddTotals(const RunTotals& more) {
  Join(more, totals_);
  totals_.request_hash ^= more.request_hash;
  if (more.churn) Join(*more.churn, totals_.churn ? *totals_.churn : totals_.churn.emplace());
  if (more.failed_loads)
    Join(*more.failed_loads,
         totals_.failed_loads ? *totals_.failed_loads : totals_.failed_loads.emplace());
  if (more.settle) Join(*more.settle, totals_.settle ? *totals_.settle : totals_.settle.emplace());
}

// Blocks are united: each counts from when it was first entered.
Status RunMerger::AddCoverage(const RunReader& from) {
  ASSIGN_OR_RETURN(const CoverageRows code, from.Coverage());
  adding_.blocks_before = totals_.blocks;
  if (!code.reason.empty()) {
    if (why_no_coverage_.empty()) why_no_coverage_ = code.reason;
    without_coverage_++;
    return Ok();
  }
  if (code_.blocks.empty()) {
    code_ = code;
    for (CoverageBlockRow& block : code_.blocks) block.first_ms.reset();
    RETURN_IF_ERROR(out_.SetCoverage(code_));
  } else if (!HasSameBlocks(code_, code)) {
    without_coverage_++;
    return Ok();
  }
  Transaction transaction(out_.db());
  RETURN_IF_ERROR(transaction.begun());
  Statement update(out_.db(), "UPDATE coverage_block SET first_ms = ? WHERE position = ?");
  for (size_t i = 0; i < code.blocks.size(); i++) {
    if (!code.blocks[i].first_ms || code_.blocks[i].first_ms) continue;
    const uint64_t first_ms = std::min(*code.blocks[i].first_ms, kMostCount);
    code_.blocks[i].first_ms = adding_.offset_ms + first_ms;
    adding_.new_blocks.push_back(first_ms);
    update.Reset();
    RETURN_IF_ERROR(update.Bind(*code_.blocks[i].first_ms).Bind(static_cast<int64_t>(i)).Run());
  }
  totals_.blocks += adding_.new_blocks.size();
  std::sort(adding_.new_blocks.begin(), adding_.new_blocks.end());
  return transaction.Commit();
}

Status RunMerger::AddBuckets(const RunReader& from) {
  Statement count(out_.db(), "SELECT COUNT(*) FROM bucket");
  RETURN_IF_ERROR(ForEach(
      count, [&](Statement& row) { adding_.buckets_before = static_cast<uint64_t>(row.Int()); }));
  Statement kept(from.db(), "SELECT bucket, COUNT(*), MIN(time_ms) FROM finding GROUP BY bucket");
  RETURN_IF_ERROR(ForEach(kept, [&](Statement& row) {
    auto& [number, first_ms] = adding_.findings[row.Int()];
    number = static_cast<uint64_t>(row.Int());
    first_ms = static_cast<uint64_t>(row.Int());
  }));
  RETURN_IF_ERROR(EachRow<StoredBucket>(
      from.db(), [&](const StoredBucket& bucket) { return AddBucket(from, bucket); }));
  std::sort(adding_.new_buckets.begin(), adding_.new_buckets.end());
  return Ok();
}

// Keeps the first folder of a bucket, unless a later one has replayed or is minimised and it is
// not.
Status RunMerger::AddBucket(const RunReader& from, const StoredBucket& given) {
  const auto [kept, first_ms] = adding_.findings[given.id.value_or(0)];
  StoredBucket bucket = given;
  bucket.seen = std::min(std::max(given.seen, kept), kMostCount);
  bucket.folder = "crashes/" + BucketName(bucket.signature);
  bucket.id.reset();
  Statement find(out_.db(), "SELECT " + NamesOf<StoredBucket>() + " FROM bucket WHERE key = ?");
  ASSIGN_OR_RETURN(const bool found, find.Bind(bucket.signature.key).Step());
  bool shows = true;  // the folder of this run's
  if (found) {
    StoredBucket before;
    ReadRow(find, before);
    bucket.id = before.id;
    shows = RankOf(bucket) > RankOf(before);
    Statement add(out_.db(), "UPDATE bucket SET seen = seen + ? WHERE id = ?");
    RETURN_IF_ERROR(add.Bind(bucket.seen).Bind(bucket.id).Run());
    if (shows) {
      Statement update(out_.db(),
                       "UPDATE bucket SET confirmed = ?, tries = ?, minimized_edits = ?,"
                       " minimized_confirmed = ?, minimized_tries = ? WHERE id = ?");
      BindField(update.Bind(bucket.confirmed).Bind(bucket.tries), bucket.minimized_edits);
      update.Bind(bucket.minimized_confirmed).Bind(bucket.minimized_tries).Bind(bucket.id);
      RETURN_IF_ERROR(update.Run());
    }
  } else {
    RETURN_IF_ERROR(Insert(out_.db(), bucket));
    bucket.id = sqlite3_last_insert_rowid(out_.db().handle());
    adding_.new_buckets.push_back(first_ms);
  }
  adding_.buckets[given.id.value_or(0)] = *bucket.id;
  // Two keys whose hashes are the same share a folder, which shows the first.
  std::error_code error;
  if (!found && std::filesystem::exists(out_.dir() + "/" + bucket.folder, error)) shows = false;
  if (!shows) return Ok();
  ASSIGN_OR_RETURN(const uint64_t not_copied,
                   CopyCrashFolder(from.dir(), given.folder, out_.dir(), bucket.folder));
  not_copied_ += not_copied;
  return Ok();
}

Status RunMerger::AddFindings(const RunReader& from) {
  return CopyRows<StoredFinding>(from, "", [&](StoredFinding& finding) {
    const auto bucket = adding_.buckets.find(finding.bucket);
    if (bucket == adding_.buckets.end()) return false;
    finding.id.reset();
    finding.bucket = bucket->second;
    FindingRecord& record = finding.record;
    record.time_ms = adding_.offset_ms + std::min(record.time_ms, kMostCount);
    if (record.cell && !MoveCell(*record.cell)) record.cell.reset();
    return true;
  });
}

// A scene is as good as in the run where it was worst.
Status RunMerger::AddScenes(const RunReader& from) {
  Statement next(out_.db(), "SELECT IFNULL(MAX(position), -1) + 1 FROM scene");
  int64_t position = 0;
  RETURN_IF_ERROR(ForEach(next, [&](Statement& row) { position = row.Int(); }));
  return CopyRows<Placed<SceneRow>>(
      from,
      "ON CONFLICT (name) DO UPDATE SET available = excluded.available,"
      " pristine_true = excluded.pristine_true, tried = excluded.tried,"
      " truth_frames = excluded.truth_frames, reason = excluded.reason"
      " WHERE excluded.tried <> 0 AND (scene.tried = 0 OR NOT excluded.pristine_true)",
      [&](Placed<SceneRow>& scene) {
        scene.position = position++;
        return true;
      });
}

// Runs are laid end to end.
Status RunMerger::AddProgress(const RunReader& from) {
  return CopyRows<ProgressRow>(
      from,
      "ON CONFLICT (time_ms) DO UPDATE SET walks = excluded.walks, buckets = excluded.buckets,"
      " blocks = excluded.blocks",
      [&](ProgressRow& point) {
        for (uint64_t* number : {&point.time_ms, &point.walks})
          *number = std::min(*number, kMostCount);
        point.buckets = adding_.buckets_before + CountUpTo(adding_.new_buckets, point.time_ms);
        point.blocks = adding_.blocks_before + CountUpTo(adding_.new_blocks, point.time_ms);
        point.walks += adding_.walks_before;
        point.time_ms += adding_.offset_ms;
        return true;
      });
}

bool RunMerger::MoveCell(int64_t& cell) const {
  if (cell == kNoCell) return true;
  const auto at = adding_.cells.find(cell);
  if (at == adding_.cells.end()) return false;
  cell = at->second;
  return true;
}

void RunMerger::MoveLabel(std::string& scene) const {
  if (const auto at = adding_.labels.find(scene); at != adding_.labels.end()) scene = at->second;
}

Status RunMerger::AddCells(const RunReader& from) {
  ASSIGN_OR_RETURN(const auto cells, from.Rows<CellRow>());
  for (const CellRow& cell : cells) RETURN_IF_ERROR(AddCell(cell));
  for (const auto& [there, here] : adding_.cells) stacks_[here].emplace_back(from.dir(), there);
  return Ok();
}

Status RunMerger::AddCell(const CellRow& given) {
  CellRow cell = given;
  Clamp(cell);
  const auto [place, is_new] = cell_places_.try_emplace(AllThatIsAlike(cell), cells_.size());
  if (is_new) {
    const auto find = [&](const auto& same) {
      return std::any_of(cells_.begin(), cells_.end(), same);
    };
    // Shards have the positions of the whole matrix.
    for (int64_t next = 0; cell.position < 0 || find([&](const CellRow& other) {
                             return other.position == cell.position;
                           });)
      cell.position = next++;
    const std::string stem = cell.label = CellLabel(cell);
    for (int number = 2; find([&](const CellRow& other) { return other.label == cell.label; });)
      cell.label = fmt::format("{} ~{}", stem, number++);
    cells_.push_back(cell);
  } else {
    CellRow& sum = cells_[place->second];
    Join(cell, sum);
    if (sum.vm_version.empty()) sum.vm_version = cell.vm_version;
    if (sum.vm_gc.empty()) sum.vm_gc = cell.vm_gc;
    if (RankOf(cell.status) > RankOf(sum.status)) {
      sum.status = cell.status;
      sum.reason = cell.reason;
    }
  }
  const CellRow& here = cells_[place->second];
  adding_.cells[given.position] = here.position;
  adding_.labels[CellLabel(given)] = here.label;
  return out_.SaveCell(here);
}

Status RunMerger::AddCounts(const RunReader& from) {
  return CopyRows<CountRow>(from, JoinOnConflict<CountRow>(), [&](CountRow& row) {
    MoveLabel(row.scene);
    Clamp(row);
    return true;
  });
}

template <typename Row>
Status RunMerger::JoinCellRows(const RunReader& from) {
  return CopyRows<Row>(from, JoinOnConflict<Row>(), [&](Row& row) {
    Clamp(row);
    return MoveCell(row.cell);
  });
}

Status RunMerger::AddCellRows(const RunReader& from) {
  RETURN_IF_ERROR(JoinCellRows<AgreementRow>(from));
  RETURN_IF_ERROR(JoinCellRows<EvidenceRow>(from));
  RETURN_IF_ERROR(JoinCellRows<WalkEndRow>(from));
  RETURN_IF_ERROR(JoinCellRows<StepRegionRow>(from));
  RETURN_IF_ERROR(JoinCellRows<StepRangeRow>(from));
  RETURN_IF_ERROR(JoinCellRows<FramePlaceRow>(from));
  RETURN_IF_ERROR(JoinCellRows<FrameWalkerRow>(from));
  RETURN_IF_ERROR(JoinCellRows<FrameDifferenceRow>(from));
  RETURN_IF_ERROR(JoinCellRows<FramePredictionRow>(from));
  RETURN_IF_ERROR(JoinCellRows<FrameRefutedRow>(from));
  RETURN_IF_ERROR(CopyRows<NoteRow>(from, JoinOnConflict<NoteRow>(), [&](NoteRow& row) {
    if (row.name == kVacuousRuns || row.name.starts_with(kAllShards)) return false;
    Clamp(row);
    return MoveCell(row.cell);
  }));
  return CopyRows<CellThreadRow>(from, "", [&](CellThreadRow& row) {
    Clamp(row);
    return MoveCell(row.cell);
  });
}

// Periods stay apart, by part: how far runs vary must not be lost.
Status RunMerger::AddPeriods(const RunReader& from) {
  const auto move = [&](int64_t& part) {
    if (part < 0 || part >= static_cast<int64_t>(parts_.size()) - adding_.first_part) return false;
    part += adding_.first_part;
    return true;
  };
  const auto moved = [&](auto& row) {
    MoveLabel(row.scene);
    return move(row.part);
  };
  RETURN_IF_ERROR(CopyRows<PeriodRow>(
      from, "", [&](PeriodRow& row) { return MoveCell(row.cell) && move(row.part); }));
  RETURN_IF_ERROR(CopyRows<PeriodCountRow>(from, "", moved));
  RETURN_IF_ERROR(CopyRows<PeriodTimeRow>(from, "", moved));
  return CopyRows<PeriodBucketRow>(from, "", [&](PeriodBucketRow& row) {
    const auto at = adding_.buckets.find(row.bucket);
    if (at == adding_.buckets.end()) return false;
    row.bucket = at->second;
    return move(row.part);
  });
}

RunIdentity RunMerger::MergedIdentity() const {
  RunIdentity identity = parts_.front().identity;
  identity.vm_version = vm_version_;
  identity.vm_gc = vm_gc_;
  for (size_t i = 0; i < several_.size(); i++) identity.*kSeveral[i] = Several(several_[i]);
  identity.run_id = IdOfRuns(ids_);
  identity.shard.clear();
  int64_t workers = 0;
  for (const RunRow& part : parts_) workers += std::clamp(part.identity.workers, 0, 1000);
  identity.workers = static_cast<int>(std::min<int64_t>(workers, INT32_MAX));
  return identity;
}

// The worst of all runs; but a vacuous one among others is a note alone.
RunStatus RunMerger::MergedStatus(std::string& reason) const {
  const auto count = [&](RunStatus status) {
    return static_cast<size_t>(std::count_if(
        parts_.begin(), parts_.end(), [&](const RunRow& part) { return part.status == status; }));
  };
  const size_t failed = count(RunStatus::kFailed), killed = count(RunStatus::kRunning),
               interrupted = count(RunStatus::kInterrupted);
  if (failed + killed + interrupted == 0) return RunStatus::kCleanEnd;
  reason = fmt::format("of {}, {} failed, {} were killed and {} interrupted",
                       Counted(parts_.size(), "run"), failed, killed, interrupted);
  return failed > 0 ? RunStatus::kFailed : RunStatus::kInterrupted;
}

// One cell at a time, so that memory is that of its tree.
Status RunMerger::SaveAllStacks() {
  for (const auto& [cell, sources] : stacks_) {
    StackTree tree;
    for (const auto& [dir, there] : sources) {
      ASSIGN_OR_RETURN(const RunReader from, RunReader::Open(dir));
      RETURN_IF_ERROR(from.AddStacks(there, tree));
    }
    if (tree.empty()) continue;
    tree.BeginRound();
    ASSIGN_OR_RETURN(const bool all, out_.SaveStacks(cell, tree));
    (void)all;  // without a limit, one call saves all
  }
  return Ok();
}

// What merging itself has to say.
Status RunMerger::AddNotes() {
  std::vector<NoteRow> notes;
  const auto vacuous =
      static_cast<uint64_t>(std::count_if(parts_.begin(), parts_.end(), [](const RunRow& part) {
        return part.status == RunStatus::kVacuous;
      }));
  if (vacuous > 0 && vacuous < parts_.size())
    notes.push_back({kNoCell, NoteKind::kNotInForce, kVacuousRuns, 0,
                     fmt::format("{} of {} say nothing about the walker", vacuous,
                                 Counted(parts_.size(), "merged run"))});
  if (without_coverage_ > 0 && !code_.blocks.empty())
    notes.push_back({kNoCell, NoteKind::kDropped, "coverage of merged runs", without_coverage_,
                     "they have none, or blocks of another build of the walker's code"});
  if (not_copied_ > 0)
    notes.push_back({kNoCell, NoteKind::kDropped, "files of crash folders", not_copied_,
                     "they are not regular files, or larger than 16 MiB"});
  for (const auto& [campaign, indexes] : shards_) {
    const uint64_t shards = std::strtoull(campaign.c_str() + campaign.find(' '), nullptr, 10);
    if (indexes.size() >= shards) continue;
    uint64_t missing = 1;
    while (indexes.contains(missing)) missing++;
    notes.push_back({kNoCell, NoteKind::kNotInForce,
                     kAllShards + campaign.substr(0, campaign.find(' ')), 0,
                     fmt::format("{} of {} shards are here; {}/{} is the first that is missing",
                                 indexes.size(), shards, missing, shards)});
  }
  Statement insert(out_.db(), InsertInto<NoteRow>() + " " + JoinOnConflict<NoteRow>());
  for (const NoteRow& note : notes) RETURN_IF_ERROR(RunWith(insert, note));
  return Ok();
}

Status RunMerger::End() {
  RETURN_IF_ERROR(AddNotes());
  RETURN_IF_ERROR(out_.db().Exec(
      DropIndexesOfKeys<AgreementRow, EvidenceRow, WalkEndRow, StepRegionRow, StepRangeRow,
                        FramePlaceRow, FrameWalkerRow, FrameDifferenceRow, FramePredictionRow,
                        FrameRefutedRow, NoteRow>()
          .c_str()));
  RETURN_IF_ERROR(SaveAllStacks());
  if (code_.blocks.empty()) RETURN_IF_ERROR(out_.SetNoCoverage(why_no_coverage_));
  Statement update(out_.db(), "UPDATE run SET " + AssignmentsOf<RunIdentity>());
  BindRow(update, MergedIdentity());
  RETURN_IF_ERROR(update.Run());
  RETURN_IF_ERROR(out_.db().Exec("PRAGMA synchronous = FULL"));
  std::string reason;
  const RunStatus status = MergedStatus(reason);
  ASSIGN_OR_RETURN(const RunStatus stored, out_.Finish(status, totals_, reason));
  (void)stored;
  return Ok();
}

}  // namespace walkhammer
