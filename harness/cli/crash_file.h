// SPDX-License-Identifier: Apache-2.0
// ReadCrashText, ReadCrashFiles: read the crash report that a user names; the latter judges it.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_CRASH_FILE_H_
#define WALKHAMMER_HARNESS_CLI_CRASH_FILE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/crash/imported_crash.h"

namespace walkhammer {

// Reads a text that a user names, of at most 256 MiB, see PlainText. kBadInput: it is something
// else, or cannot be read.
Result<std::string> ReadCrashText(const std::string& path);

// Reads the crashes of an hs_err log, another text, or a core, at least one. `modules`: folder in
// which the files of a core's program are looked for, if not at their own paths; may be empty.
// `with_known_inputs`: candidates may be walkhammer's own inputs that show the same function.
// `library`: path of a profiler's library, see WalkerFor; empty: none.
// kBadInput: the file cannot be read, or holds no crash, or a file of the known issues beside the
// command is malformed.
Result<std::vector<ImportedCrash>> ReadCrashFiles(const std::string& path,
                                                  const std::string& modules,
                                                  bool with_known_inputs = true,
                                                  const std::string& library = "");

// The same for the first one that may be a walker's fault; the first one if none may be.
Result<ImportedCrash> ReadCrashFile(const std::string& path, const std::string& modules,
                                    bool with_known_inputs = true, const std::string& library = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_CRASH_FILE_H_
