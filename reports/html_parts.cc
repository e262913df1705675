// SPDX-License-Identifier: Apache-2.0
#include "reports/html_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "reports/markup.h"

namespace walkhammer {

std::string LineHtml(std::string_view text) { return MarkupText(OnOneLine(std::string(text))); }

std::string PreHtml(std::string_view name, std::string_view text) {
  if (text.empty()) return "";
  return fmt::format("<pre tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</pre>\n",
                     LineHtml(name), MarkupText(text));
}

std::string TableHtml(std::string_view caption, const std::vector<std::string_view>& heads,
                      const std::vector<std::vector<std::string>>& rows) {
  const auto attribute = [&](size_t column) {
    return column < heads.size() && heads[column].starts_with('#') ? " class=\"n\"" : "";
  };
  const std::string name = LineHtml(caption);
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table><caption>{}"
      "</caption>\n<thead><tr>",
      name, name);
  for (size_t i = 0; i < heads.size(); i++)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", attribute(i),
                        heads[i].substr(heads[i].starts_with('#') ? 1 : 0));
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); i++)
      html += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attribute(i), row[i])
                     : fmt::format("<td{}>{}</td>", attribute(i), row[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string ListHtml(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string html;
  for (const auto& [name, text] : texts)
    if (!text.empty())
      html +=
          fmt::format("<dt>{}</dt><dd>{}</dd>\n", MarkupText(name), MarkupText(OnOneLine(text)));
  return html.empty() ? "" : "<dl>\n" + html + "</dl>\n";
}

std::string BarHtml(const std::vector<BarShare>& shares, uint64_t whole) {
  std::string html =
      "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect class=\"track\" width=\"100\" height=\"10\"/>";
  double x = 0;
  for (const BarShare& share : shares) {
    const double width =
        whole == 0 ? 0 : 100.0 * static_cast<double>(share.part) / static_cast<double>(whole);
    if (width > 0)
      html += fmt::format("<rect class=\"share{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"10\"/>",
                          share.css_class, x, std::min(width, 100 - x));
    x = std::min(100.0, x + width);
  }
  return html + "</svg>";
}

std::string BarHtml(uint64_t part, uint64_t whole, bool bad) {
  return BarHtml({{part, bad ? " bad" : ""}}, whole);
}

std::string RunLinkHtml(const OutputSource& source, std::string_view path, std::string_view text) {
  return fmt::format("<a href=\"{}\">{}</a>",
                     MarkupText(UrlPath(source.run_path + "/" + std::string(path))),
                     MarkupText(text));
}

}  // namespace walkhammer
