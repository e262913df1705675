// SPDX-License-Identifier: Apache-2.0
// Whether a walker makes system calls. A walker that makes none cannot have changed what the kernel
// keeps for the thread, such as its signal mask. So the kernel must not be asked after each walk,
// which would take longer than many a walk. A thread that is watched pays with a byte that is
// written before and after the walk: the kernel reads that byte at each system call
// (PR_SET_SYSCALL_ USER_DISPATCH of Linux 5.11, x86_64), and sends SIGSYS instead of the call while
// it is set. Signal-safe: yes, but for WatchSystemCalls and UnwatchSystemCalls.
#ifndef WALKHAMMER_HARNESS_GUARD_SYSTEM_CALLS_H_
#define WALKHAMMER_HARNESS_GUARD_SYSTEM_CALLS_H_

#include <csignal>

namespace walkhammer {

struct SystemCallWatch {
  volatile char held = 0;  // what the kernel reads; not 0: the next system call raises SIGSYS
  int tid = 0;             // of the thread whose kernel reads `held`; 0: of none
};
// By the thread pointer, which another thread may use: so `tid` counts. initial-exec: a plain
// thread_local may allocate at its first touch inside a handler.
extern constinit
    __attribute__((tls_model("initial-exec"))) thread_local SystemCallWatch system_call_watch;

// Has the kernel watch the calling thread, until UnwatchSystemCalls. False: it cannot, or the
// thread blocks SIGSYS. The thread is no longer watched after the first system call that the
// watch has seen: a walker that makes one will make more, and each costs a signal.
bool WatchSystemCalls();
void UnwatchSystemCalls();

// Before and after what is watched; `tid`: the calling thread's. SystemCallsEnd returns false if
// there was certainly no system call meanwhile, nor a handler of the guard's.
inline void SystemCallsBegin(int tid) {
  if (system_call_watch.tid == tid) system_call_watch.held = 1;
}
inline bool SystemCallsEnd() {
  const bool none = system_call_watch.held != 0;
  system_call_watch.held = 0;
  return !none;
}
// For handlers, before they make a system call.
inline void LetSystemCalls() { system_call_watch.held = 0; }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_SYSTEM_CALLS_H_
