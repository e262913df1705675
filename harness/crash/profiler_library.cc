// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/profiler_library.h"

#include <string>

#include "harness/hs_err/characters.h"

namespace walkhammer {
namespace {

struct LibraryName {
  const char* part;  // of the file's name, in lower case
  const char* profiler;
};

constexpr LibraryName kLibraries[] = {{"asyncprofiler", kAsyncProfilerName},
                                      {"async-profiler", kAsyncProfilerName},
                                      {"javaprofiler", kJavaProfilerName},
                                      {"java-profiler", kJavaProfilerName},
                                      {"libyjpagent", "YourKit"},
                                      {"libjprofilerti", "JProfiler"},
                                      {"liblagent", "Honest Profiler"},
                                      {"walkhammer_agent", "walkhammer's agent"},
                                      {"libasgst", "libasgst"},
                                      {"libperfagent", "perf-map-agent"},
                                      {"liboneagentjava", "Dynatrace"}};

}  // namespace

const char* ProfilerOf(std::string_view path) {
  std::string file;
  for (const char c : path.substr(path.rfind('/') + 1)) file += LowerCase(c);
  if (file.ends_with(".jar")) return nullptr;  // its Java classes
  for (const LibraryName& library : kLibraries)
    if (file.find(library.part) != std::string::npos) return library.profiler;
  return nullptr;
}

}  // namespace walkhammer
