// SPDX-License-Identifier: Apache-2.0
#include "reports/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "harness/findings/crash_folder.h"
#include "reports/code_listing.h"

namespace walkhammer {
namespace {

constexpr size_t kFunctionsShown = 15;

std::string Seconds(uint64_t time_ms) {
  return fmt::format("{:.1f} s", static_cast<double>(time_ms) / 1000);
}

// A few points of the curve: the first at or after each mark, and the last.
std::vector<ProgressRow> CurvePoints(const std::vector<ProgressRow>& progress) {
  constexpr uint64_t kMarksMs[] = {1'000,      10'000,     30'000,    60'000,    120'000,
                                   300'000,    600'000,    1'800'000, 3'600'000, 7'200'000,
                                   18'000'000, 36'000'000, 86'400'000};
  std::vector<ProgressRow> points;
  const auto add = [&](const ProgressRow& point) {
    if (points.empty() || points.back().time_ms != point.time_ms) points.push_back(point);
  };
  for (const uint64_t mark : kMarksMs) {
    const auto at = std::find_if(progress.begin(), progress.end(),
                                 [&](const ProgressRow& p) { return p.time_ms >= mark; });
    if (at != progress.end()) add(*at);
  }
  if (!progress.empty()) add(progress.back());
  return points;
}

constexpr char kLegend[] =
    "Not reached: + and - are instructions of blocks that were and were not reached; addresses are "
    "those of the file.\n";

Result<CoverageRows> ReadCoverage(const RunReader& db, std::string_view part) {
  auto code = db.Coverage();
  if (!code.ok()) return code;
  if (!code.value().reason.empty())
    return Unable(fmt::format("{}: there is no coverage: {}", db.dir(), code.value().reason));
  if (ByUnreached(code.value(), part).empty())
    return BadInput(
        fmt::format("{}: no function of the walker's code has \"{}\" in its name (--coverage "
                    "alone names all)",
                    db.dir(), part));
  return code;
}

std::string Heading(const CoverageRows& code) {
  return fmt::format("{}, build id {}\n{}\n\n", OnOneLine(code.file),
                     code.build_id.empty() ? "-" : OnOneLine(code.build_id),
                     CoverageSentence(code));
}

Result<std::string> Listings(const CoverageRows& code, std::string_view part) {
  ASSIGN_OR_RETURN(auto listing, CodeListing::Open(code));
  std::string text;
  for (const size_t function : ByUnreached(code, part))
    if (ReachedOf(code, function) < code.functions[function].blocks)
      text += "\n" + listing.Unreached(function);
  if (!text.empty()) return kLegend + text;
  return std::string(part.empty() ? "Every block was reached.\n"
                                  : "Every block of these functions was reached.\n");
}

}  // namespace

uint32_t ReachedOf(const CoverageRows& code, size_t function) {
  const CoverageFunctionRow& row = code.functions[function];
  const auto first = code.blocks.begin() + row.first_block;
  return static_cast<uint32_t>(
      std::count_if(first, first + row.blocks,
                    [](const CoverageBlockRow& block) { return block.first_ms.has_value(); }));
}

CoverageTotals CountCoverage(const CoverageRows& code) {
  CoverageTotals totals;
  totals.blocks = code.blocks.size();
  totals.functions = code.functions.size();
  for (size_t i = 0; i < code.functions.size(); i++) {
    const uint32_t reached = ReachedOf(code, i);
    totals.reached += reached;
    totals.functions_reached += reached > 0;
  }
  return totals;
}

std::vector<size_t> ByUnreached(const CoverageRows& code, std::string_view part) {
  std::vector<std::pair<uint32_t, size_t>> found;
  for (size_t i = 0; i < code.functions.size(); i++)
    if (code.functions[i].name.find(part) != std::string::npos)
      found.emplace_back(code.functions[i].blocks - ReachedOf(code, i), i);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<size_t> functions;
  for (const auto& [unreached, function] : found) functions.push_back(function);
  return functions;
}

std::string CoverageSentence(const CoverageRows& code) {
  const CoverageTotals totals = CountCoverage(code);
  return fmt::format("{} of {} ({}) in {} of {}", Grouped(totals.reached),
                     Counted(totals.blocks, "block"), Percent(totals.reached, totals.blocks, 1),
                     Grouped(totals.functions_reached), Counted(totals.functions, "function"));
}

std::string CoverageSection(const CoverageRows& code, const std::vector<ProgressRow>& progress) {
  if (!code.reason.empty()) return fmt::format("  none: {}\n", OnOneLine(code.reason));
  std::string text = fmt::format("  {}\n", CoverageSentence(code));
  for (const ProgressRow& point : CurvePoints(progress))
    text += fmt::format("  after {:>10}  {:>6} blocks  {:>4} buckets  {:>14} walks\n",
                        Seconds(point.time_ms), Grouped(point.blocks), Grouped(point.buckets),
                        Grouped(point.walks));
  std::string functions;
  for (const size_t i : ByUnreached(code, "")) {
    const uint32_t reached = ReachedOf(code, i), blocks = code.functions[i].blocks;
    if (reached == blocks ||
        std::count(functions.begin(), functions.end(), '\n') == kFunctionsShown)
      break;
    functions += fmt::format("  {:>6} of {:>5}  {}\n", Grouped(reached), Grouped(blocks),
                             OnOneLine(code.functions[i].name));
  }
  if (!functions.empty()) text += "  Most blocks not reached:\n" + functions;
  if (!code.left_out.empty())
    text += fmt::format("  Left out: {} (report --coverage says what and why)\n",
                        Grouped(code.left_out.size()));
  return text;
}

std::string FunctionTable(const CoverageRows& code, std::string_view part) {
  std::string text = fmt::format("{:>7}  {:>6}  {:>7}  {:<6}  {:>10}  {:<10}  {}\n", "reached",
                                 "blocks", "share", "by", "first", "address", "function");
  for (const size_t i : ByUnreached(code, part)) {
    const CoverageFunctionRow& function = code.functions[i];
    std::optional<uint64_t> first;
    for (uint32_t b = 0; b < function.blocks; b++)
      if (const auto& ms = code.blocks[function.first_block + b].first_ms; ms)
        first = std::min(first.value_or(*ms), *ms);
    const uint32_t reached = ReachedOf(code, i);
    text += fmt::format("{:>7}  {:>6}  {:>7}  {:<6}  {:>10}  {:<#10x}  {}\n", Grouped(reached),
                        Grouped(function.blocks), Percent(reached, function.blocks, 1),
                        OnOneLine(function.reach), first ? Seconds(*first) : "never",
                        function.address, OnOneLine(function.name));
  }
  if (!part.empty() || code.left_out.empty()) return text;
  text += "\nLeft out\n";
  for (const LeftOutRow& row : code.left_out)
    text += fmt::format("  {}\n", OnOneLine(row.name + ": " + row.reason));
  return text;
}

Result<std::string> FunctionReport(const RunReader& db, std::string_view part) {
  ASSIGN_OR_RETURN(const auto code, ReadCoverage(db, part));
  return Heading(code) + FunctionTable(code, part);
}

Result<std::string> UnreachedReport(const RunReader& db, std::string_view part) {
  ASSIGN_OR_RETURN(const auto code, ReadCoverage(db, part));
  ASSIGN_OR_RETURN(auto listings, Listings(code, part));
  return Heading(code) + listings;
}

Status WriteCoverageFile(const RunReader& db) {
  ASSIGN_OR_RETURN(const auto code, db.Coverage());
  if (!code.reason.empty()) return Ok();
  ASSIGN_OR_RETURN(auto listings, Listings(code, ""));
  return WriteFileAtomically(db.dir() + "/coverage.txt",
                             Heading(code) + FunctionTable(code, "") + "\n" + listings);
}

}  // namespace walkhammer
