// SPDX-License-Identifier: Apache-2.0
// Walkers that are shown the same sample or request give the same answer. A request may show
// garbage, for which no answer is known to be right; an unchanged scene has one right answer.
// Signal-safe: yes.
#include <algorithm>
#include <cstdio>

#include "harness/oracles/disagreement.h"
#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

// First the outcomes of Disagreement, in its order, then those of this oracle alone.
constexpr OutcomeInfo kAgreementOutcomes[] = {
    {"same", Grade::kAcceptable, "the same frames, or both without frames"},
    {"one-failed", Grade::kAcceptable, "an error code is an answer, too"},
    {"truncated", Grade::kInteresting, "one of the two lost the older frames"},
    {"skipped-caller", Grade::kInteresting, "one of the two left out a frame, or made one up"},
    {"other-method", Grade::kInteresting, "one of the two is wrong"},
    {"other-bci", Grade::kInteresting, "one of the two is wrong about the bytecode"},
    {"other-level", Grade::kInteresting, "one of the two is wrong about level or type"},
    {"unnamed", Grade::kInteresting, "one of the two lacks a method's id"},
    {"inconsistent", Grade::kForbidden, "the same walker answered the same request differently"},
    {"scene-differs", Grade::kForbidden, "one of the two is wrong about an undisturbed thread"},
    {"scene-failed", Grade::kInteresting,
     "one of the two cannot walk an undisturbed thread; the API may answer so"},
    {"guessed", Grade::kInteresting, "they differ where one of the two called its frame a guess"},
};
constexpr uint8_t kInconsistent = kDisagreements, kSceneDiffers = kInconsistent + 1,
                  kSceneFailed = kInconsistent + 2, kAtAGuess = kInconsistent + 3;
static_assert(std::size(kAgreementOutcomes) == kAtAGuess + 1);

const char* NameIn(const Observation& seen, const Frame& frame) {
  const MethodEntry* entry = seen.methods->Find(frame.method);
  return entry == nullptr ? "an unknown method" : entry->name;
}

void Tell(const Observation& seen, const Difference& difference, char* detail, size_t size) {
  const Trace &mine = seen.trace, &other = seen.other.trace;
  const char* name = seen.other.walker->name;
  if (difference.kind == Disagreement::kOneFailed) {
    std::snprintf(detail, size, "%s answered %d, then %d", name, other.num_frames, mine.num_frames);
  } else if (difference.kind == Disagreement::kTruncated) {
    std::snprintf(detail, size, "%d frames, for %s %d", mine.num_frames, name, other.num_frames);
  } else {
    const Frame &a = mine.frames[difference.frame], &b = other.frames[difference.frame];
    std::snprintf(detail, size, "frame %d is %s @ %d, for %s %s @ %d", difference.frame,
                  NameIn(seen, a), a.bci, name, NameIn(seen, b), b.bci);
  }
}

// The outcome for a scene that both walkers were shown unchanged.
uint8_t OutcomeOfScene(Disagreement kind) {
  if (kind == Disagreement::kOneFailed) return kSceneFailed;
  return kind == Disagreement::kTruncated || kind == Disagreement::kUnnamed
             ? static_cast<uint8_t>(kind)
             : kSceneDiffers;
}

uint8_t JudgeAgreement(const Observation& seen, char* detail, size_t size) {
  if (seen.other.walker == nullptr) return 0;
  const Trace &mine = seen.trace, &other = seen.other.trace;
  if (mine.ending != Ending::kReturned || other.ending != Ending::kReturned) return 0;
  // Left to the oracle frame-count.
  if (std::max(mine.num_frames, other.num_frames) > seen.request->depth) return 0;
  Difference difference = Compare(mine, other);
  const bool again = seen.other.same_again;
  if (again && difference.kind == Disagreement::kNone && mine.num_frames != other.num_frames)
    difference.kind = Disagreement::kOneFailed;  // two different error codes
  if (difference.kind == Disagreement::kNone) return 0;
  Tell(seen, difference, detail, size);
  if (again) return kInconsistent;
  if (difference.kind != Disagreement::kOneFailed && IsAboutGuess(mine, other, difference))
    return kAtAGuess;
  return seen.sample == nullptr && seen.pristine ? OutcomeOfScene(difference.kind)
                                                 : static_cast<uint8_t>(difference.kind);
}

}  // namespace

uint8_t AgainstOf(const Observation& seen, const Oracle& oracle) {
  if (oracle.judge != JudgeAgreement || seen.other.walker == nullptr) return 0;
  return static_cast<uint8_t>(seen.other.walker - AllWalkers().data() + 1);
}

const Oracle kAgreementOracle = {"agreement", "walkers that are shown the same answer the same",
                                 kAgreementOutcomes, JudgeAgreement, kCompared};

}  // namespace walkhammer
