// SPDX-License-Identifier: Apache-2.0
// The thread that boots a JVM and becomes its main thread. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_JVM_THREAD_H_
#define WALKHAMMER_HARNESS_CHILD_JVM_THREAD_H_

#include <pthread.h>

namespace walkhammer {

// Starts `thread`, which runs body(argument) on a stack of 8 MiB, whatever ulimit says. Returns
// false if no thread can be started. The caller joins or detaches the thread.
inline bool StartJvmThread(void* (*body)(void*), void* argument, pthread_t& thread) {
  constexpr size_t kStackBytes = 8 << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  return pthread_create(&thread, &attributes, body, argument) == 0;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_JVM_THREAD_H_
