// SPDX-License-Identifier: Apache-2.0
// What a run is told of itself: the machine, the time, the command. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_IDENTITY_H_
#define WALKHAMMER_HARNESS_CLI_IDENTITY_H_

#include <string>
#include <vector>

namespace walkhammer {

std::string CpuModel();               // "unknown" where /proc/cpuinfo has none
std::string Kernel();                 // "Linux 6.1.0"
std::string Now(const char* format);  // UTC, as strftime has it
std::string Joined(const std::vector<std::string>& words);  // by blanks
std::string CommandLine();                                  // of this process

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_IDENTITY_H_
