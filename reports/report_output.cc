// SPDX-License-Identifier: Apache-2.0
#include "reports/report_output.h"

#include <unistd.h>

#include <filesystem>

namespace walkhammer {
namespace {

constexpr ReportOutput kOutputs[] = {
    {"--html", "FILE.html", "A page for people: self-contained, opens without a network",
     HtmlReport},
    {"--junit", "FILE.xml", "JUnit XML, as Jenkins and GitLab read it", JunitReport},
    {"--markdown", "FILE.md", "Markdown for the page of a CI job; - is stdout", MarkdownReport},
    {"--sarif", "FILE.sarif", "SARIF 2.1.0: a result for each Forbidden bucket", SarifReport},
};

// From the folder of the file `from` to `to`; absolute where no relative path leads there.
std::string PathBetween(const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path target = fs::weakly_canonical(to, error);
  if (error) return to;
  if (from == "-") return target.string();
  const fs::path folder = fs::weakly_canonical(fs::absolute(from, error), error).parent_path();
  const fs::path path = error ? fs::path() : target.lexically_relative(folder);
  return path.empty() ? target.string() : path.string();
}

}  // namespace

std::span<const ReportOutput> ReportOutputs() { return kOutputs; }

Result<OutputSource> ReadOutputSource(const RunReader& db, const RunSummary& summary,
                                      const std::string& path, const std::string& flame) {
  ASSIGN_OR_RETURN(auto examples, ReadExamples(db, summary));
  std::string graph = flame;
  const std::string usual = summary.dir + "/flame.html";
  if (graph.empty() && access(usual.c_str(), F_OK) == 0) graph = usual;
  return OutputSource{summary, std::move(examples), PathBetween(path, summary.dir),
                      graph.empty() ? "" : PathBetween(path, graph)};
}

std::string RunName(const std::string& dir) {
  std::error_code error;
  const auto path = std::filesystem::canonical(dir, error);
  return error ? dir : path.filename().string();
}

}  // namespace walkhammer
