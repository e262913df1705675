// SPDX-License-Identifier: Apache-2.0
// Names of signals, as users know them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_
#define WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_

#include <string>

namespace walkhammer {

// Returns the signal's name, "SIGSEGV", or "signal 64" if it has none here.
std::string SignalName(int signal);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_
