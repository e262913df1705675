// SPDX-License-Identifier: Apache-2.0
// Confirmer: replays the findings of a campaign in fresh processes, while the campaign goes on. A
// finding is unconfirmed until it replays. The confirmer tries several inputs of each bucket until
// one replays every time. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CONFIRMER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CONFIRMER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/store/stress_rows.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {

// The note that `times` replays could not be walked, the last of them for the reason `why`.
NoteRow UnwalkedNote(uint64_t times, const std::string& why);

// One input of a bucket, and how often it replayed.
struct Candidate {
  std::string text;    // in .walk form
  std::string expect;  // the signature that it must reproduce
  int rank = 0;        // lower is better: realism, then number of edits
  size_t example = 0;  // the caller's number for this input
  int reproduced = 0;
  int tries = 0;     // replays that were walked
  int unwalked = 0;  // replays that could not be walked, since the last one that was
  std::chrono::steady_clock::time_point not_before{};  // of the next replay
};

class Confirmer {
 public:
  // Replays each candidate `times` times, or until a replay does not reproduce, or until
  // kMostUnwalked replays in a row could not be walked. `retry_after`: from a replay that could not
  // be walked to the next.
  Confirmer(ChildSetup setup, uint32_t hang_limit_ms, int times,
            std::chrono::milliseconds retry_after = std::chrono::seconds(1))
      : setup_(std::move(setup)),
        hang_limit_ms_(hang_limit_ms),
        times_(times),
        retry_after_(retry_after) {}

  // Adds a candidate; false if the bucket has kMostCandidates already.
  bool Add(int64_t bucket, Candidate candidate);

  // Without waiting, takes the outcome of one replay or starts one; at most `most` processes run at
  // a time, each for another bucket. Returns the bucket of a replay that has ended or could not
  // start, else 0.
  int64_t Step(size_t most);

  // True if no replay runs and none is left.
  bool Idle() const;
  // Number of buckets that have replays left and no input that replayed every time.
  uint64_t Unconfirmed() const;
  // The best candidate of a bucket so far; null before its first replay.
  const Candidate* Best(int64_t bucket) const;
  // Number of replays that could not be walked, and why the last of them could not.
  uint64_t unwalked() const { return unwalked_; }
  const std::string& why_unwalked() const { return why_unwalked_; }

 private:
  struct Bucket {
    std::vector<Candidate> candidates;  // in the order of Add()
  };
  static constexpr size_t kMostCandidates = 12;  // per bucket

  bool IsDone(const Candidate& candidate) const;
  // Index of the candidate to replay next, or -1.
  int NextOf(const Bucket& bucket) const;
  struct Replay {
    int64_t bucket;
    Candidate* candidate;
    std::unique_ptr<ReplayRun> run;
  };
  bool IsRunning(int64_t bucket) const;
  bool IsConfirmed(const Candidate& candidate) const;
  bool HasConfirmed(const Bucket& bucket) const;
  // Starts the next replay. Returns 0, or the bucket if its replay could not be started.
  int64_t StartNext();
  int64_t Finish(const Replay& replay, const Result<ReplayOutcome>& outcome);

  ChildSetup setup_;
  uint32_t hang_limit_ms_;
  int times_;
  std::chrono::milliseconds retry_after_;
  uint64_t unwalked_ = 0;
  std::string why_unwalked_;
  std::map<int64_t, Bucket> buckets_;
  std::vector<Replay> running_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CONFIRMER_H_
