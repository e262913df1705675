// SPDX-License-Identifier: Apache-2.0
#define TOML_IMPLEMENTATION
#include "harness/base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace walkhammer {
namespace {

// toml++ recurses over tables in tables. It bounds their nesting in values to 256 itself, so there
// are at most 257 keys, one in the other.
constexpr int kMostKeyParts = 16;

// The end of the string whose quote is at `begin`.
size_t StringEnd(std::string_view text, size_t begin) {
  const char quote = text[begin];
  const std::string three(3, quote);
  const bool is_long = text.substr(begin).starts_with(three);
  for (size_t at = begin + (is_long ? 3 : 1); at < text.size(); at++) {
    if (text[at] == '\\' && quote == '"') {
      at++;
    } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
      return text[at] == quote ? at + 1 : at;
    } else if (is_long && text.substr(at).starts_with(three)) {
      at += 3;
      for (int own = 0; own < 2 && at < text.size() && text[at] == quote; own++) at++;
      return at;
    }
  }
  return text.size();
}

// The line of the first key of more than kMostKeyParts parts; 0: there is none.
toml::source_index LineOfDeepKey(std::string_view text) {
  int dots = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = StringEnd(text, at);
    } else {
      if (c == '.') dots++;
      if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
      if (dots >= kMostKeyParts)
        return static_cast<toml::source_index>(std::count(text.begin(), text.begin() + at, '\n')) +
               1;
      at++;
    }
  }
  return 0;
}

}  // namespace

Failure BadToml(const std::string& name, const toml::source_region& place, std::string_view what) {
  return BadInput(fmt::format("{}:{}: {}", name, place.begin.line, what));
}

Result<toml::table> ParseToml(std::string_view text, const std::string& name) {
  if (const auto line = LineOfDeepKey(text); line != 0)
    return BadToml(name, {{line, 1}, {line, 1}, nullptr},
                   fmt::format("a key has more than {} parts", kMostKeyParts));
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return BadToml(name, parsed.error().source(), parsed.error().description());
  return std::move(parsed).table();
}

}  // namespace walkhammer
