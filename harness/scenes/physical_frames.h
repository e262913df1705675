// SPDX-License-Identifier: Apache-2.0
// PhysicalFrame: where a frame of a parked scene is on its stack, found with vmStructs alone. The
// search trusts the stack of an undisturbed, parked thread, so it is not a walker to compare with:
// it finds for engines which slots hold links, return addresses and methods. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SCENES_PHYSICAL_FRAMES_H_
#define WALKHAMMER_HARNESS_SCENES_PHYSICAL_FRAMES_H_

#include <cstdint>
#include <vector>

#include "harness/jvm/live/boot.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

enum class PhysicalKind : uint8_t { kInterpreted, kCompiled, kStub, kEntry };

struct PhysicalFrame {
  PhysicalKind kind;
  uint64_t pc, sp, fp;    // registers while the frame is the top frame; fp 0 if unknown
  uint64_t return_slot;   // address of the word that holds the sender's pc
  uint64_t link_slot;     // address of the word that holds the sender's fp
  uint64_t end;           // first address above the frame
  uint64_t wrapper_slot;  // entry frames: address of the pointer to the JavaCallWrapper; else 0
  uint64_t anchor;        // entry frames: its JavaFrameAnchor's address; 0 if not on this stack
};

// Returns the frames, newest first. The list ends at the oldest entry frame, or earlier if the
// stack is not understood.
std::vector<PhysicalFrame> FindPhysicalFrames(const ParkedScene& scene, const Jvm& jvm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_PHYSICAL_FRAMES_H_
