// SPDX-License-Identifier: Apache-2.0
// The table of stepped instructions, StressState::pcs, by address. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEPPED_PCS_H_
#define WALKHAMMER_STRESS_STEPPED_PCS_H_

#include <cstdint>

#include "harness/base/hash.h"
#include "harness/ipc/stress_state.h"

namespace walkhammer::stress {

// The entry of `pc`. If there is none: with `adds` a new one, else null. Null also if the table is
// full. One thread at a time may add. Neighbouring instructions have neighbouring places, which
// spares most cache misses.
inline SteppedPc* SteppedPcAt(StressState& state, uint64_t pc, bool adds) {
  constexpr uint32_t kMostProbes = 256;
  constexpr uint64_t kBlock = 64, kPlacesOfBlock = 16;
  const uint64_t hash =
      PlaceOf(pc / kBlock, 32) * kPlacesOfBlock + pc % kBlock / (kBlock / kPlacesOfBlock);
  for (uint32_t probe = 0; probe < kMostProbes; probe++) {
    SteppedPc& place = state.pcs[(hash + probe) % StressState::kMaxPcs];
    uint64_t there = place.pc.load(std::memory_order_relaxed);
    if (there == pc) return &place;
    if (there != 0) continue;
    if (!adds) return nullptr;
    place.pc.store(pc);
    return &place;
  }
  return nullptr;
}

// Notes that other code is in [begin, end) from now on, so that what was seen there until now is no
// longer true.
inline void OutdateSteppedPcs(StressState& state, uint64_t begin, uint64_t end) {
  for (uint64_t pc = begin; pc < end; pc++)
    if (SteppedPc* place = SteppedPcAt(state, pc, false)) place->outdated.store(true);
}

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEPPED_PCS_H_
