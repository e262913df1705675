// SPDX-License-Identifier: Apache-2.0
// NearestNames: what a mistyped name may have meant, for error messages.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_NEAREST_H_
#define WALKHAMMER_HARNESS_BASE_NEAREST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

// Fewest inserted, dropped or replaced bytes that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// At most `most` of `names`, nearest first; equally near ones in the order of `names`.
// There is no limit to the distance: a user may as well see names that are far off.
std::vector<std::string> NearestNames(std::string_view wanted,
                                      std::span<const std::string_view> names, size_t most);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_NEAREST_H_
