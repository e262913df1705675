// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP set a flag that long work polls, so that a run ends in order, with
// everything recorded. A second signal kills the process groups that this process has
// started, and ends the process at once, with exit code 128 + signal.
// Signal-safe: Interrupted() yes; the rest no.
#ifndef WALKHAMMER_HARNESS_PROCESS_INTERRUPT_H_
#define WALKHAMMER_HARNESS_PROCESS_INTERRUPT_H_

#include <atomic>

namespace walkhammer {

// Installs the handlers, for the whole process. A SIGHUP that was ignored before stays ignored, as
// under nohup. SIGPIPE and SIGXFSZ are ignored from then on: the write fails instead.
void CatchInterrupts();
// The flag: true once one of these signals came. It never becomes false again.
const std::atomic<bool>& Interrupted();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_INTERRUPT_H_
