// SPDX-License-Identifier: Apache-2.0
#include "reports/report_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "harness/base/numbers.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/findings/explain.h"

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

// What follows `name` on a line of the request, as "agct" after "walker"; empty without such a
// line.
std::string FieldOf(std::string_view request, std::string_view name) {
  for (const std::string& line : Split(request, '\n'))
    if (line.starts_with(std::string(name) + " "))
      return std::string(Trim(std::string_view(line).substr(name.size())));
  return "";
}

// "f(X*)" of the first line "libjvm.so f(X*)+0x1f" of a native call chain.
std::string InnermostFunction(std::string_view native) {
  const std::string_view line = native.substr(0, native.find('\n'));
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return "";
  const std::string_view function = line.substr(space + 1);
  return std::string(function.substr(0, function.rfind("+0x")));
}

std::string ReplayCommand(const RunSummary& summary, size_t index,
                          const std::map<int64_t, const CellRow*>& cells) {
  const BucketRow& bucket = summary.buckets[index];
  const BucketFiles& files = summary.files[index];
  if (files.input.empty()) return "";
  const bool minimized = !files.minimized.empty() && bucket.minimized_tries > 0 &&
                         bucket.minimized_confirmed == bucket.minimized_tries;
  const RunIdentity& identity = summary.run.identity;
  std::string jdk = identity.jdk_path, profile;
  if (const std::vector<int64_t>& seen_by = summary.bucket_cells[index]; !seen_by.empty())
    if (const auto cell = cells.find(seen_by.front()); cell != cells.end()) {
      jdk = cell->second->jdk_path;
      profile = cell->second->profile;
    }
  std::vector<std::string> words = {
      "walkhammer", "replay", summary.dir + "/" + (minimized ? files.minimized : files.input)};
  if (!jdk.empty()) words.insert(words.end(), {"--jdk", jdk});
  if (identity.provider.find('/') != std::string::npos)
    words.insert(words.end(), {"--provider", identity.provider});
  if (!profile.empty() && profile != "default") words.insert(words.end(), {"--profile", profile});
  if (!identity.jvm_flags.empty()) words.emplace_back("--");
  for (const std::string& flag : Words(identity.jvm_flags)) words.push_back(flag);
  return OnOneLine(ShellCommand(words));
}

// Returns one example a bucket, in the order of summary.buckets.
Result<std::vector<BucketExample>> ReadExamples(const RunReader& db, const RunSummary& summary) {
  std::map<int64_t, const CellRow*> cells;
  for (const CellSummary& cell : summary.cells) cells[cell.row.position] = &cell.row;
  std::vector<BucketExample> examples;
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    ASSIGN_OR_RETURN(auto findings, db.Findings(summary.buckets[i].id));
    BucketExample example;
    const auto best =
        std::min_element(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
          const auto rank = [](const FindingRecord& f) {
            return std::tuple(f.request.empty(), f.realism, f.request.size(), f.sequence);
          };
          return rank(a) < rank(b);
        });
    if (best != findings.end()) example.finding = std::move(*best);
    example.walker = FieldOf(example.finding.request, "walker");
    if (example.walker.empty()) example.walker = summary.run.identity.walker;
    example.scene = FieldOf(example.finding.request, "scene");
    example.function = InnermostFunction(example.finding.native);
    example.replay = ReplayCommand(summary, i, cells);
    examples.push_back(std::move(example));
  }
  return examples;
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

std::string WhyGraded(const BucketRow& bucket) {
  const Oracle* oracle = FindOracle(bucket.oracle);
  if (oracle == nullptr) return "";
  for (const OutcomeInfo& outcome : oracle->outcomes)
    if (bucket.outcome == outcome.name) return outcome.reason;
  return "";
}

std::string RealismHeading(Realism realism) {
  return fmt::format("{}: {}", RealismWord(realism), RealismMeaning(realism));
}

}  // namespace walkhammer
