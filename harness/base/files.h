// SPDX-License-Identifier: Apache-2.0
// Files as a whole, and programs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_FILES_H_
#define WALKHAMMER_HARNESS_BASE_FILES_H_

#include <cstddef>
#include <string>

namespace walkhammer {

// What the file holds, its first `most` bytes at most; nothing if it cannot be read.
std::string ReadFile(const std::string& path, size_t most = std::string::npos);

// True of a regular file that this user may execute.
bool IsProgram(const std::string& path);

// The path of the program that a shell would start by this name; empty if there is none.
std::string FindProgram(const std::string& name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_FILES_H_
