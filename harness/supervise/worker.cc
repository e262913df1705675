// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/worker.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kTick = milliseconds(10);
constexpr auto kStuckAfter = seconds(45);  // least time without phase change or walk
constexpr auto kStopWithin = seconds(10);  // from the request to stop to the kill
constexpr uint32_t kMostEarlyDeaths = 3;   // in a row, without a walk in between

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Create(ChildSetup setup, uint32_t hang_limit_ms,
                                               Clock::time_point run_start, Record record) {
  std::unique_ptr<Worker> worker(new Worker);
  ASSIGN_OR_RETURN(worker->shared_, SharedMapping::Create());
  worker->setup_ = std::move(setup);
  worker->hang_limit_ms_ = hang_limit_ms;
  worker->run_start_ = run_start;
  worker->record_ = std::move(record);
  return worker;
}

uint64_t Worker::RunMs() const {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<milliseconds>(Clock::now() - run_start_).count());
}

Status Worker::Start() {
  ASSIGN_OR_RETURN(child_, ChildProcess::Start(*shared_, setup_));
  killed_ = false;
  symbolizer_.reset();
  counts_.started++;
  last_moved_ = Clock::now();
  return Ok();
}

Status Worker::Drain() {
  FindingRing& ring = state().ring;
  if (ring.head.load() - ring.tail.load() > kRingSize)  // a dying child overwrote the counters
    ring.tail.store(ring.head.load());
  for (uint32_t at = ring.tail.load(); at != ring.head.load(); ring.tail.store(++at)) {
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
  if (status.ok()) status = NoteEnd(exits.wait_status);
  child_->DropHsErr();
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
    const std::string output = child_->Output();
    if (!output.empty()) message += " | it printed: " + output.substr(0, 400);
    return phase == ChildPhase::kUnable ? Unable(message) : ToolFailed(message);
  }
  const bool stop = state().stop.load() != 0;
  if (phase == ChildPhase::kDone || (stop && setup_.ask_to_stop != 0)) return false;
  if (setup_.keeps_children && !killed_) {
    const std::string output = child_->Output();  // its last lines say why
    return ToolFailed("the engine ended of its own accord; it printed: " +
                      output.substr(output.size() - std::min<size_t>(output.size(), 600)));
  }
  RETURN_IF_ERROR(NoteEnd(child_->wait_status()));
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

// Records the end of a child that was not asked to end: it retired, or it died.
Status Worker::NoteEnd(int wait_status) {
  const ChildPhase phase = state().phase.load();
  NoteCrashingInput();
  state().job.first_walk = state().journal.sequence.load() + 1;
  if (phase == ChildPhase::kRetired) {
    counts_.retired++;
    return Ok();
  }
  counts_.died++;
  if (state().journal.Blames() || phase == ChildPhase::kRunning) {
    Status recorded = RecordDeath(
        {wait_status, child_->HsErr(), state().journal.phase.load() == Journal::kWalked});
    if (!recorded.ok()) return recorded;
  }
  if (const std::string why = WhyNotStarted(child_->Output()); !why.empty())
    return Unable("this JVM does not start: " + why +
                  " Is the JDK whole, with all of its modules? Its bin/java -version tells");
  // No walk between two deaths: this JVM makes no progress.
  const uint64_t walks = state().walks.load();
  died_early_ = walks == walks_at_death_ && !state().journal.Blames() ? died_early_ + 1 : 0;
  walks_at_death_ = walks;
  if (died_early_ >= kMostEarlyDeaths)
    return ToolFailed(
        "the child died " + std::to_string(died_early_) +
        " times before its first walk; it printed: " + child_->Output().substr(0, 600));
  if (phase < ChildPhase::kRunning && !state().journal.Blames())
    state().job.first_walk = state().journal.sequence.load();
  return Ok();
}

void Worker::KillIfStuck() {
  const uint64_t walks = state().walks.load() + state().pristine_walks.load();
  const ChildPhase phase = state().phase.load();
  const Clock::time_point now = Clock::now();
  if (walks != last_walks_ || phase != last_phase_) {
    last_walks_ = walks;
    last_phase_ = phase;
    last_moved_ = now;
  } else if (now - last_moved_ >
             std::max<Clock::duration>(kStuckAfter, 25 * milliseconds(hang_limit_ms_))) {
    child_->Kill();  // the journal names the walk, if one was under way
    killed_ = true;
  }
}

Result<bool> Worker::Step(bool stop) {
  if (ended_) return false;
  Status status = Drain();
  if (status.ok()) status = TakeChildExit();
  if (!status.ok()) return status.failure();
  if (child_->HasEnded()) {
    ASSIGN_OR_RETURN(auto more, AfterChild());
    ended_ = !more;
    if (!ended_) status = Start();
    if (!status.ok()) return status.failure();
    return !ended_;
  }
  const Clock::time_point now = Clock::now();
  if (stop && state().stop.load() == 0) {
    state().stop.store(1);
    asked_to_stop_ = now;
    if (setup_.ask_to_stop != 0) child_->Signal(setup_.ask_to_stop);
  }
  // A child that is still setting up has found nothing yet: kill it at once.
  if (state().stop.load() != 0 &&
      (now - asked_to_stop_ > kStopWithin ||
       (state().phase.load() < ChildPhase::kRunning && setup_.ask_to_stop == 0))) {
    // Kill() does not wait. The child may write findings until its end, so drain after that.
    child_->Kill();
    while (!child_->HasEnded()) std::this_thread::sleep_for(kTick);
    ended_ = true;
    RETURN_IF_ERROR(Drain());
    return false;
  }
  KillIfStuck();
  return true;
}

}  // namespace walkhammer
