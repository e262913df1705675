// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/system_calls.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "harness/guard/arch.h"
#include "harness/guard/guard.h"

namespace walkhammer {

constinit thread_local SystemCallWatch system_call_watch;

namespace {

constexpr int kByDispatch = 2;  // si_code: SYS_USER_DISPATCH of <asm-generic/siginfo.h>

// The kernel has undone the call: it is made again, and let through.
void OnSystemCall(int signal, siginfo_t* info, void* raw_context) {
  if (info->si_code != kByDispatch) {  // not for us, as without this handler
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  UnwatchSystemCalls();
  auto& context = *static_cast<ucontext_t*>(raw_context);
  Registers registers = ReadContext(context);
  registers.pc -= kSystemCallBytes;
  WriteContext(registers, context);
}

}  // namespace

bool WatchSystemCalls() {
#ifdef PR_SET_SYSCALL_USER_DISPATCH
  struct sigaction before {
  }, action{};
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = OnSystemCall;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  if ((ThreadSignalMask() >> (SIGSYS - 1) & 1) != 0 || sigaction(SIGSYS, nullptr, &before) != 0 ||
      (before.sa_handler != SIG_DFL && before.sa_sigaction != OnSystemCall) ||
      sigaction(SIGSYS, &action, nullptr) != 0 ||
      prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &system_call_watch.held) != 0)
    return false;
  system_call_watch.tid = static_cast<int>(syscall(SYS_gettid));
  return true;
#else
  return false;
#endif
}

void UnwatchSystemCalls() {
  LetSystemCalls();
#ifdef PR_SET_SYSCALL_USER_DISPATCH
  if (system_call_watch.tid == syscall(SYS_gettid)) {
    prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
    system_call_watch.tid = 0;
  }
#endif
}

}  // namespace walkhammer
