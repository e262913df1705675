// SPDX-License-Identifier: Apache-2.0
// The walk of an unchanged scene gives the stack that JVMTI sees.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kTruthOutcomes[] = {
    {"true", Grade::kAcceptable, "frame by frame the JVMTI truth, or not an undisturbed walk"},
    {"wrong-frames", Grade::kForbidden, "a wrong stack for an undisturbed thread"},
    {"truncated", Grade::kForbidden, "older frames of an undisturbed thread are missing"},
    {"no-frames", Grade::kForbidden, "no stack for an undisturbed thread that has one"},
    {"guessed-frames", Grade::kInteresting, "a wrong frame that the walker called a guess"},
};
constexpr uint8_t kWrong = 1, kTruncated = 2, kNoFrames = 3, kGuessNotTrue = 4;

uint8_t JudgeTruth(const Observation& seen, char* detail, size_t size) {
  if (!seen.pristine || seen.trace.ending != Ending::kReturned) return 0;
  if (seen.trace.num_frames <= 0) {
    if (seen.trace.num_frames == 0 && seen.trace.ended_on_request) return 0;
    std::snprintf(detail, size, "an undisturbed walk answered %d instead of %zu frames",
                  seen.trace.num_frames, seen.truth.size());
    return kNoFrames;
  }
  const size_t expected =
      seen.truth.size() < seen.request->depth ? seen.truth.size() : seen.request->depth;
  const auto got = static_cast<size_t>(seen.trace.num_frames);
  for (size_t i = seen.true_frames; i < expected && i < got; i++) {
    const Frame& want = seen.truth[i];
    const Frame& have = seen.trace.frames[i];
    if (want.method == have.method && want.bci == have.bci) continue;
    const MethodEntry* wanted = seen.methods->Find(want.method);
    const MethodEntry* found = seen.methods->Find(have.method);
    std::snprintf(detail, size, "frame %zu is %s @ %d, should be %s @ %d", i,
                  found == nullptr ? "an unknown method" : found->name, have.bci,
                  wanted == nullptr ? "?" : wanted->name, want.bci);
    return seen.trace.IsGuess(static_cast<int>(i)) ? kGuessNotTrue : kWrong;
  }
  if (got == expected || (got < expected && seen.trace.ended_on_request)) return 0;
  std::snprintf(detail, size, "%zu frames, should be %zu", got, expected);
  if (got < expected) return kTruncated;
  return seen.trace.IsGuess(static_cast<int>(expected)) ? kGuessNotTrue : kWrong;
}

}  // namespace

const Oracle kTruthOracle = {.name = "truth",
                             .what = "undisturbed scenes walk to the JVMTI truth",
                             .outcomes = kTruthOutcomes,
                             .judge = JudgeTruth,
                             .judged = kPristine,
                             .by_scene = true};

}  // namespace walkhammer
