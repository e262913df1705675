// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/lines.h"

#include <algorithm>
#include <utility>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/markup.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestLine = 16 << 10;  // of a class path, say; what is behind it is not read

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
}

// "12. " of a list: some trackers take '#' for one.
bool SkipItemNumber(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && digits < 4 && IsDigit(text[digits])) digits++;
  if (digits == 0 || text.size() < digits + 2 || text[digits] != '.' || !IsBlank(text[digits + 1]))
    return false;
  text.remove_prefix(digits + 2);
  return true;
}

bool SkipHash(std::string_view& text) {
  const size_t escape = text.starts_with('\\') ? 1 : 0;
  if (text.size() <= escape || text[escape] != '#') return false;
  // A debugger's frame.
  if (text.size() > escape + 1 && IsDigit(text[escape + 1])) return false;
  text.remove_prefix(escape + 1);
  return true;
}

bool StartsLikePrefix(char c) {
  return IsBlank(c) || IsDigit(c) || c == '>' || c == '[' || c == '#' || c == '\\' || c == '|' ||
         c == '`' || c == '\r' || IsLetter(c);
}

}  // namespace

std::string_view WithoutPrefix(std::string_view text, bool& has_hash) {
  has_hash = false;
  // A few rounds: mails quote logs that quote logs.
  for (int round = 0; round < 8 && !text.empty(); round++) {
    const size_t before = text.size();
    SkipBlanks(text);
    while (text.starts_with("> ") || text == ">") text.remove_prefix(1), SkipBlanks(text);
    if (text.starts_with('>') && text.size() > 1 && text[1] != '>' && text[1] != '=')
      text.remove_prefix(1);
    (void)SkipItemNumber(text);
    SkipBlanks(text);
    while (SkipHash(text)) has_hash = true, SkipBlanks(text);
    if (text.size() == before) break;
  }
  return text;
}

LineReader::LineReader(std::string_view text, bool backwards)
    : LineReader(text, backwards, LinePrefixes(text)) {}

LineReader::LineReader(std::string_view text, bool backwards, LinePrefixes prefixes)
    : rest_(text), prefixes_(std::move(prefixes)), number_(0), backwards_(backwards) {
  if (!backwards) return;
  if (rest_.ends_with('\n')) rest_.remove_suffix(1);
  number_ = static_cast<int>(std::count(rest_.begin(), rest_.end(), '\n')) + 2;
}

bool LineReader::Next(Line& line) {
  if (rest_.empty()) return false;
  std::string_view raw;
  bool is_cut = false;  // by the text's end
  if (backwards_) {
    const size_t newline = rest_.rfind('\n');
    raw = newline == std::string_view::npos ? rest_ : rest_.substr(newline + 1);
    rest_ = newline == std::string_view::npos ? std::string_view() : rest_.substr(0, newline);
    number_--;
  } else {
    const size_t newline = rest_.find('\n');
    raw = rest_.substr(0, newline);
    is_cut = newline == std::string_view::npos;
    rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
    number_++;
  }
  line.number = number_;
  line.has_hash = false;
  line.text = raw;
  if (raw.empty()) return true;
  raw = raw.substr(0, kLongestLine);
  raw = prefixes_.Without(WithoutMarkup(raw, scratch_));
  if (!raw.empty() && StartsLikePrefix(raw.front())) raw = WithoutPrefix(raw, line.has_hash);
  line.text = Trim(raw);
  // Nobody knows what would follow a mere prefix; an empty line is something else.
  return !is_cut || !line.is_empty();
}

bool IsVersion(std::string_view text) {
  return text.starts_with("JRE version:") || text.starts_with("Java VM:") ||
         text.starts_with("vm_info:");
}

bool IsWithinWord(std::string_view text, std::string_view next) {
  if (text.ends_with('-') || next.starts_with("+0x")) return true;
  const size_t prefix = text.rfind("0x");
  if (prefix == std::string_view::npos || text.size() - prefix >= 18) return false;
  return !next.empty() && IsHexDigit(next[0]) &&
         text.find_first_not_of("0123456789abcdef", prefix + 2) == std::string_view::npos;
}

bool IsCutVersion(std::string_view text) {
  if (text.starts_with("vm_info:") && text.find("built on") == std::string_view::npos) return true;
  return std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
}

}  // namespace walkhammer
