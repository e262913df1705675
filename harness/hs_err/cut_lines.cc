// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/cut_lines.h"

#include <algorithm>

#include "harness/hs_err/characters.h"

namespace walkhammer {

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
