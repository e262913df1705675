// SPDX-License-Identifier: Apache-2.0
// Rules for which functions a walker is expected to execute, of those that it can reach on paper:
// tables, each row with its reason. A trap on a function that other threads run all the time costs
// them signals and says nothing about the walk. Used by the block map. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_REACH_RULES_H_
#define WALKHAMMER_HARNESS_COVERAGE_REACH_RULES_H_

#include <string_view>

namespace walkhammer {

// All names are demangled.

// Returns why calls of `function` are not followed; null if they are followed.
const char* WhyNotFollowed(std::string_view function);

// True if a virtual call of a walker may have a receiver of class `class_name`.
bool MayBeReceiver(std::string_view class_name);

// True if a virtual call of a walker may call `function`, a member of a receiver class.
bool MayBeAsked(std::string_view function);

// True if `function` reports the death of the JVM and does not return.
bool IsDeathEntry(std::string_view function);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_REACH_RULES_H_
