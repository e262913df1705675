// SPDX-License-Identifier: Apache-2.0
// Tells whether a walker made a system call. A walker that made none cannot have changed what the
// kernel keeps for the thread, such as its signal mask. So the kernel need not be asked after each
// walk, which takes a good part of a walk's time. Watching costs two stores of a byte for each
// walk: the kernel reads that byte at each system call of the thread. While the byte is set, the
// kernel sends SIGSYS instead (PR_SET_SYSCALL_USER_DISPATCH of Linux 5.11, x86_64).
// Signal-safe: WatchSystemCalls no; the rest yes.
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
// there was certainly no system call in between, nor a handler of the guard's.
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
