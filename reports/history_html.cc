// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/numbers.h"
#include "reports/history.h"
#include "reports/html_parts.h"

namespace walkhammer {
namespace {

constexpr size_t kRunsDrawn = 200;

// "2026-11-24"; the table of the runs has the time of the day.
std::string DayOf(const HistoryRun& run) { return LineHtml(run.started_at.substr(0, 10)); }

// A mark for each of the newest runs that saw the bucket, the newest on the right. For the eye: the
// numbers stand beside it.
std::string RunsSeenHtml(const HistoryBucket& bucket) {
  const size_t all = bucket.seen.size(), drawn = std::min(all, kRunsDrawn);
  std::string path;
  for (size_t i = 0; i < drawn; i++)
    if (bucket.seen[all - drawn + i] > 0) path += fmt::format("M{} 0h1v10h-1z", i);
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 {} 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect class=\"track\" width=\"{}\" height=\"10\"/><path class=\"share\" d=\"{}\"/></svg>",
      drawn, drawn, path);
}

std::string BucketsHtml(const History& history) {
  if (history.buckets.empty()) return "<p>None.</p>\n";
  std::vector<std::vector<std::string>> rows;
  for (const HistoryBucket& bucket : history.buckets) {
    std::string title = LineHtml(bucket.title);
    if (history.IsNew(bucket)) title += " <strong>new</strong>";
    rows.push_back({title, std::string(GradeWord(bucket.grade)),
                    std::string(RealismWord(bucket.realism)), Grouped(bucket.runs),
                    Rounded(bucket.PerMillion(history.runs)), RunsSeenHtml(bucket),
                    DayOf(history.runs[bucket.first]), DayOf(history.runs[bucket.last])});
  }
  return TableHtml("Buckets of the same oracle, outcome and title",
                   {"finding", "grade", "realism", "#runs", "#per million walks",
                    "runs that saw it", "first seen", "last seen"},
                   rows);
}

std::string ChangesHtml(const History& history) {
  if (history.changes.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const SeriesChange& change : history.changes)
    rows.push_back({LineHtml(change.what), SeriesChangeWord(change), LineHtml(change.group),
                    fmt::format("x{}{}", Rounded(std::exp(change.point.change)),
                                change.point.drift ? ", drifting" : ""),
                    LineHtml(change.first.started_at), LineHtml(change.first.build),
                    LineHtml(change.first.dir), LineHtml(change.before.build)});
  return "<h2>Changes</h2>\n" +
         TableHtml("Error codes and times that are not what they were, since which run",
                   {"what", "word", "group", "change", "first run", "its build", "its folder",
                    "build before"},
                   rows);
}

std::string RunsHtml(const History& history) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = history.runs.size(); i-- > 0;) {
    const HistoryRun& run = history.runs[i];
    rows.push_back({LineHtml(run.started_at), run.verdict.word, Grouped(run.walks),
                    Grouped(run.buckets), Grouped(run.new_buckets), LineHtml(run.walker),
                    LineHtml(run.vm_version), LineHtml(run.dir)});
  }
  return TableHtml("The newest run first",
                   {"started", "verdict", "#walks", "#buckets", "#new", "walker", "VM", "folder"},
                   rows);
}

}  // namespace

std::string HistoryHtml(const History& history) {
  std::string bad;
  for (const auto& [dir, failure] : history.bad)
    bad += "<li>" + LineHtml(failure.message) + "</li>\n";
  if (!bad.empty()) bad = "<h2>Not read</h2>\n<ul class=\"limits\">\n" + bad + "</ul>\n";
  const std::string title =
      fmt::format("walkhammer: history of {}", Counted(history.runs.size(), "run"));
  return PageHtml(
      title,
      fmt::format("<header>\n<h1>{}</h1>\n<p>From {} to {}.</p>\n</header>\n<main id=\"main\">\n{}"
                  "{}<h2>Findings</h2>\n{}<h2>Runs</h2>\n{}</main>\n",
                  title, LineHtml(history.runs.front().started_at),
                  LineHtml(history.runs.back().started_at), bad, ChangesHtml(history),
                  BucketsHtml(history), RunsHtml(history)));
}

}  // namespace walkhammer
