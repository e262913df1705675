// SPDX-License-Identifier: Apache-2.0
// BucketExample: the one finding by which a report shows a bucket, and how to reproduce it. Used by
// the report writers. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_BUCKET_EXAMPLE_H_
#define WALKHAMMER_REPORTS_BUCKET_EXAMPLE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/store/run_reader.h"
#include "reports/run_summary.h"

namespace walkhammer {

struct BucketExample {
  FindingRecord finding;      // the most real one that was kept, then the one with less to read
  std::string walker, scene;  // that its request names; the run's walker, and empty, without one
  std::string function;       // innermost of the native call chain, without offset; may be empty
  std::string replay;         // as typed in a shell; empty if no input was kept
};

// Returns one example a bucket, in the order of summary.buckets.
Result<std::vector<BucketExample>> ReadExamples(const RunReader& db, const RunSummary& summary);

// Why the oracle's table grades the outcome as it does; empty for an unknown outcome.
std::string WhyGraded(const BucketRow& bucket);

// "genuine: exactly what a profiler's signal would have seen"
std::string RealismHeading(Realism realism);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_BUCKET_EXAMPLE_H_
