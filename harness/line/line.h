// SPDX-License-Identifier: Apache-2.0
// What synthetic walks and samples have in common, from the call of a walker to what is reported of
// it: the guarded call, the verdict of the oracles, the choice of what is handed over, the finding.
// Two feeds come here: WalkLine of harness/child, which makes what is shown, and SampleLine of
// stress, which finds it. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_LINE_LINE_H_
#define WALKHAMMER_HARNESS_LINE_LINE_H_

#include <cstdint>
#include <span>

#include "harness/guard/guard.h"
#include "harness/oracles/observation.h"
#include "harness/oracles/oracle.h"
#include "harness/shared/line_state.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

// `walker` on `input`, contained. From here to its return nothing else runs.
Trace CallGuarded(GuardSlot& guard, Walker& walker, const WalkInput& input);

// Which of the code slots of the counts an answer belongs to.
int CodeSlotOf(const Trace& trace);

// Asks all oracles. What one of them does not accept goes to report(oracle, outcome, detail), where
// `oracle` is its index in the table. True if all accept.
template <typename Report>
bool JudgeWalk(const Observation& seen, Report report) {
  const std::span<const Oracle> oracles = AllOracles();
  bool accepted = true;
  for (size_t i = 0; i < oracles.size(); i++) {
    char detail[sizeof RawFinding::detail];
    const uint8_t outcome = oracles[i].judge(seen, detail, sizeof detail);
    if (outcome == 0 || oracles[i].outcomes[outcome].grade == Grade::kAcceptable) continue;
    report(static_cast<uint8_t>(i), outcome, detail);
    accepted = false;
  }
  return accepted;
}

// Names the site of a finding: a place in the walker's code; other findings have one for each
// oracle and outcome. The same in every process, whatever ASLR does. Each walker has its own.
uint64_t SiteOf(const Observation& seen, uint8_t oracle, uint8_t outcome, uint64_t walker,
                const LineState& state);

// Counts one more finding of the site. Its index in crash_sites if the finding is to be handed
// over, else -1. The first few of a site are, and some later ones, since not every input replays.
// `rank`: of what is more real or smaller, less; what has a lower one than all before is handed
// over, too. `all`: all are. A site that finds no place counts as a dropped finding.
int WantsReport(LineState& state, uint64_t site, uint64_t rank, bool all);

// Fills in what the observation tells; the rest of `finding` stays as it is.
void FillFinding(const Observation& seen, uint8_t oracle, uint8_t outcome, const char* detail,
                 RawFinding& finding);

// The first frames of an answer, as RawFinding::frame_text. Returns how many.
int KeptFrames(const Observation& seen, char* text, size_t size);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_LINE_LINE_H_
