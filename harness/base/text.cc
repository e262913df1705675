// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.h"

#include <fmt/format.h>

#include <sstream>

namespace walkhammer {

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

}  // namespace walkhammer
