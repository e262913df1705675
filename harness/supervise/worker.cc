// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/worker.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/findings/crash_error_text.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;

constexpr uint32_t kMostEarlyDeaths = 3;  // in a row, without a walk in between

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Create(ChildSetup setup, uint32_t hang_limit_ms,
                                               Clock::time_point run_start, Record record,
                                               const WorkerLimits& limits) {
  std::unique_ptr<Worker> worker(new Worker);
  ASSIGN_OR_RETURN(worker->shared_, SharedMapping::Create());
  worker->setup_ = std::move(setup);
  worker->hang_limit_ms_ = hang_limit_ms;
  worker->run_start_ = run_start;
  worker->record_ = std::move(record);
  worker->limits_ = limits;
  worker->pause_ = limits.retry_after;
  return worker;
}

uint64_t Worker::RunMs() const {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<milliseconds>(Clock::now() - run_start_).count());
}

Status Worker::Start() {
  ASSIGN_OR_RETURN(child_, ChildProcess::Start(*shared_, setup_));
  killed_ = knows_aslr_ = false;
  symbolizer_.reset();
  counts_.started++;
  last_moved_ = Clock::now();
  return Ok();
}

bool Worker::HasWalked() const {
  const SharedState& state = shared_->state();
  return state.walks.load() != 0 || state.journal.sequence.load() != 0;
}

Status Worker::TryAgain(const Failure& why) {
  child_.reset();
  if (!proven_ && !HasWalked()) return why;
  counts_.failed_starts++;
  why_not_started_ = why.message;
  retry_at_ = Clock::now() + pause_;
  pause_ = std::min<Clock::duration>(2 * pause_, limits_.retry_at_most);
  return Ok();
}

Result<bool> Worker::StartNext() {
  const Status started = Start();
  if (!started.ok()) RETURN_IF_ERROR(TryAgain(started.failure()));
  return true;
}

Status Worker::Drain() {
  FindingRing& ring = state().ring;
  const uint32_t head = ring.head.load();
  if (head - ring.tail.load() > kRingSize) {        // a dying child overwrote the counters
    state().dropped_findings.fetch_add(kRingSize);  // at most so many were in the ring
    ring.tail.store(head);
  }
  for (uint32_t at = ring.tail.load(); at != head; ring.tail.store(++at)) {
    const RawFinding& raw = ring.slots[at % kRingSize];
    if (symbolizer_ == nullptr)
      symbolizer_ = std::make_unique<Symbolizer>(
          std::span<const Module>(state().modules, ModuleCount(state())));
    auto seen = std::make_unique<Occurrence>();
    seen->record = MakeFindingRecord(raw, *symbolizer_, state().symbols, setup_.platform.arch);
    seen->raw = raw;
    NameWalkers(raw.request, state().job.walker, seen->record);
    seen->symbols = &state().symbols;
    ASSIGN_OR_RETURN(auto bucket, record_(std::move(seen)));
    bucket_of_site_[raw.site % kMaxCrashSites] = bucket;
  }
  return Ok();
}

// Takes the end of a child that the engine started. The engine waits with the successor until the
// end is acknowledged, since the successor overwrites the journal, the ring and the hs_err log: so
// read all of them first and acknowledge last.
Status Worker::TakeChildExit() {
  ChildExitMailbox& exits = state().exits;
  if (exits.acknowledged.load() == exits.posted.load()) return Ok();
  Status status = Drain();
  if (status.ok()) status = NoteEnd(exits.wait_status, exits.by_engine != 0);
  if (child_ != nullptr) child_->DropHsErr();
  symbolizer_.reset();
  counts_.started++;
  last_moved_ = Clock::now();
  exits.acknowledged.store(exits.posted.load());
  return status;
}

Status Worker::RecordDeath(const DeathInfo& death) {
  // A death between walks has no certain culprit; the sequence number says which walk came last.
  auto seen = std::make_unique<Occurrence>();
  seen->is_death = true;
  seen->has_request = state().journal.Blames();
  seen->raw.request = SaneRequest(state().journal.request);
  seen->symbols = &state().symbols;
  seen->record =
      MakeDeathRecord(death, seen->has_request ? &seen->raw.request : nullptr, state().symbols,
                      state().journal.sequence.load(), RunMs(), setup_.platform.arch);
  if (seen->has_request) NameWalkers(seen->raw.request, state().job.walker, seen->record);
  seen->hs_err = death.hs_err_text;
  auto bucket = record_(std::move(seen));
  return bucket.ok() ? Ok() : Status(bucket.failure());
}

Result<bool> Worker::AfterChild() {
  RETURN_IF_ERROR(Drain());  // again: Step() drained before it knew that the child had ended
  const ChildPhase phase = state().phase.load();
  if (phase == ChildPhase::kUnable || phase == ChildPhase::kFailed) {
    std::string message = FieldText(state().message);
    const std::string output = child_->Output(400);
    if (!output.empty()) message += " | it printed: " + output;
    MoveOn();
    RETURN_IF_ERROR(TryAgain(phase == ChildPhase::kUnable ? Unable(message) : ToolFailed(message)));
    return true;
  }
  const bool stop = state().stop.load() != 0;
  if (phase == ChildPhase::kDone || (stop && setup_.ask_to_stop != 0)) return false;
  const int wait_status = child_->wait_status();
  if (setup_.keeps_children && !killed_ && child_->KilledFromOutside(wait_status, false).empty()) {
    RETURN_IF_ERROR(TryAgain(
        ToolFailed("the engine ended of its own accord; it printed: " + child_->Output(600))));
    return true;
  }
  RETURN_IF_ERROR(NoteEnd(wait_status, killed_));
  return !stop;
}

namespace {

// The reason that HotSpot prints if its initialisation fails; empty if there is none.
std::string WhyNotStarted(const std::string& output) {
  constexpr std::string_view kWords = "Error occurred during initialization of VM\n";
  const size_t at = output.find(kWords);
  if (at == std::string::npos) return "";
  const size_t begin = at + kWords.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

}  // namespace

void Worker::NoteCrashingInput() {
  CrashingInputs& crashing = state().crashing;
  if (crashing.current.load() == 0) return;
  const uint32_t count = crashing.count.load();
  crashing.hashes[count % CrashingInputs::kMost] = crashing.current.load();
  crashing.count.store(count + 1);
}

// The successor goes on after the last walk. A child that ended before it walked moves nothing.
void Worker::MoveOn() {
  const uint64_t last = state().journal.sequence.load();
  const ChildPhase phase = state().phase.load();
  const bool walked = last != 0 || state().journal.Blames() || phase == ChildPhase::kRunning ||
                      phase == ChildPhase::kRetired;
  if (walked && last >= state().job.first_walk) state().job.first_walk = last + 1;
}

// Records the end of a child that was not asked to end: it retired, died, or somebody killed it.
Status Worker::NoteEnd(int wait_status, bool by_us) {
  const ChildPhase phase = state().phase.load();
  const bool blames = state().journal.Blames();
  MoveOn();
  if (phase == ChildPhase::kRetired) {
    NoteCrashingInput();
    counts_.retired++;
    return Ok();
  }
  const std::string killer = child_->KilledFromOutside(wait_status, by_us);
  if (!killer.empty()) {
    counts_.killed++;  // whatever it was walking is not to blame
    killer_ = killer;
  } else {
    NoteCrashingInput();
    counts_.died++;
    if (blames || phase == ChildPhase::kRunning)
      RETURN_IF_ERROR(RecordDeath(
          {wait_status, child_->HsErr(), state().journal.phase.load() == Journal::kWalked}));
  }
  if (const std::string why = WhyNotStarted(child_->Output()); !why.empty())
    return TryAgain(Unable(
        "this JVM does not start: " + why +
        " Is the JDK complete, with all of its modules? Check that its bin/java -version works"));
  // No walk between two deaths: this JVM makes no progress.
  const uint64_t walks = state().walks.load();
  const bool early = walks == walks_at_death_ && !blames;
  died_early_ = early ? died_early_ + 1 : 0;
  walks_at_death_ = walks;
  if (died_early_ < kMostEarlyDeaths) return Ok();
  const HsErrHead head = ParseHsErrHead(child_->HsErr());
  const std::string output = child_->Output(600);
  std::string why = fmt::format("the child died {} times before its first walk", died_early_);
  if (!killer.empty()) why += ", in the end from outside by " + killer;
  if (by_us)
    why += fmt::format(", in the end because it did nothing for {:.3g} s",
                       std::chrono::duration<double>(StuckAfter()).count());
  if (!head.error.empty()) why += "; its hs_err log says " + HsErrHeadText(head, true);
  if (!output.empty()) why += "; it printed: " + output;
  return TryAgain(ToolFailed(std::move(why)));
}

void Worker::NoteRunning() {
  if (state().walks.load() == walks_at_death_) return;
  pause_ = limits_.retry_after;
  knows_aslr_ = true;
  if (const auto off = child_->IsAslrOff()) aslr_off_ = *off && aslr_off_.value_or(true);
}

Worker::Clock::duration Worker::StuckAfter() const {
  return std::max<Clock::duration>(limits_.stuck_after, 25 * milliseconds(hang_limit_ms_));
}

void Worker::KillIfStuck() {
  const uint64_t walks = state().walks.load() + state().pristine_walks.load();
  const ChildPhase phase = state().phase.load();
  const Clock::time_point now = Clock::now();
  if (walks != last_walks_ || phase != last_phase_) {
    last_walks_ = walks;
    last_phase_ = phase;
    last_moved_ = now;
  } else if (now - last_moved_ > StuckAfter()) {
    child_->Kill();  // the journal names the walk, if one was under way
    killed_ = true;
  }
}

Status Worker::End() {
  ended_ = true;
  child_.reset();
  return Drain();
}

Result<bool> Worker::Step(bool stop, bool proven) {
  if (ended_) return false;
  proven_ = proven_ || proven;
  if (child_ == nullptr) {
    ended_ = stop;
    return !stop && Clock::now() >= retry_at_ ? StartNext() : !stop;
  }
  RETURN_IF_ERROR(Drain());
  RETURN_IF_ERROR(TakeChildExit());
  if (child_ == nullptr) return true;
  if (child_->HasEnded()) {
    ASSIGN_OR_RETURN(auto more, AfterChild());
    ended_ = !more;
    return more && child_ != nullptr ? StartNext() : more;
  }
  if (!knows_aslr_ && state().phase.load() == ChildPhase::kRunning) NoteRunning();
  const Clock::time_point now = Clock::now();
  if (stop && state().stop.load() == 0) {
    state().stop.store(1);
    asked_to_stop_ = now;
    if (setup_.ask_to_stop != 0) child_->Signal(setup_.ask_to_stop);
  }
  // A child that is still setting up has found nothing yet: kill it at once.
  if (state().stop.load() != 0 &&
      (now - asked_to_stop_ > limits_.stop_within ||
       (state().phase.load() < ChildPhase::kRunning && setup_.ask_to_stop == 0))) {
    if (state().phase.load() >= ChildPhase::kRunning) counts_.unstopped++;
    RETURN_IF_ERROR(End());
    return false;
  }
  KillIfStuck();
  return true;
}

}  // namespace walkhammer
