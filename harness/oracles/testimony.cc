// SPDX-License-Identifier: Apache-2.0
// A walker's answers agree with those of a witness, up to a limit. AsyncGetCallTrace and the
// reference differ by less. The supervisor judges that, by the counts of a whole cell. Signal-safe:
// see testimony.h.
#include "harness/oracles/testimony.h"

#include <algorithm>
#include <iterator>

#include "harness/oracles/disagreement.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kWitnessOutcomes[] = {
    {"agrees", Grade::kAcceptable,
     "the answers differ from those of the witness no more often than the limit"},
    {"no-frame", Grade::kForbidden, "most threads in Java have no stack, where a witness has one"},
    {"newest-frame", Grade::kForbidden, "the newest frame is too often of a wrong method"},
    {"callers", Grade::kForbidden, "callers are too often wrong or missing"},
    {"cut-off", Grade::kForbidden, "the outermost callers are too often missing"},
    {"byte-code", Grade::kForbidden, "callers are too often at a wrong bytecode"},
};
static_assert(std::size(kWitnessOutcomes) == kTestimonies);

// True if a caller is at another bytecode. That of the newest frame is not compared:
// AsyncGetCallTrace tells the one that the interpreter has last saved, and in compiled code walkers
// choose among those around pc. Nor are bytecodes 0, which it tells of deoptimized callers.
bool CallerDiffers(const Trace& answer, const Trace& witness) {
  for (int i = 1; i < std::min(answer.num_frames, witness.num_frames); i++) {
    const int32_t mine = answer.frames[i].bci, other = witness.frames[i].bci;
    if (mine != other && mine > 0 && other > 0) return true;
  }
  return false;
}

}  // namespace

std::optional<Testimony> TestimonyOn(const Trace& answer, const Trace& witness, int depth) {
  if (witness.num_frames <= 0 || !CanCompare(answer, witness, depth)) return {};
  const Difference difference = Compare(answer, witness);
  if (IsAboutGuess(answer, witness, difference)) return {};
  switch (difference.kind) {
    case Disagreement::kOneFailed:
      return Testimony::kNoFrame;
    case Disagreement::kMethod:
      return difference.frame == 0 ? Testimony::kNewest : Testimony::kCallers;
    case Disagreement::kSkippedCaller:
      return Testimony::kCallers;
    case Disagreement::kTruncated:
      return answer.num_frames < witness.num_frames ? Testimony::kCutOff : Testimony::kCallers;
    case Disagreement::kBci:
      return CallerDiffers(answer, witness) ? Testimony::kByteCode : Testimony::kAgrees;
    default:
      return Testimony::kAgrees;
  }
}

double LimitOf(Testimony testimony) {
  constexpr double kPercent[kTestimonies] = {100, 80, 0.5, 50, 20, 20};
  return kPercent[static_cast<int>(testimony)];
}

const char* TestimonyWords(Testimony testimony) {
  constexpr const char* kWords[kTestimonies] = {"agrees with",
                                                "has no frame, unlike",
                                                "has another newest frame than",
                                                "has other callers than",
                                                "ends before the outermost frames of",
                                                "has callers at other bytecodes than"};
  return kWords[static_cast<int>(testimony)];
}

const Oracle kWitnessOracle = {"witness", "answers are those of a witness, but for a known share",
                               kWitnessOutcomes, nullptr, kByParent};

}  // namespace walkhammer
