// SPDX-License-Identifier: Apache-2.0
#include "harness/base/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace walkhammer {

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string Rounded(double number, int digits) {
  if (!std::isfinite(number)) return "endless";
  number = std::min(number, 1e18);
  return number < std::pow(10, digits) - 0.5 ? fmt::format("{:.{}g}", number, digits)
                                             : Grouped(static_cast<uint64_t>(std::llround(number)));
}

std::string Percent(uint64_t part, uint64_t whole, int digits) {
  if (whole == 0) return "-";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  const double least = std::pow(10, -digits);
  if (part > 0 && percent < least / 2) return fmt::format("<{:.{}f} %", least, digits);
  if (part < whole && percent > 100 - least / 2)
    return fmt::format(">{:.{}f} %", 100 - least, digits);
  return fmt::format("{:.{}f} %", percent, digits);
}

std::string Counted(uint64_t number, const char* noun) {
  return fmt::format("{} {}{}", Grouped(number), noun, number == 1 ? "" : "s");
}

std::string OnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace walkhammer
