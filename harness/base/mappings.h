// SPDX-License-Identifier: Apache-2.0
// /proc/PID/maps, parsed. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_MAPPINGS_H_
#define WALKHAMMER_HARNESS_BASE_MAPPINGS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace walkhammer {

struct Mapping {
  uint64_t begin, end;  // end exclusive
  uint64_t offset;      // in the file
  bool readable, executable;
  std::string path;  // "[stack]" and the like for special mappings, empty for anonymous memory
};

// The memory of a process; `process` is its pid as text. None if it cannot be read.
std::vector<Mapping> ReadMappings(const std::string& process = "self");

// Absolute path of the program that this process runs; empty on any error. /proc/self/exe would
// name the program loader if a user started the loader (see Platform).
std::string OwnProgram();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_MAPPINGS_H_
