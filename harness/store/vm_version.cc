// SPDX-License-Identifier: Apache-2.0
#include "harness/store/vm_version.h"

#include <fmt/format.h>

#include <optional>

#include "harness/base/numbers.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

constexpr size_t kMostVersionBytes = 300;

// JDK 8's HotSpot has versions of its own: "25.504-b08" is that of 8u504-b08.
std::optional<std::string> VersionOfJdk8(std::string_view hotspot) {
  const size_t minus = hotspot.find("-b");
  if (!hotspot.starts_with("25.") || minus == hotspot.npos) return std::nullopt;
  const std::string_view update = hotspot.substr(3, minus - 3);
  if (update.empty() || update.find_first_not_of("0123456789") != update.npos) return std::nullopt;
  return fmt::format("8u{}{}", update, hotspot.substr(minus));
}

}  // namespace

std::string VersionOfVm(std::string_view vm_version) {
  const std::vector<std::string> words = Words(vm_version.substr(0, kMostVersionBytes));
  if (words.empty()) return "";
  const std::string version = OnOneLine(Printable(words.back()));
  return VersionOfJdk8(version).value_or(version);
}

}  // namespace walkhammer
