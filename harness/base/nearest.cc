// SPDX-License-Identifier: Apache-2.0
#include "harness/base/nearest.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace walkhammer {
namespace {

// Names are short. A longer text is a mistake of another kind and must not cost quadratic time.
constexpr size_t kMaxCompared = 256;

// How many mistakes a word of so many bytes may have, and still be named.
size_t MostMistakes(size_t bytes) { return bytes <= 4 ? 1 : bytes <= 8 ? 2 : 3; }

// True if `word` is `name` without some of its bytes.
bool IsPartOf(std::string_view word, std::string_view name) {
  size_t met = 0;
  for (const char byte : name)
    if (met < word.size() && word[met] == byte) met++;
  return met == word.size();
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  // row[j]: distance of the part of `a` seen so far to the first j bytes of `b`; `former` and
  // `before`: the rows of one and two bytes less of `a`.
  std::vector<size_t> row(b.size() + 1), former(row.size()), before(row.size());
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); i++) {
    std::swap(before, former);
    std::swap(former, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t replaced = former[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, former[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
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

std::vector<std::string> ResemblingNames(std::string_view word,
                                         std::span<const std::string_view> names, size_t most) {
  word = word.substr(0, kMaxCompared);
  // A dropped byte is likelier than another mistake, and an abbreviation the least likely.
  enum : size_t { kDropped, kOther, kWeights, kAbbreviated = 100 };
  size_t best = SIZE_MAX;
  std::vector<std::string> found;
  for (const std::string_view name : names) {
    const size_t mistakes = EditDistance(word, name.substr(0, kMaxCompared));
    size_t rank = mistakes * kWeights + (IsPartOf(word, name) ? kDropped : kOther);
    if (mistakes > MostMistakes(word.size())) {
      if (word.size() < 2 || !name.starts_with(word)) continue;
      rank = kAbbreviated;
    }
    if (rank > best) continue;
    if (rank < best) found.clear();
    best = rank;
    if (found.size() < most) found.emplace_back(name);
  }
  return found;
}

}  // namespace walkhammer
