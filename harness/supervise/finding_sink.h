// SPDX-License-Identifier: Apache-2.0
// FindingSink: takes the findings of a campaign or a stress run: writes them to the run's store and
// crash folders, and reports new buckets. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_FINDING_SINK_H_
#define WALKHAMMER_HARNESS_SUPERVISE_FINDING_SINK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/ipc/line_state.h"
#include "harness/jvm/images/jdk.h"
#include "harness/store/run_writer.h"

namespace walkhammer {

// One occurrence of a finding, with everything that its crash folder says.
struct Occurrence {
  FindingRecord record;
  RawFinding raw;  // for a death only raw.request is set, and without a request nothing
  bool is_death = false;
  bool has_request = true;               // false: it is of no walk, or not known of which
  const SymbolTable* symbols = nullptr;  // of the request; not owned
  std::string hs_err;
};

// The words that say where a finding happened and how to replay it.
struct ReplayWords {
  std::string jdk;      // "JDK-PATH (version)"
  std::string command;  // how to call walkhammer
  std::string options;  // what a replay needs besides the file: " --jdk DIR -- FLAGS"
};

// How to replay a finding under this JDK and with these JVM flags. `library`: the provider that
// stands in for libjvm, as --provider takes it; empty: none.
ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library);

class FindingSink {
 public:
  explicit FindingSink(RunWriter& db) : db_(db) {}

  // Called for each new bucket, after the store has committed it.
  std::function<void(const BucketRow&)> on_bucket;

  // Records `seen` and returns the id of its bucket. The crash folder of a new bucket shows `seen`.
  Result<int64_t> Add(const Occurrence& seen, const ReplayWords& words);
  // Records that `confirmed` of `tries` replays reproduced `shown`, and makes the bucket's folder
  // show `shown`.
  Status Confirm(int64_t bucket, const Occurrence& shown, const ReplayWords& words, int confirmed,
                 int tries);
  // Stores how often each bucket was seen, occurrences that were not handed over included.
  Status SaveSeen(const std::map<int64_t, uint64_t>& times);
  // Stores the version and the collector of the JVM, once; does nothing while `gc` is empty.
  Status SaveVm(std::string_view version, std::string_view gc);
  // Ends the run in the store. `status`: the outcome of the work. Returns `status` if that is a
  // failure, else the store's failure, if any.
  Status Finish(const Status& status, bool interrupted, const RunTotals& totals);

  uint64_t buckets() const { return folders_.size(); }
  const std::string& newest() const { return newest_; }  // title of the last new bucket
  // Crash folder of a bucket that Add() returned, relative to the run's folder.
  const std::string& FolderOf(int64_t bucket) const { return folders_.at(bucket); }

 private:
  RunWriter& db_;
  std::map<int64_t, std::string> folders_;  // by bucket
  std::string newest_;
  bool vm_known_ = false;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_FINDING_SINK_H_
