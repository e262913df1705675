// SPDX-License-Identifier: Apache-2.0
// FindingSink: writes the findings of a campaign or a stress run to the run's store and its crash
// folders, and reports new buckets. Signal-safe: no.
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

// One occurrence of a finding, with everything that goes into its crash folder.
struct Occurrence {
  FindingRecord record;
  RawFinding raw;  // of a death, only raw.request is set; without a request, nothing is
  bool is_death = false;
  bool has_request = true;               // false: no walk caused it, or it is unknown which
  const SymbolTable* symbols = nullptr;  // of the request; not owned
  std::string hs_err;                    // text of the JVM's hs_err log; may be empty
};

// What a crash folder says about the JDK and the command that replays the finding.
struct ReplayWords {
  std::string jdk;      // "JDK-PATH (version)"
  std::string command;  // path of walkhammer, quoted for a shell
  std::string options;  // what follows the file's name: " --jdk DIR -- FLAGS"
};

// Returns how to replay a finding on this JDK with these JVM flags. `library`: the library that
// contains the walker instead of libjvm, as --library takes it; empty: none.
ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library);

class FindingSink {
 public:
  explicit FindingSink(RunWriter& db) : db_(db) {}

  // Called for each new bucket, once its crash folder is written. May be empty.
  std::function<void(const BucketRow&)> on_bucket;

  // Records `seen` and returns the id of its bucket. For a new bucket, writes its crash folder.
  Result<int64_t> Add(const Occurrence& seen, const ReplayWords& words);
  // Records that `confirmed` of `tries` replays reproduced `shown`, and rewrites the bucket's crash
  // folder with `shown`.
  Status Confirm(int64_t bucket, const Occurrence& shown, const ReplayWords& words, int confirmed,
                 int tries);
  // Stores how often each bucket was seen, including occurrences that were counted but never passed
  // to Add().
  Status SaveSeen(const std::map<int64_t, uint64_t>& times);
  // Stores the version and the collector of the JVM, once; does nothing while `gc` is empty.
  Status SaveVm(std::string_view version, std::string_view gc);
  // Records in the store that the run has ended. `status`: the outcome of the run. Returns `status`
  // if it is a failure, else the outcome of storing.
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
