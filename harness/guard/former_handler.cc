// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/former_handler.h"

#include <pthread.h>

namespace walkhammer {

bool CallFormerHandler(const struct sigaction& former, int signal, siginfo_t* info, void* context) {
  sigset_t mask = former.sa_mask;
  if ((former.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  sigdelset(&mask, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  if (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN) return false;
  if ((former.sa_flags & SA_SIGINFO) != 0)
    former.sa_sigaction(signal, info, context);
  else
    former.sa_handler(signal);
  return true;
}

}  // namespace walkhammer
