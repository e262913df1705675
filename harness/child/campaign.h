// SPDX-License-Identifier: Apache-2.0
// What a child does: boot, set scenes up, and walk as its job says. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_CAMPAIGN_H_
#define WALKHAMMER_HARNESS_CHILD_CAMPAIGN_H_

#include <memory>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/child/churn.h"
#include "harness/child/method_keeper.h"
#include "harness/child/walk_line.h"
#include "harness/coverage/failing_loads.h"
#include "harness/coverage/trap_coverage.h"
#include "harness/ipc/answers.h"
#include "harness/ipc/shared_state.h"
#include "harness/jvm/live/boot.h"
#include "harness/layout_check/layout_check.h"
#include "harness/scenes/address_map.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

// Windows from one forced garbage collection to the next, for all engines. Collections show damage
// done by walks.
inline constexpr uint64_t kWindowsPerCollection = 256;

// The JVM, its scenes and the walk line, ready to walk.
struct ChildEnvironment {
  Jvm* jvm = nullptr;
  SceneStage* stage = nullptr;
  std::vector<LayoutFact> layout;
  std::unique_ptr<AddressMap> address_map;
  std::vector<std::unique_ptr<Walker>> walkers;  // by their place in the job
  std::unique_ptr<WalkLine> line;
  Answers answers;
  std::unique_ptr<TrapCoverage> coverage;  // null: not wanted, or not available
  std::unique_ptr<FailingLoads> loads;     // null: not wanted yet
  std::unique_ptr<Churn> churn;            // null: not wanted
  std::unique_ptr<MethodKeeper> methods;

  // Before each window: what must be done while the JVM runs.
  void LetJvmRun();

  // Lets `line` walk requests with a `fault`, if it does not yet. Fails as FailingLoads::Prepare.
  Status PrepareLoads();

  // Does everything up to the first request, undisturbed walks included, and reports it in
  // `shared`. The calling thread becomes the JVM's main thread. `run_counters`: see
  // TrapCoverage::Sinks::run.
  static Result<ChildEnvironment> SetUp(SharedState& shared, std::span<uint8_t> run_counters = {});
};

// Option bits that all walkers of the job know: an option that only one of them obeys would make
// answers differ. All bits are set if the job has one walker.
uint32_t SharedOptions(const Job& job);

// Stores in `shared` why this child cannot go on: message, and phase kUnable or kFailed.
void EndWith(SharedState& shared, const Failure& failure);

// Runs shared.job to its end; stores the phase and, after a failure, the message in `shared`.
void RunCampaign(SharedState& shared);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_CAMPAIGN_H_
