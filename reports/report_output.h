// SPDX-License-Identifier: Apache-2.0
// The forms of the report of a run: one file a form; those that `report` writes to a file have a
// row in the table of report_output.cc. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_REPORT_OUTPUT_H_
#define WALKHAMMER_REPORTS_REPORT_OUTPUT_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/store/run_reader.h"
#include "reports/run_summary.h"

namespace walkhammer {

// For terminals and logs: the verdict, then the buckets, most real first, then what the run did.
std::string TextReport(const RunSummary& summary);

inline constexpr int kJsonReportSchema = 1;
// Everything that run.db holds as indented JSON that ends in a newline, with stable keys: they are
// only ever added within a schema number. Addresses, hashes and seeds are strings. `summary` was
// read from `db`, which also has the findings of each bucket.
Result<std::string> JsonReport(const RunReader& db, const RunSummary& summary);

// The one finding by which a report shows a bucket, and how to reproduce it.
struct BucketExample {
  FindingRecord finding;      // the most real one that was kept, then the one with less to read
  std::string walker, scene;  // that its request names; the run's walker, and empty, without one
  std::string function;       // innermost of the native call chain, without offset; may be empty
  std::string replay;         // as typed in a shell; empty if no input was kept
};

// All that a writer gets.
struct OutputSource {
  const RunSummary& summary;
  std::vector<BucketExample> examples;  // by bucket
  std::string run_path;                 // from the folder of the output to the run's; never empty
  std::string flame_path;               // from there to the flame graph; empty if there is none
};

struct ReportOutput {
  const char* option;  // "--html"
  const char* kind;    // of its argument, for --help
  const char* what;    // for --help
  std::string (*write)(const OutputSource& source);
};
std::span<const ReportOutput> ReportOutputs();

// What the outputs that go to `path` are written from. `flame`: path of a flame graph that is there
// or will be; if empty, flame.html in the run's folder counts, if it is there. `path` is "-" for
// stdout.
Result<OutputSource> ReadOutputSource(const RunReader& db, const RunSummary& summary,
                                      const std::string& path, const std::string& flame);

// "nightly" of /out/nightly/: what reports call the run.
std::string RunName(const std::string& dir);

// Why the oracle's table grades the outcome as it does; empty for an unknown outcome.
std::string WhyGraded(const BucketRow& bucket);

// "genuine: exactly what a profiler's signal would have seen"
std::string RealismHeading(Realism realism);

// What the run did, and what it was, as a name and a value a line; other forms of report, too, have
// these lists. A value is empty if the run does not know it.
using NamedText = std::pair<std::string, std::string>;
std::vector<NamedText> TotalsOfRun(const RunSummary& summary);
std::vector<NamedText> IdentityOfRun(const RunSummary& summary);

// The writers.
std::string HtmlReport(const OutputSource& source);
std::string JunitReport(const OutputSource& source);
std::string MarkdownReport(const OutputSource& source);
std::string SarifReport(const OutputSource& source);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_REPORT_OUTPUT_H_
