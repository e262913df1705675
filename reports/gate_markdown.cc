// SPDX-License-Identifier: Apache-2.0
// The verdict of the gate as Markdown, made to be pasted into a pull request.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "reports/gate.h"
#include "reports/markup.h"

namespace walkhammer {
namespace {

constexpr size_t kMostRows = 50;

std::string ListMarkdown(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("\n**{}**\n\n", title);
  for (const std::string& line : lines) text += "* " + MarkdownText(line) + "\n";
  return text;
}

}  // namespace

std::string GateMarkdown(const GateVerdict& verdict) {
  std::string text =
      fmt::format("### {}: {} against {}\n\n", verdict.word, MarkdownText(verdict.candidate.build),
                  MarkdownText(verdict.baseline.build));
  if (!verdict.why.empty()) text += MarkdownText(verdict.why) + "\n";
  if (verdict.changes.empty() && verdict.why.empty()) text += "Nothing is worse.\n";
  if (!verdict.changes.empty()) text += "| | kind | what | evidence |\n| --- | --- | --- | --- |\n";
  for (size_t i = 0; i < std::min(verdict.changes.size(), kMostRows); i++) {
    const GateChange& change = verdict.changes[i];
    text += fmt::format("| {} | {} | {} | {}{} |\n", GateEffectWord(change.effect),
                        GateKindWord(change.kind), MarkdownText(change.what),
                        MarkdownText(change.details),
                        change.input.empty() ? "" : "<br>" + MarkdownCode(change.input, true));
  }
  if (verdict.changes.size() > kMostRows)
    text += fmt::format("\n{} more changes.\n", verdict.changes.size() - kMostRows);
  text += ListMarkdown("Better", verdict.better) + ListMarkdown("Notes", verdict.notes);
  return text + "\n" + MarkdownText(GateLine(verdict)) + "\n";
}

}  // namespace walkhammer
