// SPDX-License-Identifier: Apache-2.0
// ProfilerOf: which profiler a library belongs to. Others unpack and rename the libraries of
// async-profiler and java-profiler, so any part of the file's name counts, and then the functions
// that the file exports, if it is on this machine. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_PROFILER_LIBRARY_H_
#define WALKHAMMER_HARNESS_CRASH_PROFILER_LIBRARY_H_

#include <string>
#include <string_view>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

inline constexpr char kAsyncProfilerName[] = "async-profiler";
inline constexpr char kJavaProfilerName[] = "java-profiler";

// "async-profiler", "YourKit", .. for a path or a file's name; null: of no known profiler.
const char* ProfilerByName(std::string_view path);
// The same by what the file at `path` exports; null also if no such library is here. Only regular
// files are read.
const char* ProfilerByContents(const std::string& path);
// The same for the library of a frame, by its name, or else by the contents of its file.
const char* ProfilerOf(const CrashFrame& frame);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_PROFILER_LIBRARY_H_
