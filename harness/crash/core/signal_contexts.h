// SPDX-License-Identifier: Apache-2.0
// SignalContexts: the registers that signals had interrupted on a thread, found in the frames that
// the kernel laid onto its stacks (rt_sigframe). Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_SIGNAL_CONTEXTS_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_SIGNAL_CONTEXTS_H_

#include <cstdint>
#include <vector>

#include "harness/crash/core/core_file.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct SignalContext {
  uint64_t frame = 0;  // address of the kernel's frame
  int signal = 0, code = 0;
  uint64_t address = 0;  // si_addr; without meaning for signals that are not faults
  uint64_t pc = 0, sp = 0, fp = 0;
  std::vector<CrashRegister> registers;
  // SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT
  bool is_fatal() const;
};

// The contexts on the thread's stacks, innermost first: the signal stack and the stack that the
// signal had interrupted, too. x86_64 and aarch64.
std::vector<SignalContext> SignalContextsOf(const CoreFile& core, const CoreThread& thread);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_SIGNAL_CONTEXTS_H_
