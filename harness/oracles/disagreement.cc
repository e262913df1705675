// SPDX-License-Identifier: Apache-2.0
#include "harness/oracles/disagreement.h"

#include <algorithm>

namespace walkhammer {
namespace {

constexpr int kMostSkipped = 8;  // frames that a walker may leave out in one place

// True if `longer` has the same methods from frame `at + skipped` on as `other` from frame `at` on.
bool GoesOnAlike(const Trace& longer, const Trace& other, int at, int skipped) {
  constexpr int kEnough = 4;  // frames to compare; in recursion, fewer are alike by chance
  const int left = std::min(longer.num_frames - at - skipped, other.num_frames - at);
  if (left <= 0) return false;
  for (int i = 0; i < std::min(left, kEnough); i++)
    if (longer.frames[at + skipped + i].method != other.frames[at + i].method) return false;
  return true;
}

bool SkipsAt(const Trace& a, const Trace& b, int at) {
  for (int skipped = 1; skipped <= kMostSkipped; skipped++)
    if (GoesOnAlike(a, b, at, skipped) || GoesOnAlike(b, a, at, skipped)) return true;
  return false;
}

}  // namespace

const char* DisagreementWord(Disagreement kind) {
  constexpr const char* kWords[kDisagreements] = {
      "none", "one-failed", "truncated", "skipped-caller", "method", "bci", "level", "unnamed"};
  return kWords[static_cast<int>(kind)];
}

bool CanCompare(const Trace& a, const Trace& b, int depth) {
  return a.ending == Ending::kReturned && b.ending == Ending::kReturned &&
         std::max(a.num_frames, b.num_frames) <= depth && std::max(a.num_frames, b.num_frames) > 0;
}

Difference Compare(const Trace& a, const Trace& b) {
  const Trace& shorter = a.num_frames < b.num_frames ? a : b;
  if (shorter.num_frames <= 0) {
    const bool alike =
        std::max(a.num_frames, b.num_frames) <= 0 || (shorter.num_frames == 0 && shorter.MayGoOn());
    return {alike ? Disagreement::kNone : Disagreement::kOneFailed, 0};
  }
  const int both = shorter.num_frames;
  int bci = -1, level = -1, unnamed = -1;
  for (int i = 0; i < both; i++) {
    const Frame &x = a.frames[i], &y = b.frames[i];
    if (x.method != y.method) {
      if (SkipsAt(a, b, i)) return {Disagreement::kSkippedCaller, i};
      if (x.method != nullptr && y.method != nullptr) return {Disagreement::kMethod, i};
      if (unnamed < 0) unnamed = i;
      continue;
    }
    if (bci < 0 && x.bci != y.bci) bci = i;
    // A walker that does not report kinds answers 0.
    if (level < 0 && x.kind != 0 && y.kind != 0 && x.kind != y.kind) level = i;
  }
  if (a.num_frames != b.num_frames && !shorter.MayGoOn()) return {Disagreement::kTruncated, both};
  if (unnamed >= 0) return {Disagreement::kUnnamed, unnamed};
  if (bci >= 0) return {Disagreement::kBci, bci};
  if (level >= 0) return {Disagreement::kLevel, level};
  return {};
}

bool IsAboutGuess(const Trace& a, const Trace& b, const Difference& difference) {
  return difference.kind != Disagreement::kNone &&
         (a.IsGuess(difference.frame) || b.IsGuess(difference.frame));
}

}  // namespace walkhammer
