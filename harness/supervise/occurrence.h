// SPDX-License-Identifier: Apache-2.0
// Occurrence: one finding as a supervisor holds it, and what every run does with it. Shared by
// campaigns and by runs of real programs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_

#include <string>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/shared/shared_state.h"
#include "harness/store/run_db.h"

namespace walkhammer {

// One occurrence of a finding, with all that its folder would tell about it.
struct Occurrence {
  FindingRecord record;
  RawFinding raw;  // of a death: only the request
  bool is_death = false;
  bool has_request = true;               // false: the child died between walks
  const SymbolTable* symbols = nullptr;  // of the request; lives elsewhere
  std::string hs_err;
};

// Where it happened, and how it is replayed.
struct ReplayWords {
  std::string jdk;      // "JDK-PATH (version)"
  std::string command;  // how to call walkhammer
  std::string options;  // what a replay needs besides the file: " --jdk DIR -- FLAGS"
};

// Writes or replaces the crash folder of a bucket, with `shown` as its input, which `confirmed` of
// `tries` replays showed again.
Status WriteBucketFolder(const RunDb& db, const Occurrence& shown, const ReplayWords& words,
                         int confirmed, int tries);

// What is known of a bucket with its first finding, for a progress line.
BucketRow NewBucket(const RunDb::Added& added, const FindingRecord& record);

// Ends the run in its store; `status` is what the work came to. The first failure wins.
Status FinishRun(RunDb& db, const Status& status, bool interrupted, const RunTotals& totals);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_
