// SPDX-License-Identifier: Apache-2.0
// How a child boots its JVM. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_IPC_LAUNCH_H_
#define WALKHAMMER_HARNESS_IPC_LAUNCH_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/ipc/shared_state.h"

namespace walkhammer {

// Stores in state.launch how the next child boots. `flags`: all JVM flags, the user's last.
// `provider`: a library that stands in for libjvm, see WalkerInfo::replaceable; empty: none. Fails
// with kBadInput if a string does not fit into Launch.
Status SetLaunch(SharedState& state, const std::string& libjvm, std::vector<std::string> flags,
                 const std::string& provider = "");

// Returns the JVM flags that every child gets ahead of the user's, for JDK `feature` (0: not known,
// taken as the newest). Reads jvm_flags.txt beside the executable. Fails with kToolFailed if that
// file or the jar of scenes is missing.
Result<std::vector<std::string>> BaseFlags(int feature);
// Returns the flags for JDK `feature` in a file like jvm_flags.txt; empty if it cannot be read.
std::vector<std::string> ReadFlags(const std::string& path, int feature);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_LAUNCH_H_
