// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "reports/agreement.h"
#include "reports/coverage_report.h"
#include "reports/html_parts.h"
#include "reports/markup.h"
#include "reports/report_output.h"
#include "reports/stress_text.h"

namespace walkhammer {
namespace {

constexpr size_t kFunctionRows = 40;
constexpr size_t kMostCellText = 600'000;  // bytes; the cells beyond have a row in the table only

std::string StateHtml(const StateCodes& state) {
  std::vector<std::vector<std::string>> rows;
  for (const CodeShare& code : state.codes)
    rows.push_back({LineHtml(code.code), LineHtml(code.code_name), Grouped(code.count),
                    Percent(code.count, state.walks, 2),
                    BarHtml(code.count, state.walks, code.code == "crash" || code.code == "hang")});
  return TableHtml(
      fmt::format("{} in {}: {} walks", state.walker, state.state, Grouped(state.walks)),
      {"answer", "name", "#walks", "#share", "of this state"}, rows);
}

std::string StatesHtml(const std::vector<StateCodes>& states) {
  std::string html;
  for (const StateCodes& state : states) html += StateHtml(state);
  return html;
}

const char* StatusClass(const std::string& word) {
  if (word == CellStatusWord(CellStatus::kPassed)) return "status-good";
  if (IsSkipped(CellStatusFromWord(word))) return "status-odd";
  return "status-bad";
}

// Blocks reached over time, as a line from the lower left.
std::string CurveHtml(const std::vector<ProgressRow>& progress, uint64_t all) {
  if (progress.size() < 2 || progress.back().time_ms == 0 || all == 0) return "";
  constexpr size_t kPoints = 200;
  std::string points;
  const size_t step = std::max<size_t>(1, progress.size() / kPoints);
  const auto add = [&](const ProgressRow& point) {
    const double x =
        static_cast<double>(point.time_ms) / static_cast<double>(progress.back().time_ms);
    const double y = static_cast<double>(point.blocks) / static_cast<double>(all);
    points += fmt::format("{:.1f},{:.1f} ", 400 * std::min(1.0, x), 100 - 100 * std::min(1.0, y));
  };
  for (size_t i = 0; i < progress.size(); i += step) add(progress[i]);
  add(progress.back());
  return fmt::format(
      "<svg class=\"curve\" viewBox=\"0 0 400 100\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"Blocks reached over time: {} of {} after {:.1f} s\"><rect class=\"track\" "
      "width=\"400\" height=\"100\"/><polyline class=\"line\" points=\"{}\"/></svg>\n"
      "<p>Blocks reached over {:.1f} s; the upper edge is all {}.</p>\n",
      Grouped(progress.back().blocks), Grouped(all),
      static_cast<double>(progress.back().time_ms) / 1000, points,
      static_cast<double>(progress.back().time_ms) / 1000, Counted(all, "block"));
}

// "46 skipped-caller, 3 bci"
std::string KindsHtml(const Compared& compared) {
  std::string text;
  for (const auto& [kind, samples] : compared.kinds)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Grouped(samples), kind);
  return LineHtml(text);
}

std::string ComparedHtml(const ComparedPair& pair) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [region, compared] : pair.regions)
    rows.push_back({LineHtml(region), Grouped(compared.both),
                    Percent(compared.methods, compared.both, 2),
                    Percent(compared.agreed, compared.both, 2),
                    BarHtml({{compared.agreed, ""},
                             {compared.methods - compared.agreed, " part"},
                             {compared.both - compared.methods, " bad"}},
                            compared.both),
                    KindsHtml(compared), Grouped(compared.one_failed)});
  return TableHtml(pair.words,
                   {"where pc was", "#both walked", "#same methods", "#bytecodes and levels, too",
                    "all the same, methods alone, neither", "how they differ", "#one failed"},
                   rows);
}

std::string WitnessedHtml(const WitnessedPair& pair) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [kind, against] : pair.kinds) {
    const uint64_t all = pair.Count(kind), both = pair.Count(kind, Against::kBoth);
    const uint64_t other = pair.Count(kind, Against::kOther) + both;
    const uint64_t walker = pair.Count(kind, Against::kWalker) + both;
    rows.push_back({LineHtml(kind), Grouped(all), Grouped(other), BarHtml(other, all, true),
                    Grouped(walker), BarHtml(walker, all, true), Grouped(both),
                    Grouped(pair.Count(kind, Against::kNeither))});
  }
  const std::string other = LineHtml(pair.other), walker = LineHtml(pair.walker);
  const std::string heads[] = {"#against " + other, other + "'s share", "#against " + walker,
                               walker + "'s share"};
  return TableHtml(fmt::format("{} with {}: whom the witness {} contradicts", pair.walker,
                               pair.other, pair.witness),
                   {"how they differ", "#judged", heads[0], heads[1], heads[2], heads[3],
                    "#of these, both", "#neither"},
                   rows);
}

template <typename Row>
void Append(const std::vector<Row>& more, std::vector<Row>& rows) {
  rows.insert(rows.end(), more.begin(), more.end());
}

}  // namespace

PageSection AnswersPart(const RunSummary& summary) {
  if (summary.codes.empty()) return {"answers", "Answers", "<p>Nothing was counted.</p>\n"};
  return {"answers", "Answers, by walker and thread state", StatesHtml(summary.codes)};
}

PageSection CellsPart(const OutputSource& source) {
  const RunSummary& summary = source.summary;
  if (summary.cells.empty()) return {"cells", "Cells", ""};
  const auto word = [&](const CellSummary* cell) { return CellWord(cell->row, summary.run); };
  std::vector<std::vector<std::string>> rows;
  std::string details;
  for (const CellSummary* cell : CellsByNeed(summary)) {
    const CellRow& row = cell->row;
    const std::string reason = row.reason.empty() ? "" : ": " + LineHtml(row.reason);
    rows.push_back(
        {LineHtml(CellLabel(row)),
         fmt::format("<span class=\"{}\">{}</span>{}", StatusClass(word(cell)), word(cell), reason),
         Grouped(row.delivery.walks), Percent(row.delivery.successful, row.delivery.walks, 2),
         Grouped(row.contained_crashes), Grouped(cell->stacks.distinct)});
    if (details.size() > kMostCellText) continue;
    details += fmt::format("<details class=\"cell\"><summary>{}</summary><div>{}</div></details>\n",
                           LineHtml(CellLabel(row)),
                           PreHtml(CellLabel(row), CellText(*cell, summary.run)));
  }
  std::string html = TableHtml(
      "Workload, JDK and flag profile",
      {"cell", "ended", "#walks", "#successful", "#crashes contained", "#distinct stacks"}, rows);
  html += "<h3>Each cell in full: signals, answers, agreement, witnesses, steps</h3>\n" + details;
  if (!source.flame_path.empty())
    html += fmt::format("<p><a href=\"{}\">Flame graph of the stacks</a></p>\n",
                        MarkupText(UrlPath(source.flame_path)));
  return {"cells", "Cells", std::move(html)};
}

PageSection CoveragePart(const RunSummary& summary) {
  const CoverageRows& code = summary.coverage;
  if (!code.reason.empty()) {
    if (!summary.cells.empty()) return {"coverage", "Coverage", ""};
    return {"coverage", "Coverage", fmt::format("<p>None: {}</p>\n", LineHtml(code.reason))};
  }
  const CoverageTotals totals = CountCoverage(code);
  std::string html = fmt::format("<p>{}</p>\n{}", LineHtml(CoverageSentence(code)),
                                 BarHtml(totals.reached, totals.blocks, false));
  html += CurveHtml(summary.progress, totals.blocks);
  std::vector<std::vector<std::string>> rows;
  for (const size_t i : ByUnreached(code, "")) {
    const uint32_t reached = ReachedOf(code, i), blocks = code.functions[i].blocks;
    if (reached == blocks || rows.size() == kFunctionRows) break;
    rows.push_back({"<code>" + LineHtml(code.functions[i].name) + "</code>", Grouped(reached),
                    Grouped(blocks), Percent(reached, blocks, 1), BarHtml(reached, blocks, false)});
  }
  if (!rows.empty())
    html += TableHtml("Functions with most blocks not reached",
                      {"function", "#reached", "#blocks", "#share", "of its blocks"}, rows);
  return {"coverage", "Coverage of the walker's code", std::move(html)};
}

PageSection AgreementPart(const RunSummary& summary) {
  std::vector<AgreementRow> agreement = summary.agreement;
  std::vector<EvidenceRow> evidence;
  for (const CellSummary& cell : summary.cells) {
    Append(cell.agreement, agreement);
    Append(cell.evidence, evidence);
  }
  std::string html;
  for (const ComparedPair& pair : ComparePairs(agreement)) html += ComparedHtml(pair);
  for (const WitnessedPair& pair : WitnessPairs(evidence)) html += WitnessedHtml(pair);
  return {"agreement", "Agreement of walkers that were shown the same, and witnesses",
          std::move(html)};
}

PageSection ScenesPart(const RunSummary& summary) {
  std::vector<std::vector<std::string>> rows;
  for (const SceneRow& scene : summary.scenes) {
    if (scene.tried == 0) continue;
    const char* word = !scene.available      ? "not available"
                       : scene.pristine_true ? "walked correctly"
                                             : "not walked correctly";
    rows.push_back(
        {LineHtml(scene.name), word,
         scene.available ? Grouped(static_cast<uint64_t>(std::max(0, scene.truth_frames))) : "-",
         LineHtml(scene.reason)});
  }
  if (rows.empty()) return {"scenes", "Scenes", ""};
  return {"scenes", "Scenes",
          TableHtml("Whether the unchanged stack of each scene was walked correctly",
                    {"scene", "walk", "#frames", "why"}, rows)};
}

PageSection TotalsPart(const RunSummary& summary) {
  return {"identity", "Totals and identity",
          ListHtml(TotalsOfRun(summary)) + ListHtml(IdentityOfRun(summary))};
}

}  // namespace walkhammer
