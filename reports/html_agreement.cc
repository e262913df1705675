// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/base/numbers.h"
#include "reports/agreement.h"
#include "reports/html_parts.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

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
                   {"where pc was", "#both walked", "#same methods", "#byte codes and levels, too",
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

}  // namespace walkhammer
