// SPDX-License-Identifier: Apache-2.0
// Feedback: the counters by which a walk guides a fuzz engine: the blocks that the walk entered
// (written by TrapCoverage), and the walk's shape, because two walks through the same blocks may
// end quite differently. Signal-safe: yes.
#ifndef WALKHAMMER_FUZZERS_FEEDBACK_H_
#define WALKHAMMER_FUZZERS_FEEDBACK_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/trace.h"
#include "harness/oracles/disagreement.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

class Feedback {
 public:
  // Engines clear and read all counters around each walk: 16 KiB would cost a tenth of the
  // throughput.
  static constexpr size_t kBlocks = 2048;  // block i has counter i % kBlocks
  static constexpr size_t kShapes = 2048;
  static constexpr size_t kSize = kBlocks + kShapes;

  // `counters`: kSize bytes, which the engine clears before each walk.
  explicit Feedback(uint8_t* counters) : counters_(counters) {}

  std::span<uint8_t> blocks() const { return {counters_, kBlocks}; }
  // Sets the counter of the walk's shape. `differed`: how the answers of several walkers differed;
  // kNone for a single walker.
  void NoteShape(const WalkRequest& request, const Trace& trace, const Fault& fault,
                 Disagreement differed) const;

 private:
  uint8_t* counters_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_FEEDBACK_H_
