// SPDX-License-Identifier: Apache-2.0
#include "harness/base/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace walkhammer {
namespace {

constexpr double kLongestNs = 10.0 * 365 * 24 * 3600 * 1e9;

struct Unit {
  std::string_view name;
  double ns;
};

constexpr Unit kUnits[] = {{"ns", 1},  {"us", 1e3}, {"ms", 1e6},
                           {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

}  // namespace

Result<std::chrono::nanoseconds> ParseDuration(std::string_view text, std::string_view option) {
  const Failure failure = BadInput(
      fmt::format("{} must be a duration such as 30s, 500ms or 2m, not \"{}\"", option, text));
  // from_chars alone would also take "inf", "nan" and "-1".
  if (text.empty() || text[0] < '0' || text[0] > '9') return failure;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc()) return failure;
  const std::string_view name(rest, static_cast<size_t>(end - rest));
  const Unit* const unit = std::ranges::find(kUnits, name, &Unit::name);
  if (unit == std::end(kUnits)) return failure;
  const double ns = std::round(number * unit->ns);
  if (!(ns >= 1 && ns <= kLongestNs)) return failure;
  return std::chrono::nanoseconds(static_cast<int64_t>(ns));
}

std::string FormatRate(double per_second) {
  if (!std::isfinite(per_second) || per_second < 0) per_second = 0;
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T"};
  double number = per_second;
  size_t prefix = 0;
  // 999.5 would print as 1000.
  while (number >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    number /= 1000;
    prefix++;
  }
  const bool one_decimal = prefix > 0 && number < 9.95;
  return fmt::format("{:.{}f}{}/s", number, one_decimal ? 1 : 0, kPrefixes[prefix]);
}

}  // namespace walkhammer
