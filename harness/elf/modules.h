// SPDX-License-Identifier: Apache-2.0
// The executable modules that are mapped now, for symbolising in the parent. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_MODULES_H_
#define WALKHAMMER_HARNESS_ELF_MODULES_H_

#include <cstdint>
#include <span>

namespace walkhammer {

// An executable module. Fixed size: it crosses processes in shared memory.
struct Module {
  char path[256];
  uint64_t start, end;  // mapped address range
  uint64_t bias;        // address = ELF virtual address + bias
  char build_id[41];    // hex; empty if none
};

// Fills in `modules` from the first entry on; returns how many were filled in.
uint32_t ListModules(std::span<Module> modules);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_MODULES_H_
