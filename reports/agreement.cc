// SPDX-License-Identifier: Apache-2.0
#include "reports/agreement.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/oracles/disagreement.h"
#include "harness/request/walk_request.h"

namespace walkhammer {
namespace {

void Add(const AgreementRow& row, Compared& compared) {
  const auto is = [&](Disagreement kind) { return row.kind == DisagreementWord(kind); };
  if (is(Disagreement::kOneFailed)) {
    compared.one_failed += row.samples;
    return;
  }
  if (!is(Disagreement::kUnnamed)) compared.both += row.samples;
  if (is(Disagreement::kNone)) {
    compared.agreed += row.samples;
    compared.methods += row.samples;
    return;
  }
  if (is(Disagreement::kBci) || is(Disagreement::kLevel)) compared.methods += row.samples;
  compared.kinds[row.kind] += row.samples;
}

std::string PairWords(const AgreementRow& row) {
  const std::string pair = fmt::format("{} with {}", row.walker, row.other);
  if (row.cell != kNoCell) return pair;
  return fmt::format("{}, {} requests", pair, RealismWord(row.realism));
}

// The values of a map, by its keys.
template <typename Key, typename Value>
std::vector<Value> Values(std::map<Key, Value> map) {
  std::vector<Value> values;
  for (auto& [key, value] : map) values.push_back(std::move(value));
  return values;
}

// "99.92 % of 59,511  codelet  95.42 %  46 skipped-caller": the share with the same methods, and
// the share with the same bytecodes and levels, too.
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

std::vector<ComparedPair> ComparePairs(const std::vector<AgreementRow>& rows) {
  std::map<std::pair<std::string, Realism>, ComparedPair> pairs;
  for (const AgreementRow& row : rows) {
    ComparedPair& pair = pairs[{row.walker + " " + row.other, row.realism}];
    pair.words = PairWords(row);
    Add(row, pair.regions["anywhere"]);
    Add(row, pair.regions[row.region]);
  }
  return Values(std::move(pairs));
}

uint64_t WitnessedPair::Count(const std::string& kind, Against who) const {
  const auto& against = kinds.at(kind);
  const auto found = against.find(AgainstWord(who));
  return found == against.end() ? 0 : found->second;
}

uint64_t WitnessedPair::Count(const std::string& kind) const {
  uint64_t all = 0;
  for (const auto& [who, samples] : kinds.at(kind)) all += samples;
  return all;
}

std::vector<WitnessedPair> WitnessPairs(const std::vector<EvidenceRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, WitnessedPair> pairs;
  for (const EvidenceRow& row : rows) {
    WitnessedPair& pair = pairs[{row.walker, row.other, row.witness}];
    pair.walker = row.walker;
    pair.other = row.other;
    pair.witness = row.witness;
    pair.kinds[row.kind][row.against] += row.samples;
  }
  return Values(std::move(pairs));
}

std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent) {
  std::string text;
  for (const ComparedPair& pair : ComparePairs(rows)) {
    text += fmt::format(
        "{}{}: share with the same methods, by where pc was; with bytecodes and levels, too\n",
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
