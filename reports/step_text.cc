// SPDX-License-Identifier: Apache-2.0
#include "reports/step_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

constexpr size_t kRegionsShown = 10;
constexpr size_t kRangesShown = 5;
constexpr size_t kInstructionsShown = 8;

struct Steps {
  uint64_t all = 0, answered = 0, failed = 0, wrong = 0, proven = 0, contradicted = 0;
  void Add(const StepRegionRow& region) {
    all += region.steps;
    answered += region.answered;
    failed += region.failed;
    wrong += region.wrong;
    proven += region.proven;
    contradicted += region.contradicted;
  }
  uint64_t unknown() const { return all - std::min(all, proven + contradicted); }
};

std::string LevelWords(int level) {
  if (level < 0) return "not compiled";
  if (level == 0) return "native wrapper";
  return fmt::format("level {}, C{}", level, level == 4 ? 2 : 1);
}

// What the calls that the thread has made say of the answers; empty if they judged none.
std::string CallersText(const Steps& all, const std::map<std::string, Steps>& kinds) {
  if (all.proven + all.contradicted == 0) return "";
  std::string text = "      callers, by the calls that were made\n";
  const auto line = [&](const std::string& name, const Steps& steps) {
    text += fmt::format("        {:>9} proven  {:>9} unknown  {:>9} contradicted  {}\n",
                        Percent(steps.proven, steps.all, 2), Percent(steps.unknown(), steps.all, 2),
                        Grouped(steps.contradicted), OnOneLine(name));
  };
  line("all", all);
  for (const auto& [name, steps] : kinds) line(name, steps);
  return text;
}

// One line for each group, the group with most steps first.
std::string ShareTable(const std::map<std::string, Steps>& groups) {
  std::vector<std::pair<std::string, Steps>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.all > b.second.all; });
  std::string text;
  for (const auto& [name, steps] : sorted) {
    text += fmt::format("        {:>9} of {:>13}  {:<14}", Percent(steps.answered, steps.all, 2),
                        Grouped(steps.all), OnOneLine(name));
    if (steps.failed > 0) text += fmt::format("  {} failed", Percent(steps.failed, steps.all, 2));
    if (steps.wrong > 0) text += fmt::format("  {} wrong", Percent(steps.wrong, steps.all, 2));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string WorstRegions(std::span<const StepRegionRow> regions) {
  std::vector<StepRegionRow> worst;
  for (const StepRegionRow& region : regions)
    if (region.failed + region.wrong + region.contradicted > 0) worst.push_back(region);
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return a.failed + a.wrong + a.contradicted > b.failed + b.wrong + b.contradicted;
  });
  std::string text;
  for (size_t i = 0; i < worst.size() && i < kRegionsShown; i++) {
    const StepRegionRow& region = worst[i];
    text += fmt::format("        {:>11} failed  {:>11} wrong  of {:>13}  {} {}, {}",
                        Grouped(region.failed), Grouped(region.wrong), Grouped(region.steps),
                        OnOneLine(region.kind), OnOneLine(region.name), LevelWords(region.level));
    if (region.contradicted > 0)
      text += fmt::format("; {} contradicted", Grouped(region.contradicted));
    text += "\n";
  }
  if (worst.size() > kRegionsShown)
    text += fmt::format("        and {} more\n", Grouped(worst.size() - kRegionsShown));
  return text;
}

// The first kInstructionsShown instructions of `listing`, a line each.
std::string Instructions(std::string_view listing) {
  std::string text;
  size_t lines = 0;
  while (!listing.empty()) {
    const size_t length = std::min(listing.find('\n'), listing.size());
    if (lines++ < kInstructionsShown)
      text += "            " + OnOneLine(std::string(listing.substr(0, length))) + "\n";
    listing.remove_prefix(std::min(length + 1, listing.size()));
  }
  if (lines > kInstructionsShown)
    text += fmt::format("            and {} more\n", Grouped(lines - kInstructionsShown));
  return text;
}

std::string WorstRanges(std::span<const StepRangeRow> ranges) {
  std::vector<StepRangeRow> worst(ranges.begin(), ranges.end());
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& a, const auto& b) { return a.steps > b.steps; });
  std::string text;
  for (size_t i = 0; i < worst.size() && i < kRangesShown; i++) {
    const StepRangeRow& range = worst[i];
    text += fmt::format("        {:>11} x {}  {} {} +{:#x} to +{:#x}, {}\n", Grouped(range.steps),
                        OnOneLine(range.answer), OnOneLine(range.kind), OnOneLine(range.name),
                        range.begin, range.end, LevelWords(range.level));
    text += Instructions(range.disassembly);
  }
  if (worst.size() > kRangesShown)
    text += fmt::format("        and {} more (report --json has all)\n",
                        Grouped(worst.size() - kRangesShown));
  return text;
}

}  // namespace

std::string StepText(std::span<const StepRegionRow> regions, std::span<const StepRangeRow> ranges) {
  Steps all;
  std::map<std::string, Steps> kinds, levels;
  for (const StepRegionRow& region : regions) {
    all.Add(region);
    kinds[region.kind].Add(region);
    levels[LevelWords(region.level)].Add(region);
  }
  std::string text;
  if (!regions.empty()) {
    text += fmt::format("      walkable      {} of {} executed\n",
                        Percent(all.answered, all.all, 2), Counted(all.all, "instruction"));
    text += "      by kind of code\n" + ShareTable(kinds);
    text += "      by compile level\n" + ShareTable(levels);
    text += CallersText(all, kinds);
  }
  if (const std::string worst = WorstRegions(regions); !worst.empty())
    text += "      worst code\n" + worst;
  if (!ranges.empty()) text += "      worst ranges\n" + WorstRanges(ranges);
  return text;
}

}  // namespace walkhammer
