// Walkers that are shown the same sample answer the same.
// Signal-safe: yes.
#include <algorithm>
#include <cstdio>

#include "harness/oracles/disagreement.h"
#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

// In the order of Disagreement, and one more.
constexpr OutcomeInfo kOutcomes[] = {
    {"same", Grade::kAcceptable, "the same frames, or none of both"},
    {"one-failed", Grade::kAcceptable, "an error code is an answer, too"},
    {"truncated", Grade::kInteresting, "one of the two lost the older frames"},
    {"skipped-caller", Grade::kInteresting, "one of the two left out a frame, or made one up"},
    {"other-method", Grade::kInteresting, "one of the two is wrong"},
    {"other-bci", Grade::kInteresting, "one of the two is wrong about the byte code"},
    {"other-level", Grade::kInteresting, "one of the two is wrong about level or type"},
    {"inconsistent", Grade::kForbidden, "the same walker, shown the same, answered otherwise"},
};
constexpr uint8_t kInconsistent = kDisagreements;
static_assert(std::size(kOutcomes) == kInconsistent + 1);

const char* NameIn(const Observation& seen, const Frame& frame) {
  const MethodEntry* entry = seen.methods->Find(frame.method);
  return entry == nullptr ? "no known method" : entry->name;
}

void Tell(const Observation& seen, const Difference& difference, char* detail, size_t size) {
  const Trace &mine = seen.trace, &other = seen.sample->other;
  const char* name = seen.sample->other_walker->name;
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

uint8_t Judge(const Observation& seen, char* detail, size_t size) {
  if (seen.sample == nullptr || seen.sample->other_walker == nullptr) return 0;
  const Trace &mine = seen.trace, &other = seen.sample->other;
  if (mine.ending != Ending::kReturned || other.ending != Ending::kReturned) return 0;
  if (std::max(mine.num_frames, other.num_frames) > seen.request->depth) return 0;  // frame-count's
  Difference difference = Compare(mine, other);
  const bool again = seen.sample->same_again;
  if (again && difference.kind == Disagreement::kNone && mine.num_frames != other.num_frames)
    difference.kind = Disagreement::kOneFailed;  // two errors that differ
  if (difference.kind == Disagreement::kNone) return 0;
  Tell(seen, difference, detail, size);
  return again ? kInconsistent : static_cast<uint8_t>(difference.kind);
}

}  // namespace

const Oracle kAgreementOracle = {"agreement", "walkers that are shown the same answer the same",
                                 kOutcomes, Judge};

}  // namespace walkhammer
