// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/stress_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "harness/base/clock.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/confirmer.h"
#include "harness/supervise/stress_runs/cell_status_text.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;

constexpr auto kTick = milliseconds(20);
constexpr auto kProgressEvery = milliseconds(200);
constexpr auto kConfirmWithin = std::chrono::seconds(120);
constexpr size_t kMostExamples = 4;  // inputs of a bucket that are replayed

// The oracles listed here need the program around the walk: their findings do not replay.
bool MayReplay(const FindingRecord& record) {
  for (const char* oracle :
       {"shadow-stack", "agreement", "repeated-frame", "thread-start", "truth"})
    if (record.oracle == oracle) return false;
  return record.grade == Grade::kForbidden && !record.request.empty();
}

void Add(RunTotals& totals, const StressCell& cell) {
  const StressState& state = cell.state();
  // The walks of other backends are known only when the cell has ended.
  const bool own = cell.plan().backend->own_agent;
  totals.walks += own ? state.walks.load() : cell.row().delivery.walks;
  totals.successful += own ? state.successful.load() : cell.row().delivery.successful;
  totals.contained_crashes += state.contained_crashes.load();
  totals.children_started += static_cast<uint32_t>(cell.row().starts);
  totals.children_died += cell.row().status == CellStatus::kDied ? 1 : 0;
}

}  // namespace

RunTotals StressRun::Totals() const {
  RunTotals totals = ended_;
  for (const auto& cell : running_) Add(totals, *cell);
  totals.time_ms = static_cast<uint64_t>(InSeconds(Clock::now() - start_) * 1000);
  return totals;
}

// Called under the recorder's lock.
Result<int64_t> StressRun::Record(std::unique_ptr<Occurrence> seen, const CellPlan& cell,
                                  const std::shared_ptr<SymbolTable>& symbols) {
  ASSIGN_OR_RETURN(const int64_t id, sink_.Add(*seen, cell.words));
  BucketState& bucket = known_[id];
  if (seen->has_request && MayReplay(seen->record) && bucket.examples.size() < kMostExamples)
    bucket.examples.push_back({std::move(seen), symbols, &cell});
  return id;
}

Status StressRun::Confirm(const std::atomic<bool>& interrupted) {
  if (plan_.confirm_times == 0) return Ok();
  confirming_ = true;
  const Clock::time_point until = Clock::now() + kConfirmWithin;
  for (auto& [id, bucket] : known_)
    for (size_t i = 0; i < bucket.examples.size(); i++) {
      const Example& example = bucket.examples[i];
      auto jdk = OpenJdk(example.cell->row.jdk_path);
      if (!jdk.ok()) continue;
      ChildSetup setup;
      setup.libjvm = jdk.value().libjvm;
      setup.platform = jdk.value().platform;
      setup.provider = FieldText(example.cell->job.provider);
      setup.jvm_flags = example.cell->jvm_flags;
      setup.scratch = plan_.scratch;
      Confirmer confirmer(setup, example.cell->job.hang_limit_ms, plan_.confirm_times);
      const FindingRecord& record = example.seen->record;
      confirmer.Add(id, {record.request, record.signature.expect, 0, i});
      while (!confirmer.Idle()) {
        if (interrupted.load() || Clock::now() >= until) return Ok();
        confirmer.Step(1);
        Progress();
        std::this_thread::sleep_for(kTick);
      }
      unwalked_ += confirmer.unwalked();
      if (confirmer.unwalked() > 0) why_unwalked_ = confirmer.why_unwalked();
      const Candidate* best = confirmer.Best(id);
      if (best == nullptr || (best->reproduced == 0 && i > 0)) continue;
      RETURN_IF_ERROR(
          sink_.Confirm(id, *example.seen, example.cell->words, best->reproduced, best->tries));
      if (best->reproduced == best->tries) break;
    }
  return Ok();
}

void StressRun::Progress() {
  const Clock::time_point now = Clock::now();
  if (!on_progress || now - last_progress_ < kProgressEvery) return;
  last_progress_ = now;
  StressProgress progress;
  progress.seconds = InSeconds(now - start_);
  progress.walks = Totals().walks;
  progress.walks_per_second = static_cast<uint64_t>(
      progress.seconds > 0 ? static_cast<double>(progress.walks) / progress.seconds : 0);
  progress.buckets = buckets_;
  progress.done = done_;
  progress.all = plan_.cells.size();
  for (const auto& cell : running_) progress.running.push_back(cell.get());
  progress.newest = newest_;
  progress.confirming = confirming_;
  on_progress(progress);
}

Status StressRun::Fill() {
  while (running_.size() < static_cast<size_t>(plan_.jobs) && next_ < plan_.cells.size()) {
    CellPlan& plan = plan_.cells[next_++];
    plan.output_file = fmt::format("{}/{}", db_.dir(), OutputFileOf(plan.row.position));
    std::error_code error;
    std::filesystem::create_directories(plan.scratch, error);
    auto cell = StressCell::Create(plan, start_ns_, recorder_.lock(),
                                   [this, &plan](std::unique_ptr<Occurrence> seen,
                                                 const std::shared_ptr<SymbolTable>& symbols) {
                                     return Record(std::move(seen), plan, symbols);
                                   });
    if (!cell.ok()) return cell.failure();
    recorder_.Add(cell.value()->records());
    running_.push_back(std::move(cell.value()));
  }
  return Ok();
}

// False once nothing of the cell is left to be done.
Result<bool> StressRun::StepCell(StressCell& cell, bool interrupted) {
  ASSIGN_OR_RETURN(const bool more, cell.Step(interrupted));
  if (more) return true;
  recorder_.Finish(*cell.records(), cell.plan().scratch);
  if (recorder_.Has(*cell.records())) return true;
  Add(ended_, cell);
  if (on_cell) on_cell(cell.row());
  done_++;
  return false;
}

void StressRun::NoteStall(std::chrono::nanoseconds took) {
  if (took < kStall) return;
  stalls_++;
  longest_stall_ = std::max(longest_stall_, took);
}

std::vector<NoteRow> StressRun::Notes() const {
  std::vector<NoteRow> notes;
  if (stalls_ > 0) notes.push_back(StallNote(stalls_, longest_stall_));
  if (unwalked_ > 0) notes.push_back(UnwalkedNote(unwalked_, why_unwalked_));
  return notes;
}

// Of buckets that have been stored since.
void StressRun::TellNews() {
  std::vector<BucketRow> news;
  {
    const std::lock_guard<std::mutex> guard(news_lock_);
    news.swap(news_);
  }
  for (const BucketRow& bucket : news) {
    buckets_++;
    newest_ = bucket.signature.title;
    if (on_bucket) on_bucket(bucket);
  }
}

Status StressRun::Supervise(const std::atomic<bool>& interrupted) {
  while (!running_.empty() || (next_ < plan_.cells.size() && !interrupted.load())) {
    const Clock::time_point begun = Clock::now();
    if (!interrupted.load()) RETURN_IF_ERROR(Fill());
    for (size_t i = 0; i < running_.size();) {
      ASSIGN_OR_RETURN(const bool more, StepCell(*running_[i], interrupted.load()));
      if (more)
        i++;
      else
        running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
    }
    if (const auto failure = recorder_.failure()) return *failure;
    TellNews();
    recorder_.Publish(Totals(), Notes());
    Progress();
    NoteStall(Clock::now() - begun);
    std::this_thread::sleep_for(kTick);
  }
  return Ok();
}

Status StressRun::Run(const std::atomic<bool>& interrupted) {
  start_ = last_progress_ = Clock::now();
  start_ns_ = MonotonicNs();
  sink_.on_bucket = [this](const BucketRow& bucket) {
    const std::lock_guard<std::mutex> guard(news_lock_);
    news_.push_back(bucket);
  };
  // Saves every cell first, so that a run that is killed shows the cells that it never reached.
  Status status = Ok();
  for (const CellPlan& cell : plan_.cells)
    if (status.ok()) status = db_.SaveCell(cell.row);
  if (status.ok()) status = recorder_.Start();
  if (status.ok()) status = Supervise(interrupted);
  const RunTotals totals = Totals();
  recorder_.Publish(totals, Notes());
  Status saved = recorder_.Stop();
  if (status.ok()) status = saved;
  TellNews();
  if (status.ok()) status = Confirm(interrupted);
  running_.clear();
  saved = db_.Replace(kNoCell, Notes());
  if (status.ok()) status = saved;
  return sink_.Finish(status, interrupted.load(), totals);
}

}  // namespace walkhammer
