// SPDX-License-Identifier: Apache-2.0
// Which of the functions that a walker can reach on paper it is taken to execute: tables, each row
// with its reason. A trap on a function that other threads run all day costs them signals and tells
// nothing of the walk. Used by the block map. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_REACH_RULES_H_
#define WALKHAMMER_HARNESS_COVERAGE_REACH_RULES_H_

#include <string_view>

namespace walkhammer {

// Names are demangled throughout.

// Why calls of `function` are not followed; null: they are.
const char* WhyNotFollowed(std::string_view function);

// A virtual call of a walker may find an object of that class.
bool MayBeReceiver(std::string_view class_name);

// A virtual call of a walker may be meant for `function`, a member of such a class.
bool MayBeAsked(std::string_view function);

// The JVM that enters `function` will not come back.
bool IsDeathEntry(std::string_view function);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_REACH_RULES_H_
