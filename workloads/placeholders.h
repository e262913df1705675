// SPDX-License-Identifier: Apache-2.0
// Placeholders: {scratch} and the like in the texts of a workload.
// Signal-safe: no.
#ifndef WALKHAMMER_WORKLOADS_PLACEHOLDERS_H_
#define WALKHAMMER_WORKLOADS_PLACEHOLDERS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

inline constexpr std::string_view kPlaceholders[] = {"home",    "input",   "scratch", "seed",
                                                     "seconds", "threads", "scale",   "file"};

// The names in braces; an open brace without a closing one gives the rest of the text, brace
// included.
std::vector<std::string> PlaceholdersIn(std::string_view text);

bool IsPlaceholder(std::string_view name);

// `text` with placeholders replaced by their values. Names that `values` lacks stay as they are.
std::string Filled(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace walkhammer

#endif  // WALKHAMMER_WORKLOADS_PLACEHOLDERS_H_
