// SPDX-License-Identifier: Apache-2.0
// A fake of the JVMTI extension RequestStackTrace. What is asked of a thread that has called
// AnswersRequests.enter() is kept until this thread takes it, and commits the event itself
// (stress/testing/AnswersRequests.java). Other threads hear that nothing is available, and so
// is a thread that has asked too often.
#include <jvmti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace {

constexpr unsigned kMostThreads = 8;
constexpr unsigned kMost = 1024;  // requests of a thread that wait; a power of two

// Used by its thread, and by the signal handler that interrupts this thread.
struct Waiting {
  std::atomic<int> tid;  // 0: free
  std::atomic<unsigned> put, taken;
  jlong requests[kMost];
};
Waiting all[kMostThreads];

int Tid() { return static_cast<int>(syscall(SYS_gettid)); }

Waiting* OfThisThread() {
  const int tid = Tid();
  for (Waiting& waiting : all)
    if (waiting.tid.load() == tid) return &waiting;
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) jvmtiError RequestStackTrace(jvmtiEnv*,
                                                                               jthread thread,
                                                                               void* ucontext,
                                                                               jlong user_data) {
  if (thread != nullptr || ucontext == nullptr) return JVMTI_ERROR_INVALID_THREAD;
  Waiting* own = OfThisThread();
  if (own == nullptr || own->put - own->taken == kMost) return JVMTI_ERROR_NOT_AVAILABLE;
  own->requests[own->put % kMost] = user_data;
  own->put++;
  return JVMTI_ERROR_NONE;
}

extern "C" JNIEXPORT void JNICALL Java_AnswersRequests_enter(JNIEnv*, jclass) {
  for (Waiting& waiting : all)
    if (int free = 0; waiting.tid.compare_exchange_strong(free, Tid())) return;
}

// 0: nothing waits.
extern "C" JNIEXPORT jlong JNICALL Java_AnswersRequests_take(JNIEnv*, jclass) {
  Waiting* own = OfThisThread();
  if (own == nullptr || own->put == own->taken) return 0;
  const jlong request = own->requests[own->taken % kMost];
  own->taken++;
  return request;
}
