// SPDX-License-Identifier: Apache-2.0
// Words and paths as a shell takes them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_SHELL_H_
#define WALKHAMMER_HARNESS_BASE_SHELL_H_

#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// The word as it can be typed: quoted where a shell would not take it for itself.
std::string ShellWord(std::string_view word);
std::string ShellCommand(std::span<const std::string> words);

// `path`, for those that split at blanks or colons and know no quotes, LD_PRELOAD, jcmd and
// libFuzzer among them: itself, or `link`, which is then a new link to it. kUnable: `link` has such
// a name, too; kToolFailed: it cannot be written.
Result<std::string> PlainPath(const std::string& path, const std::string& link);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_SHELL_H_
