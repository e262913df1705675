// SPDX-License-Identifier: Apache-2.0
// The part of StressCell that writes: what is found, and the cell's rows.
#include <fmt/format.h>

#include <algorithm>

#include "harness/findings/snapshot.h"
#include "harness/supervise/matrix/blame.h"
#include "harness/supervise/matrix/cell_words.h"
#include "harness/supervise/matrix/stress_cell.h"

namespace walkhammer {

// Takes findings out of the ring, for about `limit` at most; then the rest keeps its place there.
Status StressCell::Drain(std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  for (int i = 0; i < StressState::kRing && Clock::now() < until; i++) {
    StressFinding& slot = state_->ring[next_slot_];
    next_slot_ = (next_slot_ + 1) % StressState::kRing;
    if (slot.state.load(std::memory_order_acquire) != 2) continue;
    if (symbolizer_ == nullptr)
      symbolizer_ = std::make_unique<Symbolizer>(std::span<const Module>(
          state_->modules, std::min<uint32_t>(state_->module_count.load(), kMaxModules)));
    auto seen = std::make_unique<Occurrence>();
    seen->raw = slot.raw;
    seen->raw.request = RequestOfSample(slot.sample, *state_, *symbols_);
    seen->raw.request.against = slot.raw.request.against;
    seen->record = MakeFindingRecord(seen->raw, *symbolizer_, *symbols_, plan_.platform.arch);
    seen->record.cell = plan_.row.position;
    seen->symbols = symbols_.get();
    const uint32_t site = slot.raw.site % kMaxCrashSites;
    slot.state.store(0);
    ASSIGN_OR_RETURN(bucket_of_site_[site], record_(std::move(seen), symbols_));
  }
  return Ok();
}

std::map<int64_t, uint64_t> StressCell::SeenByBucket() const {
  std::map<int64_t, uint64_t> times;
  for (const auto& [site, bucket] : bucket_of_site_)
    times[bucket] += state_->crash_sites[site].count.load();
  return times;
}

Status StressCell::RecordDeath(const std::string& hs_err) {
  const Blame blame = WalkToBlame(*state_, hs_err);
  auto seen = std::make_unique<Occurrence>();
  seen->is_death = true;
  seen->has_request = blame.journal != nullptr;
  if (seen->has_request)
    seen->raw.request = RequestOfSample(blame.journal->sample, *state_, *symbols_);
  seen->symbols = symbols_.get();
  seen->record = MakeDeathRecord({program_->wait_status(), hs_err},
                                 seen->has_request ? &seen->raw.request : nullptr, *symbols_,
                                 state_->walks.load(), RunMs(), plan_.platform.arch);
  if (!blame.why.empty()) seen->record.detail += ", " + blame.why;
  // No code of the harness changed the program's stacks or registers, in a walk or between walks.
  seen->record.realism = Realism::kGenuine;
  seen->record.cell = plan_.row.position;
  seen->hs_err = hs_err;
  auto bucket = record_(std::move(seen), symbols_);
  return bucket.ok() ? Ok() : Status(bucket.failure());
}

void StressCell::FillRow() {
  CellRow& row = plan_.row;
  if (!FieldText(state_->vm_version).empty()) {
    row.vm_version = FieldText(state_->vm_version);
    row.vm_gc = FieldText(state_->vm_gc);
  }
  if (plan_.lane->own_agent) {
    row.sampler = plan_.job.step == kStepByTrapFlag ? "trap-flag"
                  : plan_.job.step == kStepByPtrace ? "ptrace"
                                                    : SamplerName(state_->sampler);
    row.sampler_reason =
        plan_.job.step != 0 ? StepText(*state_) : FieldText(state_->sampler_reason);
    row.delivery = DeliveryOf(plan_.job, *state_, threads_);
  }
  row.contained_crashes = state_->contained_crashes.load();
  row.agent_kib = state_->agent_kib.load();
  row.output_bytes = output_bytes_ + (program_ != nullptr ? program_->output_bytes() : 0);
  if (row.status == CellStatus::kRunning) row.time_ms = static_cast<uint64_t>(Seconds() * 1000);
}

Status StressCell::Save(RunDb& db) {
  std::vector<CellThreadRow> threads = threads_;
  if (plan_.row.status == CellStatus::kRunning) {
    HarvestThreads(*state_, plan_.row.position, threads);
    std::swap(threads, threads_);
    FillRow();
    std::swap(threads, threads_);
  } else {
    FillRow();
  }
  Status saved = db.SaveCell(plan_.row);
  if (saved.ok()) saved = db.SaveCellThreads(plan_.row.position, threads);
  if (saved.ok())
    saved = db.SaveCountRows(plan_.lane->own_agent ? CountRowsOf(*state_, CellLabel(plan_.row))
                                                   : counts_);
  if (saved.ok()) saved = db.SaveAgreement(plan_.row.position, AgreementRowsOf(*state_));
  if (saved.ok()) saved = db.SaveEvidence(plan_.row.position, EvidenceRowsOf(*state_));
  if (saved.ok()) saved = db.SaveWalkEnds(plan_.row.position, WalkEndRowsOf(*state_));
  if (saved.ok() && !regions_.empty()) saved = db.SaveStepRegions(plan_.row.position, regions_);
  if (saved.ok() && !regions_.empty()) saved = db.SaveStepRanges(plan_.row.position, ranges_);
  std::vector<NoteRow> notes =
      CellNotes(*state_, plan_.row.position, state_->dropped_stacks.load() + stacks_.cut());
  // A program that is started again has no notes yet; those of the one before stay.
  if (saved.ok() && !notes.empty() && notes != notes_) {
    notes_ = std::move(notes);
    saved = db.SaveNotes(plan_.row.position, notes_);
  }
  return saved;
}

Result<bool> StressCell::SaveStacks(RunDb& db, size_t most_rows) {
  const bool last = plan_.row.status != CellStatus::kRunning;
  if (last && !last_round_) stacks_.BeginRound();
  last_round_ = last;
  if (!last && stacks_.next_to_save() == 1) harvest_.Take(*state_, stacks_);
  return db.SaveStacks(plan_.row.position, stacks_, most_rows);
}

}  // namespace walkhammer
