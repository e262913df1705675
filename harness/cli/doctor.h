// SPDX-License-Identifier: Apache-2.0
// What `doctor` does besides looking at this machine. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_DOCTOR_H_
#define WALKHAMMER_HARNESS_CLI_DOCTOR_H_

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct DoctorOptions {
  std::vector<std::string> jdks;
  bool json = false, structs = false;
  // With `structs` alone:
  std::vector<std::string> readers;  // empty: all
  std::string table;                 // empty: the one that comes with walkhammer
};

// doctor --structs: what of the first JDK's contract with those who read its structures the second
// one breaks. Returns the exit code.
Result<ExitCode> RunDoctorStructs(const DoctorOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_DOCTOR_H_
