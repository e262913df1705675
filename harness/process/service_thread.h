// SPDX-License-Identifier: Apache-2.0
// Threads of ours beside a program's: how they start, and what wakes them.
#ifndef WALKHAMMER_HARNESS_PROCESS_SERVICE_THREAD_H_
#define WALKHAMMER_HARNESS_PROCESS_SERVICE_THREAD_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "harness/base/result.h"

namespace walkhammer {

// Wakes one thread. A futex, for a semaphore's functions may be somebody else's in this process.
class AutoResetEvent {
 public:
  // Signal-safe, and keeps errno. Rung twice before it is heard, it is heard once.
  void Set();
  // Until it rings, or at once if it has. Signal-safe: no.
  void Wait();

 private:
  std::atomic<int32_t> rung_{0};
};

// Starts a thread with all signals blocked but those of faults: samples belong on others. It lasts
// as long as the process, and is nobody's to join. `name`: of 15 characters at most.
// Signal-safe: no.
Status StartServiceThread(const char* name, void* (*body)(void*));

// Starts such a thread with an argument; the caller joins or detaches it. Signal `also` is not
// blocked either; 0: none.
Result<pthread_t> StartThread(const char* name, void* (*body)(void*), void* argument, int also = 0);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SERVICE_THREAD_H_
