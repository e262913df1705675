// SPDX-License-Identifier: Apache-2.0
#include "reports/markup.h"

#include <fmt/format.h>

#include "harness/base/numbers.h"
#include "harness/base/text.h"

namespace walkhammer {

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string MarkupText(std::string_view text) {
  std::string printable = Printable(text);
  // U+FFFE and U+FFFF are valid UTF-8, and no characters of XML.
  for (const char* forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (size_t at = 0; (at = printable.find(forbidden, at)) != std::string::npos;)
      printable.replace(at, 3, "?");
  return EscapeMarkup(printable);
}

std::string MarkdownText(std::string_view text) {
  const std::string line = OnOneLine(Printable(text));
  std::string escaped;
  for (size_t i = 0; i < line.size(); i++) {
    const char c = line[i];
    if (c == '<' || c == '>' || c == '&') {
      escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
    } else if (c == '@') {
      escaped += "&#64;";  // a backslash would not keep it from being a mention
    } else {
      // Some signs begin a list or a heading at the start, and nothing elsewhere; "www." begins a
      // link.
      const bool starts = escaped.find_first_not_of("0123456789") == std::string::npos &&
                          (i + 1 == line.size() || line[i + 1] == ' ' || c == '=' || c == '-');
      const bool special =
          std::string_view("\\`*_{}[]()|~:$#!").find(c) != std::string_view::npos ||
          ((c == '-' || c == '+' || c == '.' || c == '=') && starts) ||
          (c == '.' && (escaped.ends_with('w') || escaped.ends_with('W')));
      if (special) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string MarkdownCode(std::string_view text, bool in_table) {
  std::string code = OnOneLine(Printable(text));
  std::string fence = "`";
  while (code.find(fence) != std::string::npos) fence += '`';
  for (size_t at = 0; in_table && (at = code.find('|', at)) != std::string::npos; at += 2)
    code.replace(at, 1, "\\|");
  return fence.size() > 1 || code.empty() ? fence + " " + code + " " + fence : fence + code + fence;
}

std::string UrlPath(std::string_view path) {
  std::string url;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

}  // namespace walkhammer
