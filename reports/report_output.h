// SPDX-License-Identifier: Apache-2.0
// The forms in which `report` writes a run to a file, beside text and JSON: one file a form, one
// row a form in the table of report_output.cc. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_REPORT_OUTPUT_H_
#define WALKHAMMER_REPORTS_REPORT_OUTPUT_H_

#include <span>
#include <string>
#include <vector>

#include "harness/store/run_reader.h"
#include "reports/bucket_example.h"
#include "reports/run_summary.h"

namespace walkhammer {

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

// The writers.
std::string HtmlReport(const OutputSource& source);
std::string JunitReport(const OutputSource& source);
std::string MarkdownReport(const OutputSource& source);
std::string SarifReport(const OutputSource& source);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_REPORT_OUTPUT_H_
