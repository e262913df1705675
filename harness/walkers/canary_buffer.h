// SPDX-License-Identifier: Apache-2.0
// CanaryBuffer: a frame buffer for walkers of type F, between canaries that reveal writes outside
// of the buffer. F must be aligned to 8 bytes. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_CANARY_BUFFER_H_
#define WALKHAMMER_HARNESS_WALKERS_CANARY_BUFFER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/request/walk_request.h"

namespace walkhammer {

template <typename F>
class CanaryBuffer {
 public:
  // Paints the canaries around the first `depth` frames, and returns these. Call it before each
  // walk. `depth`: at most WalkRequest::kMaxDepth. The newest frames of an earlier walk are
  // painted, too, so that no walk without frames passes them off as its own; all would cost 80 ns
  // at 30 frames. Memory that no walk reaches is never touched.
  F* Paint(int depth) {
    std::memcpy(static_cast<void*>(frames()), kPainted.data(), kNewest * sizeof(F));
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
  static constexpr int kNewest = 4;    // frames
  static constexpr size_t kWords = kCanaries * sizeof(F) / 8;

  static constexpr auto kPainted = [] {
    std::array<uint64_t, kWords> words{};
    words.fill(kCanary);
    return words;
  }();

  static void PaintAt(F* at) {
    std::memcpy(static_cast<void*>(at), kPainted.data(), sizeof kPainted);
  }
  static bool IntactAt(const F* at) {
    return std::memcmp(at, kPainted.data(), sizeof kPainted) == 0;
  }

  F buffer_[WalkRequest::kMaxDepth + 2 * kCanaries];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_CANARY_BUFFER_H_
