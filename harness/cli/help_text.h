// SPDX-License-Identifier: Apache-2.0
// --help as text. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_HELP_TEXT_H_
#define WALKHAMMER_HARNESS_CLI_HELP_TEXT_H_

#include <cstddef>
#include <string>

#include "harness/cli/verb_help.h"

namespace walkhammer {

// No word is cut, so a word wider than its column goes beyond `columns`.
std::string HelpText(const VerbHelp& verb, size_t columns);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_HELP_TEXT_H_
