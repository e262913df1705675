// SPDX-License-Identifier: Apache-2.0
// Writes what an option asks for into a file. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_OUTPUT_FILE_H_
#define WALKHAMMER_HARNESS_CLI_OUTPUT_FILE_H_

#include <string>

#include "harness/base/result.h"

namespace walkhammer {

// Writes `text` to `path`, "-" for stdout, and says so on stderr. kBadInput names `option`.
Status WriteOutput(const char* option, const std::string& path, const std::string& text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_OUTPUT_FILE_H_
