// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP set a flag that long work checks, so that a run ends in order, with
// everything recorded. A second signal ends the process at once, and what it has started. A SIGHUP
// that was ignored before stays ignored. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_INTERRUPT_H_
#define WALKHAMMER_HARNESS_PROCESS_INTERRUPT_H_

#include <atomic>

namespace walkhammer {

void CatchInterrupts();
const std::atomic<bool>& Interrupted();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_INTERRUPT_H_
