// SPDX-License-Identifier: Apache-2.0
// The parts of HtmlReport's page. Each function returns HTML in which all text of the run is
// escaped. Private to the page. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_HTML_PARTS_H_
#define WALKHAMMER_REPORTS_HTML_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/report_output.h"

namespace walkhammer {

// A section of the page: `id` is its anchor; empty `html` leaves the section out.
struct PageSection {
  const char* id;
  const char* heading;
  std::string html;
};

// The whole page: its style, its script and its policy around `body`, which is HTML like `title`.
std::string PageHtml(const std::string& title, const std::string& body);

PageSection FindingsPart(const OutputSource& source);
PageSection CellsPart(const OutputSource& source);
PageSection AnswersPart(const RunSummary& summary);
PageSection CoveragePart(const RunSummary& summary);
PageSection AgreementPart(const RunSummary& summary);
PageSection ScenesPart(const RunSummary& summary);
PageSection TotalsPart(const RunSummary& summary);

// Text on one line.
std::string LineHtml(std::string_view text);
// Text as a block that scrolls sideways; `name` says to a screen reader what the block is. Empty
// for empty text.
std::string PreHtml(std::string_view name, std::string_view text);
// A table. `heads` begin with "#" above numbers. The cells are HTML; the first one of each row is
// the row's heading.
std::string TableHtml(std::string_view caption, const std::vector<std::string_view>& heads,
                      const std::vector<std::vector<std::string>>& rows);
// A list of names and texts; leaves out empty texts. `texts` are plain text.
std::string ListHtml(const std::vector<std::pair<std::string, std::string>>& texts);
// A part of a bar. `css_class` is added to the class "share": "", " part" or " bad".
struct BarShare {
  uint64_t part;
  const char* css_class;
};
// A bar of these parts of `whole`, from the left; for the eye only, as the numbers stand beside it.
std::string BarHtml(const std::vector<BarShare>& shares, uint64_t whole);
std::string BarHtml(uint64_t part, uint64_t whole, bool bad);
// A link to `path` below the run's folder.
std::string RunLinkHtml(const OutputSource& source, std::string_view path, std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_HTML_PARTS_H_
