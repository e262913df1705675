#include "harness/supervise/fuzz_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "harness/record/crash_folder.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kTick = milliseconds(10);
constexpr auto kSaveEvery = seconds(1);
constexpr auto kProgressEvery = milliseconds(250);
constexpr auto kStuckAfter = seconds(45);       // no phase change and no walk, at the least
constexpr auto kStopWithin = seconds(10);       // after the child was asked to
constexpr auto kConfirmAfterEnd = seconds(60);  // replays that go on when walking is over
constexpr uint32_t kMostEarlyDeaths = 3;        // in a row, before the first walk

double Seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

Status FuzzRun::StartChild() {
  SharedState& state = shared_->state();
  state.journal.phase.store(0);
  for (SceneReport& scene : state.scenes) scene.tried_by = 0;
  auto child = ChildProcess::Start(*shared_, plan_.child);
  if (!child.ok()) return child.failure();
  child_ = std::move(child.value());
  symbolizer_.reset();
  started_++;
  last_moved_ = Clock::now();
  return Ok();
}

RunTotals FuzzRun::Totals() const {
  RunTotals totals = TotalsOf(shared_->state());
  totals.time_ms = static_cast<uint64_t>(Seconds(Clock::now() - start_) * 1000);
  totals.children_started = started_;
  totals.children_retired = retired_;
  totals.children_died = died_;
  return totals;
}

Status FuzzRun::Save(bool everything) {
  const Clock::time_point now = Clock::now();
  if (!everything && now - last_saved_ < kSaveEvery) return Ok();
  last_saved_ = now;
  if (!vm_known_ && shared_->state().vm_gc[0] != 0) {
    Status saved =
        db_.SetVm(FieldText(shared_->state().vm_version), FieldText(shared_->state().vm_gc));
    if (!saved.ok()) return saved;
    vm_known_ = true;
  }
  Status saved = db_.SaveProgress(Totals());
  if (saved.ok()) saved = db_.SaveCounts(shared_->state());
  if (saved.ok()) saved = SaveSeen();
  if (saved.ok() && shared_->state().phase.load() >= ChildPhase::kRunning)
    saved = db_.SaveScenes(shared_->state());
  return saved;
}

Status FuzzRun::WriteFolder(const BucketState& bucket, const Occurrence& shown) {
  CrashCase crash;
  crash.record = shown.record;
  crash.raw = shown.is_death ? nullptr : &shown.raw;
  crash.request = shown.has_request ? &shown.raw.request : nullptr;
  crash.symbols = &shared_->state().symbols;
  crash.jdk = plan_.jdk_words;
  crash.replay_command =
      fmt::format("{} replay {}/{}/{}{}", plan_.command,
                  std::filesystem::absolute(db_.dir()).lexically_normal().string(), bucket.folder,
                  kInputName, plan_.replay_options);
  crash.confirmed = bucket.confirmed;
  crash.tries = bucket.tries;
  crash.hs_err_text = shown.hs_err;
  auto folder = WriteCrashFolder(db_.dir(), crash);
  return folder.ok() ? Ok() : Status(folder.failure());
}

Status FuzzRun::Record(std::unique_ptr<Occurrence> seen) {
  auto added = db_.AddFinding(seen->record);
  if (!added.ok()) return added.failure();
  const int64_t id = added.value().bucket;
  if (!seen->is_death) bucket_of_site_[seen->raw.site % kMaxCrashSites] = id;
  BucketState& bucket = known_[id];
  const FindingRecord& record = seen->record;
  if (added.value().is_new) {
    bucket.folder = added.value().folder;
    Status written = WriteFolder(bucket, *seen);
    if (!written.ok()) return written;
    newest_ = record.signature.title;
    if (on_bucket) {
      BucketRow row;
      row.id = id;
      row.signature = record.signature;
      row.folder = bucket.folder;
      row.grade = record.grade;
      row.realism = record.realism;
      row.first_time_ms = record.time_ms;
      on_bucket(row);
    }
  }
  if (confirmer_ == nullptr || !seen->has_request) return Ok();
  const int rank = static_cast<int>(record.realism) * 64 + seen->raw.request.edit_count;
  if (confirmer_->Add(id, {record.request, record.signature.expect, rank, bucket.examples.size()}))
    bucket.examples.push_back(std::move(seen));
  return Ok();
}

Status FuzzRun::Drain() {
  SharedState& state = shared_->state();
  FindingRing& ring = state.ring;
  if (ring.head.load() - ring.tail.load() > kRingSize)  // a dying child wrote over it
    ring.tail.store(ring.head.load());
  for (uint32_t at = ring.tail.load(); at != ring.head.load(); ring.tail.store(++at)) {
    const RawFinding& raw = ring.slots[at % kRingSize];
    if (symbolizer_ == nullptr)
      symbolizer_ =
          std::make_unique<Symbolizer>(std::span<const Module>(state.modules, ModuleCount(state)));
    auto seen = std::make_unique<Occurrence>();
    seen->record = MakeFindingRecord(raw, *symbolizer_, state.symbols);
    seen->raw = raw;
    Status recorded = Record(std::move(seen));
    if (!recorded.ok()) return recorded;
  }
  return Ok();
}

// Sites count every occurrence, also those that were not handed over.
Status FuzzRun::SaveSeen() {
  for (const auto& [site, bucket] : bucket_of_site_) {
    Status saved = db_.SetSeen(bucket, shared_->state().crash_sites[site].count.load());
    if (!saved.ok()) return saved;
  }
  return Ok();
}

Status FuzzRun::RecordDeath() {
  SharedState& state = shared_->state();
  const DeathInfo death{child_->wait_status(), child_->HsErr()};
  const auto time_ms = static_cast<uint64_t>(Seconds(Clock::now() - start_) * 1000);
  // Between walks nobody is to blame for sure; the sequence number says what was walked before.
  auto seen = std::make_unique<Occurrence>();
  seen->is_death = true;
  seen->has_request = state.journal.phase.load() == 1;
  seen->raw.request = SaneRequest(state.journal.request);
  seen->record = MakeDeathRecord(death, seen->has_request ? &seen->raw.request : nullptr,
                                 state.symbols, state.journal.sequence.load(), time_ms);
  seen->hs_err = death.hs_err_text;
  return Record(std::move(seen));
}

Result<bool> FuzzRun::AfterChild() {
  SharedState& state = shared_->state();
  Status drained = Drain();
  if (!drained.ok()) return drained.failure();
  const ChildPhase phase = state.phase.load();
  if (phase == ChildPhase::kUnable || phase == ChildPhase::kFailed) {
    std::string message = FieldText(state.message);
    const std::string output = child_->Output();
    if (!output.empty()) message += " | it printed: " + output.substr(0, 400);
    return phase == ChildPhase::kUnable ? Unable(message) : ToolFailed(message);
  }
  if (phase == ChildPhase::kDone) return false;
  state.job.first_walk = state.journal.sequence.load() + 1;
  if (phase == ChildPhase::kRetired) {
    retired_++;
  } else {
    died_++;
    if (state.journal.phase.load() == 1 || phase == ChildPhase::kRunning) {
      Status recorded = RecordDeath();
      if (!recorded.ok()) return recorded.failure();
    }
    // Not one walk between two deaths: this JVM does not get anywhere.
    const uint64_t walks = state.walks.load();
    died_early_ = walks == walks_at_death_ && state.journal.phase.load() != 1 ? died_early_ + 1 : 0;
    walks_at_death_ = walks;
    if (died_early_ >= kMostEarlyDeaths)
      return ToolFailed(
          "the child died " + std::to_string(died_early_) +
          " times before its first walk; it printed: " + child_->Output().substr(0, 600));
    if (phase < ChildPhase::kRunning && state.journal.phase.load() != 1)
      state.job.first_walk = state.journal.sequence.load();
  }
  return state.stop.load() == 0;
}

void FuzzRun::KillIfStuck() {
  SharedState& state = shared_->state();
  const uint64_t walks = state.walks.load() + state.pristine_walks.load();
  const ChildPhase phase = state.phase.load();
  const Clock::time_point now = Clock::now();
  if (walks != last_walks_ || phase != last_phase_) {
    last_walks_ = walks;
    last_phase_ = phase;
    last_moved_ = now;
  } else if (now - last_moved_ >
             std::max<Clock::duration>(kStuckAfter, 25 * milliseconds(plan_.hang_limit_ms))) {
    child_->Kill();  // the journal names what it was at
  }
}

Status FuzzRun::StepConfirmer() {
  if (confirmer_ == nullptr) return Ok();
  const int64_t id = confirmer_->Step();
  const Candidate* best = id == 0 ? nullptr : confirmer_->Best(id);
  if (best == nullptr) return Ok();
  Status saved = db_.SetConfirmed(id, best->reproduced, best->tries);
  if (!saved.ok()) return saved;
  BucketState& bucket = known_[id];
  bucket.confirmed = best->reproduced;
  bucket.tries = best->tries;
  return WriteFolder(bucket, *bucket.examples[best->example]);
}

void FuzzRun::Progress(bool confirming) {
  const Clock::time_point now = Clock::now();
  if (!on_progress || now - last_progress_ < kProgressEvery) return;
  last_progress_ = now;
  const double elapsed = Seconds(now - start_);
  uint64_t confirmed = 0;
  for (const auto& [id, bucket] : known_)
    if (bucket.tries > 0 && bucket.confirmed == bucket.tries) confirmed++;
  on_progress({&shared_->state(), elapsed,
               static_cast<double>(shared_->state().walks.load()) / elapsed, known_.size(),
               confirmed, newest_, confirming});
}

Status FuzzRun::Supervise(const std::atomic<bool>& interrupted) {
  SharedState& state = shared_->state();
  const Clock::time_point deadline =
      plan_.time.count() == 0 ? Clock::time_point::max()
                              : start_ + std::chrono::duration_cast<Clock::duration>(plan_.time);
  Clock::time_point asked_to_stop{};
  for (;;) {
    Status status = Drain();
    if (status.ok()) status = StepConfirmer();
    if (status.ok()) status = Save(false);
    if (!status.ok()) return status;
    if (child_->HasEnded()) {
      auto more = AfterChild();
      if (!more.ok()) return more.failure();
      if (!more.value()) return Ok();
      status = StartChild();
      if (!status.ok()) return status;
    }
    const Clock::time_point now = Clock::now();
    if (state.stop.load() == 0 && (now >= deadline || interrupted.load())) {
      state.stop.store(1);
      asked_to_stop = now;
    }
    // A child that is still setting up has nothing to lose.
    if (state.stop.load() != 0 &&
        (now - asked_to_stop > kStopWithin || state.phase.load() < ChildPhase::kRunning)) {
      child_->Kill();
      while (!child_->HasEnded()) std::this_thread::sleep_for(kTick);
      return Drain();
    }
    KillIfStuck();
    Progress(false);
    std::this_thread::sleep_for(kTick);
  }
}

Status FuzzRun::ConfirmRest(const std::atomic<bool>& interrupted) {
  if (confirmer_ == nullptr) return Ok();
  const Clock::time_point until = Clock::now() + kConfirmAfterEnd;
  while (!confirmer_->Idle() && Clock::now() < until && !interrupted.load()) {
    Status status = StepConfirmer();
    if (!status.ok()) return status;
    Progress(true);
    std::this_thread::sleep_for(kTick);
  }
  return Ok();
}

Status FuzzRun::Run(const std::atomic<bool>& interrupted) {
  auto shared = SharedMapping::Create();
  if (!shared.ok()) return shared.failure();
  shared_ = std::move(shared.value());
  start_ = last_saved_ = last_progress_ = Clock::now();
  Job& job = shared_->state().job;
  job.mode = ChildMode::kFuzz;
  job.walker = static_cast<uint8_t>(plan_.walker);
  job.seed = plan_.seed;
  job.max_walks = plan_.max_walks;
  job.scene_mask = plan_.scene_mask;
  job.hang_limit_ms = plan_.hang_limit_ms;
  if (plan_.confirm_times > 0) {
    ChildSetup replay = plan_.child;
    replay.aslr = true;  // what replays must not hang on addresses
    confirmer_ = std::make_unique<Confirmer>(replay, plan_.hang_limit_ms, plan_.confirm_times);
  }
  Status status = StartChild();
  if (status.ok()) status = Supervise(interrupted);
  child_.reset();
  const RunTotals totals = Totals();
  if (status.ok()) status = ConfirmRest(interrupted);
  Status saved = Save(true);
  if (status.ok()) status = saved;
  auto finished = db_.Finish(!status.ok()         ? RunStatus::kFailed
                             : interrupted.load() ? RunStatus::kInterrupted
                                                  : RunStatus::kCleanEnd,
                             totals, status.ok() ? "" : status.failure().message);
  if (!status.ok()) return status;
  return finished.ok() ? Ok() : Status(finished.failure());
}

}  // namespace walkhammer
