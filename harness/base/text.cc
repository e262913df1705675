// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

// Bytes of the character at the start of `text`, which is not empty; 0: not printable.
size_t PrintableBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80)
    return first == '\n' || first == '\t' || (first >= ' ' && first != 0x7f) ? 1 : 0;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  uint32_t code = first & (0x7f >> length);
  for (size_t i = 1; i < length; i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};  // 0x80 to 0x9f: C1
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  // Marks, embeddings, overrides and isolates change the order in which what follows is shown.
  const bool reorders = code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                        (code >= 0x2066 && code <= 0x2069) || code == 0x61c;
  return code < kLeast[length] || code > 0x10ffff || surrogate || reorders ? 0 : length;
}

}  // namespace

std::string Hex(uint64_t number) { return fmt::format("{:#x}", number); }

std::string HexBytes(const void* bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; i++)
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  return text;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    printable += bytes == 0 ? "?" : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return printable;
}

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string FirstLines(std::string_view text, size_t most) {
  constexpr size_t kMostBytes = 300;
  std::string kept;
  size_t lines = 0;
  for (const std::string& line : Split(Trim(text), '\n')) {
    if (lines++ >= most) continue;
    kept += line.substr(0, kMostBytes) + (line.size() > kMostBytes ? " ... (cut)\n" : "\n");
  }
  if (lines > most) kept += fmt::format("... and {} more\n", Grouped(lines - most));
  return kept;
}

}  // namespace walkhammer
