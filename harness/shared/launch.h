// SPDX-License-Identifier: Apache-2.0
// How a child boots its JVM. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SHARED_LAUNCH_H_
#define WALKHAMMER_HARNESS_SHARED_LAUNCH_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/shared/shared_state.h"

namespace walkhammer {

// Tells the next child how to boot. `flags` are all of the JVM's, the user's last; `provider`: a
// library that stands in for libjvm, see WalkerInfo::replaceable; empty: none.
Status SetLaunch(SharedState& state, const std::string& libjvm, std::vector<std::string> flags,
                 const std::string& provider = "");

// The JVM flags that every child gets before the user's, for a JDK of that feature version; 0, not
// known: those of the newest. Read from the file beside the executable; fails when the installation
// is incomplete.
Result<std::vector<std::string>> BaseFlags(int feature);
// The flags for that JDK of a file such as jvm_flags.txt; empty if it cannot be read.
std::vector<std::string> ReadFlags(const std::string& path, int feature);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SHARED_LAUNCH_H_
