// SPDX-License-Identifier: Apache-2.0
// The walks of a WalkLine in which a load fails: see FailingLoads.
#include <algorithm>
#include <atomic>

#include "harness/child/walk_line.h"
#include "harness/oracles/oracle.h"

namespace walkhammer {
namespace {

constexpr int kMostMissed = 3;  // walks that do not come to the load that is to fail

}  // namespace

Result<uint32_t> WalkLine::CountLoads(ParkedScene& scene, const WalkRequest& request,
                                      uint64_t sequence) {
  turn_ = 0;
  shared_.journal.sequence.store(sequence, std::memory_order_relaxed);
  WriteJournal(request);
  Undo undo[WalkRequest::kMaxEdits];
  const Presented presented = ResolveAll(scene, request);
  const int edits = ApplyEdits(scene, request, undo);
  const Status traced = loads_->Trace(&context_, sizeof context_, [&] {
    tracing_ = true;
    CallWalker(scene, request, presented);
    tracing_ = false;
    TakeBackWrites(scene);
  });
  const bool returned = trace().ending == Ending::kReturned && trace().num_frames > 0;
  undisturbed_.assign(
      trace().frames,
      trace().frames + (returned ? std::min<int>(trace().num_frames, request.depth) : 0));
  for (int i = edits - 1; i >= 0; i--) *undo[i].slot = undo[i].word;
  shared_.journal.phase.store(Journal::kIdle, std::memory_order_release);
  if (!traced.ok()) return traced.failure();
  return loads_->count();
}

// A trap may be lost to another thread that runs the same instruction.
void WalkLine::CallFailing(ParkedScene& scene, const WalkRequest& request,
                           const Presented& presented) {
  for (int i = 0; i < kMostMissed; i++) {
    loads_->Arm(request.fault);
    CallWalker(scene, request, presented);
    loads_->Disarm();
    seen_.failed_load = loads_->failed_at();
    if (seen_.failed_load != 0 || trace().ending != Ending::kReturned) return;
  }
}

void WalkLine::CountFailed() {
  FailedLoads& counts = shared_.failed_loads;
  const Ending ending = trace().ending;
  std::atomic<uint64_t>& count = ending == Ending::kHung      ? counts.hung
                                 : ending == Ending::kCrashed ? counts.crashed
                                 : seen_.failed_load == 0     ? counts.missed
                                                              : counts.contained;
  count++;
}

bool WalkLine::RecoversWell(ParkedScene& scene, const WalkRequest& request, uint64_t sequence,
                            const Presented& presented) {
  const Fault failed = scene.guard.fault;  // what tells the place of the load
  char detail[sizeof RawFinding::detail] = "the walk after it crashed or hung";
  if ((scene.walked_truly >> turn_ & 1) == 0 ||
      StillWalksTruly(scene, request, detail, sizeof detail))
    return true;
  scene.guard.fault = failed;
  seen_.trace.ending = Ending::kReturned;
  const auto oracle = FindOracle(kFailingLoadOracleName) - AllOracles().data();
  Report(request, sequence, presented, static_cast<uint8_t>(oracle), kWrongNextWalk, detail);
  return StillWalksTruly(scene, request, detail, sizeof detail);
}

}  // namespace walkhammer
