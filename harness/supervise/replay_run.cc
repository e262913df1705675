// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/replay_run.h"

#include <fmt/format.h>

#include <thread>

#include "harness/request/scene_table.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

using std::chrono::steady_clock;

constexpr auto kMostTime = std::chrono::seconds(60);  // boot, scene and walk together

}  // namespace

Failure RefusedArch(const ReplayInput& input, const WalkFile& file, const Platform& platform) {
  return Unable(fmt::format("{} is a request for {}, and this JDK is for {}: name another by --jdk",
                            input.name, file.arch, platform.arch));
}

Result<std::unique_ptr<ReplayRun>> ReplayRun::Start(const ReplayInput& input,
                                                    const ChildSetup& setup, bool keep) {
  ASSIGN_OR_RETURN(auto shared, SharedMapping::Create());
  std::unique_ptr<ReplayRun> run(new ReplayRun(setup));
  run->shared_ = std::move(shared);
  SharedState& state = run->shared_->state();
  WalkFile file;
  std::string error = ParseText(input.text, input.name, state.symbols, file);
  if (!error.empty()) return BadInput(error);
  if (!file.arch.empty() && file.arch != setup.platform.arch)
    return RefusedArch(input, file, setup.platform);
  state.job.mode = ChildMode::kReplay;
  state.job.keep = keep ? 1 : 0;
  state.job.walker = file.request.walker;
  if (file.request.against != 0) {  // `against` walks first: `walker` is compared with it
    state.job.walker = static_cast<uint8_t>(file.request.against - 1);
    state.job.other_count = 1;
    state.job.others[0] = file.request.walker;
  }
  state.job.request = file.request;
  state.job.uncontained = input.uncontained ? 1 : 0;
  state.job.hang_limit_ms = input.hang_limit_ms;
  state.job.scene_mask = input.scenes | 1U << file.request.scene;
  // Other scenes that the request names must exist, too.
  for (uint32_t id = 0; id < state.symbols.size(); id++)
    if (state.symbols.at(id).kind == SymbolKind::kSceneStack)
      if (auto scene = FindScene(state.symbols.at(id).name)) state.job.scene_mask |= 1U << *scene;
  RETURN_IF_ERROR(run->Launch());
  return run;
}

Status ReplayRun::Launch() {
  SharedState& state = shared_->state();
  state.asked.store(1);
  state.answered.store(0);
  state.replay.stand_ins = 0;
  state.replay.unable = 0;
  state.journal.phase.store(Journal::kIdle);
  for (SceneReport& scene : state.scenes) scene.tried_by = 0;
  symbolizer_.reset();
  ASSIGN_OR_RETURN(child_, ChildProcess::Start(*shared_, setup_));
  deadline_ = steady_clock::now() + kMostTime;
  timed_out_ = false;
  return Ok();
}

std::unique_ptr<Result<ReplayOutcome>> ReplayRun::Poll() {
  SharedState& state = shared_->state();
  // A process that stays says when it has answered; a retired process is about to end: wait for
  // that.
  const bool answered = state.job.keep != 0 && state.answered.load() == state.asked.load() &&
                        state.phase.load() == ChildPhase::kRunning;
  if (!answered && !child_->HasEnded()) {
    if (steady_clock::now() < deadline_) return nullptr;
    // Kill() does not wait. Collect() reads the wait status and the last words of the child: they
    // are final only after its end.
    child_->Kill();
    while (!child_->HasEnded()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    timed_out_ = true;
  }
  return std::make_unique<Result<ReplayOutcome>>(Collect());
}

Result<ReplayOutcome> ReplayRun::Wait(const std::function<bool()>& give_up) {
  for (auto pause = std::chrono::microseconds(50);;) {
    if (auto outcome = Poll()) return std::move(*outcome);
    if (give_up && give_up()) {
      child_->Kill();
      return Unable("given up: no time left");
    }
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(2)) pause *= 2;
  }
}

Result<ReplayOutcome> ReplayRun::Walk(const WalkRequest& request,
                                      const std::function<bool()>& give_up) {
  SharedState& state = shared_->state();
  state.job.request = request;
  state.replay.done = 0;
  state.replay.unable = 0;
  if (child_->HasEnded() || state.phase.load() != ChildPhase::kRunning) {
    RETURN_IF_ERROR(Launch());
  } else {
    state.journal.phase.store(Journal::kIdle);
    deadline_ = steady_clock::now() + kMostTime;
    state.asked.fetch_add(1);
  }
  return Wait(give_up);
}

Result<ReplayOutcome> ReplayRun::WalkText(const std::string& text, const std::string& name,
                                          const std::function<bool()>& give_up) {
  WalkFile file;
  std::string error = ParseText(text, name, shared_->state().symbols, file);
  if (!error.empty()) return BadInput(error);
  return Walk(file.request, give_up);
}

Result<ReplayOutcome> ReplayRun::Collect() {
  SharedState& state = shared_->state();
  const ChildPhase phase = state.phase.load();
  if (phase == ChildPhase::kUnable || state.replay.unable != 0)
    return Unable(FieldText(state.message));
  if (phase == ChildPhase::kFailed) return ToolFailed(FieldText(state.message));
  if (symbolizer_ == nullptr)
    symbolizer_ =
        std::make_unique<Symbolizer>(std::span<const Module>(state.modules, ModuleCount(state)));
  ReplayOutcome outcome;
  outcome.stand_ins = state.replay.stand_ins;
  outcome.stand_in = FieldText(state.replay.stand_in);
  FindingRing& ring = state.ring;
  const uint32_t head = ring.head.load();
  const bool overwritten = head - ring.tail.load() > kRingSize;  // by a wild or dying child
  if (overwritten) ring.tail.store(head);
  for (uint32_t at = ring.tail.load(); at != head; ring.tail.store(++at))
    outcome.findings.push_back(MakeFindingRecord(ring.slots[at % kRingSize], *symbolizer_,
                                                 state.symbols, setup_.platform.arch));
  const bool at_work = phase == ChildPhase::kRunning && !child_->HasEnded();
  const bool ended_well =
      child_->ExitedCleanly() && (phase == ChildPhase::kDone || phase == ChildPhase::kRetired);
  outcome.returned = state.replay.done != 0;
  outcome.num_frames = state.replay.num_frames;
  outcome.frames = FieldText(state.replay.frame_text);
  if (overwritten && (at_work || ended_well))
    return ToolFailed("the child overwrote the list of its findings");
  if (at_work || ended_well) return outcome;
  if (const std::string killer = child_->KilledFromOutside(child_->wait_status(), timed_out_);
      !killer.empty()) {
    if (!outcome.findings.empty()) return outcome;
    return Unable("the child was killed from outside by " + killer);
  }
  if (!state.journal.Blames()) {
    const std::string output = child_->Output(500);
    return ToolFailed(std::string(timed_out_ ? "the child did not get to the walk within 60 s"
                                             : "the child died before the walk") +
                      (output.empty() ? "" : "; it printed: " + output));
  }
  outcome.hs_err = child_->HsErr();
  const DeathInfo death{child_->wait_status(), outcome.hs_err,
                        state.journal.phase.load() == Journal::kWalked};
  const WalkRequest killer = SaneRequest(state.journal.request);
  outcome.findings.push_back(MakeDeathRecord(
      death, &killer, state.symbols, state.journal.sequence.load(), 0, setup_.platform.arch));
  return outcome;
}

Result<ReplayOutcome> Replay(const ReplayInput& input, const ChildSetup& setup,
                             const std::function<bool()>& give_up) {
  ASSIGN_OR_RETURN(auto run, ReplayRun::Start(input, setup));
  return run->Wait(give_up);
}

}  // namespace walkhammer
