// SPDX-License-Identifier: Apache-2.0
// Output files that users name by options. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_OUTPUT_FILE_H_
#define WALKHAMMER_HARNESS_CLI_OUTPUT_FILE_H_

#include <string>

#include "harness/base/result.h"

namespace walkhammer {

// Replaces the file `path` by `text` atomically, and says so on stderr; "-": writes to stdout only.
// Fails with kBadInput, whose message names `option`, if the file cannot be written.
Status WriteOutput(const char* option, const std::string& path, const std::string& text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_OUTPUT_FILE_H_
