// SPDX-License-Identifier: Apache-2.0
// Names that users type and files that are installed together. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_NAMES_H_
#define WALKHAMMER_HARNESS_BASE_NAMES_H_

#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// Returns a failure (kBadInput) that says: there is no `kind` "`wanted`"; nearest: a, b, c
// (walkhammer show `kind`s names all).
Failure UnknownName(std::string_view kind, std::string_view wanted,
                    std::span<const std::string_view> names);

// Absolute path of the file `name` in this executable's folder; the file need not exist.
std::string BesideExecutable(std::string_view name);
// What a shell takes for this command: "walkhammer" if PATH leads here, else the path.
std::string OwnCommand();
inline constexpr char kChildName[] = "walkhammer_child";
inline constexpr char kScenesJarName[] = "walkhammer-scenes.jar";

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_NAMES_H_
