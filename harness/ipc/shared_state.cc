// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/shared_state.h"

#include <iterator>

namespace walkhammer {

const char* PcRegionWord(PcRegion region) {
  static constexpr const char* kWords[] = {"pristine", "shifted",   "nmethod",    "stub",
                                           "codelet",  "library",   "code-cache", "stack",
                                           "heap",     "metaspace", "unmapped",   "literal"};
  static_assert(std::size(kWords) == kPcRegions);
  return region < PcRegion::kCount ? kWords[static_cast<int>(region)] : "?";
}

void ForgetChild(SharedState& state) {
  state.journal.phase.store(Journal::kIdle);
  state.crashing.current.store(0);
  for (SceneReport& scene : state.scenes) scene.tried_by = 0;
  state.phase.store(ChildPhase::kStarting);
  state.message[0] = 0;
}

}  // namespace walkhammer
