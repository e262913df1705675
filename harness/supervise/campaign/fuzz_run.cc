// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/fuzz_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "harness/base/clock.h"
#include "harness/base/names.h"
#include "harness/coverage/walker_code.h"
#include "harness/findings/crash_folder.h"
#include "harness/process/oom_kills.h"
#include "harness/request/walker_table.h"
#include "harness/store/shared_rows.h"
#include "harness/supervise/campaign/run_rows.h"
#include "harness/supervise/minimize_input.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kFuzzTick = milliseconds(10);
constexpr auto kSaveEvery = seconds(1);
constexpr auto kSavePeriodsEvery = seconds(30);  // they are rewritten as a whole
constexpr auto kFuzzProgressEvery = milliseconds(250);
constexpr int kProofs = 20;  // fresh processes in which a minimised input must replay

std::chrono::steady_clock::time_point After(std::chrono::steady_clock::time_point start,
                                            std::chrono::nanoseconds time) {
  return start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(time);
}

}  // namespace

EnginePlan FuzzRun::Engines() const {
  return {db_.dir(), plan_.child.platform, plan_.corpus, plan_.seed, plan_.workers};
}

Job FuzzRun::JobOf(int worker) const {
  Job job{};
  job.mode = AllEngines()[static_cast<size_t>(plan_.engine)].mode;
  job.walker = static_cast<uint8_t>(plan_.walkers.front());
  for (size_t i = 1; i < plan_.walkers.size(); i++)
    job.others[job.other_count++] = static_cast<uint8_t>(plan_.walkers[i]);
  job.coverage = plan_.coverage ? 1 : 0;
  job.churn = plan_.churn ? 1 : 0;
  // However many workers the other shards have, a shard has every `shards`th window.
  job.worker = plan_.shard + plan_.shards * static_cast<uint32_t>(worker);
  job.workers = plan_.shards * static_cast<uint32_t>(plan_.workers);
  job.seed = plan_.seed;
  job.max_walks = plan_.max_walks;
  job.scene_mask = plan_.scene_mask;
  job.hang_limit_ms = plan_.hang_limit_ms;
  job.without = plan_.without;
  return job;
}

Status FuzzRun::StartWorkers() {
  const Engine& engine = AllEngines()[static_cast<size_t>(plan_.engine)];
  RETURN_IF_ERROR(engine.prepare(Engines()));
  if (plan_.answers) {
    ASSIGN_OR_RETURN(answers_, Answers::Create(AnswersPath()));
  }
  for (int i = 0; i < plan_.workers; i++) {
    ChildSetup setup = plan_.child;
    engine.set_up(Engines(), i, setup);
    if (plan_.answers)
      setup.environment.push_back(std::string(kAnswersVariable) + "=" + AnswersPath());
    auto worker = Worker::Create(
        setup, plan_.hang_limit_ms, start_,
        [this](std::unique_ptr<Occurrence> seen) { return Record(std::move(seen)); });
    if (!worker.ok()) return worker.failure();
    workers_.push_back(std::move(worker.value()));
    workers_.back()->state().job = JobOf(i);
    RETURN_IF_ERROR(workers_.back()->Start());
  }
  return Ok();
}

Status FuzzRun::SetCoverage() {
  if (AllEngines()[static_cast<size_t>(plan_.engine)].mode == ChildMode::kFaults)
    return db_.SetNoCoverage("the engine faults sets traps of its own");
  if (!plan_.coverage) return db_.SetNoCoverage("it was turned off (--no-coverage)");
  const WalkerInfo& walker = AllWalkers()[static_cast<size_t>(plan_.walkers.front())];
  auto code = FindWalkerCode(walker, LibraryOf(walker, plan_.child.libjvm, plan_.child.provider),
                             plan_.child.platform.File(kChildName));
  return code.ok() ? db_.SetCoverage(RowsOf(code.value()))
                   : db_.SetNoCoverage(code.failure().message);
}

void FuzzRun::SumUp() {
  std::vector<const SharedState*> states;
  for (const auto& worker : workers_) states.push_back(&worker->state());
  SumStates(states, *sum_);
}

RunTotals FuzzRun::Totals() {
  SumUp();
  RunTotals totals = TotalsOf(*sum_);
  totals.time_ms =
      static_cast<uint64_t>(InSeconds(walked_until_.value_or(Clock::now()) - start_) * 1000);
  for (const auto& worker : workers_) {
    totals.children_started += worker->counts().started;
    totals.children_retired += worker->counts().retired;
    totals.children_died += worker->counts().died;
  }
  return totals;
}

Status FuzzRun::Save(bool everything) {
  const Clock::time_point now = Clock::now();
  if (!everything && now - last_saved_ < kSaveEvery) return Ok();
  last_saved_ = now;
  const RunTotals totals = Totals();
  RETURN_IF_ERROR(sink_.SaveVm(FieldText(sum_->vm_version), FieldText(sum_->vm_gc)));
  // Coverage was asked for and found in the file, but the process has none.
  if (sum_->covered.blocks.load() == 0 && sum_->covered.reason[0] != 0)
    RETURN_IF_ERROR(db_.SetNoCoverage(FieldText(sum_->covered.reason)));
  RETURN_IF_ERROR(db_.SaveBlocks({sum_->covered.hit, sum_->covered.blocks.load()}, totals.time_ms));
  RETURN_IF_ERROR(db_.SaveProgress(totals));
  RETURN_IF_ERROR(db_.SaveCounts(CountRowsOf(*sum_)));
  if (sum_->job.other_count > 0) RETURN_IF_ERROR(db_.Replace(kNoCell, AgreementRowsOf(*sum_)));
  const std::map<int64_t, uint64_t> seen = Seen();
  RETURN_IF_ERROR(sink_.SaveSeen(seen));
  RETURN_IF_ERROR(SavePeriods(totals.time_ms, seen, everything));
  RETURN_IF_ERROR(SaveNotes());
  return sum_->phase.load() >= ChildPhase::kRunning ? db_.SaveScenes(SceneRowsOf(*sum_)) : Ok();
}

Status FuzzRun::SavePeriods(uint64_t now_ms, const std::map<int64_t, uint64_t>& seen, bool last) {
  if (!last && !periods_.IsDue(now_ms)) return Ok();
  CountsSoFar now = CountsOf(*sum_);
  now.seen = seen;
  last ? periods_.EndLast(now_ms, now) : periods_.End(now_ms, now);
  if (!last && last_saved_ - periods_saved_ < kSavePeriodsEvery) return Ok();
  periods_saved_ = last_saved_;
  return db_.SavePeriods(kNoCell, periods_);
}

std::vector<NoteRow> FuzzRun::Notes() const {
  WorkerFacts facts;
  facts.wants_aslr_off = !plan_.keeps_aslr;
  if (plan_.child.aslr) facts.aslr_off = false;  // this machine refuses
  for (const auto& worker : workers_) {
    facts.killed += worker->counts().killed;
    if (!worker->killer().empty()) facts.killer = worker->killer();
    facts.unstopped += worker->counts().unstopped;
    facts.failed_starts += worker->counts().failed_starts;
    if (!worker->why_not_started().empty()) facts.why_not_started = worker->why_not_started();
    if (const auto off = worker->IsAslrOff())
      facts.aslr_off = *off && facts.aslr_off.value_or(true);
  }
  if (confirmer_ != nullptr) {
    facts.unwalked = confirmer_->unwalked();
    facts.why_unwalked = confirmer_->why_unwalked();
  }
  facts.oom_kills = OomKillsSince(oom_kills_);
  std::vector<NoteRow> notes = NotesOf(facts), of_lines = LineNotes(*sum_);
  notes.insert(notes.end(), of_lines.begin(), of_lines.end());
  if (!not_merged_.empty())
    notes.push_back({kNoCell, NoteKind::kDropped, "merge of the corpus", 1, not_merged_});
  return notes;
}

Status FuzzRun::SaveNotes() {
  std::vector<NoteRow> notes = Notes();
  if (notes == saved_notes_) return Ok();
  RETURN_IF_ERROR(db_.Replace(kNoCell, notes));
  saved_notes_ = std::move(notes);
  return Ok();
}

Result<int64_t> FuzzRun::Record(std::unique_ptr<Occurrence> seen) {
  ASSIGN_OR_RETURN(const int64_t id, sink_.Add(*seen, plan_.words));
  BucketState& bucket = known_[id];
  if (confirmer_ == nullptr || !seen->has_request) return id;
  const FindingRecord& record = seen->record;
  const int rank = RankOf(record.realism, seen->raw.request.edit_count);
  if (confirmer_->Add(id, {record.request, record.signature.expect, rank, bucket.examples.size()}))
    bucket.examples.push_back(std::move(seen));
  return id;
}

// Sites count every occurrence, those that were not handed over included.
std::map<int64_t, uint64_t> FuzzRun::Seen() const {
  std::map<int64_t, uint64_t> times;
  for (const auto& worker : workers_)
    for (const auto& [site, bucket] : worker->bucket_of_site())
      times[bucket] += worker->state().crash_sites[site].count.load();
  return times;
}

Status FuzzRun::StepConfirmer(size_t most) {
  if (confirmer_ == nullptr) return Ok();
  const int64_t id = confirmer_->Step(most);
  const Candidate* best = id == 0 ? nullptr : confirmer_->Best(id);
  if (best == nullptr) return Ok();
  BucketState& bucket = known_[id];
  bucket.confirmed = best->reproduced;
  bucket.tries = best->tries;
  return sink_.Confirm(id, *bucket.examples[best->example], plan_.words, best->reproduced,
                       best->tries);
}

void FuzzRun::Progress(FuzzStage stage) {
  const Clock::time_point now = Clock::now();
  if (!on_progress || now - last_progress_ < kFuzzProgressEvery) return;
  last_progress_ = now;
  SumUp();
  const double elapsed = InSeconds(now - start_);
  uint64_t confirmed = 0;
  for (const auto& [id, bucket] : known_)
    if (bucket.tries > 0 && bucket.confirmed == bucket.tries) confirmed++;
  on_progress({sum_.get(), elapsed, static_cast<double>(sum_->walks.load()) / elapsed,
               sink_.buckets(), confirmed, TotalsOf(*sum_).blocks, sink_.newest(), stage});
}

FuzzRun::Clock::time_point FuzzRun::Deadline() const {
  if (!first_walked_) return After(start_, plan_.set_up_time);
  return plan_.time.count() == 0 ? Clock::time_point::max() : After(*first_walked_, plan_.time);
}

Status FuzzRun::Supervise(const std::atomic<bool>& interrupted) {
  for (bool any = true; any;) {
    any = false;
    const bool proven = std::any_of(workers_.begin(), workers_.end(),
                                    [](const auto& worker) { return worker->HasWalked(); });
    const Clock::time_point now = Clock::now();
    if (proven && !first_walked_) first_walked_ = now;
    if (!first_walked_ && now >= Deadline())
      return ToolFailed(
          fmt::format("no scene was walked within {:.0f} s: starting the JVM and "
                      "setting up its scenes took longer",
                      InSeconds(now - start_)));
    for (const auto& worker : workers_) {
      ASSIGN_OR_RETURN(auto more, worker->Step(now >= Deadline() || interrupted.load(), proven));
      any |= more;
    }
    Status status = StepConfirmer(1);
    if (status.ok()) status = Save(false);
    if (!status.ok()) return status;
    Progress(FuzzStage::kWalking);
    std::this_thread::sleep_for(kFuzzTick);
  }
  return Ok();
}

void FuzzRun::EndWorkers() {
  for (const auto& worker : workers_) {
    const Status ended = worker->End();
    if (!ended.ok()) return;  // what the store does not take of one, it takes of none
  }
}

Status FuzzRun::ConfirmRest(Clock::time_point until, const std::atomic<bool>& interrupted) {
  while (!confirmer_->Idle() && Clock::now() < until && !interrupted.load()) {
    // As many processes as there were workers.
    RETURN_IF_ERROR(StepConfirmer(static_cast<size_t>(plan_.workers)));
    Progress(FuzzStage::kConfirming);
    std::this_thread::sleep_for(kFuzzTick);
  }
  return Ok();
}

// If the input that a bucket's folder shows replays every time, writes a minimised input next to
// it.
Status FuzzRun::MinimizeOne(int64_t id, Clock::time_point until,
                            const std::function<bool()>& stop) {
  const BucketState& bucket = known_[id];
  const Candidate* best = confirmer_->Best(id);
  if (best == nullptr || bucket.tries == 0 || bucket.confirmed < bucket.tries) return Ok();
  if (stop()) {
    unminimized_++;
    return Ok();
  }
  ChildSetup setup = plan_.child;
  setup.aslr = true;
  MinimizePlan plan;
  plan.expect = best->expect;
  plan.times = kProofs;
  plan.jobs = plan_.workers;
  plan.until = until;
  plan.stop = stop;
  const std::string folder = db_.dir() + "/" + sink_.FolderOf(id);
  auto small = MinimizeInput({best->text, folder, plan_.hang_limit_ms}, setup, plan);
  if (!small.ok() || !small.value().proved) {
    // Any other failure: the input no longer replays every time. It stays as it is.
    if (small.ok() || stop() || small.failure().code == ExitCode::kUnable) unminimized_++;
    return Ok();
  }
  RETURN_IF_ERROR(WriteFileAtomically(folder + "/" + kMinimizedName, small.value().text));
  return db_.SetMinimized(id, small.value().edits, plan.times, plan.times);
}

Status FuzzRun::MinimizeAll(Clock::time_point until, const std::atomic<bool>& interrupted) {
  const auto stop = [&] {
    Progress(FuzzStage::kMinimizing);
    return interrupted.load() || Clock::now() >= until;
  };
  for (const auto& [id, bucket] : known_) {
    RETURN_IF_ERROR(MinimizeOne(id, until, stop));
  }
  return Ok();
}

Status FuzzRun::Settle(const std::atomic<bool>& interrupted, RunTotals& totals) {
  if (confirmer_ == nullptr) return Ok();
  const auto ms = [](Clock::duration time) {
    return static_cast<uint64_t>(InSeconds(time) * 1000);
  };
  const Clock::time_point began = Clock::now(), until = After(began, plan_.settle_time);
  Status status = ConfirmRest(until, interrupted);
  SettleTotals settle;
  settle.unconfirmed = confirmer_->Unconfirmed();
  if (status.ok() && plan_.minimize)
    status = MinimizeAll(std::min(until, After(Clock::now(), plan_.minimize_time)), interrupted);
  settle.most_ms = ms(until - began);
  settle.took_ms = ms(Clock::now() - began);
  settle.unminimized = unminimized_;
  totals.settle = settle;
  return status;
}

Status FuzzRun::Merge(const std::atomic<bool>& interrupted) {
  Job job = JobOf(0);
  job.churn = 0;  // a merge records no findings
  job.other_count = 0;
  const auto stop = [&] {
    Progress(FuzzStage::kMerging);
    return interrupted.load();
  };
  const Status merged = MergeCorpus(AllEngines()[static_cast<size_t>(plan_.engine)], Engines(),
                                    plan_.child, job, stop);
  if (merged.ok() || merged.failure().code != ExitCode::kUnable) return merged;
  not_merged_ = merged.failure().message;  // what was walked and found is as good without
  return Ok();
}

Status FuzzRun::Run(const std::atomic<bool>& interrupted) {
  sum_ = std::make_unique<SharedState>();
  oom_kills_ = OomKills();
  start_ = last_saved_ = last_progress_ = Clock::now();
  periods_saved_ = start_ - kSavePeriodsEvery;  // the first is saved at once
  if (plan_.confirm_times > 0) {
    ChildSetup replay = plan_.child;
    replay.aslr = true;  // what replays must not depend on addresses
    confirmer_ = std::make_unique<Confirmer>(replay, plan_.hang_limit_ms, plan_.confirm_times);
  }
  Status status = SetCoverage();
  if (status.ok()) status = StartWorkers();
  if (status.ok()) status = Supervise(interrupted);
  if (!status.ok()) EndWorkers();
  if (answers_.wanted()) {
    const Status trimmed = answers_.Trim(AnswersPath());
    if (status.ok()) status = trimmed;
  }
  walked_until_ = Clock::now();
  RunTotals totals = Totals();
  if (status.ok()) status = Settle(interrupted, totals);
  if (status.ok() && plan_.merge) status = Merge(interrupted);
  Status saved = Save(true);
  if (status.ok()) status = saved;
  return sink_.Finish(status, interrupted.load(), totals);
}

}  // namespace walkhammer
