// SPDX-License-Identifier: Apache-2.0
// What a mistyped name may have meant, for error messages.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_NEAREST_H_
#define WALKHAMMER_HARNESS_BASE_NEAREST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

// Smallest number of mistakes that turns `a` into `b`: bytes that are inserted, dropped, replaced
// or swapped with their neighbour.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns at most `most` of `names`, nearest first; equally near names keep their order. The
// distance has no limit: a user may as well see names that are far off.
std::vector<std::string> NearestNames(std::string_view wanted,
                                      std::span<const std::string_view> names, size_t most);

// Returns at most `most` of `names`, those that `word` is likeliest a misspelling or else an
// abbreviation of; none if it resembles no name.
std::vector<std::string> ResemblingNames(std::string_view word,
                                         std::span<const std::string_view> names, size_t most);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_NEAREST_H_
