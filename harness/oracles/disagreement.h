// SPDX-License-Identifier: Apache-2.0
// Disagreement: how two walkers' answers differ that were shown the same. Told by the agreement
// oracle for each sample and each request, and counted for reports. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ORACLES_DISAGREEMENT_H_
#define WALKHAMMER_HARNESS_ORACLES_DISAGREEMENT_H_

#include <cstdint>

#include "harness/base/trace.h"

namespace walkhammer {

// Also the outcomes of the agreement oracle, in this order. Append only: runs hold the words.
enum class Disagreement : uint8_t {
  kNone,           // the same frames, or both failed
  kOneFailed,      // frames of one, an error or no frame of the other
  kTruncated,      // one goes on where the other ends
  kSkippedCaller,  // one leaves out a frame or several, and goes on alike
  kMethod,         // another method
  kBci,            // the same methods, another byte code
  kLevel,          // another compile level or frame type, where both walkers tell them
  kUnnamed,        // where one names a method the other has a frame without one
  kCount
};
inline constexpr int kDisagreements = static_cast<int>(Disagreement::kCount);
const char* DisagreementWord(Disagreement kind);  // "none", "one-failed", "skipped-caller", ...

struct Difference {
  Disagreement kind = Disagreement::kNone;
  int frame = 0;  // the newest one that differs, counted from the newest
};

// Whether two answers are counted: both walkers returned, with counts within their buffers of
// `depth` frames, and at least one of them with frames.
bool CanCompare(const Trace& a, const Trace& b, int depth);

// What matters most comes first: callers, methods, then byte codes, then levels. Both walkers must
// have returned, with counts within their buffers. An answer that ended on request agrees as far as
// it goes.
Difference Compare(const Trace& a, const Trace& b);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_DISAGREEMENT_H_
