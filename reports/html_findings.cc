// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/findings/crash_folder.h"
#include "reports/html_parts.h"
#include "reports/markup.h"
#include "reports/stress_text.h"

namespace walkhammer {
namespace {

// Bytes of all findings, and of what they have beyond a line: tens of thousands of findings must
// not make a page that no browser opens. With all else, a page has less than 3 MB.
constexpr size_t kMostFindings = 2'800'000;
constexpr size_t kMostDetail = 1'000'000;
constexpr size_t kLeastDetail = 200'000;
constexpr size_t kLinesShown = 16;  // of frames, of call chains, of edits

// The request without what only a replay needs.
std::string ShownText(std::string_view request) {
  std::string fields, edits;
  for (const std::string& line : Split(request, '\n')) {
    if (line.starts_with("walk ") || line.starts_with("expect ") || line.starts_with("#")) continue;
    (line.starts_with("edit ") ? edits : fields) += line + "\n";
  }
  return std::string(Trim(FirstLines(fields, 3 * kLinesShown) + FirstLines(edits, kLinesShown)));
}

std::string FilesHtml(const OutputSource& source, size_t index) {
  const BucketFiles& files = source.summary.files[index];
  std::string html;
  const auto add = [&](const std::string& path, const char* text) {
    if (!path.empty()) html += (html.empty() ? "" : " · ") + RunLinkHtml(source, path, text);
  };
  add(files.minimized, "minimized.walk");
  add(files.input, "input.walk");
  add(source.summary.buckets[index].folder + "/" + kExplainName, kExplainName);
  return "<p>" + html + "</p>\n";
}

std::string DetailHtml(const OutputSource& source, size_t index) {
  const BucketRow& bucket = source.summary.buckets[index];
  const BucketExample& example = source.examples[index];
  std::string html;
  if (!example.finding.detail.empty())
    html += fmt::format("<p>{}</p>\n", MarkupText(OnOneLine(example.finding.detail)));
  std::string grade = std::string(GradeWord(bucket.grade));
  if (const std::string why = WhyGraded(bucket); !why.empty()) grade += ": " + why;
  if (bucket.grade != bucket.recorded_grade)
    grade += fmt::format(" (regraded, was {})", GradeWord(bucket.recorded_grade));
  html += ListHtml(
      {{"known", NameText(source.summary.names[index])},
       {"known since", SinceText(source.summary.names[index])},
       {"oracle", bucket.oracle + "/" + bucket.outcome},
       {"grade", grade},
       {"walker", example.walker},
       {"scene", example.scene},
       {"seen in", SeenByText(source.summary, index)},
       {"first seen",
        fmt::format("{:.1f} s into the run", static_cast<double>(bucket.first_time_ms) / 1000)},
       {"minimised",
        bucket.minimized_edits
            ? fmt::format(
                  "to {}, {}/{}",
                  Counted(static_cast<uint64_t>(std::max(0, *bucket.minimized_edits)), "edit"),
                  bucket.minimized_confirmed, bucket.minimized_tries)
            : ""},
       {"signature", bucket.signature.key}});
  html += example.replay.empty()
              ? "<p>No input was kept, so it cannot be replayed.</p>\n"
              : "<p>Reproduce it:</p>\n" + PreHtml("replay command", example.replay);
  html += FilesHtml(source, index);
  const auto block = [&](const char* heading, const std::string& text) {
    if (!text.empty()) html += fmt::format("<h4>{}</h4>\n", heading) + PreHtml(heading, text);
  };
  block("What the walker was shown", ShownText(example.finding.request));
  block("What it returned", FirstLines(example.finding.frames, kLinesShown));
  block("Where it was, innermost call first", FirstLines(example.finding.native, kLinesShown));
  return html;
}

std::string SummaryHtml(const OutputSource& source, size_t index) {
  const BucketRow& bucket = source.summary.buckets[index];
  return fmt::format("<b>{}</b> {} <i>{}, {}, {}×</i>", GradeWord(bucket.grade),
                     MarkupText(OnOneLine(bucket.signature.title)),
                     MarkupText(OnOneLine(ShortName(source.summary.names[index]))),
                     ReplaysText(bucket), Grouped(bucket.count));
}

// The line of a finding of which no more is shown.
std::string FindingLineHtml(const OutputSource& source, size_t index) {
  const BucketRow& bucket = source.summary.buckets[index];
  return fmt::format("<div class=\"f\" data-g=\"{}\">{} {}</div>\n", GradeWord(bucket.grade)[0],
                     SummaryHtml(source, index),
                     RunLinkHtml(source, bucket.folder + "/" + kExplainName, kExplainName));
}

std::string DetailsHtml(const OutputSource& source, size_t index) {
  const BucketRow& bucket = source.summary.buckets[index];
  return fmt::format(
      "<details class=\"f\" data-g=\"{}\" id=\"{}\"><summary>{}</summary><div>{}</div></details>\n",
      GradeWord(bucket.grade)[0],
      MarkupText(OnOneLine(bucket.folder.substr(bucket.folder.rfind('/') + 1))),
      SummaryHtml(source, index), DetailHtml(source, index));
}

// Which of the findings, given in their order on the page, are shown, and how.
class Room {
 public:
  Room(const OutputSource& source, const std::vector<size_t>& order) : source_(source) {
    size_t bytes = 0;
    for (const size_t index : order) {
      std::string line = FindingLineHtml(source, index);
      bytes += line.size();
      if (bytes > kMostFindings - kLeastDetail) break;
      lines_.emplace(index, std::move(line));
    }
    bytes = std::min(bytes, kMostFindings - kLeastDetail);
    detail_ = std::min(kMostDetail, kMostFindings - bytes);
  }

  // The whole finding as long as there is room for it; then, for all that follow, a line alone;
  // "" for those of which not even the line fits.
  std::string Finding(size_t index) {
    const auto line = lines_.find(index);
    if (line == lines_.end()) return "";
    std::string whole = detail_ == 0 ? "" : DetailsHtml(source_, index);
    if (whole.empty() || whole.size() > line->second.size() + detail_) {
      detail_ = 0;
      return line->second;
    }
    detail_ -= whole.size() - line->second.size();
    return whole;
  }
  bool full() const { return detail_ == 0; }
  size_t lines() const { return lines_.size(); }

 private:
  const OutputSource& source_;
  std::map<size_t, std::string> lines_;
  size_t detail_;  // bytes beyond those of lines
};

// Check boxes for the grades that there are, and the filter. The script shows it.
std::string FilterHtml(const std::vector<BucketRow>& buckets) {
  std::string boxes;
  for (const Grade grade : {Grade::kForbidden, Grade::kInteresting, Grade::kAcceptable}) {
    const auto count = std::count_if(buckets.begin(), buckets.end(),
                                     [&](const BucketRow& b) { return b.grade == grade; });
    const std::string word(GradeWord(grade));
    if (count > 0)
      boxes += fmt::format("<label><input type=\"checkbox\" value=\"{}\" checked>{} ({})</label>",
                           word[0], word, Grouped(static_cast<uint64_t>(count)));
  }
  return "<form class=\"tools\" role=\"search\" aria-label=\"Findings\" hidden>\n"
         "<div><label for=\"filter\">Only findings with these words</label>\n"
         "<input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></div>\n"
         "<fieldset><legend>Grades</legend>" +
         boxes + "</fieldset>\n<div id=\"shown\" role=\"status\"></div></form>\n";
}

}  // namespace

PageSection FindingsPart(const OutputSource& source) {
  const std::vector<BucketRow>& buckets = source.summary.buckets;
  if (buckets.empty()) return {"findings", "Findings", "<p>None.</p>\n"};
  // What is new first, then the most real. The heading of a group that is known says so.
  std::map<std::pair<bool, Realism>, std::vector<size_t>> groups;
  for (size_t i = 0; i < buckets.size(); i++)
    groups[{!WantsSomebody(source.summary.names[i].word.verdict), buckets[i].realism}].push_back(i);
  std::vector<size_t> order;
  for (const auto& [kind, group] : groups) order.insert(order.end(), group.begin(), group.end());
  Room room(source, order);
  std::string html = FilterHtml(buckets);
  for (const auto& [kind, group] : groups) {
    std::string heading = RealismHeading(kind.second);
    heading[0] = static_cast<char>(heading[0] - 'a' + 'A');
    if (kind.first) heading = "Known: " + heading;
    html += fmt::format("<div class=\"group\"><h3>{} ({})</h3>\n", MarkupText(heading),
                        Grouped(group.size()));
    for (const size_t index : group) html += room.Finding(index);
    html += "</div>\n";
  }
  if (room.lines() < buckets.size())
    html += fmt::format(
        "<p>There is no room here for {}: <code>walkhammer report</code> lists all.</p>\n",
        Counted(buckets.size() - room.lines(), "more finding"));
  if (room.full())
    html +=
        "<p>There are too many findings to show all in full here: explain.txt in the folder of "
        "each says more.</p>\n";
  return {"findings", "Findings", std::move(html)};
}

}  // namespace walkhammer
