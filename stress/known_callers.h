// SPDX-License-Identifier: Apache-2.0
// Compares an answer with the callers that a SteppedStack knows. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_KNOWN_CALLERS_H_
#define WALKHAMMER_STRESS_KNOWN_CALLERS_H_

#include <cstdint>
#include <span>

#include "harness/base/trace.h"
#include "stress/stepped_stack.h"

namespace walkhammer::stress {

// The newest frames of an answer.
struct AnsweredFrames {
  static constexpr int kMost = 62;
  uint64_t methods[kMost];  // Method*, newest first; 0: not known, taken for any method
  int count = 0;
  bool goes_on = false;  // there may be older frames

  // Sets `count` and `goes_on`, not `methods`, for an answer that has frames, of at most `depth`.
  // Frames that the walker called guesses are left out: it vouches neither for them nor for how
  // many there are.
  void Measure(const Trace& trace, int depth);
};

enum class CallerVerdict : uint8_t {
  kUnknown,      // no caller in Java is known, or none that the answer reaches
  kProven,       // the known callers are in the answer, in order, with no frame between them
  kContradicted  // known callers are not in the answer, or something else stands between them
};

// `code`: what runs; `running`: the Method* of that nmethod, else 0. Frames that are inlined in one
// nmethod differ from its own only as far as debug information has their number: without it,
// all frames down to one of the nmethod's own method may be inlined there.
CallerVerdict JudgeCallers(SteppedCode code, uint64_t running, std::span<const SteppedCall> calls,
                           const AnsweredFrames& answer);

// The newest of `calls`, down to the first one by another frame of Java than the one that runs:
// they tell whether an answer leaves the newest frame rightly. None if that caller is not known, or
// is C code, which the JVM's own records lead through.
std::span<const SteppedCall> NewestCalls(std::span<const SteppedCall> calls,
                                         const CodeReader& code);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_KNOWN_CALLERS_H_
