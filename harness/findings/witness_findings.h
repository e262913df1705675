// SPDX-License-Identifier: Apache-2.0
// The findings of the oracle witness: what a cell's counts of testimonies say of its walkers.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_WITNESS_FINDINGS_H_
#define WALKHAMMER_HARNESS_FINDINGS_WITNESS_FINDINGS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/findings/finding_record.h"
#include "harness/ipc/stress_state.h"
#include "harness/oracles/testimony.h"

namespace walkhammer {

// How the answers of the job's first walker compare: " (10.2 % no-frame, 0.1 % callers)"; "" if all
// agree.
std::string WitnessShares(const StressState& state);

struct WitnessFinding {
  // Which of StressState::witnessed is too high.
  struct Count {
    int walker = 0;  // its place in the job
    Testimony testimony = Testimony::kAgrees;
    auto operator<=>(const Count&) const = default;
  };
  Count count;
  FindingRecord record;
};

// Answers of the job's walker at `place` that were compared with the witness's; those that compare
// like this.
uint64_t WitnessedAnswers(const StressState& state, int place);
uint64_t WitnessedAnswers(const StressState& state, WitnessFinding::Count count);

// A finding for each walker and each kind of difference that is more frequent than LimitOf allows,
// beyond chance and in most of the cell's seconds. None of a walker with fewer than
// kLeastTestimonies such answers. `job`: as it was given to the agent, which could overwrite that
// of `state`.
std::vector<WitnessFinding> WitnessFindings(const StressJob& job, const StressState& state);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_WITNESS_FINDINGS_H_
