// SPDX-License-Identifier: Apache-2.0
// Interposes malloc, free and the locks of libc for the whole child: inside a guarded call, the
// first call of these functions is recorded with its callers; then the real function runs.
// Linked into executables only, and exported (-rdynamic), so that libjvm's references bind to these
// functions. A condition wait needs its mutex first, and is recorded by the lock of that mutex.
// Signal-safe: the wrappers add nothing unsafe to what they wrap.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "harness/guard/guard.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace walkhammer {
namespace {

// Marks the time between a wrapper's begin and end: a guarded call that is left in between has left
// the allocator or a lock in the middle of its work.
class UnsafeSection {
 public:
  __attribute__((noinline)) UnsafeSection(const char* function, void* caller, void* frame) {
    GuardSlot* slot = CurrentGuardSlot();
    if (slot == nullptr || slot->inside == 0) return;
    // If another thread walks in place of this thread, with this thread's thread pointer, then the
    // slot is the other thread's.
    if (slot->tid.load() != syscall(SYS_gettid)) return;
    slot_ = slot;
    slot->unsafe_depth = slot->unsafe_depth + 1;
    if (slot->unsafe_call.function != nullptr) return;
    auto fp = *static_cast<uint64_t*>(frame);
    slot->unsafe_call.native_count =
        NativeChain(reinterpret_cast<uint64_t>(caller), fp, reinterpret_cast<uint64_t>(frame),
                    slot->stack_end, slot->unsafe_call.native);
    slot->unsafe_call.function = function;
  }
  ~UnsafeSection() {
    if (slot_ != nullptr) slot_->unsafe_depth = slot_->unsafe_depth - 1;
  }

 private:
  GuardSlot* slot_ = nullptr;
};

#define WH_UNSAFE(name) \
  UnsafeSection section(name, __builtin_return_address(0), __builtin_frame_address(0))

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Looked up before the JVM starts: dlsym itself locks.
struct RealLocks {
  decltype(&pthread_mutex_lock) mutex_lock;
  decltype(&pthread_rwlock_rdlock) rwlock_rdlock;
  decltype(&pthread_rwlock_wrlock) rwlock_wrlock;
  decltype(&sem_wait) semaphore_wait;
};

const RealLocks& Real() {
  static const RealLocks real = {
      Next<decltype(&pthread_mutex_lock)>("pthread_mutex_lock"),
      Next<decltype(&pthread_rwlock_rdlock)>("pthread_rwlock_rdlock"),
      Next<decltype(&pthread_rwlock_wrlock)>("pthread_rwlock_wrlock"),
      Next<decltype(&sem_wait)>("sem_wait"),
  };
  return real;
}

__attribute__((constructor)) void LookUpEarly() { (void)Real(); }

}  // namespace
}  // namespace walkhammer

using walkhammer::Real;
using walkhammer::UnsafeSection;

extern "C" {

__attribute__((visibility("default"))) void* malloc(size_t size) {
  WH_UNSAFE("malloc");
  return __libc_malloc(size);
}

__attribute__((visibility("default"))) void* calloc(size_t count, size_t size) {
  WH_UNSAFE("calloc");
  return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void* realloc(void* memory, size_t size) {
  WH_UNSAFE("realloc");
  return __libc_realloc(memory, size);
}

__attribute__((visibility("default"))) int posix_memalign(void** out, size_t alignment,
                                                          size_t size) {
  WH_UNSAFE("posix_memalign");
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 /* ENOMEM */ : 0;
}

__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t size) {
  WH_UNSAFE("aligned_alloc");
  return __libc_memalign(alignment, size);
}

__attribute__((visibility("default"))) void free(void* memory) {
  WH_UNSAFE("free");
  __libc_free(memory);
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* mutex) {
  WH_UNSAFE("pthread_mutex_lock");
  return Real().mutex_lock(mutex);
}

__attribute__((visibility("default"))) int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  WH_UNSAFE("pthread_rwlock_rdlock");
  return Real().rwlock_rdlock(lock);
}

__attribute__((visibility("default"))) int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  WH_UNSAFE("pthread_rwlock_wrlock");
  return Real().rwlock_wrlock(lock);
}

__attribute__((visibility("default"))) int sem_wait(sem_t* semaphore) {
  WH_UNSAFE("sem_wait");
  return Real().semaphore_wait(semaphore);
}

}  // extern "C"
