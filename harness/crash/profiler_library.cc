// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/profiler_library.h"

#include "harness/elf/elf_file.h"
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

// The functions by which its Java classes drive a profiler, in all its releases so far
// (async-profiler 1 to 4.6, java-profiler 1.4 to 1.49).
struct LibraryExports {
  std::string_view begin;  // of the function's name
  const char* profiler;
};
constexpr LibraryExports kExports[] = {
    {"Java_one_profiler_AsyncProfiler_", kAsyncProfilerName},
    {"Java_com_datadoghq_profiler_JavaProfiler_", kJavaProfilerName}};

}  // namespace

const char* ProfilerByName(std::string_view path) {
  std::string file;
  for (const char c : path.substr(path.rfind('/') + 1)) file += LowerCase(c);
  if (file.ends_with(".jar")) return nullptr;  // its Java classes
  for (const LibraryName& library : kLibraries)
    if (file.find(library.part) != std::string::npos) return library.profiler;
  return nullptr;
}

const char* ProfilerByContents(const std::string& path) {
  const ElfFile file(path, ElfFile::Access::kRead);
  const char* profiler = nullptr;
  for (const ElfSection& section : file.Sections()) {
    if (section.header.sh_type != SHT_DYNSYM) continue;
    file.EachSymbol(section, [&](const GElf_Sym& symbol, std::string_view name) {
      if (symbol.st_shndx == SHN_UNDEF) return;
      for (const LibraryExports& row : kExports)
        if (name.starts_with(row.begin)) profiler = row.profiler;
    });
  }
  return profiler;
}

const char* ProfilerOf(const CrashFrame& frame) {
  const char* profiler = ProfilerByName(frame.module);
  if (profiler != nullptr || frame.library.empty()) return profiler;
  return ProfilerByContents(frame.library);
}

}  // namespace walkhammer
