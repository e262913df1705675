// SPDX-License-Identifier: Apache-2.0
// FindingSink: where what a run finds goes, whoever finds it: its store, its crash folders, and who
// is told of a new bucket. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_FINDING_SINK_H_
#define WALKHAMMER_HARNESS_SUPERVISE_FINDING_SINK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/store/run_db.h"
#include "harness/supervise/occurrence.h"

namespace walkhammer {

class FindingSink {
 public:
  explicit FindingSink(RunDb& db) : db_(db) {}

  // Called for each new bucket, after it was committed.
  std::function<void(const BucketRow&)> on_bucket;

  // Records it; a new bucket's folder shows it. Which bucket it was of.
  Result<int64_t> Add(const Occurrence& seen, const ReplayWords& words);
  // The bucket's folder shows `shown` from now on, which `confirmed` of `tries` replays did again.
  Status Confirm(int64_t bucket, const Occurrence& shown, const ReplayWords& words, int confirmed,
                 int tries);
  // How often each bucket was seen in all, also what was not handed over.
  Status SaveSeen(const std::map<int64_t, uint64_t>& times);
  // What ran, once that is known: the first time counts.
  Status SaveVm(std::string_view version, std::string_view gc);
  // Ends the run in its store; `status` is what the work came to. The first failure wins.
  Status Finish(const Status& status, bool interrupted, const RunTotals& totals);

  uint64_t buckets() const { return folders_.size(); }
  const std::string& newest() const { return newest_; }  // title of the last new bucket
  // Of a bucket that Add told of: its folder, relative to the run's.
  const std::string& FolderOf(int64_t bucket) const { return folders_.at(bucket); }

 private:
  RunDb& db_;
  std::map<int64_t, std::string> folders_;  // by bucket
  std::string newest_;
  bool vm_known_ = false;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_FINDING_SINK_H_
