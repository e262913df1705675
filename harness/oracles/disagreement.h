// SPDX-License-Identifier: Apache-2.0
// Disagreement: how two walkers' answers to the same sample or request differ. The agreement oracle
// judges it for each sample and each request; reports count it. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ORACLES_DISAGREEMENT_H_
#define WALKHAMMER_HARNESS_ORACLES_DISAGREEMENT_H_

#include <cstdint>

#include "harness/base/trace.h"

namespace walkhammer {

// Also the agreement oracle's first outcomes, in this order. Append only: runs store the words.
enum class Disagreement : uint8_t {
  kNone,           // the same frames, or both failed
  kOneFailed,      // one answers frames, the other an error or no frame
  kTruncated,      // one goes on where the other ends
  kSkippedCaller,  // one leaves out one or several frames, then both go on alike
  kMethod,         // different methods
  kBci,            // the same methods, different bytecodes
  kLevel,          // different compile levels or frame types, where both walkers report them
  kUnnamed,        // one names a method, the other has a frame without a method there
  kCount
};
inline constexpr int kDisagreements = static_cast<int>(Disagreement::kCount);
const char* DisagreementWord(Disagreement kind);  // "none", "one-failed", "skipped-caller", ...

struct Difference {
  Disagreement kind = Disagreement::kNone;
  int frame = 0;  // index of the newest frame that differs; 0 is the newest of all
};

// True if two answers are counted: both walkers returned, with counts within their buffers of
// `depth` frames, and at least one walker returned frames.
bool CanCompare(const Trace& a, const Trace& b, int depth);

// Returns the most important difference: callers and methods, then truncation, missing names,
// bytecodes and levels. Both walkers must have returned, with counts within their buffers. An
// answer that ended on request is compared as far as it goes.
Difference Compare(const Trace& a, const Trace& b);

// True if `difference`, of Compare(a, b), is at a frame that one of the two called a guess: it is
// not evidence against the other.
bool IsAboutGuess(const Trace& a, const Trace& b, const Difference& difference);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_DISAGREEMENT_H_
