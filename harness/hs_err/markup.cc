// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/markup.h"

#include <algorithm>

#include "harness/hs_err/characters.h"

namespace walkhammer {
namespace {

constexpr char kEscape = '\x1b';

struct Entity {
  std::string_view name, text;
};
constexpr Entity kEntities[] = {{"&lt;", "<"},    {"&gt;", ">"},   {"&amp;", "&"},
                                {"&quot;", "\""}, {"&#39;", "'"},  {"&nbsp;", " "},
                                {"&#34;", "\""},  {"&#x27;", "'"}, {"&apos;", "'"},
                                {"&#x2F;", "/"},  {"&#43;", "+"},  {"\xc2\xa0", " "}};

// The size of a tag of HTML at the begin, of those that archives of mails and trackers put around
// lines; 0: none.
size_t TagSize(std::string_view text) {
  for (const std::string_view tag :
       {"<span", "</span", "<br", "<p>", "</p>", "<pre", "</pre", "<code", "</code", "<div",
        "</div", "<td", "</td", "<tr", "</tr", "<li", "</li", "<tt>", "</tt>"}) {
    const size_t end = text.starts_with(tag) ? text.find('>') : std::string_view::npos;
    if (end != std::string_view::npos) return end + 1;
  }
  return 0;
}

// The size of what a terminal obeys at the begin, "ESC[31m"; at least 1.
size_t ControlSize(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  size_t size = 2;
  while (size < text.size() && (IsDigit(text[size]) || text[size] == ';' || text[size] == '?'))
    size++;
  return std::min(size + 1, text.size());
}

const Entity* EntityAt(std::string_view text) {
  for (const Entity& entity : kEntities)
    if (text.starts_with(entity.name)) return &entity;
  return nullptr;
}

bool IsMarkup(char c) {
  return c == '\0' || c == '\r' || c == kEscape || c == '<' || c == '\\' || c == '&' || c == '\xc2';
}

// The size of the markup that `rest` begins with; 0 if it begins with none. `text` is what the
// markup stands for.
size_t MarkupSize(std::string_view rest, std::string_view& text) {
  static constexpr std::string_view kEscaped = "#_*<>[]()~`\\-+.!|";
  text = {};
  switch (rest[0]) {
    case '\0':
    case '\r':
      return 1;
    case kEscape:
      return ControlSize(rest);
    case '<':
      return TagSize(rest);
    case '\\':
      return rest.size() > 1 && kEscaped.find(rest[1]) != std::string_view::npos ? 1 : 0;
    default:
      if (const Entity* entity = EntityAt(rest)) {
        text = entity->text;
        return entity->name.size();
      }
      return 0;
  }
}

}  // namespace

std::string_view WithoutMarkup(std::string_view line, std::string& scratch) {
  if (std::none_of(line.begin(), line.end(), IsMarkup)) return line;
  scratch.clear();
  for (size_t i = 0; i < line.size();) {
    std::string_view text;
    const size_t size = IsMarkup(line[i]) ? MarkupSize(line.substr(i), text) : 0;
    if (size == 0) {
      scratch += line[i++];
    } else {
      scratch += text;
      i += size;
    }
    // What an escape protects is not markup itself.
    if (size == 1 && line[i - 1] == '\\' && i < line.size()) scratch += line[i++];
  }
  return scratch;
}

}  // namespace walkhammer
