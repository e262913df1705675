// SPDX-License-Identifier: Apache-2.0
// PhysicalFrames: where the frames of a parked scene lie on its stack, found with vmStructs alone.
// It trusts the stack (an undisturbed, parked thread), so it is no walker to compare with: it
// tells engines which slots hold links, return addresses and methods.
// Signal-safe: no.
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
  uint64_t pc, sp, fp;    // registers while it is the top frame; fp 0 where unknown
  uint64_t return_slot;   // address of the word that holds the sender's pc
  uint64_t link_slot;     // address of the word that holds the sender's fp
  uint64_t end;           // first address above the frame
  uint64_t wrapper_slot;  // entry frames: of the word that points at the JavaCallWrapper; else 0
  uint64_t anchor;        // entry frames: the JavaFrameAnchor in it; 0 where not on this stack
};

// Newest first. Ends at the oldest entry frame, or earlier where the stack is not understood.
std::vector<PhysicalFrame> FindPhysicalFrames(const ParkedScene& scene, const Jvm& jvm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_PHYSICAL_FRAMES_H_
