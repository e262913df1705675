// SPDX-License-Identifier: Apache-2.0
// Whole files, and programs. Only regular files are read: opening another one may wait endlessly.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_FILES_H_
#define WALKHAMMER_HARNESS_BASE_FILES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// Returns the file's content, or its first `most` bytes; "" if the file cannot be read.
std::string ReadFile(const std::string& path, size_t most = std::string::npos);

// Reads a file that a user names and that should be `what`, such as "a .walk file", of at most
// `most_mib` MiB. kBadInput, one sentence: it is something else.
Result<std::string> ReadFileOf(const std::string& path, std::string_view what, size_t most_mib = 1);

// open(2) that goes on where a signal interrupts it, as it may on disks of the network.
int OpenFile(const std::string& path, int flags, unsigned mode = 0);

// True for a regular file that this user may execute.
bool IsProgram(const std::string& path);

// Path of the program that a shell would find in PATH by this name; empty if there is none.
std::string FindProgram(const std::string& name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_FILES_H_
