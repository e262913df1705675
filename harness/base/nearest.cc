// SPDX-License-Identifier: Apache-2.0
#include "harness/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace walkhammer {
namespace {

// Names are short. A longer text is a mistake of another kind and must not cost quadratic time.
constexpr size_t kMaxCompared = 256;

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  // row[j]: distance of the part of `a` seen so far to the first j bytes of `b`.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); j++) {
      size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

std::vector<std::string> NearestNames(std::string_view wanted,
                                      std::span<const std::string_view> names, size_t most) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  ranked.reserve(names.size());
  for (std::string_view name : names) {
    size_t distance = EditDistance(wanted.substr(0, kMaxCompared), name.substr(0, kMaxCompared));
    ranked.emplace_back(distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(most, ranked.size()); i++) nearest.emplace_back(ranked[i].second);
  return nearest;
}

}  // namespace walkhammer
