// SPDX-License-Identifier: Apache-2.0
// Reads a .walk file in text form. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_WALK_FILE_H_
#define WALKHAMMER_HARNESS_CLI_WALK_FILE_H_

#include <string>

#include "harness/base/result.h"
#include "harness/request/text_form.h"

namespace walkhammer {

// The path of a .walk file that a user names by `path`: a crash folder stands for its input.walk.
// kBadInput, one sentence: the folder has none.
Result<std::string> WalkPathOf(const std::string& path);

// The valid .walk file at WalkPathOf(path), of at most 1 MiB. kBadInput, one sentence with the
// file's name, for anything else.
Result<LoadedWalk> ReadWalkFile(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_WALK_FILE_H_
