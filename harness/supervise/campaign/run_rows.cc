// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/run_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/elf/elf_file.h"
#include "harness/oracles/oracle.h"
#include "harness/supervise/confirmer.h"

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

// The totals of a state that are sums over workers.
template <typename State>
auto SummedTotals(State& state) {
  return std::array{&state.walks,
                    &state.successful,
                    &state.pristine_walks,
                    &state.walking_cpu_ns,
                    &state.pristine_true,
                    &state.contained_crashes,
                    &state.dropped_findings,
                    &state.unknown_methods,
                    &state.churn.collections,
                    &state.churn.java.rounds,
                    &state.churn.java.unloaded,
                    &state.failed_loads.loads,
                    &state.failed_loads.contained,
                    &state.failed_loads.crashed,
                    &state.failed_loads.hung,
                    &state.failed_loads.missed,
                    &state.failed_loads.unseen,
                    &state.failed_loads.finished};
}

// Stored in runs, so never renamed.
const char* ReachWord(Reach reach) {
  switch (reach) {
    case Reach::kRoot:
      return "root";
    case Reach::kDirect:
      return "direct";
    case Reach::kVtable:
      return "vtable";
  }
  return "direct";
}

}  // namespace

std::vector<NoteRow> NotesOf(const WorkerFacts& facts) {
  std::vector<NoteRow> notes;
  const auto note = [&](NoteKind kind, const char* name, uint64_t count, std::string detail) {
    notes.push_back({kNoCell, kind, name, count, std::move(detail)});
  };
  if (facts.killed > 0)
    note(
        NoteKind::kIncident, "killed from outside", facts.killed,
        facts.oom_kills > 0
            ? fmt::format("the memory was full: the kernel's OOM killer ended {} processes of this "
                          "control group during the run",
                          facts.oom_kills)
            : "by " + facts.killer + "; what was walked is not to blame");
  if (facts.unstopped > 0)
    note(NoteKind::kIncident, "child stood still", facts.unstopped,
         "it did not end when it was asked to, and was killed: somebody may have stopped it, and "
         "its walks stop there");
  if (facts.failed_starts > 0)
    note(NoteKind::kIncident, "child not started", facts.failed_starts, facts.why_not_started);
  if (facts.unwalked > 0) notes.push_back(UnwalkedNote(facts.unwalked, facts.why_unwalked));
  if (facts.wants_aslr_off && facts.aslr_off.has_value())
    note(*facts.aslr_off ? NoteKind::kInForce : NoteKind::kNotInForce, "fixed addresses", 0,
         *facts.aslr_off ? ""
                         : "address randomisation cannot be switched off here, so another run with "
                           "this seed meets other addresses");
  return notes;
}

std::vector<NoteRow> LineNotes(const SharedState& sum) {
  std::vector<NoteRow> notes;
  for (const std::string_view oracle : OracleNames(sum.job.without))
    notes.push_back({kNoCell, NoteKind::kNotInForce, fmt::format("oracle {}", oracle), 0,
                     "--without-oracle: nothing that it would find was looked for"});
  if (const uint64_t dropped = sum.dropped_findings.load(); dropped > 0)
    notes.push_back(
        {kNoCell, NoteKind::kDropped, "findings", dropped,
         "a child had no room for them, the parent took them too slowly, or a dying child "
         "overwrote the list of up to 64"});
  if (const uint64_t unknown = sum.unknown_methods.load(); unknown > 0)
    notes.push_back({kNoCell, NoteKind::kNotInForce, "oracle method-id", 0,
                     fmt::format("{} methods found no room in the table of methods, so a method id "
                                 "that it does not hold proves nothing",
                                 unknown)});
  return notes;
}

void SumStates(const std::vector<const SharedState*>& states, SharedState& sum) {
  const auto totals = SummedTotals(sum);
  for (auto* total : totals) total->store(0);
  sum.request_hash.store(0);
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
    const auto more = SummedTotals(*state);
    for (size_t i = 0; i < totals.size(); i++)
      totals[i]->store(totals[i]->load() + more[i]->load());
    sum.request_hash.store(sum.request_hash.load() ^ state->request_hash.load());
    AddCounts(*state, sum);
    AddScenes(*state, sum);
    AddCoverage(*state, sum);
  }
}

CoverageRows RowsOf(const WalkerCode& code) {
  CoverageRows rows;
  rows.file = code.path;
  rows.build_id = BuildIdOf(code.path);
  for (const BlockFunction& function : code.map.functions)
    rows.functions.push_back({function.name, function.address, function.size,
                              ReachWord(function.reach), function.first_block,
                              function.block_count});
  for (const Block& block : code.map.blocks)
    rows.blocks.push_back({block.address, block.size, block.function, {}});
  for (const LeftOut& out : code.map.left_out) rows.left_out.push_back({out.name, out.reason});
  return rows;
}

}  // namespace walkhammer
