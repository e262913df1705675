// SPDX-License-Identifier: Apache-2.0
#include "reports/agreement_text.h"

#include <fmt/format.h>

#include "harness/base/numbers.h"
#include "reports/agreement.h"

namespace walkhammer {
namespace {

// "99.92 % of 59,511  codelet  95.42 %  46 skipped-caller": the share with the same methods, and
// the share with the same byte codes and levels, too.
std::string ComparedLine(const std::string& name, const Compared& compared) {
  std::string text =
      fmt::format("  {:>9} of {:>11}  {:<12}  {:>9}", Percent(compared.methods, compared.both, 2),
                  Grouped(compared.both), name, Percent(compared.agreed, compared.both, 2));
  for (const auto& [kind, samples] : compared.kinds)
    text += fmt::format("  {} {}", Grouped(samples), kind);
  if (compared.one_failed > 0)
    text += fmt::format("  ({} more, which one of them failed on)", Grouped(compared.one_failed));
  return OnOneLine(text) + "\n";
}

// "7,275 skipped-caller  agct 7,000, asgst 0, both 3, neither 272"
std::string EvidenceLine(const WitnessedPair& pair, const std::string& kind) {
  const auto count = [&](Against who) { return Grouped(pair.Count(kind, who)); };
  return fmt::format("  {:>11}  {:<14}  {} {}, {} {}, both {}, neither {}\n",
                     Grouped(pair.Count(kind)), OnOneLine(kind), OnOneLine(pair.other),
                     count(Against::kOther), OnOneLine(pair.walker), count(Against::kWalker),
                     count(Against::kBoth), count(Against::kNeither));
}

}  // namespace

std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent) {
  std::string text;
  for (const ComparedPair& pair : ComparePairs(rows)) {
    text += fmt::format("{}{}: the same methods on; where pc was; byte codes and levels, too\n",
                        indent, OnOneLine(pair.words));
    for (const auto& [region, compared] : pair.regions)
      text += indent + ComparedLine(region, compared);
  }
  return text;
}

std::string EvidenceText(const std::vector<EvidenceRow>& rows, const std::string& indent) {
  std::string text;
  for (const WitnessedPair& pair : WitnessPairs(rows)) {
    text += fmt::format("{}{} with {}, {}: whom it contradicts, by how they differ\n", indent,
                        OnOneLine(pair.walker), OnOneLine(pair.other), OnOneLine(pair.witness));
    for (const auto& [kind, against] : pair.kinds) text += indent + EvidenceLine(pair, kind);
  }
  return text;
}

}  // namespace walkhammer
