// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/shared_state.h"

namespace walkhammer {

const char* PcRegionWord(PcRegion region) {
  switch (region) {
    case PcRegion::kPristine:
      return "pristine";
    case PcRegion::kShifted:
      return "shifted";
    case PcRegion::kNmethod:
      return "nmethod";
    case PcRegion::kStub:
      return "stub";
    case PcRegion::kCodelet:
      return "codelet";
    case PcRegion::kLibrary:
      return "library";
    case PcRegion::kCodeCache:
      return "code-cache";
    case PcRegion::kStack:
      return "stack";
    case PcRegion::kHeap:
      return "heap";
    case PcRegion::kMetaspace:
      return "metaspace";
    case PcRegion::kUnmapped:
      return "unmapped";
    case PcRegion::kLiteral:
      return "literal";
    case PcRegion::kCount:
      break;
  }
  return "?";
}

void ForgetChild(SharedState& state) {
  state.journal.phase.store(Journal::kIdle);
  state.crashing.current.store(0);
  for (SceneReport& scene : state.scenes) scene.tried_by = 0;
  state.phase.store(ChildPhase::kStarting);
  state.message[0] = 0;
}

}  // namespace walkhammer
