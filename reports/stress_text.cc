// SPDX-License-Identifier: Apache-2.0
#include "reports/stress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "harness/base/numbers.h"
#include "reports/agreement_text.h"
#include "reports/step_text.h"
#include "reports/stress_summary.h"

namespace walkhammer {
namespace {

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

// "93.10 % frames, 6.90 % -5 unknown_Java"
std::string CodesLine(const StateCodes& state) {
  std::string text;
  for (const CodeShare& code : state.codes)
    text +=
        fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", Percent(code.count, state.walks, 2),
                    code.code, code.code_name.empty() ? "" : " ", code.code_name);
  return text;
}

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
         StepText(cell.regions, cell.ranges);
}

std::string CellsSection(const RunSummary& summary) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : summary.cells) cells.push_back(&cell);
  const auto passed = [&](const CellSummary* cell) {
    return CellWord(cell->row, summary.run) == CellStatusWord(CellStatus::kPassed);
  };
  std::stable_partition(cells.begin(), cells.end(),
                        [&](const CellSummary* cell) { return !passed(cell); });
  std::string text;
  for (const CellSummary* cell : cells) text += CellText(*cell, summary.run);
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
