// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/cell_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/clock.h"
#include "harness/findings/sample_request.h"
#include "harness/hs_err/crash_report.h"
#include "harness/supervise/stress_runs/cell_status_text.h"

namespace walkhammer {
namespace {

// How long a running program must look wrong. The first 400 samples of a program, 20 us apart, may
// all be of one piece of code.
constexpr auto kSuspicion = std::chrono::milliseconds(500);

}  // namespace

Blame WalkToBlame(const StressState& state, std::string_view hs_err) {
  const int64_t tid = ParseCrashReport(hs_err).tid.value;
  const SampleJournal *newest = nullptr, *of_thread = nullptr;
  int open = 0;
  const auto keep_newer = [](const SampleJournal& journal, const SampleJournal*& newest) {
    if (newest == nullptr || journal.sample.sequence > newest->sample.sequence) newest = &journal;
  };
  for (const SampleJournal& journal : state.journals) {
    if (journal.phase.load() != 1) continue;
    open++;
    keep_newer(journal, newest);
    if (tid != 0 && journal.sample.tid == tid) keep_newer(journal, of_thread);
  }
  if (newest == nullptr) return {};
  if (of_thread != nullptr)
    return {of_thread, fmt::format("on the thread that hs_err names ({})", tid)};
  std::string why = tid == 0 ? "" : fmt::format("on another thread than hs_err names ({})", tid);
  if (open > 1)
    why += fmt::format("{}the newest of {} that were under way", why.empty() ? "" : "; ", open);
  return {newest, why};
}

CellRecords::CellRecords(CellSource source, Record record)
    : source_(std::move(source)),
      state_(*source_.state),
      record_(std::move(record)),
      symbols_(std::make_shared<SymbolTable>()) {
  symbols_->Init();
}

void CellRecords::Publish(const CellRow& row) {
  const std::lock_guard<std::mutex> guard(publishing_);
  row_ = row;
}

uint64_t CellRecords::RunMs() const { return (MonotonicNs() - state_.start_ns) / 1000000; }

Status CellRecords::Drain(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + limit;
  for (int i = 0; i < StressState::kRing && Clock::now() < until; i++) {
    StressFinding& slot = state_.ring[next_slot_];
    next_slot_ = (next_slot_ + 1) % StressState::kRing;
    if (slot.state.load(std::memory_order_acquire) != 2) continue;
    if (symbolizer_ == nullptr)
      symbolizer_ = std::make_unique<Symbolizer>(std::span<const Module>(
          state_.modules, std::min<uint32_t>(state_.module_count.load(), kMaxModules)));
    auto seen = std::make_unique<Occurrence>();
    seen->raw = slot.raw;
    seen->raw.request = RequestOfSample(slot.sample, state_, *symbols_);
    seen->raw.request.against = slot.raw.request.against;
    seen->record = MakeFindingRecord(seen->raw, *symbolizer_, *symbols_, source_.arch);
    seen->record.cell = source_.position;
    seen->symbols = symbols_.get();
    const uint32_t site = slot.raw.site % kMaxCrashSites;
    slot.state.store(0);
    ASSIGN_OR_RETURN(bucket_of_site_[site], record_(std::move(seen), symbols_));
  }
  return JudgeByWitness(limit == kDrainAll ? std::chrono::milliseconds(0) : kSuspicion);
}

Status CellRecords::DrainEnded(bool crashed, int wait_status, const std::string& hs_err) {
  RETURN_IF_ERROR(Drain(kDrainAll));
  for (const StressFinding& slot : state_.ring)
    if (slot.state.load() == 1) state_.dropped_findings.fetch_add(1);
  if (crashed) RETURN_IF_ERROR(RecordDeath(wait_status, hs_err));
  Harvest();
  return Ok();
}

Status CellRecords::RecordDeath(int wait_status, const std::string& hs_err) {
  const Blame blame = WalkToBlame(state_, hs_err);
  auto seen = std::make_unique<Occurrence>();
  seen->is_death = true;
  seen->has_request = blame.journal != nullptr;
  if (seen->has_request)
    seen->raw.request = RequestOfSample(blame.journal->sample, state_, *symbols_);
  seen->symbols = symbols_.get();
  seen->record =
      MakeDeathRecord({wait_status, hs_err}, seen->has_request ? &seen->raw.request : nullptr,
                      *symbols_, state_.walks.load(), RunMs(), source_.arch);
  if (!blame.why.empty()) seen->record.detail += ", " + blame.why;
  // No code of the harness changed the program's stacks or registers, in a walk or between walks.
  seen->record.realism = Realism::kGenuine;
  seen->record.cell = source_.position;
  seen->hs_err = hs_err;
  auto bucket = record_(std::move(seen), symbols_);
  return bucket.ok() ? Ok() : Status(bucket.failure());
}

void CellRecords::Harvest() {
  harvest_.Take(state_, stacks_);
  if (!harvested_) HarvestThreads(state_, source_.position, threads_);
  harvested_ = true;
}

void CellRecords::ForgetProgram() {
  Harvest();
  ForgetStressed(state_);
  harvest_ = {};
  harvested_ = false;
  symbolizer_.reset();
}

Status CellRecords::SetVerdict(const BackendVerdict& verdict) {
  counts_ = verdict.counts;
  for (CountRow& count : counts_) count.scene = CellLabel(CurrentRow());
  stacks_ = verdict.stacks;
  for (const FindingRecord& finding : verdict.findings) RETURN_IF_ERROR(RecordOfCell(finding));
  return Ok();
}

// Records a finding of the cell as a whole, without a walk request.
Result<int64_t> CellRecords::RecordOfCell(const FindingRecord& finding) {
  auto seen = std::make_unique<Occurrence>();
  seen->has_request = false;
  seen->record = finding;
  seen->record.cell = source_.position;
  seen->record.sequence = state_.walks.load();
  seen->record.time_ms = RunMs();
  seen->symbols = symbols_.get();
  return record_(std::move(seen), symbols_);
}

// While the program runs, too: how often a bucket was seen, and when, is counted by periods.
Status CellRecords::JudgeByWitness(std::chrono::milliseconds least) {
  const auto now = std::chrono::steady_clock::now();
  std::map<WitnessFinding::Count, std::chrono::steady_clock::time_point> suspected;
  for (const WitnessFinding& finding : WitnessFindings(source_.job, state_)) {
    if (bucket_of_count_.contains(finding.count)) continue;
    const auto known = suspected_.find(finding.count);
    const auto since = known == suspected_.end() ? now : known->second;
    suspected[finding.count] = since;
    if (now - since < least) continue;
    ASSIGN_OR_RETURN(bucket_of_count_[finding.count], RecordOfCell(finding.record));
  }
  suspected_ = std::move(suspected);
  return Ok();
}

void CellRecords::SetStepMap(std::vector<StepRegionRow> regions, std::vector<StepRangeRow> ranges,
                             FrameMapRows frames) {
  regions_ = std::move(regions);
  ranges_ = std::move(ranges);
  frames_ = std::move(frames);
}

std::vector<CellThreadRow> CellRecords::Threads() const {
  std::vector<CellThreadRow> threads = threads_;
  if (!harvested_) HarvestThreads(state_, source_.position, threads);
  return threads;
}

bool CellRecords::HasJavaThread() const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const CellThreadRow& thread) { return thread.java; });
}

CellRow CellRecords::CurrentRow() const {
  CellRow row;
  {
    const std::lock_guard<std::mutex> guard(publishing_);
    row = row_;
  }
  if (!FieldText(state_.vm_version).empty()) {
    row.vm_version = FieldText(state_.vm_version);
    row.vm_gc = FieldText(state_.vm_gc);
  }
  const StressJob& job = source_.job;
  if (source_.own_agent) {
    row.sampler = job.step == kStepByTrapFlag ? "trap-flag"
                  : job.step == kStepByPtrace ? "ptrace"
                                              : SamplerName(state_.sampler);
    row.sampler_reason = job.step != 0 ? StepText(state_) : FieldText(state_.sampler_reason);
    row.delivery = DeliveryOf(job, state_, Threads());
  }
  row.contained_crashes = state_.contained_crashes.load();
  row.agent_kib = state_.agent_kib.load();
  return row;
}

std::map<int64_t, uint64_t> CellRecords::SeenByBucket() const {
  std::map<int64_t, uint64_t> times;
  for (const auto& [site, bucket] : bucket_of_site_)
    times[bucket] += state_.crash_sites[site].count.load();
  for (const auto& [count, bucket] : bucket_of_count_)
    times[bucket] += WitnessedAnswers(state_, count);
  return times;
}

Status CellRecords::SaveNotes(RunWriter& db) {
  std::vector<NoteRow> notes =
      CellNotes(state_, source_.position, state_.dropped_stacks.load() + stacks_.cut());
  if (!source_.own_agent && CurrentRow().delivery.walks > 0)
    notes.push_back(TruthNote(state_, source_.position));
  // A program that is started again has no notes yet; those of the one before stay.
  if (notes.empty() || notes == notes_) return Ok();
  notes_ = std::move(notes);
  return db.Replace(source_.position, notes_);
}

std::vector<CountRow> CellRecords::Counts(const std::string& label) const {
  std::vector<CountRow> counts = CountRowsOf(state_, label);
  counts.insert(counts.end(), counts_.begin(), counts_.end());
  return counts;
}

void CellRecords::EndPeriod() {
  const uint64_t now_ms = RunMs();
  bool last = false;
  std::string label;
  {
    const std::lock_guard<std::mutex> guard(publishing_);
    last = row_.status != CellStatus::kRunning;
    label = CellLabel(row_);
  }
  // Another profiler says at its end what it counted: that is one period.
  if (!last && (!source_.own_agent || !periods_.IsDue(now_ms))) return;
  CountsSoFar now{state_.walks.load(), Counts(label), WalkTimeRowsOf(state_, label), {}};
  for (const CountRow& count : counts_) now.walks += count.count;
  last ? periods_.EndLast(now_ms, now) : periods_.End(now_ms, now);
  periods_changed_ = true;
}

Status CellRecords::Save(RunWriter& db) {
  const CellRow row = CurrentRow();
  const int64_t position = source_.position;
  RETURN_IF_ERROR(db.SaveCell(row));
  RETURN_IF_ERROR(db.Replace(position, Threads()));
  RETURN_IF_ERROR(db.SaveCounts(Counts(CellLabel(row))));
  RETURN_IF_ERROR(db.Replace(position, AgreementRowsOf(state_)));
  RETURN_IF_ERROR(db.Replace(position, EvidenceRowsOf(state_)));
  RETURN_IF_ERROR(db.Replace(position, WalkEndRowsOf(state_)));
  if (!regions_.empty() || !frames_.places.empty()) {
    RETURN_IF_ERROR(db.Replace(position, regions_));
    RETURN_IF_ERROR(db.Replace(position, ranges_));
    RETURN_IF_ERROR(db.Replace(position, frames_.places));
    RETURN_IF_ERROR(db.Replace(position, frames_.walkers));
    RETURN_IF_ERROR(db.Replace(position, frames_.predictions));
    RETURN_IF_ERROR(db.Replace(position, frames_.refuted));
    RETURN_IF_ERROR(db.Replace(position, frames_.differences));
  }
  EndPeriod();
  if (periods_changed_) RETURN_IF_ERROR(db.SavePeriods(position, periods_));
  periods_changed_ = false;
  return SaveNotes(db);
}

Result<bool> CellRecords::SaveStacks(RunWriter& db, size_t most_rows, bool last) {
  if (last && !last_round_) stacks_.BeginRound();
  last_round_ = last;
  if (!last && stacks_.next_to_save() == 1) harvest_.Take(state_, stacks_);
  return db.SaveStacks(source_.position, stacks_, most_rows);
}

}  // namespace walkhammer
