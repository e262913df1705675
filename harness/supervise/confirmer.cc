// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/confirmer.h"

#include <algorithm>
#include <climits>

namespace walkhammer {

NoteRow UnwalkedNote(uint64_t times, const std::string& why) {
  return {kNoCell, NoteKind::kIncident, "replay not walked", times,
          "counts neither for nor against a finding: " + why};
}

bool Confirmer::Add(int64_t bucket, Candidate candidate) {
  Bucket& known = buckets_[bucket];
  if (known.candidates.size() >= kMostCandidates) return false;
  // Replay::candidate points into the vector: its elements must never move.
  if (known.candidates.capacity() == 0) known.candidates.reserve(kMostCandidates);
  known.candidates.push_back(std::move(candidate));
  return true;
}

bool Confirmer::IsDone(const Candidate& candidate) const {
  // One miss shows that the candidate does not replay every time.
  return candidate.tries >= times_ || candidate.reproduced < candidate.tries ||
         candidate.unwalked >= kMostUnwalked;
}

bool Confirmer::IsConfirmed(const Candidate& candidate) const {
  return candidate.tries >= times_ && candidate.reproduced == candidate.tries;
}

int Confirmer::NextOf(const Bucket& bucket) const {
  // Lowest rank first: the most real, then the smallest. A candidate is left out unless it ranks
  // better than each one that replays every time.
  int settled = INT_MAX, next = -1;
  for (size_t i = 0; i < bucket.candidates.size(); i++) {
    const Candidate& candidate = bucket.candidates[i];
    if (IsDone(candidate)) {
      if (IsConfirmed(candidate)) settled = std::min(settled, candidate.rank);
    } else if (next < 0 || candidate.rank < bucket.candidates[static_cast<size_t>(next)].rank) {
      next = static_cast<int>(i);
    }
  }
  return next >= 0 && bucket.candidates[static_cast<size_t>(next)].rank < settled ? next : -1;
}

bool Confirmer::IsRunning(int64_t bucket) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const Replay& replay) { return replay.bucket == bucket; });
}

bool Confirmer::HasConfirmed(const Bucket& bucket) const {
  return std::any_of(bucket.candidates.begin(), bucket.candidates.end(),
                     [&](const Candidate& candidate) { return IsConfirmed(candidate); });
}

bool Confirmer::Idle() const {
  return running_.empty() && std::all_of(buckets_.begin(), buckets_.end(), [&](const auto& entry) {
           return NextOf(entry.second) < 0;
         });
}

uint64_t Confirmer::Unconfirmed() const {
  return static_cast<uint64_t>(std::count_if(
      buckets_.begin(), buckets_.end(),
      [&](const auto& entry) { return NextOf(entry.second) >= 0 && !HasConfirmed(entry.second); }));
}

int64_t Confirmer::Step(size_t most) {
  for (size_t i = 0; i < running_.size(); i++) {
    const auto outcome = running_[i].run->Poll();
    if (outcome == nullptr) continue;
    const Replay done = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    return Finish(done, *outcome);
  }
  return running_.size() < most ? StartNext() : 0;
}

int64_t Confirmer::StartNext() {
  for (auto& [id, bucket] : buckets_) {
    const int index = IsRunning(id) ? -1 : NextOf(bucket);
    if (index < 0) continue;
    Candidate* next = &bucket.candidates[static_cast<size_t>(index)];
    if (std::chrono::steady_clock::now() < next->not_before) continue;
    auto run = ReplayRun::Start({next->text, "finding", hang_limit_ms_}, setup_);
    if (!run.ok()) return Finish({id, next, nullptr}, run.failure());
    running_.push_back({id, next, std::move(run.value())});
    return 0;
  }
  return 0;
}

int64_t Confirmer::Finish(const Replay& replay, const Result<ReplayOutcome>& outcome) {
  Candidate& candidate = *replay.candidate;
  if (!outcome.ok()) {
    candidate.unwalked++;
    candidate.not_before = std::chrono::steady_clock::now() + retry_after_;
    unwalked_++;
    why_unwalked_ = outcome.failure().message;
    return replay.bucket;
  }
  candidate.tries++;
  candidate.unwalked = 0;
  for (const FindingRecord& finding : outcome.value().findings)
    if (MatchesExpect(candidate.expect, finding.signature) == Match::kExact) {
      candidate.reproduced++;
      break;
    }
  return replay.bucket;
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
