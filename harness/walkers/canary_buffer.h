// SPDX-License-Identifier: Apache-2.0
// CanaryBuffer: a frame buffer for walkers of type F, between canaries that reveal writes outside
// of the buffer. F must be aligned to 8 bytes. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_CANARY_BUFFER_H_
#define WALKHAMMER_HARNESS_WALKERS_CANARY_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "harness/request/walk_request.h"

namespace walkhammer {

template <typename F>
class CanaryBuffer {
 public:
  // Paints the canaries around the first `depth` frames, and returns these. Call it before each
  // walk. `depth`: at most WalkRequest::kMaxDepth. The frames are not painted, so that memory that
  // no walk reaches is never touched.
  F* Paint(int depth) {
    PaintAt(buffer_);
    PaintAt(frames() + depth);
    return frames();
  }
  // True if no canary has changed since Paint(depth).
  bool Intact(int depth) const {
    return IntactAt(buffer_) && IntactAt(buffer_ + kCanaries + depth);
  }
  F* frames() { return buffer_ + kCanaries; }
  const F* frames() const { return buffer_ + kCanaries; }

 private:
  static constexpr uint64_t kCanary = 0xcafe0dd5ba11ad5e;
  static constexpr int kCanaries = 8;  // frames, below and above the buffer
  static constexpr size_t kWords = kCanaries * sizeof(F) / 8;

  static void PaintAt(F* at) {
    auto* words = reinterpret_cast<uint64_t*>(at);
    for (size_t i = 0; i < kWords; i++) words[i] = kCanary;
  }
  static bool IntactAt(const F* at) {
    const auto* words = reinterpret_cast<const uint64_t*>(at);
    uint64_t changed = 0;
    for (size_t i = 0; i < kWords; i++) changed |= words[i] ^ kCanary;
    return changed == 0;
  }

  F buffer_[WalkRequest::kMaxDepth + 2 * kCanaries];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_CANARY_BUFFER_H_
