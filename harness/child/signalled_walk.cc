// SPDX-License-Identifier: Apache-2.0
#include "harness/child/signalled_walk.h"

#include <pthread.h>
#include <signal.h>

#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

struct SignalledWalk {
  Walker* walker;
  WalkInput input;
  Registers registers;
  Trace trace;
};
SignalledWalk* signalled_walk = nullptr;  // while SIGPROF is under way

void OnProfilingSignal(int, siginfo_t*, void* context) {
  SignalledWalk* walk = signalled_walk;
  if (walk == nullptr) return;
  auto* interrupted = static_cast<ucontext_t*>(context);
  const Registers before = ReadContext(*interrupted);
  WriteContext(walk->registers, *interrupted);
  walk->input.context = interrupted;
  walk->walker->Walk(walk->input, walk->trace);
  WriteContext(before, *interrupted);
}

}  // namespace

Trace WalkInSignalHandler(Walker& walker, const WalkInput& input, const Registers& registers) {
  SignalledWalk walk{&walker, input, registers, {}};
  struct sigaction action {};
  action.sa_sigaction = OnProfilingSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sigset_t profiling, before;
  sigemptyset(&profiling);
  sigaddset(&profiling, SIGPROF);
  pthread_sigmask(SIG_UNBLOCK, &profiling, &before);
  signalled_walk = &walk;
  pthread_kill(pthread_self(), SIGPROF);  // is delivered before the call returns
  signalled_walk = nullptr;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return walk.trace;
}

}  // namespace walkhammer
