// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/lines.h"

#include <algorithm>
#include <cstring>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestLine = 16 << 10;  // of a class path, say; what is behind it is not read

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
}

// The size of "2026-11-24T13:15:02.123Z", "13:15:02", "0.123s" and the like at the begin; 0: none.
size_t TimeSize(std::string_view text) {
  size_t size = 0, digits = 0, colons = 0, dashes = 0;
  for (; size < text.size(); size++) {
    const char c = text[size];
    if (IsDigit(c)) {
      digits++;
    } else if (c == ':') {
      colons++;
    } else if (c == '-') {
      dashes++;
    } else if (c == ' ' && dashes == 2 && colons == 0 && digits == 8) {
      continue;  // between date and time
    } else if (c != '.' && c != ',' && c != 'T' && c != 'Z' && c != '+' && c != '/') {
      break;
    }
  }
  const bool is_time = colons >= 2 && digits >= 6;
  const bool is_uptime = size < text.size() && text[size] == 's' && digits >= 4 && colons == 0;
  if (is_uptime) size++;
  return is_time || is_uptime ? size : 0;
}

// "[2026-11-24 13:15:02] ", "[0.123s][error][hs_err] "
bool SkipBracket(std::string_view& text) {
  const size_t size = text.starts_with('[') ? TimeSize(text.substr(1)) : 0;
  if (size == 0 || text.size() < size + 2 || text[size + 1] != ']') return false;
  text.remove_prefix(size + 2);
  return true;
}

bool SkipTime(std::string_view& text) {
  if (text.empty() || !IsDigit(text.front())) return false;
  const size_t size = TimeSize(text);
  if (size == 0 || (size < text.size() && !IsBlank(text[size]))) return false;
  text.remove_prefix(size);
  return true;
}

// What follows a timestamp: "stdout F ", "INFO ", "[error]", "java[123]: ".
bool SkipAfterTime(std::string_view& text) {
  for (const std::string_view word : {"stdout F ", "stderr F ", "stdout P ", "stderr P ", "INFO ",
                                      "ERROR ", "WARN ", "DEBUG ", "FATAL "}) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    return true;
  }
  for (const std::string_view word : {"[error]", "[info]", "[warn]", "[stdout]", "[stderr]"}) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    return true;
  }
  return false;
}

// "Nov 24 13:15:02 host java[123]: "
bool SkipSyslog(std::string_view& text) {
  if (text.size() < 20 || !IsLetter(text[0]) || !IsBlank(text[3])) return false;
  static constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
  if (kMonths.find(text.substr(0, 3)) % 4 != 0) return false;
  std::string_view rest = text.substr(4);
  SkipBlanks(rest);
  while (!rest.empty() && IsDigit(rest.front())) rest.remove_prefix(1);
  SkipBlanks(rest);
  if (!SkipTime(rest)) return false;
  const size_t end = rest.find("]: ");
  if (end == std::string_view::npos || end > 80) return false;
  text = rest.substr(end + 3);
  return true;
}

// "java-app-1  | " of a container's log, "| " of a table.
bool SkipBar(std::string_view& text) {
  const size_t bar = text.substr(0, 40).find("| ");
  if (bar == std::string_view::npos || text[0] == '[') return false;
  for (const char c : text.substr(0, bar))
    if (!IsWordChar(c) && !IsBlank(c) && c != '-' && c != '.') return false;
  if (text.substr(0, bar).starts_with("0x")) return false;
  text.remove_prefix(bar + 2);
  return true;
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

struct Entity {
  std::string_view name, text;
};
constexpr Entity kEntities[] = {{"&lt;", "<"},    {"&gt;", ">"},  {"&amp;", "&"},
                                {"&quot;", "\""}, {"&#39;", "'"}, {"&nbsp;", " "}};

// The size of a tag of HTML at the begin, of those that archives of mails put around lines; 0:
// none.
size_t TagSize(std::string_view text) {
  for (const std::string_view tag : {"<span", "</span", "<br", "<p>", "</p>", "<pre", "</pre",
                                     "<code", "</code", "<div", "</div"}) {
    const size_t end = text.starts_with(tag) ? text.find('>') : std::string_view::npos;
    if (end != std::string_view::npos) return end + 1;
  }
  return 0;
}

// Copies the text without NULs, escapes and tags.
void CopyPlain(std::string_view text, std::string& out) {
  static constexpr std::string_view kEscaped = "#_*<>[]()~`\\-+.!|";
  out.clear();
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '\0' || c == '\r') continue;
    if (const size_t tag = c == '<' ? TagSize(text.substr(i)) : 0; tag > 0) {
      i += tag - 1;
      continue;
    }
    if (c == '\\' && i + 1 < text.size() && kEscaped.find(text[i + 1]) != std::string_view::npos)
      continue;
    const Entity* entity = nullptr;
    if (c == '&')
      for (const Entity& candidate : kEntities)
        if (text.substr(i).starts_with(candidate.name)) entity = &candidate;
    if (entity == nullptr) {
      out += c;
    } else {
      out += entity->text;
      i += entity->name.size() - 1;
    }
  }
}

bool IsPlain(std::string_view text) {
  return !text.starts_with('<') && !text.ends_with('>') &&
         std::memchr(text.data(), '\0', text.size()) == nullptr &&
         std::memchr(text.data(), '\\', text.size()) == nullptr &&
         std::memchr(text.data(), '&', text.size()) == nullptr;
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
    const bool timed = SkipBracket(text) || SkipTime(text) || SkipSyslog(text);
    if (!timed) (void)SkipItemNumber(text);
    SkipBlanks(text);
    while (timed && SkipAfterTime(text)) SkipBlanks(text);
    if (!timed && !has_hash) SkipBar(text);
    while (SkipHash(text)) has_hash = true, SkipBlanks(text);
    if (text.size() == before) break;
  }
  return text;
}

LineReader::LineReader(std::string_view text, bool backwards)
    : rest_(text), number_(0), backwards_(backwards) {
  if (!backwards) return;
  if (rest_.ends_with('\n')) rest_.remove_suffix(1);
  number_ = static_cast<int>(std::count(rest_.begin(), rest_.end(), '\n')) + 2;
}

bool LineReader::Next(Line& line) {
  if (rest_.empty()) return false;
  std::string_view raw;
  if (backwards_) {
    const size_t newline = rest_.rfind('\n');
    raw = newline == std::string_view::npos ? rest_ : rest_.substr(newline + 1);
    rest_ = newline == std::string_view::npos ? std::string_view() : rest_.substr(0, newline);
    number_--;
  } else {
    const size_t newline = rest_.find('\n');
    raw = rest_.substr(0, newline);
    rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
    number_++;
  }
  line.number = number_;
  line.has_hash = false;
  line.text = raw;
  if (raw.empty()) return true;
  raw = raw.substr(0, kLongestLine);
  if (!IsPlain(raw)) {
    CopyPlain(raw, scratch_);
    raw = scratch_;
  }
  if (!raw.empty() && StartsLikePrefix(raw.front())) raw = WithoutPrefix(raw, line.has_hash);
  line.text = Trim(raw);
  return true;
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
