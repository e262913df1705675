// Walkers that are shown the same sample answer the same.
// Signal-safe: yes.
#include <algorithm>
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kOutcomes[] = {
    {"same", Grade::kAcceptable, "the same frames, or one of them has no frames"},
    {"other-frames", Grade::kInteresting, "one of the two walkers is wrong"},
    {"other-length", Grade::kInteresting, "true as far as both go; one lost frames"},
    {"inconsistent", Grade::kForbidden, "the same walker, shown the same, answered otherwise"},
};

uint8_t Judge(const Observation& seen, char* detail, size_t size) {
  if (seen.sample == nullptr || seen.sample->other_walker == nullptr) return 0;
  const Trace &mine = seen.trace, &other = seen.sample->other;
  if (mine.ending != Ending::kReturned || other.ending != Ending::kReturned) return 0;
  if (std::max(mine.num_frames, other.num_frames) > seen.request->depth) return 0;  // frame-count's
  const uint8_t otherwise = seen.sample->same_again ? 3 : 1;
  const char* name = seen.sample->other_walker->name;
  if (mine.num_frames <= 0 || other.num_frames <= 0) {
    if (!seen.sample->same_again || mine.num_frames == other.num_frames) return 0;
    std::snprintf(detail, size, "%s answered %d, then %d", name, other.num_frames, mine.num_frames);
    return 3;
  }
  const int both = std::min(mine.num_frames, other.num_frames);
  for (int i = 0; i < both; i++) {
    const Frame &a = mine.frames[i], &b = other.frames[i];
    if (a.method == b.method && a.bci == b.bci) continue;
    const MethodEntry* here = seen.methods->Find(a.method);
    const MethodEntry* there = seen.methods->Find(b.method);
    std::snprintf(detail, size, "frame %d is %s @ %d, for %s %s @ %d", i,
                  here == nullptr ? "no known method" : here->name, a.bci, name,
                  there == nullptr ? "no known method" : there->name, b.bci);
    return otherwise;
  }
  if (mine.num_frames == other.num_frames) return 0;
  std::snprintf(detail, size, "%d frames, for %s %d", mine.num_frames, name, other.num_frames);
  return seen.sample->same_again ? 3 : 2;
}

}  // namespace

const Oracle kAgreementOracle = {"agreement", "walkers that are shown the same answer the same",
                                 kOutcomes, Judge};

}  // namespace walkhammer
