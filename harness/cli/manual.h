// SPDX-License-Identifier: Apache-2.0
// Manual pages: walkhammer(1), and walkhammer-VERB(1) for each verb, of the data of --help and the
// rows of manual_rows.h. Pages hold no date, so that two builds make the same. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_MANUAL_H_
#define WALKHAMMER_HARNESS_CLI_MANUAL_H_

#include <string>

#include "harness/base/result.h"
#include "harness/cli/verb_help.h"

namespace walkhammer {

// The page of `verb`, which is `command` or below it, for man(7). Fails if manual_rows.cc has no
// row of it.
Result<std::string> ManualPage(const VerbHelp& command, const VerbHelp& verb);

// Writes all pages into the folder, which exists: "walkhammer-bugs-check.1".
Status WriteManual(const VerbHelp& command, const std::string& folder);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_MANUAL_H_
