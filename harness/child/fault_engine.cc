// SPDX-License-Identifier: Apache-2.0
#include "harness/child/fault_engine.h"

#include <algorithm>

namespace walkhammer {
namespace {

constexpr uint64_t kPartShift = 32;

// A scene as its thread is in one state.
struct Part {
  ParkedScene& scene;
  uint64_t number;
  WalkRequest request;
};

Part PartOf(ParkedScene& scene, bool in_java, uint8_t walker) {
  Part part{scene, static_cast<uint64_t>(scene.index) * 2 + (in_java ? 0 : 1), {}};
  part.request.walker = walker;
  part.request.scene = static_cast<uint8_t>(scene.index);
  part.request.state = in_java ? kStateInJava : kStateInNative;
  part.request.anchor = in_java ? AnchorMode::kCleared : AnchorMode::kTrue;
  return part;
}

uint64_t SequenceOf(const Part& part, uint64_t load) { return part.number << kPartShift | load; }

// Fails the loads from `next` on, at most kWalksPerWindow of them, and sets `next` to the load
// after them. Returns false if this child must not go on.
Result<bool> FailSome(SharedState& shared, ChildEnvironment& environment, Part& part,
                      uint64_t& next, bool& done) {
  part.request.fault = 0;
  ASSIGN_OR_RETURN(const uint32_t loads,
                   environment.line->CountLoads(part.scene, part.request, SequenceOf(part, next)));
  if (next == 1) {
    shared.failed_loads.loads.fetch_add(loads);
    if (!environment.loads->complete()) shared.failed_loads.unseen.fetch_add(1);
  }
  const uint64_t end = std::min<uint64_t>(loads + 1, next + kWalksPerWindow);
  for (; next < end; next++) {
    if (shared.stop.load() != 0) return false;
    part.request.fault = static_cast<uint32_t>(next);
    if (environment.line->Walk(part.scene, part.request, SequenceOf(part, next))) continue;
    shared.phase.store(ChildPhase::kRetired);
    return false;
  }
  done = next > loads;
  return true;
}

Result<bool> FailAll(SharedState& shared, ChildEnvironment& environment, Part part, uint64_t next) {
  for (bool done = false; !done;) {
    Result<bool> goes_on = true;
    environment.LetJvmRun();
    const bool ran = environment.stage->Run(
        part.scene, [&] { goes_on = FailSome(shared, environment, part, next, done); });
    if (!ran) return ToolFailed("the JVM refused to stop at a safepoint");
    if (!goes_on.ok() || !goes_on.value()) return goes_on;
  }
  shared.failed_loads.finished.fetch_add(1);
  // Damage done by walks must show here, not in a user's JVM.
  environment.jvm->jvmti()->ForceGarbageCollection();
  return true;
}

}  // namespace

Status FailEachLoad(SharedState& shared, ChildEnvironment& environment) {
  const std::vector<ParkedScene*> scenes = environment.stage->All();
  if (scenes.empty()) return Unable("none of the scenes asked for is available in this JVM");
  RETURN_IF_ERROR(environment.PrepareLoads());
  const Job& job = shared.job;
  const uint64_t workers = std::max<uint64_t>(job.workers, 1);
  const uint64_t first = job.first_walk >> kPartShift;
  for (ParkedScene* scene : scenes)
    for (const bool in_java : {true, false}) {
      const Part part = PartOf(*scene, in_java, job.walker);
      if (part.number < first || part.number % workers != job.worker % workers) continue;
      const uint64_t load = job.first_walk - SequenceOf(part, 0);
      const uint64_t next = part.number == first ? std::max<uint64_t>(load, 1) : 1;
      ASSIGN_OR_RETURN(const bool goes_on, FailAll(shared, environment, part, next));
      if (!goes_on) return Ok();
    }
  return Ok();
}

}  // namespace walkhammer
