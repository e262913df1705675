// SPDX-License-Identifier: Apache-2.0
// A run as one self-contained page; see run_page.html.
#include <fmt/format.h>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "reports/html_parts.h"
#include "reports/markup.h"
#include "reports/run_page.h"

namespace walkhammer {
namespace {

const char* VerdictClass(ExitCode code) {
  if (code == ExitCode::kClean) return "good";
  return code == ExitCode::kFindings ? "bad" : "odd";
}

// What was dropped or not in force, and incidents: they limit what the verdict says.
std::string LimitsHtml(const RunSummary& summary) {
  std::string items;
  for (const std::string& line : Split(LimitsText(summary), '\n'))
    if (!line.empty()) items += "<li>" + MarkupText(Trim(line)) + "</li>\n";
  if (items.empty()) return "";
  return "<h2>What limits this verdict</h2>\n<ul class=\"limits\">\n" + items + "</ul>\n";
}

std::string HeaderHtml(const RunSummary& summary, const std::string& title) {
  const RunIdentity& identity = summary.run.identity;
  const RunTotals& totals = summary.run.totals;
  return fmt::format("<header>\n<h1>{}</h1>\n<p class=\"verdict {}\"><strong>{}</strong> {}</p>\n",
                     title, VerdictClass(summary.verdict.exit), summary.verdict.word,
                     MarkupText(OnOneLine(summary.verdict.sentence))) +
         ListHtml({{"walker", identity.walker},
                   {"VM", identity.vm_version},
                   {"JVM flags", identity.jvm_flags},
                   {"walks", fmt::format("{} in {:.1f} s, {} successful", Grouped(totals.walks),
                                         static_cast<double>(totals.time_ms) / 1000,
                                         Percent(totals.successful, totals.walks, 2))},
                   {"in force", InForceText(summary)},
                   {"started", identity.started_at}}) +
         "</header>\n";
}

}  // namespace

std::string PageHtml(const std::string& title, const std::string& body) {
  std::string page = kRunPage;
  const size_t body_at = page.find("@BODY@");
  page.replace(body_at, 6, body);  // the last mark first: the body may hold marks
  page.replace(page.find("@TITLE@"), 7, title);
  return page;
}

std::string HtmlReport(const OutputSource& source) {
  const RunSummary& summary = source.summary;
  const std::string title = MarkupText("walkhammer: " + OnOneLine(RunName(summary.dir)));
  const PageSection sections[] = {
      FindingsPart(source),  CellsPart(source),   AnswersPart(summary), AgreementPart(summary),
      CoveragePart(summary), ScenesPart(summary), TotalsPart(summary)};
  std::string links, main = LimitsHtml(summary);
  for (const PageSection& section : sections) {
    if (section.html.empty()) continue;
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, section.heading);
    main +=
        fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                    section.id, section.heading, section.html);
  }
  const std::string body =
      HeaderHtml(summary, title) + "<nav aria-label=\"Sections\"><ul>\n" + links +
      "</ul></nav>\n<main id=\"main\">\n" + main + "</main>\n<footer>Written by walkhammer " +
      MarkupText(OnOneLine(summary.run.identity.tool_version)) + " from the run's folder.</footer>";
  return PageHtml(title, body);
}

}  // namespace walkhammer
