// SPDX-License-Identifier: Apache-2.0
#include "harness/process/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "harness/process/spawn.h"

namespace walkhammer {
namespace {

std::atomic<bool> interrupted{false};

// Signal-safe: a lock-free store, kill and _exit.
void OnSignal(int signal) {
  if (!interrupted.exchange(true)) return;
  KillSpawned();
  _exit(128 + signal);
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup ignores it
  signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error, not a death
  signal(SIGXFSZ, SIG_IGN);  // so is a file that is larger than `ulimit -f` permits
}

const std::atomic<bool>& Interrupted() { return interrupted; }

}  // namespace walkhammer
