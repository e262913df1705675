// SPDX-License-Identifier: Apache-2.0
// ProfilerOf: which profiler a library belongs to, by its file's name. Others unpack and rename the
// libraries of async-profiler and java-profiler, so any part of the name counts. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_PROFILER_LIBRARY_H_
#define WALKHAMMER_HARNESS_CRASH_PROFILER_LIBRARY_H_

#include <string_view>

namespace walkhammer {

inline constexpr char kAsyncProfilerName[] = "async-profiler";
inline constexpr char kJavaProfilerName[] = "java-profiler";

// "async-profiler", "YourKit", .. for a path or a file's name; null: of no known profiler.
const char* ProfilerOf(std::string_view path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_PROFILER_LIBRARY_H_
