// SPDX-License-Identifier: Apache-2.0
// walkhammer_child: the expendable process that holds the JVM and walks. It is started by
// walkhammer, never by a user.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "harness/child/campaign.h"
#include "harness/child/jvm_thread.h"
#include "harness/ipc/shared_mapping.h"

namespace walkhammer {
namespace {

// The JVM's main thread: the JVM needs an ordinary stack, not that of the process's first thread.
void* MainThread(void* state) {
  RunCampaign(*static_cast<SharedState*>(state));
  // No destructors, no JVM shutdown: scene threads stay parked for good.
  _exit(0);
}

int Main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the parent
  auto state = OpenState();
  if (state.ok() && state.value() == nullptr) {
    std::fprintf(stderr, "walkhammer_child is started by walkhammer, not directly\n");
    return 2;
  }
  if (!state.ok()) {
    std::fprintf(stderr, "walkhammer_child: %s\n", state.failure().message.c_str());
    return 4;
  }
  pthread_t thread;
  if (!StartJvmThread(MainThread, state.value(), thread)) return 4;
  pthread_join(thread, nullptr);
  return 0;
}

}  // namespace
}  // namespace walkhammer

// An exception ends the child; its parent says so.
int main() { return walkhammer::Main(); }  // NOLINT(bugprone-exception-escape)
