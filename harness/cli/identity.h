// SPDX-License-Identifier: Apache-2.0
// What a run is told of itself: the machine, the time, the command. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_IDENTITY_H_
#define WALKHAMMER_HARNESS_CLI_IDENTITY_H_

#include <span>
#include <string>
#include <vector>

#include "harness/store/run_db.h"

namespace walkhammer {

// What any run is told: this walkhammer's version, the machine, the time, the command. The rest is
// for the verb to fill in.
RunIdentity OwnIdentity();
// The walkers at these places of AllWalkers(), by their names.
std::string WalkerNames(std::span<const int> walkers, const char* between);

std::string CpuModel();               // "unknown" where /proc/cpuinfo has none
std::string Kernel();                 // "Linux 6.1.0"
std::string Now(const char* format);  // UTC, as strftime has it
std::string Joined(const std::vector<std::string>& words);  // by blanks

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_IDENTITY_H_
