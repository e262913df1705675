// SPDX-License-Identifier: Apache-2.0
// Names of signals. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_
#define WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_

#include <string>

namespace walkhammer {

// Returns "SIGSEGV" and the like, or "signal 64" for a signal that the table in signal_name.cc
// lacks.
std::string SignalName(int signal);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SIGNAL_NAME_H_
