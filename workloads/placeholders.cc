// SPDX-License-Identifier: Apache-2.0
#include "workloads/placeholders.h"

#include <algorithm>
#include <iterator>

namespace walkhammer {

std::vector<std::string> PlaceholdersIn(std::string_view text) {
  std::vector<std::string> names;
  for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open)) {
    const size_t close = text.find('}', open);
    const bool closed = close != std::string_view::npos;
    names.emplace_back(closed ? text.substr(open + 1, close - open - 1) : text.substr(open));
    open = closed ? close : text.size();
  }
  return names;
}

bool IsPlaceholder(std::string_view name) {
  return std::find(std::begin(kPlaceholders), std::end(kPlaceholders), name) !=
         std::end(kPlaceholders);
}

std::string Filled(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    const size_t close = text.find('}');
    if (close == std::string_view::npos) return filled.append(text);
    const auto value = values.find(std::string(text.substr(1, close - 1)));
    filled += value == values.end() ? std::string(text.substr(0, close + 1)) : value->second;
    text.remove_prefix(close + 1);
  }
  return filled;
}

}  // namespace walkhammer
