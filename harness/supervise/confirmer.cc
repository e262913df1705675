#include "harness/supervise/confirmer.h"

#include <algorithm>
#include <climits>

namespace walkhammer {

bool Confirmer::Add(int64_t bucket, Candidate candidate) {
  Bucket& known = buckets_[bucket];
  if (known.candidates.size() >= kMostCandidates) return false;
  // Candidates are pointed to while they replay.
  if (known.candidates.capacity() == 0) known.candidates.reserve(kMostCandidates);
  known.candidates.push_back(std::move(candidate));
  return true;
}

bool Confirmer::IsDone(const Candidate& candidate) const {
  // One miss shows that it does not replay every time.
  return candidate.tries >= times_ || candidate.reproduced < candidate.tries;
}

int Confirmer::NextOf(const Bucket& bucket) const {
  // The most real and smallest first; none that is no better than one that replays every time.
  int settled = INT_MAX, next = -1;
  for (size_t i = 0; i < bucket.candidates.size(); i++) {
    const Candidate& candidate = bucket.candidates[i];
    if (IsDone(candidate)) {
      if (candidate.reproduced == candidate.tries) settled = std::min(settled, candidate.rank);
    } else if (next < 0 || candidate.rank < bucket.candidates[static_cast<size_t>(next)].rank) {
      next = static_cast<int>(i);
    }
  }
  return next >= 0 && bucket.candidates[static_cast<size_t>(next)].rank < settled ? next : -1;
}

bool Confirmer::Idle() const {
  if (run_ != nullptr) return false;
  return std::all_of(buckets_.begin(), buckets_.end(),
                     [&](const auto& entry) { return NextOf(entry.second) < 0; });
}

int64_t Confirmer::Step() {
  if (run_ != nullptr) {
    auto outcome = run_->Poll();
    return outcome == nullptr ? 0 : Finish(*outcome);
  }
  for (auto& [id, bucket] : buckets_) {
    const int index = NextOf(bucket);
    if (index < 0) continue;
    Candidate* next = &bucket.candidates[static_cast<size_t>(index)];
    running_bucket_ = id;
    running_ = next;
    auto run = ReplayRun::Start({next->text, "finding", hang_limit_ms_}, setup_);
    if (!run.ok()) return Finish(run.failure());
    run_ = std::move(run.value());
    return 0;
  }
  return 0;
}

int64_t Confirmer::Finish(const Result<ReplayOutcome>& outcome) {
  run_.reset();
  running_->tries++;
  if (outcome.ok())
    for (const FindingRecord& finding : outcome.value().findings)
      if (MatchesExpect(running_->expect, finding.signature) == Match::kExact) {
        running_->reproduced++;
        break;
      }
  running_ = nullptr;
  return running_bucket_;
}

const Candidate* Confirmer::Best(int64_t bucket) const {
  auto known = buckets_.find(bucket);
  if (known == buckets_.end()) return nullptr;
  const Candidate* best = nullptr;
  for (const Candidate& candidate : known->second.candidates) {
    if (candidate.tries == 0) continue;
    if (best == nullptr || candidate.reproduced > best->reproduced ||
        (candidate.reproduced == best->reproduced && candidate.rank < best->rank))
      best = &candidate;
  }
  return best;
}

}  // namespace walkhammer
