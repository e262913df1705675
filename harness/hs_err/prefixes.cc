// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/prefixes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/frames.h"
#include "harness/hs_err/markup.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestPrefix = 240;
constexpr int kMostSampled = 2000;  // lines
constexpr size_t kMostSampledBytes = 512 << 10;
constexpr size_t kBeforeMark = 8 << 10;  // bytes: the lines before the first mark
constexpr size_t kMostShapes = 8;

// What a shape has in place of what differs from line to line.
constexpr char kNumber = '\1', kWord = '\2', kBracket = '\3';

// Begins of lines that only a crash's text has.
constexpr std::string_view kContents[] = {"A fatal error has been detected by",
                                          "An unexpected error has been detected by",
                                          "JRE version:",
                                          "Java VM:",
                                          "Problematic frame:",
                                          "Native frames:",
                                          "Java frames:",
                                          "Current thread (",
                                          "siginfo:",
                                          "Registers:",
                                          "RAX=0x",
                                          "RSP=0x",
                                          "RIP=0x",
                                          "Top of Stack:",
                                          "Instructions:",
                                          "Stack: [0x",
                                          "VM state:",
                                          "vm_info:",
                                          "---------------",
                                          "frame #",
                                          "Stack trace of thread",
                                          "Crash reason:",
                                          "Crash address:",
                                          "Found by: ",
                                          "Exception Type:",
                                          "4XENATIVESTACK",
                                          "1XHEXCPCODE",
                                          "3XMTHREADINFO"};

// "#0  0x00007f..", "#1  <signal handler called>"
bool IsDebuggerFrame(std::string_view text) {
  Cursor cursor(text);
  return cursor.Skip("#") && IsDigit(text[1]) && cursor.Decimal() &&
         (cursor.Skip("0x") || cursor.Skip("<signal"));
}

bool IsContent(std::string_view text) {
  switch (text[0]) {
    case '#':
      return text.size() > 1 && IsDebuggerFrame(text);
    case 'V':
    case 'C':
    case 'J':
    case 'j':
    case 'v':
      if (IsFrame(text)) return true;
      break;
    default:
      break;
  }
  return std::any_of(std::begin(kContents), std::end(kContents), [&](std::string_view content) {
    return content.front() == text.front() && text.starts_with(content);  // most differ there
  });
}

// What stands before the line's content, without the content's own '#'; none if there is no
// content.
std::optional<std::string_view> PrefixOf(std::string_view line) {
  const size_t end = std::min(line.size(), kLongestPrefix);
  for (size_t at = 0; at < end; at++) {
    if (at > 0 && IsWordChar(line[at - 1])) continue;
    if (!IsContent(line.substr(at))) continue;
    std::string_view prefix = Trim(line.substr(0, at));
    while (prefix.ends_with('#')) prefix.remove_suffix(1);
    return Trim(prefix);
  }
  return {};
}

// The size of the hexadecimal number at the begin, which has a decimal digit; 0: there is none.
size_t NumberSize(std::string_view text) {
  size_t size = 0;
  bool has_digit = false;
  for (; size < text.size() && IsHexDigit(text[size]); size++) has_digit |= IsDigit(text[size]);
  return has_digit ? size : 0;
}

// The size of "[..]" at the begin; 0: it is none.
size_t BracketSize(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  const size_t close = text.substr(0, kLongestPrefix).find(']');
  return close == std::string_view::npos ? 0 : close + 1;
}

size_t BlankSize(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

size_t WordSize(std::string_view text) {
  return text.empty() || !IsLetter(text[0]) ? 0 : std::min(text.find_first_of(" \t"), text.size());
}

// The size of what an element of a shape stands for, at the begin of `text`; 0: it is not there.
size_t ElementSize(char element, std::string_view text) {
  switch (element) {
    case kNumber:
      return NumberSize(text);
    case kWord:
      return WordSize(text);
    case kBracket:
      return BracketSize(text);
    case ' ':
      return BlankSize(text);
    default:
      return text.starts_with(element) ? 1 : 0;
  }
}

// The prefix with elements for numbers and brackets, and, if `words`, for words but the last one.
std::string ShapeOf(std::string_view prefix, bool words) {
  std::string shape;
  const size_t last = prefix.find_last_of(" \t") + 1;
  for (size_t at = 0; at < prefix.size();) {
    const bool begins = at == 0 || IsBlank(prefix[at - 1]);
    char element = prefix[at];
    for (const char candidate : {kWord, kBracket, kNumber, ' '}) {
      if (candidate == kWord && (!words || !begins || at >= last)) continue;
      if (ElementSize(candidate, prefix.substr(at)) == 0) continue;
      element = candidate;
      break;
    }
    shape += element;
    at += std::max<size_t>(ElementSize(element, prefix.substr(at)), 1);
  }
  return shape;
}

// Words are masked only beside something else that differs: a table's cell may hold them, too.
std::string ShapeOf(std::string_view prefix) {
  const std::string masked = ShapeOf(prefix, true);
  const bool anchored = masked.find_first_of({kNumber, kBracket}) != std::string::npos;
  return anchored ? masked : ShapeOf(prefix, false);
}

// The size of what has the shape at the begin of the line; 0: nothing.
size_t SizeOf(std::string_view shape, std::string_view line) {
  size_t size = 0;
  for (const char element : shape) {
    const size_t more = ElementSize(element, line.substr(size));
    if (more == 0) return 0;
    size += more;
  }
  const bool splits_word =
      size < line.size() && IsWordChar(line[size]) && IsWordChar(line[size - 1]);
  return splits_word ? 0 : size;
}

// The part of the text in which a crash begins.
std::string_view PartWithCrash(std::string_view text) {
  const size_t first = FirstCrashMark(text);
  if (first == std::string_view::npos) return text.substr(0, kMostSampledBytes);
  const size_t newline = text.rfind('\n', first - std::min(first, kBeforeMark));
  return text.substr(newline == std::string_view::npos ? 0 : newline + 1, kMostSampledBytes);
}

// Calls `f` with what stands before the content of each line that has one.
template <typename F>
void EachPrefix(std::string_view text, F&& f) {
  std::string scratch;
  for (int i = 0; i < kMostSampled && !text.empty(); i++) {
    const size_t newline = std::min(text.find('\n'), text.size() - 1);
    const std::string_view raw = text.substr(0, std::min(newline + 1, 4 * kLongestPrefix));
    text.remove_prefix(newline + 1);
    if (const auto prefix = PrefixOf(WithoutMarkup(raw, scratch))) f(*prefix);
  }
}

}  // namespace

size_t FirstCrashMark(std::string_view text) {
  size_t first = std::string_view::npos;
  for (const std::string_view mark : {"A fatal error has been detected by", "Native frames:",
                                      "Problematic frame:", "siginfo:", "<signal handler called>"})
    first = std::min(first, text.substr(0, first).find(mark));
  return first;
}

int CountCrashLines(std::string_view text) {
  int count = 0;
  EachPrefix(text.substr(0, kMostSampledBytes), [&](std::string_view) { count++; });
  return count;
}

LinePrefixes::LinePrefixes(std::string_view text) {
  std::map<std::string, int> counts;
  int contents = 0;
  EachPrefix(PartWithCrash(text), [&](std::string_view prefix) {
    contents++;
    if (!prefix.empty()) counts[ShapeOf(prefix)]++;
  });
  std::vector<std::pair<int, std::string>> found;
  for (const auto& [shape, count] : counts)
    if (count >= 2 && count * 5 >= contents) found.push_back({count, shape});
  std::sort(found.rbegin(), found.rend());
  for (const auto& [count, shape] : found)
    if (shapes_.size() < kMostShapes) shapes_.push_back(shape);
}

std::string_view LinePrefixes::Without(std::string_view line) const {
  if (shapes_.empty()) return line;
  const std::string_view text = Trim(line);
  for (const std::string& shape : shapes_) {
    const size_t size = SizeOf(shape, text);
    if (size == 0) continue;
    std::string_view rest = Trim(text.substr(size));
    if (shape.starts_with('|') && rest.ends_with('|')) rest.remove_suffix(1);
    return rest;
  }
  return line;
}

}  // namespace walkhammer
