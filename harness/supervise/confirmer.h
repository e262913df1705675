// SPDX-License-Identifier: Apache-2.0
// Confirmer: replays what a campaign found, in fresh processes and beside the campaign. A finding
// is unconfirmed until it replays. Of each bucket several inputs are tried until one replays every
// time. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CONFIRMER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CONFIRMER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/supervise/child_process.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {

// One input of a bucket, and how often it replayed.
struct Candidate {
  std::string text;    // .walk
  std::string expect;  // the signature that it must reproduce
  int rank = 0;        // lower is better: realism, then number of edits
  size_t example = 0;  // the caller's number for it
  int reproduced = 0;
  int tries = 0;
};

class Confirmer {
 public:
  // Each candidate is replayed `times` times; fewer once it has failed.
  Confirmer(ChildSetup setup, uint32_t hang_limit_ms, int times)
      : setup_(std::move(setup)), hang_limit_ms_(hang_limit_ms), times_(times) {}

  // False if the bucket has candidates enough.
  bool Add(int64_t bucket, Candidate candidate);

  // Goes on a bit without waiting, with at most so many processes at a time, each for another
  // bucket. The bucket whose best candidate has changed, or 0.
  int64_t Step(size_t most);

  // True when there is nothing left to replay.
  bool Idle() const;
  // The number of buckets with replays to go and no input that replays every time.
  uint64_t Unconfirmed() const;
  // The best candidate of a bucket so far; null before its first replay.
  const Candidate* Best(int64_t bucket) const;

 private:
  struct Bucket {
    std::vector<Candidate> candidates;  // in order of trying
  };
  static constexpr size_t kMostCandidates = 12;  // per bucket

  bool IsDone(const Candidate& candidate) const;
  // The index of the candidate to replay next, or -1.
  int NextOf(const Bucket& bucket) const;
  struct Replay {
    int64_t bucket;
    Candidate* candidate;
    std::unique_ptr<ReplayRun> run;
  };
  bool IsRunning(int64_t bucket) const;
  bool HasConfirmed(const Bucket& bucket) const;
  // Starts one more. The bucket whose candidate could not be started, else 0.
  int64_t StartNext();
  int64_t Finish(const Replay& replay, const Result<ReplayOutcome>& outcome) const;

  ChildSetup setup_;
  uint32_t hang_limit_ms_;
  int times_;
  std::map<int64_t, Bucket> buckets_;
  std::vector<Replay> running_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CONFIRMER_H_
