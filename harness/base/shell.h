// SPDX-License-Identifier: Apache-2.0
// Words and paths as a shell takes them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_SHELL_H_
#define WALKHAMMER_HARNESS_BASE_SHELL_H_

#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// Returns the word as it can be typed: quoted if a shell would not take the word literally.
std::string ShellWord(std::string_view word);
std::string ShellCommand(std::span<const std::string> words);

// Returns a path to `path` for readers that split at spaces or colons and know no quotes
// (LD_PRELOAD, jcmd, libFuzzer): `path` itself if its name is plain, else `link`, which becomes a
// new symbolic link to `path`. Fails with kUnable if the name of `link` is not plain either, with
// kToolFailed if the link cannot be written.
Result<std::string> PlainPath(const std::string& path, const std::string& link);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_SHELL_H_
