// SPDX-License-Identifier: Apache-2.0
#include "reports/stress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/numbers.h"
#include "harness/store/stress_rows.h"
#include "reports/agreement.h"
#include "reports/frame_map_text.h"

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

// The share of executed instructions that can be walked, by kind of code and by compile level; then
// the ten worst regions and the five worst ranges. Empty without regions and ranges.
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

constexpr size_t kThreadsShown = 5;

// "10 ms", "1.25 ms", "250 us"
std::string Span(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.3g} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3g} ms", ns / 1e6);
  return fmt::format("{:.4g} s", ns / 1e9);
}

std::string IntervalWords(const CellRow& cell) {
  const auto low = static_cast<double>(cell.interval_min_ns),
             high = static_cast<double>(cell.interval_max_ns);
  if (high == 0) return "back to back";
  if (low == high) return "every " + Span(high);
  return fmt::format("every {} to {}", Span(low), Span(high));
}

// Nanoseconds of the cell's clock from one signal of a thread to the next: the median over all
// signals, each with the average of its thread. nullopt: no signals, or no time.
std::optional<double> AchievedNs(const CellSummary& cell) {
  std::vector<std::pair<double, uint64_t>> threads;  // interval, signals
  uint64_t signals = 0;
  for (const CellThreadRow& thread : cell.threads) {
    const uint64_t ms = cell.row.clock == "cpu" ? thread.cpu_ms : cell.row.time_ms;
    const uint64_t delivered = thread.delivery.delivered;
    if (delivered == 0 || ms == 0) continue;
    threads.emplace_back(static_cast<double>(ms) * 1e6 / static_cast<double>(delivered), delivered);
    signals += delivered;
  }
  if (threads.empty()) {
    const uint64_t delivered = cell.row.delivery.delivered;
    if (delivered == 0 || cell.row.time_ms == 0) return {};
    return static_cast<double>(cell.row.time_ms) * 1e6 / static_cast<double>(delivered);
  }
  std::sort(threads.begin(), threads.end());
  uint64_t before = 0;
  for (const auto& [interval, delivered] : threads)
    if ((before += delivered) * 2 >= signals) return interval;
  return threads.back().first;
}

void Line(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) text += fmt::format("      {:<12}  {}\n", name, OnOneLine(value));
}

std::string Joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string SignalWords(const CellSummary& cell) {
  const Delivery& delivery = cell.row.delivery;
  if (delivery.requested == 0 && delivery.delivered == 0) return "";
  const std::string delivered = fmt::format("{} delivered", Grouped(delivery.delivered));
  return Joined({delivery.requested == 0
                     ? delivered
                     : fmt::format("{}, {} of {} requested", delivered,
                                   Percent(delivery.delivered, delivery.requested, 1),
                                   Grouped(delivery.requested)),
                 fmt::format("{} coalesced, {} missed", Grouped(delivery.coalesced),
                             Grouped(delivery.missed))});
}

std::string IntervalText(const CellSummary& cell) {
  if (cell.row.delivery.delivered == 0 || cell.row.clock.empty()) return "";
  const std::optional<double> achieved = AchievedNs(cell);
  return achieved ? fmt::format("{} achieved (median), asked for {}", Span(*achieved),
                                IntervalWords(cell.row))
                  : "";
}

}  // namespace

std::string CodesLine(const StateCodes& state) {
  std::string text;
  for (const CodeShare& code : state.codes)
    text +=
        fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", Percent(code.count, state.walks, 2),
                    code.code, code.code_name.empty() ? "" : " ", code.code_name);
  return text;
}

namespace {

std::string AnswersText(const std::vector<StateCodes>& states) {
  if (states.empty()) return "";
  std::set<std::string> walkers;
  for (const StateCodes& state : states) walkers.insert(state.walker);
  std::string text = "      answers, by thread state\n";
  for (const StateCodes& state : states)
    text += fmt::format("        {:>11}  {}{:<18}  {}\n", Grouped(state.walks),
                        walkers.size() > 1 ? fmt::format("{:<14}  ", OnOneLine(state.walker)) : "",
                        OnOneLine(state.state), OnOneLine(CodesLine(state)));
  return text;
}

// "      ends of walks, asgst:  99.2 % whole, 0.8 % no-caller"
std::string EndsText(const std::vector<WalkEndRow>& rows) {
  std::map<std::string, std::vector<WalkEndRow>> walkers;
  for (const WalkEndRow& row : rows) walkers[row.walker].push_back(row);
  std::string text;
  for (auto& [walker, ends] : walkers) {
    std::stable_sort(ends.begin(), ends.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    uint64_t all = 0;
    for (const WalkEndRow& end : ends) all += end.count;
    std::string shares;
    for (const WalkEndRow& end : ends)
      shares +=
          fmt::format("{}{} {}", shares.empty() ? "" : ", ", Percent(end.count, all, 2), end.end);
    text += fmt::format("      how walks of {} ended\n        {:>11}  {}\n", OnOneLine(walker),
                        Grouped(all), OnOneLine(shares));
  }
  return text;
}

std::string ThreadsText(std::vector<CellThreadRow> threads) {
  if (threads.empty()) return "";
  std::stable_sort(threads.begin(), threads.end(), [](const auto& a, const auto& b) {
    return a.delivery.delivered > b.delivery.delivered;
  });
  std::string text = fmt::format("      threads, by signals, of {}\n", Grouped(threads.size()));
  for (size_t i = 0; i < threads.size() && i < kThreadsShown; i++) {
    const CellThreadRow& thread = threads[i];
    const Delivery& delivery = thread.delivery;
    text += fmt::format(
        "        {:>11}  {:>8} of requested  {:>8} of walks successful  {:>8} CPU  {:<6}  {}\n",
        Grouped(delivery.delivered), Percent(delivery.delivered, delivery.requested, 1),
        Percent(delivery.successful, delivery.walks, 1),
        Span(static_cast<double>(thread.cpu_ms) * 1e6), thread.java ? "Java" : "native",
        OnOneLine(thread.name));
  }
  return text;
}

}  // namespace

std::string CellText(const CellSummary& cell, const RunRow& run) {
  const CellRow& row = cell.row;
  std::string word = CellWord(row, run);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text =
      OnOneLine(fmt::format("  {}  {}: {}", row.position, CellLabel(row), word)) + "\n";
  Line(text, "why", row.reason);
  Line(text, "VM", Joined({row.vm_version, row.vm_gc}));
  Line(text, "flags", row.jvm_flags);
  const Delivery& delivery = row.delivery;
  if (row.starts == 0 && delivery.delivered == 0 && delivery.walks == 0 && cell.regions.empty() &&
      row.time_ms == 0)
    return text;
  Line(text, "walked",
       Joined({row.walker, row.mode,
               fmt::format("{:.1f} s", static_cast<double>(row.time_ms) / 1000),
               Counted(row.starts, "JVM")}));
  Line(text, "sampled",
       Joined({row.sampler, row.clock.empty() ? "" : row.clock + " clock, " + IntervalWords(row)}) +
           (row.sampler_reason.empty() ? "" : ": " + row.sampler_reason));
  Line(text, "signals", SignalWords(cell));
  Line(text, "interval", IntervalText(cell));
  Line(text, "walks",
       fmt::format("{}, {} successful", Grouped(delivery.walks),
                   Percent(delivery.successful, delivery.walks, 2)));
  Line(text, "crashes", Grouped(row.contained_crashes) + " contained");
  Line(text, "took",
       fmt::format("{} KiB in the agent; {} bytes printed by the workload", Grouped(row.agent_kib),
                   Grouped(row.output_bytes)));
  if (cell.stacks.distinct > 0)
    Line(text, "stacks",
         fmt::format("{} distinct of {} (report --flame draws them)", Grouped(cell.stacks.distinct),
                     Grouped(cell.stacks.count)));
  return text + AnswersText(cell.codes) + AgreementText(cell.agreement, "      ") +
         EvidenceText(cell.evidence, "      ") + EndsText(cell.ends) + ThreadsText(cell.threads) +
         StepText(cell.regions, cell.ranges) + FrameMapText(cell);
}

std::string CellsSection(const RunSummary& summary) {
  std::string text;
  for (const CellSummary* cell : CellsByNeed(summary)) text += CellText(*cell, summary.run);
  return text;
}

std::string SeenByText(const RunSummary& summary, size_t bucket) {
  const std::vector<int64_t>& cells = summary.bucket_cells[bucket];
  if (cells.empty()) return "";
  std::string text = fmt::format("cell {}", cells.front());
  for (const CellSummary& cell : summary.cells)
    if (cell.row.position == cells.front()) text = OnOneLine(CellLabel(cell.row));
  if (cells.size() > 1) text += " and " + Counted(cells.size() - 1, "more cell");
  return text;
}

}  // namespace walkhammer
