// SPDX-License-Identifier: Apache-2.0
// Words and paths as a shell takes them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_SHELL_H_
#define WALKHAMMER_HARNESS_BASE_SHELL_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

// Returns the word as it can be typed: quoted if a shell would not take the word literally.
std::string ShellWord(std::string_view word);
std::string ShellCommand(std::span<const std::string> words);

// Returns the words that white space separates. A word that begins with a double quote ends with
// one, and may have blanks; there, a backslash before a quote or a backslash stands for that
// character. Fails with kBadInput if a quote is not closed.
Result<std::vector<std::string>> QuotedWords(const std::string& text);

// Returns a path to `path` for readers that split at spaces or colons and know no quotes
// (LD_PRELOAD, jcmd, libFuzzer): `path` itself if its name is plain, else `link`, which becomes a
// new symbolic link to `path`. Fails with kUnable if the name of `link` is not plain either, with
// kToolFailed if the link cannot be written.
Result<std::string> PlainPath(const std::string& path, const std::string& link);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_SHELL_H_
