// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/json_strings.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"

namespace walkhammer {
namespace {

struct Escape {
  char letter, meaning;
};
constexpr Escape kEscapes[] = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'b', '\b'},
                               {'f', '\f'}, {'"', '"'},  {'/', '/'},  {'\\', '\\'}};

// "\u003d" of ASCII; others stay as they are, as no rule asks for them.
std::optional<char> UnicodeEscape(std::string_view text) {
  unsigned code = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + std::min<size_t>(text.size(), 4), code, 16);
  const bool is_whole = error == std::errc() && end == text.data() + 4;
  return is_whole && code >= ' ' && code < 0x7f ? std::optional(static_cast<char>(code))
                                                : std::nullopt;
}

// The text without escapes; none if a backslash in it escapes nothing.
std::optional<std::string> Decoded(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); at++) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    if (text[at] == 'u') {
      const auto plain = UnicodeEscape(text.substr(at + 1));
      out += plain ? *plain : '\\';
      at += plain ? 4 : 0;
      if (!plain) out += 'u';
      continue;
    }
    const auto* found = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                     [&](const Escape& one) { return one.letter == text[at]; });
    if (found == std::end(kEscapes)) return std::nullopt;
    out += found->meaning;
  }
  return out;
}

std::string Encoded(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    const bool was_kept = text.substr(at).starts_with("\\u");
    const auto* found = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                     [&](const Escape& one) { return one.meaning == c; });
    if (found == std::end(kEscapes) || c == '/' || was_kept) {
      out += c;
    } else {
      out += '\\';
      out += found->letter;
    }
  }
  return out;
}

// The size of the first line of `text`, without the escaped end of it.
size_t LineSize(std::string_view text) {
  for (size_t at = 0; at + 1 < text.size(); at++) {
    if (text[at] != '\\') continue;
    if (text[at + 1] == 'n') return at;
    at++;
  }
  return text.size();
}

// `raw` with the lines of `now` in place of those of `before` that differ.
std::string Merged(std::string_view raw, std::string_view before, std::string_view now) {
  std::string out;
  for (;;) {
    const size_t size = LineSize(raw);
    const std::string_view old_line = before.substr(0, before.find('\n')),
                           new_line = now.substr(0, now.find('\n'));
    out += old_line == new_line ? std::string(raw.substr(0, size)) : Encoded(new_line);
    if (size == raw.size()) return out;
    out += "\\n";
    raw.remove_prefix(size + 2);
    before.remove_prefix(std::min(old_line.size() + 1, before.size()));
    now.remove_prefix(std::min(new_line.size() + 1, now.size()));
  }
}

// The end of the string that begins at `begin`, behind its quote.
size_t EndOfString(std::string_view line, size_t begin) {
  size_t at = begin;
  while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
  return std::min(at, line.size());
}

// True if the string whose quote is at `quote` is the value of a name that logs have for a line.
bool IsLogLine(std::string_view line, size_t quote) {
  std::string_view before = Trim(line.substr(0, quote));
  if (!before.ends_with(':')) return false;
  before = Trim(before.substr(0, before.size() - 1));
  for (const std::string_view name : {"\"log\"", "\"message\"", "\"msg\"", "\"line\"",
                                      "\"MESSAGE\"", "\"textPayload\"", "\"body\"", "\"text\""})
    if (before.ends_with(name)) return true;
  return false;
}

// A text that was taken out of its quotes has many ends of lines before any quote.
bool IsBareText(std::string_view line) {
  constexpr int kLeast = 3;
  const std::string_view before = line.substr(0, line.find('"'));
  int ends = 0;
  for (size_t at = before.find("\\n"); at != before.npos && ends < kLeast;
       at = before.find("\\n", at + 2))
    ends++;
  return ends == kLeast;
}

// Changes the string in [begin, end) of `line`. Returns its new end.
size_t ChangeString(std::string& line, size_t begin, size_t end, const ChangeText& change) {
  const std::string raw = line.substr(begin, end - begin);
  const auto text = Decoded(raw);
  if (!text) return end;
  const std::string changed = change(*text);
  if (changed == *text) return end;
  const std::string merged = Merged(raw, *text, changed);
  line.replace(begin, raw.size(), merged);
  return begin + merged.size();
}

}  // namespace

void ChangeJsonStrings(std::string& line, const ChangeText& change) {
  const size_t first = line.find_first_not_of(" \t");
  const bool is_object = first != line.npos && line[first] == '{';
  const bool has_escapes = line.find('\\') != line.npos;
  if (!is_object && !has_escapes) return;
  if (has_escapes && IsBareText(line)) {
    ChangeString(line, 0, line.size(), change);
    return;
  }
  for (size_t quote = line.find('"'); quote < line.size(); quote = line.find('"', quote + 1)) {
    const size_t begin = quote + 1, end = EndOfString(line, begin);
    const bool is_escaped =
        std::string_view(line).substr(begin, end - begin).find('\\') != line.npos;
    const bool counts = is_escaped || (is_object && IsLogLine(line, quote));
    quote = counts ? ChangeString(line, begin, end, change) : end;
  }
}

}  // namespace walkhammer
