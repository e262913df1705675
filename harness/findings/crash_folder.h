// SPDX-License-Identifier: Apache-2.0
// A crash folder: crashes/<bucket>/ in a run's folder, with what an engineer needs to replay and
// to understand one bug: input.walk, explain.txt and, if the JVM wrote one, hs_err.log.
// Called by the parent for the first finding of a bucket, and again after the bucket's replays.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_CRASH_FOLDER_H_
#define WALKHAMMER_HARNESS_FINDINGS_CRASH_FOLDER_H_

#include <string>

#include "harness/base/result.h"
#include "harness/findings/explain.h"

namespace walkhammer {

inline constexpr char kInputName[] = "input.walk";
inline constexpr char kMinimizedName[] = "minimized.walk";  // written by the parent of a run
inline constexpr char kExplainName[] = "explain.txt";
inline constexpr char kHsErrName[] = "hs_err.log";

// Text of input.walk: comment lines with title, JDK and replay command, then the request with
// `expect`.
std::string InputText(const CrashCase& crash);

// Writes or replaces the files, each atomically; no input.walk if the request is not known. Returns
// the folder relative to `run_dir`, "crashes/<bucket>".
Result<std::string> WriteCrashFolder(const std::string& run_dir, const CrashCase& crash);

// Writes `text` to a temporary file beside `path` and renames this file to `path`.
Status WriteFileAtomically(const std::string& path, std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_CRASH_FOLDER_H_
