// SPDX-License-Identifier: Apache-2.0
// A run as Markdown for the page of a CI job: GitHub shows at most 1 MiB of a step's summary, so
// long lists are cut and say so.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/findings/explain.h"
#include "reports/coverage_report.h"
#include "reports/markup.h"
#include "reports/report_output.h"
#include "reports/stress_text.h"

namespace walkhammer {
namespace {

constexpr size_t kMarkdownBuckets = 50, kMarkdownReplays = 10, kMarkdownRows = 100;

std::string CutLine(size_t all, size_t shown, const char* what) {
  return all <= shown ? "" : fmt::format("\n{} more {}.\n", Grouped(all - shown), what);
}

// "WH-1, since 2026-01-02 on 17.0.9+9"
std::string MarkdownName(const KnownAs& name) {
  const std::string since = SinceText(name);
  return MarkdownText(ShortName(name) + (since.empty() ? "" : ", since " + since));
}

const char* GradeMeaning(Grade grade) {
  switch (grade) {
    case Grade::kForbidden:
      return "an API promises that this does not happen, or no program survives it";
    case Grade::kInteresting:
      return "worth a look, but no promise is broken";
    default:
      return "an answer that every API permits";
  }
}

// The words of the first `shown` buckets, a line for grades and one for realism.
std::string MarkdownLegend(const std::vector<BucketRow>& buckets, size_t shown) {
  std::map<Grade, std::string, std::greater<>> grades;
  std::map<Realism, std::string> realisms;
  for (size_t i = 0; i < shown; i++) {
    const auto& [grade, realism] = std::pair(buckets[i].grade, buckets[i].realism);
    grades[grade] = fmt::format("{}: {}", GradeWord(grade), GradeMeaning(grade));
    realisms[realism] = fmt::format("{}: {}", RealismWord(realism), RealismMeaning(realism));
  }
  const auto line = [](const char* word, const auto& meanings) {
    std::string text;
    for (const auto& [key, meaning] : meanings) text += (text.empty() ? "" : "; ") + meaning;
    return fmt::format("* {}: {}.\n", word, MarkdownText(text));
  };
  return "\n" + line("Grade", grades) + line("Realism", realisms);
}

std::string MarkdownFindings(const OutputSource& source) {
  const RunSummary& summary = source.summary;
  if (summary.buckets.empty()) return "\nNo findings.\n";
  std::string text =
      "\n## Findings\n\n| known as | grade | realism | replays | seen | finding |\n"
      "| --- | --- | --- | ---: | ---: | --- |\n";
  for (size_t i = 0; i < summary.buckets.size() && i < kMarkdownBuckets; i++) {
    const BucketRow& bucket = summary.buckets[i];
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} |\n", MarkdownName(summary.names[i]),
        GradeWord(bucket.grade), RealismWord(bucket.realism),
        bucket.tries == 0 ? "not replayed" : fmt::format("{}/{}", bucket.confirmed, bucket.tries),
        Grouped(bucket.count), MarkdownCode(bucket.signature.title, true));
  }
  text += CutLine(summary.buckets.size(), kMarkdownBuckets, "are in the run's folder");
  text += MarkdownLegend(summary.buckets, std::min(summary.buckets.size(), kMarkdownBuckets));
  std::string commands;
  size_t shown = 0;
  for (size_t i = 0; i < summary.buckets.size() && shown < kMarkdownReplays; i++) {
    if (summary.buckets[i].grade != Grade::kForbidden || source.examples[i].replay.empty())
      continue;
    commands += fmt::format("* {}\n", MarkdownCode(source.examples[i].replay));
    shown++;
  }
  if (!commands.empty())
    text += "\n<details><summary>How to reproduce</summary>\n\n" + commands + "\n</details>\n";
  return text;
}

std::string MarkdownAnswers(const RunSummary& summary) {
  if (summary.codes.empty()) return "";
  std::string text =
      "\n## Answers\n\n| walker | thread state | walks | answers |\n| --- | --- | ---: | --- |\n";
  for (size_t i = 0; i < summary.codes.size() && i < kMarkdownRows; i++) {
    const StateCodes& state = summary.codes[i];
    text += fmt::format("| {} | {} | {} | {} |\n", MarkdownText(state.walker),
                        MarkdownText(state.state), Grouped(state.walks),
                        MarkdownText(CodesLine(state)));
  }
  return text + CutLine(summary.codes.size(), kMarkdownRows, "thread states");
}

std::string MarkdownCells(const RunSummary& summary) {
  if (summary.cells.empty()) return "";
  const std::vector<const CellSummary*> cells = CellsByNeed(summary);
  std::string text =
      "\n## Cells\n\n| cell | ended | walks | successful |\n| --- | --- | ---: | ---: |\n";
  for (size_t i = 0; i < cells.size() && i < kMarkdownRows; i++) {
    const CellRow& row = cells[i]->row;
    text += fmt::format("| {} | {}{}{} | {} | {} |\n", MarkdownText(CellLabel(row)),
                        CellWord(row, summary.run), row.reason.empty() ? "" : ": ",
                        MarkdownText(row.reason), Grouped(row.delivery.walks),
                        Percent(row.delivery.successful, row.delivery.walks, 2));
  }
  return text + CutLine(cells.size(), kMarkdownRows, "cells");
}

}  // namespace

std::string MarkdownReport(const OutputSource& source) {
  const RunSummary& summary = source.summary;
  const RunIdentity& identity = summary.run.identity;
  std::string text = fmt::format("# walkhammer {}: {}\n\n**{}**: {}\n",
                                 MarkdownText(RunName(summary.dir)), summary.verdict.word,
                                 summary.verdict.word, MarkdownText(summary.verdict.sentence));
  const std::vector<std::string> limits = Split(LimitsText(summary), '\n');
  for (size_t i = 0; i < limits.size(); i++)
    if (!limits[i].empty())
      text += fmt::format("{}* {}\n", i == 0 ? "\n" : "", MarkdownText(Trim(limits[i])));
  text += fmt::format(
      "\n{} walks in {:.1f} s, {} successful. {}, {}; walker {}{}{}.\n",
      Grouped(summary.run.totals.walks), static_cast<double>(summary.run.totals.time_ms) / 1000,
      Percent(summary.run.totals.successful, summary.run.totals.walks, 2),
      MarkdownText(identity.vm_version.empty() ? "no JVM came up" : identity.vm_version),
      MarkdownText(identity.vm_gc), MarkdownText(identity.walker),
      identity.jvm_flags.empty() ? "" : "; JVM flags ",
      identity.jvm_flags.empty() ? "" : MarkdownCode(identity.jvm_flags));
  text += MarkdownFindings(source) + MarkdownCells(summary) + MarkdownAnswers(summary);
  if (summary.coverage.reason.empty())
    text += "\n## Coverage\n\n" + MarkdownText(CoverageSentence(summary.coverage)) + "\n";
  return text;
}

}  // namespace walkhammer
