// SPDX-License-Identifier: Apache-2.0
// Reads a .walk file in text or binary form. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_WALK_FILE_H_
#define WALKHAMMER_HARNESS_CLI_WALK_FILE_H_

#include <string>

#include "harness/base/result.h"

namespace walkhammer {

// The file's text; a failure is one sentence with the file's name. At most 1 MiB.
Result<std::string> ReadWalkText(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_WALK_FILE_H_
