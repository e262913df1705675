// SPDX-License-Identifier: Apache-2.0
// Threads of walkhammer in a program's process: how to start and how to wake them.
#ifndef WALKHAMMER_HARNESS_PROCESS_SERVICE_THREAD_H_
#define WALKHAMMER_HARNESS_PROCESS_SERVICE_THREAD_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "harness/base/result.h"

namespace walkhammer {

// Wakes one thread. Uses a futex, as a semaphore's functions may be interposed in this process.
class AutoResetEvent {
 public:
  // Sets the event; several calls before a Wait count once. Keeps errno. Signal-safe: yes.
  void Set();
  // Waits until the event is set, then resets it. Signal-safe: no.
  void Wait();
  // The same, for at most `microseconds`. Signal-safe: no.
  void WaitFor(int microseconds);

 private:
  std::atomic<int32_t> rung_{0};
};

// Starts a detached thread that lasts as long as the process. The thread blocks all signals but
// those of faults, so that it is never sampled. `name`: at most 15 characters.
// Signal-safe: no.
Status StartServiceThread(const char* name, void* (*body)(void*));

// Starts a thread that runs body(argument); the caller joins or detaches it. The thread blocks all
// signals but those of faults and `also` (0: none). `name`: at most 15 characters. Signal-safe: no.
Result<pthread_t> StartThread(const char* name, void* (*body)(void*), void* argument, int also = 0);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SERVICE_THREAD_H_
