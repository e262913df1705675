#include "harness/supervise/replay_run.h"

#include <algorithm>
#include <thread>

#include "harness/request/text_form.h"
#include "harness/scenes/scene_table.h"

namespace walkhammer {
namespace {

using std::chrono::steady_clock;

constexpr auto kMostTime = std::chrono::seconds(60);  // boot, scene and walk together

}  // namespace

Result<std::unique_ptr<ReplayRun>> ReplayRun::Start(const ReplayInput& input,
                                                    const ChildSetup& setup) {
  auto shared = SharedMapping::Create();
  if (!shared.ok()) return shared.failure();
  std::unique_ptr<ReplayRun> run(new ReplayRun);
  run->shared_ = std::move(shared.value());
  SharedState& state = run->shared_->state();
  WalkFile file;
  std::string error = ParseText(input.text, input.name, state.symbols, file);
  if (!error.empty()) return BadInput(error);
  state.job.mode = ChildMode::kReplay;
  state.job.walker = file.request.walker;
  state.job.request = file.request;
  state.job.hang_limit_ms = input.hang_limit_ms;
  state.job.scene_mask = 1U << file.request.scene;
  // Other scenes that the request names must exist, too.
  for (uint32_t id = 0; id < state.symbols.size(); id++)
    if (state.symbols.at(id).kind == SymbolKind::kSceneStack)
      if (auto scene = FindScene(state.symbols.at(id).name)) state.job.scene_mask |= 1U << *scene;
  auto child = ChildProcess::Start(*run->shared_, setup);
  if (!child.ok()) return child.failure();
  run->child_ = std::move(child.value());
  run->deadline_ = steady_clock::now() + kMostTime;
  return run;
}

std::unique_ptr<Result<ReplayOutcome>> ReplayRun::Poll() {
  if (!child_->HasEnded()) {
    if (steady_clock::now() < deadline_) return nullptr;
    child_->Kill();
    while (!child_->HasEnded()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    timed_out_ = true;
  }
  return std::make_unique<Result<ReplayOutcome>>(Collect());
}

Result<ReplayOutcome> ReplayRun::Collect() {
  SharedState& state = shared_->state();
  const ChildPhase phase = state.phase.load();
  if (phase == ChildPhase::kUnable) return Unable(FieldText(state.message));
  if (phase == ChildPhase::kFailed) return ToolFailed(FieldText(state.message));
  Symbolizer symbolizer({state.modules, ModuleCount(state)});
  ReplayOutcome outcome;
  const uint32_t head = std::min<uint32_t>(state.ring.head.load(), kRingSize);
  for (uint32_t at = state.ring.tail.load(); at != head; at++)
    outcome.findings.push_back(
        MakeFindingRecord(state.ring.slots[at % kRingSize], symbolizer, state.symbols));
  if (child_->ExitedCleanly() && (phase == ChildPhase::kDone || phase == ChildPhase::kRetired)) {
    outcome.returned = state.replay.done != 0;
    outcome.num_frames = state.replay.num_frames;
    outcome.frames = FieldText(state.replay.frame_text);
    return outcome;
  }
  if (state.journal.phase.load() != 1)
    return ToolFailed((timed_out_ ? "the child did not get to the walk within 60 s"
                                  : "the child died before the walk") +
                      std::string(child_->Output().empty() ? "" : "; it printed: ") +
                      child_->Output().substr(0, 500));
  const DeathInfo death{child_->wait_status(), child_->HsErr()};
  const WalkRequest killer = SaneRequest(state.journal.request);
  outcome.findings.push_back(
      MakeDeathRecord(death, &killer, state.symbols, state.journal.sequence.load(), 0));
  return outcome;
}

Result<ReplayOutcome> Replay(const ReplayInput& input, const ChildSetup& setup) {
  auto run = ReplayRun::Start(input, setup);
  if (!run.ok()) return run.failure();
  for (;;) {
    if (auto outcome = run.value()->Poll()) return std::move(*outcome);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace walkhammer
