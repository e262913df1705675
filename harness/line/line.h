// SPDX-License-Identifier: Apache-2.0
// The steps that synthetic walks and samples share, from the call of a walker to its findings: the
// guarded call, the verdict of the oracles, the choice of the findings to hand over, and the
// finding itself. Two callers use them: WalkLine of harness/child, which makes up what a walker is
// shown, and SampleLine of stress, which shows the interrupted program. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_LINE_LINE_H_
#define WALKHAMMER_HARNESS_LINE_LINE_H_

#include <bit>
#include <cstdint>
#include <span>

#include "harness/guard/guard.h"
#include "harness/ipc/line_state.h"
#include "harness/oracles/observation.h"
#include "harness/oracles/oracle.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

// Walks `input` with `walker`, contained: the guarded call clears `trace`, runs the walker and
// reads the clock before and after it, nothing else.
void CallGuarded(GuardSlot& guard, Walker& walker, const WalkInput& input, Trace& trace);
// Walks without the guard: the JVM's own handler gets a fault of the walker, and ends the JVM.
void CallUncontained(Walker& walker, const WalkInput& input, Trace& trace);

// Code slot in which the answer is counted: 0 to kCodeSlots - 1.
int CodeSlotOf(const Trace& trace);

// Asks the oracles but those of `without`, in which bit i stands for AllOracles()[i]. For each
// oracle that does not accept the walk, calls report(oracle, outcome, detail), where `oracle` is
// the oracle's index in AllOracles(). True if all that were asked accept the walk.
template <typename Report>
bool JudgeWalk(const Observation& seen, uint32_t without, Report report) {
  const std::span<const Oracle> oracles = AllOracles();
  bool accepted = true;
  for (uint32_t asked = OraclesFor(FactsOf(seen)) & ~without; asked != 0; asked &= asked - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(asked));
    char detail[sizeof RawFinding::detail];
    const uint8_t outcome = oracles[i].judge(seen, detail, sizeof detail);
    if (outcome == 0 || oracles[i].outcomes[outcome].grade == Grade::kAcceptable) continue;
    report(static_cast<uint8_t>(i), outcome, detail);
    accepted = false;
  }
  return accepted;
}

// Key of a finding's site, never 0: oracle, outcome, walker, and the place in the walker's code, if
// the finding has one. The key is the same in every process, despite ASLR:
// place = pc - bias of the pc's module. A pc in no module has its caller's place: a walker that
// jumps anywhere has one site, not thousands.
uint64_t SiteOf(const Observation& seen, uint8_t oracle, uint8_t outcome, uint64_t walker,
                const LineState& state);

// Counts one more finding of the site. Returns the site's index in crash_sites if the finding is to
// be handed over, else -1. The first few findings of a site are handed over, and some later
// findings, since not every input replays, and findings with a lower `rank` than all before, up to
// a bound. `rank`: the lower, the more real or the smaller the input. `all`: hand over all
// findings. If there is no room for the site, the finding counts as dropped.
int WantsReport(LineState& state, uint64_t site, uint64_t rank, bool all);

// Takes back what WantsReport counted as handed over if the ring has no room. The finding counts as
// dropped, and the next finding of the site is wanted.
void WasDropped(LineState& state, int site);

// Fills in the fields of `finding` that follow from the arguments; keeps the other fields.
void FillFinding(const Observation& seen, uint8_t oracle, uint8_t outcome, const char* detail,
                 RawFinding& finding);

// Writes the answer's first frames as RawFinding::frame_text. Returns how many frames.
int KeptFrames(const Observation& seen, char* text, size_t size);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_LINE_LINE_H_
