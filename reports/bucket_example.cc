// SPDX-License-Identifier: Apache-2.0
#include "reports/bucket_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/base/numbers.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/findings/explain.h"

namespace walkhammer {
namespace {

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

}  // namespace

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
