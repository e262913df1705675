// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

// While rows are added up, an index finds the row that a further one belongs to.
constexpr struct {
  const char *table, *columns;
} kKeys[] = {{"agreement", "IFNULL(cell, -1), walker, other, realism, region, kind"},
             {"evidence", "cell, walker, other, region, kind, witness, against"},
             {"walk_end", "cell, walker, ended"},
             {"step_region", "cell, kind, name, level"},
             {"step_range", "cell, kind, name, level, answer, first_byte, end_byte"},
             {"note", "IFNULL(cell, -1), kind, name"}};

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

Status RunMerger::Begin() {
  // A merge that does not end leaves nothing behind that counts, and can be repeated.
  RETURN_IF_ERROR(out_.db_.Exec("PRAGMA synchronous = OFF"));
  for (const auto& key : kKeys)
    RETURN_IF_ERROR(out_.db_.Exec(
        fmt::format("CREATE UNIQUE INDEX key_of_{0} ON {0} ({1})", key.table, key.columns)
            .c_str()));
  return Ok();
}

Status RunMerger::Add(const RunDb& from) {
  ASSIGN_OR_RETURN(const RunRow run, from.Run());
  ASSIGN_OR_RETURN(const auto parts, from.Parts());
  adding_ = Adding{};
  adding_.first_part = static_cast<int64_t>(parts_.size());
  adding_.offset_ms = totals_.time_ms;
  adding_.walks_before = totals_.walks;
  if (vm_version_.empty()) vm_version_ = run.identity.vm_version;
  if (vm_gc_.empty()) vm_gc_ = run.identity.vm_gc;
  RETURN_IF_ERROR(AddCoverage(from));
  Transaction transaction(out_.db_);
  if (!transaction.begun().ok()) return transaction.begun();
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

Status RunMerger::AddParts(const std::vector<PartRow>& parts) {
  Statement insert(out_.db_, InsertInto<Placed<PartRow>>("part"));
  for (const PartRow& part : parts) {
    insert.Reset();
    BindRow(insert, Placed<PartRow>{static_cast<int64_t>(parts_.size()), part});
    RETURN_IF_ERROR(insert.Run());
    const RunIdentity& run = part.identity;
    ids_.insert(run.run_id);
    for (const auto& [values, value] :
         {std::pair(&engines_, &run.engine), std::pair(&jdks_, &run.jdk_path),
          std::pair(&cpus_, &run.cpu_model), std::pair(&kernels_, &run.kernel),
          std::pair(&tools_, &run.tool_version)})
      if (values->size() < 100) values->insert(*value);
    uint64_t index = 0, shards = 0;
    if (std::sscanf(run.shard.c_str(), "%lu/%lu", &index, &shards) == 2 && shards <= 100'000)
      shards_[fmt::format("{} {}", run.seed, shards)].insert(index);
    if (parts_.empty()) {
      parts_.push_back(part);
    } else {
      PartRow& kept = parts_.emplace_back();
      kept.status = part.status;
      kept.totals = part.totals;
      kept.identity.workers = run.workers;
      kept.identity.run_id = run.run_id;
    }
  }
  return Ok();
}

void RunMerger::AddTotals(const RunTotals& more) {
  AddClamped(
      more, totals_,
      {&RunTotals::time_ms, &RunTotals::walks, &RunTotals::successful, &RunTotals::pristine_walks,
       &RunTotals::pristine_true, &RunTotals::contained_crashes});
  totals_.request_hash ^= more.request_hash;
  totals_.children_started += more.children_started;
  totals_.children_retired += more.children_retired;
  totals_.children_died += more.children_died;
  if (more.churn)
    AddClamped(*more.churn, totals_.churn ? *totals_.churn : totals_.churn.emplace(),
               {&ChurnTotals::collections, &ChurnTotals::rounds, &ChurnTotals::unloaded});
  if (more.settle)
    AddClamped(*more.settle, totals_.settle ? *totals_.settle : totals_.settle.emplace(),
               {&SettleTotals::most_ms, &SettleTotals::took_ms, &SettleTotals::unconfirmed,
                &SettleTotals::unminimized});
}

// Blocks are united: each counts from when it was first entered.
Status RunMerger::AddCoverage(const RunDb& from) {
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
  Transaction transaction(out_.db_);
  if (!transaction.begun().ok()) return transaction.begun();
  Statement update(out_.db_, "UPDATE coverage_block SET first_ms = ? WHERE position = ?");
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

Status RunMerger::AddBuckets(const RunDb& from) {
  Statement count(out_.db_, "SELECT COUNT(*) FROM bucket");
  RETURN_IF_ERROR(ForEach(
      count, [&](Statement& row) { adding_.buckets_before = static_cast<uint64_t>(row.Int()); }));
  Statement kept(from.db_, "SELECT bucket, COUNT(*), MIN(time_ms) FROM finding GROUP BY bucket");
  RETURN_IF_ERROR(ForEach(kept, [&](Statement& row) {
    auto& [number, first_ms] = adding_.findings[row.Int()];
    number = static_cast<uint64_t>(row.Int());
    first_ms = static_cast<uint64_t>(row.Int());
  }));
  RETURN_IF_ERROR(EachRow<StoredBucket>(
      from, "bucket", [&](const StoredBucket& bucket) { return AddBucket(from, bucket); }));
  std::sort(adding_.new_buckets.begin(), adding_.new_buckets.end());
  return Ok();
}

// Keeps the first folder of a bucket, unless a later one has replayed or is minimised and it is
// not.
Status RunMerger::AddBucket(const RunDb& from, const StoredBucket& given) {
  const auto [kept, first_ms] = adding_.findings[given.id.value_or(0)];
  StoredBucket bucket = given;
  bucket.seen = std::min(std::max(given.seen, kept), kMostCount);
  bucket.folder = "crashes/" + BucketName(bucket.signature);
  bucket.id.reset();
  Statement find(out_.db_, "SELECT " + NamesOf<StoredBucket>() + " FROM bucket WHERE key = ?");
  ASSIGN_OR_RETURN(const bool found, find.Bind(bucket.signature.key).Step());
  bool shows = true;  // the folder of this run's
  if (found) {
    StoredBucket before;
    ReadRow(find, before);
    bucket.id = before.id;
    shows = RankOf(bucket) > RankOf(before);
    Statement add(out_.db_, "UPDATE bucket SET seen = seen + ? WHERE id = ?");
    RETURN_IF_ERROR(add.Bind(bucket.seen).Bind(bucket.id).Run());
    if (shows) {
      Statement update(out_.db_,
                       "UPDATE bucket SET confirmed = ?, tries = ?, minimized_edits = ?,"
                       " minimized_confirmed = ?, minimized_tries = ? WHERE id = ?");
      BindField(update.Bind(bucket.confirmed).Bind(bucket.tries), bucket.minimized_edits);
      update.Bind(bucket.minimized_confirmed).Bind(bucket.minimized_tries).Bind(bucket.id);
      RETURN_IF_ERROR(update.Run());
    }
  } else {
    Statement insert(out_.db_, InsertInto<StoredBucket>("bucket"));
    BindRow(insert, bucket);
    RETURN_IF_ERROR(insert.Run());
    bucket.id = sqlite3_last_insert_rowid(out_.db_.handle());
    adding_.new_buckets.push_back(first_ms);
  }
  adding_.buckets[given.id.value_or(0)] = *bucket.id;
  // Two keys whose hashes are the same share a folder, which shows the first.
  std::error_code error;
  if (!found && std::filesystem::exists(out_.dir_ + "/" + bucket.folder, error)) shows = false;
  if (!shows) return Ok();
  ASSIGN_OR_RETURN(const uint64_t not_copied,
                   CopyCrashFolder(from.dir_, given.folder, out_.dir_, bucket.folder));
  not_copied_ += not_copied;
  return Ok();
}

Status RunMerger::AddFindings(const RunDb& from) {
  return CopyRows<StoredFinding>(from, "finding", "", [&](StoredFinding& finding) {
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
Status RunMerger::AddScenes(const RunDb& from) {
  Statement next(out_.db_, "SELECT IFNULL(MAX(position), -1) + 1 FROM scene");
  int64_t position = 0;
  RETURN_IF_ERROR(ForEach(next, [&](Statement& row) { position = row.Int(); }));
  Statement insert(
      out_.db_,
      InsertInto<Placed<SceneRow>>("scene") +
          " ON CONFLICT (name) DO UPDATE SET available = excluded.available,"
          " pristine_true = excluded.pristine_true, tried = excluded.tried,"
          " truth_frames = excluded.truth_frames, reason = excluded.reason"
          " WHERE excluded.tried <> 0 AND (scene.tried = 0 OR NOT excluded.pristine_true)");
  return EachRow<Placed<SceneRow>>(from, "scene", [&](Placed<SceneRow>& scene) -> Status {
    scene.position = position++;
    insert.Reset();
    BindRow(insert, scene);
    return insert.Run();
  });
}

// Runs are laid end to end.
Status RunMerger::AddProgress(const RunDb& from) {
  return CopyRows<ProgressRow>(
      from, "progress",
      "ON CONFLICT (time_ms) DO UPDATE SET walks = excluded.walks, buckets = excluded.buckets,"
      " blocks = excluded.blocks",
      [&](ProgressRow& point) {
        Clamp({&point.time_ms, &point.walks, &point.blocks});
        point.buckets = adding_.buckets_before + CountUpTo(adding_.new_buckets, point.time_ms);
        point.blocks = adding_.blocks_before + CountUpTo(adding_.new_blocks, point.time_ms);
        point.walks += adding_.walks_before;
        point.time_ms += adding_.offset_ms;
        return true;
      });
}

RunIdentity RunMerger::MergedIdentity() const {
  RunIdentity identity = parts_.front().identity;
  identity.vm_version = vm_version_;
  identity.vm_gc = vm_gc_;
  identity.engine = Several(engines_);
  identity.jdk_path = Several(jdks_);
  identity.cpu_model = Several(cpus_);
  identity.kernel = Several(kernels_);
  identity.tool_version = Several(tools_);
  identity.run_id = IdOfRuns({ids_.begin(), ids_.end()});
  identity.shard.clear();
  int64_t workers = 0;
  for (const PartRow& part : parts_) workers += std::clamp(part.identity.workers, 0, 1000);
  identity.workers = static_cast<int>(std::min<int64_t>(workers, INT32_MAX));
  return identity;
}

// The worst of all runs; but a vacuous one among others is a note alone.
RunStatus RunMerger::MergedStatus(std::string& reason) const {
  const auto count = [&](RunStatus status) {
    return static_cast<size_t>(std::count_if(
        parts_.begin(), parts_.end(), [&](const PartRow& part) { return part.status == status; }));
  };
  const size_t failed = count(RunStatus::kFailed), killed = count(RunStatus::kRunning),
               interrupted = count(RunStatus::kInterrupted);
  if (failed + killed + interrupted == 0) return RunStatus::kCleanEnd;
  reason = fmt::format("of {}, {} failed, {} were killed and {} interrupted",
                       Counted(parts_.size(), "run"), failed, killed, interrupted);
  return failed > 0 ? RunStatus::kFailed : RunStatus::kInterrupted;
}

Status RunMerger::End() {
  RETURN_IF_ERROR(AddNotes());
  for (const auto& key : kKeys)
    RETURN_IF_ERROR(out_.db_.Exec(fmt::format("DROP INDEX key_of_{}", key.table).c_str()));
  RETURN_IF_ERROR(SaveAllStacks());
  if (code_.blocks.empty()) RETURN_IF_ERROR(out_.SetNoCoverage(why_no_coverage_));
  Statement update(out_.db_, "UPDATE run SET " + AssignmentsOf<RunIdentity>());
  BindRow(update, MergedIdentity());
  RETURN_IF_ERROR(update.Run());
  RETURN_IF_ERROR(out_.db_.Exec("PRAGMA synchronous = FULL"));
  std::string reason;
  const RunStatus status = MergedStatus(reason);
  ASSIGN_OR_RETURN(const RunStatus stored, out_.Finish(status, totals_, reason));
  (void)stored;
  return Ok();
}

}  // namespace walkhammer
