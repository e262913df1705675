// SPDX-License-Identifier: Apache-2.0
// CallFormerHandler: passes a signal on to the handler that ours has replaced. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GUARD_FORMER_HANDLER_H_
#define WALKHAMMER_HARNESS_GUARD_FORMER_HANDLER_H_

#include <csignal>

namespace walkhammer {

// Blocks signals as if the kernel had called `former`, and calls it; the return from our own
// handler restores the mask. SIGTRAP stays unblocked, for code with traps in it. False, with the
// signals blocked all the same, if `former` is SIG_DFL or SIG_IGN.
bool CallFormerHandler(const struct sigaction& former, int signal, siginfo_t* info, void* context);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_FORMER_HANDLER_H_
