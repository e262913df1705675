// SPDX-License-Identifier: Apache-2.0
// Variables of an environment in a crash log. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_ENVIRONMENT_VARIABLES_H_
#define WALKHAMMER_HARNESS_HS_ERR_ENVIRONMENT_VARIABLES_H_

#include <string_view>

namespace walkhammer {

struct Assignment {
  std::string_view name, value;
};

// "NAME=value" of a shell variable's name; empty name: it is something else.
Assignment AssignmentOf(std::string_view line);

// True for variables that HotSpot prints, and those that tell who ran it where.
bool IsKnownVariable(std::string_view name);

// The first known variable from `from` on. Its value ends with the line if the line begins with it,
// else with the word. Empty name: there is none.
Assignment FindVariable(std::string_view line, size_t from = 0);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_ENVIRONMENT_VARIABLES_H_
