// SPDX-License-Identifier: Apache-2.0
// What identifies a run: the machine, the time, the command. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_IDENTITY_H_
#define WALKHAMMER_HARNESS_CLI_IDENTITY_H_

#include <span>
#include <string>
#include <vector>

#include "harness/bugs/bug.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

// The part of a run's identity that all verbs share: walkhammer's version, the machine, the time,
// the command. The verb fills in the rest.
RunIdentity OwnIdentity();
// The names of the walkers at these indexes of AllWalkers(), joined by `between`.
std::string WalkerNames(std::span<const int> walkers, const char* between);

std::string CpuModel();               // "unknown" where /proc/cpuinfo has none
std::string Kernel();                 // "Linux 6.1.0"
std::string Now(const char* format);  // UTC, formatted by strftime
Day Today();                          // UTC
std::string Joined(const std::vector<std::string>& words);  // by spaces

// What --build names: a version of a JDK, or nothing. Fails with kBadInput on anything else.
Status CheckBuild(const std::string& build);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_IDENTITY_H_
