// SPDX-License-Identifier: Apache-2.0
#include "reports/agreement_text.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/oracles/disagreement.h"
#include "harness/request/walk_request.h"

namespace walkhammer {
namespace {

// How two walkers answered the samples of one region.
struct Compared {
  uint64_t samples = 0, agreed = 0, one_failed = 0;
  std::map<std::string, uint64_t> kinds;  // of disagreement

  void Add(const AgreementRow& row) {
    samples += row.samples;
    if (row.kind == DisagreementWord(Disagreement::kNone))
      agreed += row.samples;
    else if (row.kind == DisagreementWord(Disagreement::kOneFailed))
      one_failed += row.samples;
    else
      kinds[row.kind] += row.samples;
  }
};

// "99.92 % of 59,511  codelet  95.42 %  46 skipped-caller": the share with the same methods, and
// the share with the same byte codes and levels, too.
std::string ComparedLine(const std::string& name, const Compared& compared) {
  const auto of = [&](Disagreement kind) {
    const auto found = compared.kinds.find(DisagreementWord(kind));
    return found == compared.kinds.end() ? 0 : found->second;
  };
  const uint64_t both = compared.samples - compared.one_failed - of(Disagreement::kUnnamed);
  uint64_t methods = compared.agreed;
  for (const Disagreement kind : {Disagreement::kBci, Disagreement::kLevel}) methods += of(kind);
  std::string text = fmt::format("  {:>9} of {:>11}  {:<12}  {:>9}", Percent(methods, both, 2),
                                 Grouped(both), name, Percent(compared.agreed, both, 2));
  for (const auto& [kind, samples] : compared.kinds)
    text += fmt::format("  {} {}", Grouped(samples), kind);
  if (compared.one_failed > 0)
    text += fmt::format("  ({} more, which one of them failed on)", Grouped(compared.one_failed));
  return OnOneLine(text) + "\n";
}

std::string PairWords(const AgreementRow& row) {
  const std::string pair = fmt::format("{} with {}", row.walker, row.other);
  if (row.cell != kNoCell) return pair;
  return fmt::format("{}, {} requests", pair, RealismWord(row.realism));
}

}  // namespace

std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent) {
  // By names of the pair, then by realism, the most real first.
  std::map<std::pair<std::string, Realism>, std::pair<std::string, std::map<std::string, Compared>>>
      parts;
  for (const AgreementRow& row : rows) {
    auto& [words, regions] = parts[{row.walker + " " + row.other, row.realism}];
    words = PairWords(row);
    regions["anywhere"].Add(row);
    regions[row.region].Add(row);
  }
  std::string text;
  for (const auto& [key, part] : parts) {
    const auto& [words, regions] = part;
    text += fmt::format("{}{}: the same methods on; where pc was; byte codes and levels, too\n",
                        indent, OnOneLine(words));
    for (const auto& [region, compared] : regions) text += indent + ComparedLine(region, compared);
  }
  return text;
}

}  // namespace walkhammer
