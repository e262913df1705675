// SPDX-License-Identifier: Apache-2.0
// Names that a user may choose from, for the completion of shells. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_CHOICES_H_
#define WALKHAMMER_HARNESS_CLI_CHOICES_H_

#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

struct NamedChoice {
  std::string value, what;
};

// The names that the option or argument takes, as "--walker" does; none if it has no table. No JVM
// is started.
std::vector<NamedChoice> ChoicesFor(std::string_view option);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_CHOICES_H_
