// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "reports/night.h"

namespace walkhammer {
namespace {

constexpr size_t kMostChanges = 10;  // in the text

std::string Line(const std::string& text) { return OnOneLine(text) + "\n"; }

size_t CountOf(const NightVerdict& verdict, NightSays says) {
  return static_cast<size_t>(std::count_if(verdict.bugs.begin(), verdict.bugs.end(),
                                           [&](const NightBug& bug) { return bug.says == says; }));
}

// "2 new bugs, 1 known issue is back, 1 code, time or workload is worse"; "nothing is new"
std::string SumText(const NightVerdict& verdict) {
  const auto back =
      static_cast<size_t>(std::count_if(verdict.issues.begin(), verdict.issues.end(),
                                        [](const NightIssue& issue) { return issue.back; }));
  size_t worse = 0, unjudged = 0;
  for (const NightGate& gate : verdict.gates) {
    worse += gate.worse.size();
    unjudged += gate.judged ? 0 : 1;
  }
  std::vector<std::string> parts;
  if (const size_t bugs = CountOf(verdict, NightSays::kNew); bugs > 0)
    parts.push_back(Counted(bugs, "new bug"));
  if (back > 0)
    parts.push_back(Counted(back, "known issue") + (back == 1 ? " is back" : " are back"));
  if (worse > 0)
    parts.push_back(Counted(worse, "comparison") + (worse == 1 ? " is worse" : " are worse"));
  if (verdict.failed > 0) parts.push_back(Counted(verdict.failed, "run") + " failed");
  if (unjudged > 0) parts.push_back(Counted(unjudged, "group") + " could not be compared");
  if (const size_t watch = CountOf(verdict, NightSays::kWatch); watch > 0)
    parts.push_back(Grouped(watch) + " to watch");
  if (parts.empty()) return "nothing is new";
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string BugText(const char* word, const NightBug& bug) {
  std::string text = Line(fmt::format("  {:<6} {}", word, bug.signature));
  text += Line(fmt::format("         {} in {}: {}", bug.build, bug.group, bug.why));
  if (bug.says == NightSays::kKnown) return text;
  if (!bug.folder.empty()) text += Line("         " + bug.folder);
  return text + Line("         " + bug.command);
}

std::string BugsText(const NightVerdict& verdict, NightSays says, const char* word) {
  std::string text;
  for (const NightBug& bug : verdict.bugs)
    if (bug.says == says) text += BugText(word, bug);
  return text;
}

std::string IssuesText(const NightVerdict& verdict, bool back) {
  std::string text;
  for (const NightIssue& issue : verdict.issues) {
    if (issue.back != back) continue;
    text += Line(fmt::format("  {:<6} {}  {}", back ? "back" : "gone", issue.id, issue.title));
    text += Line("         " + issue.why);
  }
  return text;
}

std::string GatesText(const NightVerdict& verdict) {
  std::string text;
  for (const NightGate& gate : verdict.gates) {
    for (const GateChange& change : gate.worse) {
      text += Line(fmt::format("  {:<6} {}: {}: {}", "worse", gate.group, GateKindWord(change.kind),
                               change.what));
      text += Line("         " + change.details);
    }
    if (!gate.judged) text += Line(fmt::format("  {:<6} {}: {}", "unsure", gate.group, gate.why));
  }
  return text;
}

std::string ChangesText(const NightVerdict& verdict) {
  std::string text = verdict.changes.empty() ? "" : "Changes over the nights\n";
  const size_t told = std::min(verdict.changes.size(), kMostChanges);
  for (size_t i = 0; i < told; i++)
    text += Line(fmt::format("  {:<6} {}", SeriesChangeWord(verdict.changes[i]),
                             SeriesChangeText(verdict.changes[i])));
  if (told < verdict.changes.size())
    text += fmt::format("  and {} more, in the history\n", verdict.changes.size() - told);
  return text;
}

std::string AgainstText(const NightVerdict& verdict) {
  std::string without, against;
  for (const NightGate& gate : verdict.gates) {
    if (gate.against.empty()) without += (without.empty() ? "" : ", ") + gate.group;
    if (against.empty()) against = gate.against;
  }
  std::string text;
  if (!against.empty()) text += Line("Compared with the green night " + against + ".");
  if (without.empty()) return text;
  return text + Line(verdict.word == "GREEN"
                         ? "This night is the baseline of " + without + "."
                         : "No green night has " + without + ", so there is no baseline yet.");
}

}  // namespace

std::string NightText(const NightVerdict& verdict) {
  std::string text = Line(fmt::format("{}: {}", verdict.word, SumText(verdict)));
  text += AgainstText(verdict);
  text +=
      IssuesText(verdict, true) + BugsText(verdict, NightSays::kNew, "new") + GatesText(verdict);
  const std::string watch = BugsText(verdict, NightSays::kWatch, "watch");
  if (!watch.empty())
    text += "To watch: not confirmed by replays, or by another run or night\n" + watch;
  text += ChangesText(verdict);
  const std::string found = BugsText(verdict, NightSays::kFound, "found");
  if (!found.empty())
    text += "Found, and not new: the build of the last green night shows it, too\n" + found;
  text += "Known bugs\n";
  text += Line(fmt::format("  {} met; by replays: {}", Grouped(verdict.known),
                           verdict.shown.empty() ? "none" : verdict.shown));
  text += IssuesText(verdict, false) + BugsText(verdict, NightSays::kKnown, "met");
  for (const std::string& note : verdict.notes) text += Line("  note   " + note);
  return text;
}

}  // namespace walkhammer
