// SPDX-License-Identifier: Apache-2.0
// Testimony: how a walker's answer to a sample compares with that of the run's witness, another
// walker that was asked the same. One answer proves nothing, as either may be wrong; the share of
// all answers does: see LimitOf. Signal-safe: TestimonyOn yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ORACLES_TESTIMONY_H_
#define WALKHAMMER_HARNESS_ORACLES_TESTIMONY_H_

#include <cstdint>
#include <optional>

#include "harness/base/trace.h"

namespace walkhammer {

// Also the outcomes of the oracle "witness", in this order.
enum class Testimony : uint8_t {
  kAgrees,    // the same, or a difference that walkers without a bug often have
  kNoFrame,   // the walker has no frame, whatever its code, and the witness has some
  kNewest,    // the newest frame is of a method that the witness has nowhere near
  kCallers,   // other callers, or some are missing in between
  kCutOff,    // the walker's frames end where the witness goes on
  kByteCode,  // the same methods, and a caller at another bytecode, see CallerDiffers
  kCount
};
inline constexpr int kTestimonies = static_cast<int>(Testimony::kCount);

inline constexpr uint64_t kLeastTestimonies = 100;  // without them, a walker is not judged
inline constexpr int kWitnessSlices = 16;  // parts of a cell's time, each with shares of its own

// nullopt: the witness has no frames, called a frame that matters a guess, or the walker did not
// return or returned more than `depth` frames, which other oracles judge.
std::optional<Testimony> TestimonyOn(const Trace& answer, const Trace& witness, int depth);

// The share of a walker's answers, in percent, up to which they may compare like this; above it,
// the walker is wrong.
double LimitOf(Testimony testimony);
// What the walker does, as part of a sentence: "ends before the outermost frames of".
const char* TestimonyWords(Testimony testimony);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_TESTIMONY_H_
