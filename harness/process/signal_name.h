// SPDX-License-Identifier: Apache-2.0
// Signals as users know them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_
#define WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_

#include <string>

namespace walkhammer {

// "SIGSEGV"; "signal 64" where there is no name.
std::string SignalName(int signal);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_
