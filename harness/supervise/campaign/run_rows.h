// SPDX-License-Identifier: Apache-2.0
// What a campaign writes into run.db of its workers: their sums, notes of what came from outside,
// what was left out and what was in force, and the block map of the walker's code. Pure.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_RUN_ROWS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_RUN_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/coverage/walker_code.h"
#include "harness/ipc/shared_state.h"
#include "harness/store/run_writer.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// What all workers of a run have met so far.
struct WorkerFacts {
  uint64_t killed = 0;           // children, from outside
  std::string killer;            // of the last of these
  uint64_t oom_kills = 0;        // during the run, in our memory control group
  uint64_t unstopped = 0;        // children that did not end when they were asked to
  uint64_t failed_starts = 0;    // of children, after others had walked
  std::string why_not_started;   // the last of these
  uint64_t unwalked = 0;         // replays that could not be walked
  std::string why_unwalked;      // the last of these
  bool wants_aslr_off = true;    // false: the user keeps address randomisation
  std::optional<bool> aslr_off;  // in all children, as the kernel tells; empty: not known yet
};

std::vector<NoteRow> NotesOf(const WorkerFacts& facts);

// What the walk lines had to leave out. `sum`: of all workers, see SumStates. Empty if nothing was
// left out.
std::vector<NoteRow> LineNotes(const SharedState& sum);

// Sums the states of several workers: adds counts, unites scenes and blocks. Overwrites phase, VM,
// walks, counts and scenes of `sum`, and adds the workers' blocks to its coverage. The phase is the
// lowest ChildPhase of all workers.
void SumStates(const std::vector<const SharedState*>& states, SharedState& sum);

// The rows for RunWriter::SetCoverage, with no block entered yet. Reads the build id from the
// code's file.
CoverageRows RowsOf(const WalkerCode& code);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_RUN_ROWS_H_
