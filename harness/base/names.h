// SPDX-License-Identifier: Apache-2.0
// Errors for names that users type, and paths of files installed beside this executable.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_NAMES_H_
#define WALKHAMMER_HARNESS_BASE_NAMES_H_

#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// Returns the failure (kBadInput) `there is no KIND "WANTED"; nearest: a, b, c (walkhammer show
// KINDs names all)`. If `names` is empty, the message ends before the semicolon.
Failure UnknownName(std::string_view kind, std::string_view wanted,
                    std::span<const std::string_view> names);

// Returns the absolute path of the file `name` in this executable's folder; the file need not
// exist.
std::string BesideExecutable(std::string_view name);
// Returns the command that starts walkhammer, quoted for a shell: "walkhammer" if PATH leads to
// this executable, else the path of the file "walkhammer" beside it.
std::string OwnCommand();
inline constexpr char kChildName[] = "walkhammer_child";
inline constexpr char kScenesJarName[] = "walkhammer-scenes.jar";

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_NAMES_H_
