// SPDX-License-Identifier: Apache-2.0
#include "harness/base/mappings.h"

#include <sys/auxv.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace walkhammer {

std::vector<Mapping> ReadMappings(const std::string& process) {
  std::vector<Mapping> out;
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping{};
    char access[5] = "";
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n",
                    &mapping.begin, &mapping.end, access, &mapping.offset, &path_at) < 4)
      continue;
    mapping.readable = access[0] == 'r';
    mapping.executable = access[2] == 'x';
    if (path_at > 0 && static_cast<size_t>(path_at) < line.size())
      mapping.path = line.substr(static_cast<size_t>(path_at));
    out.push_back(std::move(mapping));
  }
  return out;
}

std::string OwnProgram() {
  const uint64_t entry = getauxval(AT_ENTRY);
  for (const Mapping& mapping : ReadMappings())
    if (entry >= mapping.begin && entry < mapping.end) return mapping.path;
  return "";
}

}  // namespace walkhammer
