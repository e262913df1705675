// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/recorder.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "harness/process/service_thread.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kRoundEvery = milliseconds(20);
constexpr auto kDrainWithin = milliseconds(50);  // of one cell, before the next cell's turn
constexpr auto kSaveRowsEvery = seconds(2);
constexpr auto kSaveStacksEvery = seconds(30);
constexpr size_t kRowsARound = 10000;  // of stacks, so that rings are drained in between

}  // namespace

Status Recorder::Start() {
  start_ = rows_saved_ = stacks_saved_ = Clock::now();
  ASSIGN_OR_RETURN(thread_, StartThread(
                                "recorder",
                                [](void* recorder) -> void* {
                                  static_cast<Recorder*>(recorder)->Run();
                                  return nullptr;
                                },
                                this));
  return Ok();
}

void Recorder::Add(std::shared_ptr<CellRecords> records) {
  const std::lock_guard<std::mutex> guard(told_);
  cells_.push_back({std::move(records), false, ""});
}

void Recorder::Finish(const CellRecords& records, std::string folder) {
  const std::lock_guard<std::mutex> guard(told_);
  for (Cell& cell : cells_)
    if (cell.records.get() == &records && !cell.ended) {
      cell.ended = true;
      cell.folder = std::move(folder);
      return;
    }
}

bool Recorder::Has(const CellRecords& records) const {
  const std::lock_guard<std::mutex> guard(told_);
  return std::any_of(cells_.begin(), cells_.end(),
                     [&](const Cell& cell) { return cell.records.get() == &records; });
}

void Recorder::Publish(const RunTotals& totals, std::vector<NoteRow> notes) {
  const std::lock_guard<std::mutex> guard(told_);
  totals_ = totals;
  notes_ = std::move(notes);
}

std::optional<Failure> Recorder::failure() const {
  const std::lock_guard<std::mutex> guard(told_);
  return failure_;
}

std::vector<Recorder::Cell> Recorder::Cells() const {
  const std::lock_guard<std::mutex> guard(told_);
  return cells_;
}

void Recorder::Run() {
  for (;;) {
    {
      const std::lock_guard<std::mutex> guard(told_);
      if (stop_) return;
    }
    if (const Status status = Round(); !status.ok()) {
      const std::lock_guard<std::mutex> guard(told_);
      failure_ = status.failure();
      return;
    }
    std::this_thread::sleep_for(kRoundEvery);
  }
}

// The lock is given up in between, so that others have their turn.
Status Recorder::Round() {
  const std::vector<Cell> cells = Cells();
  for (const Cell& cell : cells) {
    const std::lock_guard<std::mutex> guard(lock_);
    RETURN_IF_ERROR(cell.records->Drain(kDrainWithin));
  }
  RETURN_IF_ERROR(SaveStacks(cells));
  for (const Cell& cell : cells)
    if (cell.ended) RETURN_IF_ERROR(FinishCell(cell));
  EndPeriods(Cells(), false);
  return Clock::now() - rows_saved_ < kSaveRowsEvery ? Ok() : SaveRows(Cells());
}

// Some rows of the stacks of one cell.
Status Recorder::SaveStacks(const std::vector<Cell>& cells) {
  const Clock::time_point now = Clock::now();
  if (now - stacks_saved_ >= kSaveStacksEvery) {
    stacks_saved_ = now;
    stacks_due_.clear();
    for (const Cell& cell : cells)
      if (!cell.ended) stacks_due_.push_back(cell.records.get());
  }
  if (stacks_due_.empty()) return Ok();
  const std::lock_guard<std::mutex> guard(lock_);
  ASSIGN_OR_RETURN(const bool all, stacks_due_.back()->SaveStacks(db_, kRowsARound, false));
  if (all) stacks_due_.pop_back();
  return Ok();
}

// Called under the lock.
std::map<int64_t, uint64_t> Recorder::Seen(const std::vector<Cell>& cells) const {
  std::map<int64_t, uint64_t> seen = seen_;
  for (const Cell& cell : cells)
    for (const auto& [bucket, count] : cell.records->SeenByBucket()) seen[bucket] += count;
  return seen;
}

void Recorder::EndPeriods(const std::vector<Cell>& cells, bool last) {
  uint64_t walks = 0;
  {
    const std::lock_guard<std::mutex> guard(told_);
    walks = totals_.walks;
  }
  const std::lock_guard<std::mutex> guard(lock_);
  for (const Cell& cell : cells) cell.records->EndPeriod();
  const auto now_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_).count());
  if (!last && !periods_.IsDue(now_ms)) return;
  const CountsSoFar now{walks, {}, {}, Seen(cells)};
  last ? periods_.EndLast(now_ms, now) : periods_.End(now_ms, now);
}

Status Recorder::SaveRows(const std::vector<Cell>& cells) {
  rows_saved_ = Clock::now();
  RunTotals totals;
  std::vector<NoteRow> notes;
  {
    const std::lock_guard<std::mutex> guard(told_);
    totals = totals_;
    notes = notes_;
  }
  for (const Cell& cell : cells) {
    const std::lock_guard<std::mutex> guard(lock_);
    RETURN_IF_ERROR(cell.records->Save(db_));
    const CellRow row = cell.records->CurrentRow();
    RETURN_IF_ERROR(sink_.SaveVm(row.vm_version, row.vm_gc));
  }
  const std::lock_guard<std::mutex> guard(lock_);
  RETURN_IF_ERROR(sink_.SaveSeen(Seen(cells)));
  if (notes != saved_notes_) RETURN_IF_ERROR(db_.Replace(kNoCell, notes));
  saved_notes_ = std::move(notes);
  RETURN_IF_ERROR(db_.SavePeriods(kNoCell, periods_));
  return db_.SaveProgress(totals);
}

// One step towards it: the stacks may take many rounds.
Status Recorder::FinishCell(const Cell& cell) {
  std::erase(stacks_due_, cell.records.get());
  {
    const std::lock_guard<std::mutex> guard(lock_);
    ASSIGN_OR_RETURN(const bool all, cell.records->SaveStacks(db_, kRowsARound, true));
    if (!all) return Ok();
  }
  RETURN_IF_ERROR(SaveRows(Cells()));
  {
    const std::lock_guard<std::mutex> guard(lock_);
    seen_ = Seen({cell});
  }
  std::error_code ignored;
  std::filesystem::remove_all(cell.folder, ignored);
  const std::lock_guard<std::mutex> guard(told_);
  std::erase_if(cells_, [&](const Cell& other) { return other.records == cell.records; });
  return Ok();
}

Status Recorder::SaveEverything() {
  const std::vector<Cell> cells = Cells();
  for (const Cell& cell : cells) {
    const std::lock_guard<std::mutex> guard(lock_);
    RETURN_IF_ERROR(cell.records->Drain(CellRecords::kDrainAll));
    RETURN_IF_ERROR(cell.records->SaveStacks(db_, SIZE_MAX, cell.ended));
  }
  EndPeriods(cells, true);
  return SaveRows(cells);
}

Status Recorder::Stop() {
  {
    const std::lock_guard<std::mutex> guard(told_);
    stop_ = true;
  }
  if (!thread_) return Ok();
  pthread_join(*std::exchange(thread_, std::nullopt), nullptr);
  const Status saved = SaveEverything();
  const std::lock_guard<std::mutex> guard(told_);
  cells_.clear();
  return failure_ ? Status(*failure_) : saved;
}

}  // namespace walkhammer
