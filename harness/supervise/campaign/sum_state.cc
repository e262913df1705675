// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/sum_state.h"

#include <algorithm>
#include <cstring>

namespace walkhammer {
namespace {

void AddNumbers(const void* from, void* to, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
    static_cast<uint64_t*>(to)[i] += static_cast<const uint64_t*>(from)[i];
}

void AddCounts(const SharedState& state, SharedState& sum) {
  for (int w = 0; w < WalkerCount(state.job); w++) {
    AddNumbers(state.counts[w], sum.counts[w], sizeof sum.counts[w]);
    AddNumbers(state.walk_times[w], sum.walk_times[w], sizeof sum.walk_times[w]);
    AddNumbers(state.agreement[w], sum.agreement[w], sizeof sum.agreement[w]);
  }
}

void AddScenes(const SharedState& state, SharedState& sum) {
  for (int i = 0; i < kMaxScenes; i++) {
    const SceneReport& from = state.scenes[i];
    if (from.tried != 0 && (sum.scenes[i].tried == 0 || !from.pristine_true))
      sum.scenes[i] = from;  // the worse one, where workers differ
  }
}

void AddCoverage(const SharedState& state, SharedState& sum) {
  const uint32_t blocks = std::min(state.covered.blocks.load(), Covered::kMaxBlocks);
  sum.covered.blocks.store(std::max(sum.covered.blocks.load(), blocks));
  if (state.covered.reason[0] != 0)
    std::memcpy(sum.covered.reason, state.covered.reason, sizeof sum.covered.reason);
  for (uint32_t i = 0; i < blocks; i++) sum.covered.hit[i] |= state.covered.hit[i];
}

template <typename T>
void Add(const std::atomic<T>& from, std::atomic<T>& to) {
  to.store(to.load() + from.load());
}

}  // namespace

void SumStates(const std::vector<const SharedState*>& states, SharedState& sum) {
  for (std::atomic<uint64_t>* total :
       {&sum.walks, &sum.successful, &sum.pristine_walks, &sum.pristine_true,
        &sum.contained_crashes, &sum.request_hash, &sum.churn.collections, &sum.churn.java.rounds,
        &sum.churn.java.unloaded, &sum.dropped_findings, &sum.unknown_methods})
    total->store(0);
  for (int w = 0; w < WalkerCount(sum.job); w++) {  // beyond that nothing was counted
    std::memset(sum.counts[w], 0, sizeof sum.counts[w]);
    std::memset(sum.walk_times[w], 0, sizeof sum.walk_times[w]);
  }
  std::memset(sum.agreement, 0, sizeof sum.agreement);
  for (SceneReport& scene : sum.scenes) scene.tried = 0;
  sum.phase.store(ChildPhase::kFailed);
  for (const SharedState* state : states) {
    sum.job = state->job;
    sum.phase.store(std::min(sum.phase.load(), state->phase.load()));
    if (state->vm_gc[0] != 0) {
      std::memcpy(sum.vm_version, state->vm_version, sizeof sum.vm_version);
      std::memcpy(sum.vm_gc, state->vm_gc, sizeof sum.vm_gc);
    }
    Add(state->walks, sum.walks);
    Add(state->successful, sum.successful);
    Add(state->pristine_walks, sum.pristine_walks);
    Add(state->pristine_true, sum.pristine_true);
    Add(state->contained_crashes, sum.contained_crashes);
    Add(state->dropped_findings, sum.dropped_findings);
    Add(state->unknown_methods, sum.unknown_methods);
    Add(state->churn.collections, sum.churn.collections);
    Add(state->churn.java.rounds, sum.churn.java.rounds);
    Add(state->churn.java.unloaded, sum.churn.java.unloaded);
    sum.request_hash.store(sum.request_hash.load() ^ state->request_hash.load());
    AddCounts(*state, sum);
    AddScenes(*state, sum);
    AddCoverage(*state, sum);
  }
}

}  // namespace walkhammer
