// SPDX-License-Identifier: Apache-2.0
#include "reports/frame_map_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/numbers.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {
namespace {

constexpr size_t kDifferencesShown = 10;

struct MapTotals {
  uint64_t instructions = 0, known = 0, steps = 0, agreed = 0, disagreed = 0, code_unknown = 0;
  uint64_t senders = 0, sender_agreed = 0, sender_disagreed = 0;

  void Add(const FramePlaceRow& row) {
    const bool is_known = !row.place.starts_with("unknown");
    instructions += row.instructions;
    steps += row.steps;
    agreed += row.agreed;
    disagreed += row.disagreed;
    senders += row.senders;
    sender_agreed += row.sender_agreed;
    sender_disagreed += row.sender_disagreed;
    if (is_known) known += row.instructions;
    if (!is_known) code_unknown += row.judged;
  }
  uint64_t calls_unknown() const {
    return steps - std::min(steps, agreed + disagreed + code_unknown);
  }
};

std::string KindsText(std::span<const FramePlaceRow> places) {
  MapTotals all;
  std::map<std::string, MapTotals> kinds;
  for (const FramePlaceRow& row : places) {
    all.Add(row);
    kinds[row.code].Add(row);
  }
  std::string text;
  const auto line = [&](const std::string& name, const MapTotals& of) {
    text += fmt::format(
        "        {:<8} known at {:>8} of {:>11}; {:>11} steps agree, {} disagree, {} "
        "unknown to the code, {} to the calls\n",
        OnOneLine(name), Percent(of.known, of.instructions, 2), Grouped(of.instructions),
        Grouped(of.agreed), Grouped(of.disagreed), Grouped(of.code_unknown),
        Grouped(of.calls_unknown()));
  };
  line("all", all);
  for (const auto& [name, of] : kinds) line(name, of);
  return text + fmt::format("        the caller's sp known at {:>8}; {} steps agree, {} disagree\n",
                            Percent(all.senders, all.instructions, 2), Grouped(all.sender_agreed),
                            Grouped(all.sender_disagreed));
}

// Why the rows of some instructions are unknown.
std::string UnknownText(std::span<const FramePlaceRow> places) {
  std::map<std::string, uint64_t> reasons;
  for (const FramePlaceRow& row : places)
    if (row.place.starts_with("unknown") && row.instructions > 0)
      reasons[row.code + ", " + row.place] += row.instructions;
  std::string text;
  for (const auto& [reason, count] : reasons)
    text += fmt::format("        {:>11}  {}\n", Grouped(count), OnOneLine(reason));
  return text;
}

// Where each walker fails or is wrong, by the kind of code and the place of the return address.
std::string WalkersText(std::span<const FrameWalkerRow> walkers) {
  std::vector<FrameWalkerRow> bad;
  for (const FrameWalkerRow& row : walkers)
    if (row.failed + row.wrong + row.contradicted > 0) bad.push_back(row);
  std::stable_sort(bad.begin(), bad.end(), [](const auto& a, const auto& b) {
    if (a.walker != b.walker) return a.walker < b.walker;
    return a.failed + a.wrong + a.contradicted > b.failed + b.wrong + b.contradicted;
  });
  std::string text;
  for (const FrameWalkerRow& row : bad)
    text += fmt::format(
        "        {:<11} {:>9} failed  {:>9} wrong  {:>9} contradicted  of {:>11}  "
        "{}, {}\n",
        OnOneLine(row.walker), Grouped(row.failed), Grouped(row.wrong), Grouped(row.contradicted),
        Grouped(row.answered + row.failed + row.wrong), OnOneLine(row.code), OnOneLine(row.place));
  return text;
}

struct RuleTotals {
  uint64_t instructions = 0, bad = 0, depends = 0, confirmed = 0, refuted = 0;

  void Add(const FramePredictionRow& row) {
    instructions += row.instructions;
    if (row.predicted == "wrong" || row.predicted == "no-answer") bad += row.instructions;
    if (row.predicted == "depends") depends += row.instructions;
    confirmed += row.confirmed;
    refuted += row.refuted;
  }
};

// How much of each kind of code a walker's own rules get wrong, and whether its answers were so.
std::string PredictedText(std::span<const FramePredictionRow> predictions) {
  const std::string all;  // sorted before each kind of code
  std::map<std::pair<std::string, std::string>, RuleTotals> totals;
  for (const FramePredictionRow& row : predictions)
    for (const std::string& code : {all, row.code}) totals[{row.walker, code}].Add(row);
  std::string text;
  for (const auto& [key, of] : totals) {
    text += fmt::format("        {:<11} {:<8} errs at {:>8}, may err at {:>8} of {:>11}",
                        OnOneLine(key.first), key.second.empty() ? "all" : OnOneLine(key.second),
                        Percent(of.bad, of.instructions, 2),
                        Percent(of.depends, of.instructions, 2), Grouped(of.instructions));
    if (of.confirmed + of.refuted > 0)
      text += fmt::format("; {} steps as predicted, {} not", Grouped(of.confirmed),
                          Grouped(of.refuted));
    text += '\n';
  }
  return text;
}

// Why the walkers err, most instructions first.
std::string RulesText(std::span<const FramePredictionRow> predictions) {
  std::vector<FramePredictionRow> bad;
  for (const FramePredictionRow& row : predictions)
    if (row.predicted != "right") bad.push_back(row);
  std::stable_sort(bad.begin(), bad.end(), [](const auto& a, const auto& b) {
    return a.walker != b.walker ? a.walker < b.walker : a.instructions > b.instructions;
  });
  std::string text;
  for (const FramePredictionRow& row : bad)
    text += fmt::format("        {:>11}  {:<11} {:<8} {:<9}  {}\n", Grouped(row.instructions),
                        OnOneLine(row.walker), OnOneLine(row.code), OnOneLine(row.predicted),
                        OnOneLine(row.rule));
  return text;
}

std::string RefutedText(std::span<const FrameRefutedRow> refuted) {
  std::vector<FrameRefutedRow> worst(refuted.begin(), refuted.end());
  const auto steps = [](const FrameRefutedRow& row) {
    return row.predicted == "right"   ? row.contradicted + row.failed
           : row.predicted == "wrong" ? row.proven
                                      : row.proven + row.contradicted;
  };
  std::stable_sort(worst.begin(), worst.end(),
                   [&](const auto& a, const auto& b) { return steps(a) > steps(b); });
  std::string text;
  for (size_t i = 0; i < worst.size() && i < kDifferencesShown; i++) {
    const FrameRefutedRow& row = worst[i];
    text += fmt::format(
        "        {:>11} x {} is {} by its rule ({}); the calls prove {}, contradict {}, no answer "
        "{}: {} {}, {}\n            {}\n",
        Grouped(steps(row)), OnOneLine(row.walker), OnOneLine(row.predicted), OnOneLine(row.rule),
        Grouped(row.proven), Grouped(row.contradicted), Grouped(row.failed), OnOneLine(row.code),
        OnOneLine(row.name), OnOneLine(row.place), OnOneLine(row.instruction));
  }
  if (worst.size() > kDifferencesShown)
    text += fmt::format("        and {} more (report --json has all)\n",
                        Grouped(worst.size() - kDifferencesShown));
  return text;
}

std::string DifferencesText(std::span<const FrameDifferenceRow> differences) {
  std::vector<FrameDifferenceRow> worst(differences.begin(), differences.end());
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& a, const auto& b) { return a.steps > b.steps; });
  std::string text;
  for (size_t i = 0; i < worst.size() && i < kDifferencesShown; i++) {
    const FrameDifferenceRow& row = worst[i];
    text += fmt::format("        {:>11} x {} by the code, {} by the calls: {} {}\n            {}\n",
                        Grouped(row.steps), OnOneLine(row.place), OnOneLine(row.seen),
                        OnOneLine(row.code), OnOneLine(row.name), OnOneLine(row.instruction));
  }
  if (worst.size() > kDifferencesShown)
    text += fmt::format("        and {} more (report --json has all)\n",
                        Grouped(worst.size() - kDifferencesShown));
  return text;
}

}  // namespace

std::string FrameMapText(const CellSummary& cell) {
  if (cell.frame_places.empty()) return "";
  std::string text =
      "      return addresses, by the code alone, and by the calls that were made\n" +
      KindsText(cell.frame_places);
  if (const std::string unknown = UnknownText(cell.frame_places); !unknown.empty())
    text += "      instructions whose code does not tell\n" + unknown;
  if (const std::string walkers = WalkersText(cell.frame_walkers); !walkers.empty())
    text += "      walkers, by where the return address is\n" + walkers;
  if (!cell.frame_differences.empty())
    text += "      code and calls disagree\n" + DifferencesText(cell.frame_differences);
  if (!cell.frame_predictions.empty())
    text += "      where walkers err by their own rules, in all code that the JVM has\n" +
            PredictedText(cell.frame_predictions) +
            "      instructions at which they err, or may err, by rule\n" +
            RulesText(cell.frame_predictions);
  if (!cell.frame_refuted.empty())
    text += "      walkers that do not answer as predicted\n" + RefutedText(cell.frame_refuted);
  return text;
}

}  // namespace walkhammer
