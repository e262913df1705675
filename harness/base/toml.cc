// SPDX-License-Identifier: Apache-2.0
#define TOML_IMPLEMENTATION
#include "harness/base/toml.h"

#include <fmt/format.h>

#include <utility>

namespace walkhammer {

Failure BadToml(const std::string& name, const toml::source_region& place, std::string_view what) {
  return BadInput(fmt::format("{}:{}: {}", name, place.begin.line, what));
}

Result<toml::table> ParseToml(std::string_view text, const std::string& name) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return BadToml(name, parsed.error().source(), parsed.error().description());
  return std::move(parsed).table();
}

}  // namespace walkhammer
