// SPDX-License-Identifier: Apache-2.0
// Interposes malloc, free, the locks of libc and the dynamic loader for a whole process: inside a
// guarded call, the first call of these functions is recorded with its callers; then the next
// library's function runs, which is libc's or that of another allocator that is preloaded.
// Linked into executables, and exported (-rdynamic), so that libjvm's references bind to these
// functions; and into the agent, where they are in force if the agent is preloaded. Not interposed:
// what takes no lock (malloc_usable_size is, for the sake of Bootstrap), what libc itself builds
// upon these functions (reallocarray), and mmap.
// Signal-safe: the wrappers add nothing unsafe to what they wrap.
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/guard/guard.h"

#define WH_EXPORT __attribute__((visibility("default")))

namespace walkhammer {
namespace {

// True if the calling thread is inside a guarded call. If another thread walks in place of this
// thread, with this thread's thread pointer, then the slot is the other thread's.
GuardSlot* SlotOfCall() {
  GuardSlot* slot = CurrentGuardSlot();
  if (slot == nullptr || slot->inside == 0) return nullptr;
  return slot->tid.load() == syscall(SYS_gettid) ? slot : nullptr;
}

// Marks the time between a wrapper's begin and end: a guarded call that is left in between has left
// the allocator or a lock in the middle of its work.
class UnsafeSection {
 public:
  __attribute__((noinline)) UnsafeSection(const char* function, void* caller, void* frame)
      : slot_(SlotOfCall()) {
    if (slot_ == nullptr) return;
    slot_->unsafe_depth = slot_->unsafe_depth + 1;
    if (slot_->unsafe_call.function != nullptr) return;
    auto fp = *static_cast<uint64_t*>(frame);
    slot_->unsafe_call.native_count =
        NativeChain(reinterpret_cast<uint64_t>(caller), fp, reinterpret_cast<uint64_t>(frame),
                    slot_->stack_end, slot_->unsafe_call.native);
    slot_->unsafe_call.function = function;
  }
  ~UnsafeSection() {
    if (slot_ != nullptr) slot_->unsafe_depth = slot_->unsafe_depth - 1;
  }

 private:
  GuardSlot* slot_;
};

#define WH_UNSAFE(name) \
  UnsafeSection section(name, __builtin_return_address(0), __builtin_frame_address(0))

// The functions of the next library, looked up before the JVM starts: the look-up itself locks.
#define WH_WRAPPED(FUNCTION)           \
  FUNCTION(malloc)                     \
  FUNCTION(calloc)                     \
  FUNCTION(realloc)                    \
  FUNCTION(free)                       \
  FUNCTION(posix_memalign)             \
  FUNCTION(aligned_alloc)              \
  FUNCTION(memalign)                   \
  FUNCTION(valloc)                     \
  FUNCTION(pvalloc)                    \
  FUNCTION(malloc_usable_size)         \
  FUNCTION(pthread_mutex_lock)         \
  FUNCTION(pthread_mutex_trylock)      \
  FUNCTION(pthread_mutex_timedlock)    \
  FUNCTION(pthread_mutex_clocklock)    \
  FUNCTION(pthread_rwlock_rdlock)      \
  FUNCTION(pthread_rwlock_tryrdlock)   \
  FUNCTION(pthread_rwlock_timedrdlock) \
  FUNCTION(pthread_rwlock_wrlock)      \
  FUNCTION(pthread_rwlock_trywrlock)   \
  FUNCTION(pthread_rwlock_timedwrlock) \
  FUNCTION(pthread_cond_wait)          \
  FUNCTION(pthread_cond_timedwait)     \
  FUNCTION(pthread_cond_clockwait)     \
  FUNCTION(sem_wait)                   \
  FUNCTION(sem_trywait)                \
  FUNCTION(sem_timedwait)              \
  FUNCTION(sem_clockwait)              \
  FUNCTION(dl_iterate_phdr)            \
  FUNCTION(dladdr)                     \
  FUNCTION(dlopen)                     \
  FUNCTION(dlclose)                    \
  FUNCTION(dlsym)

struct {
#define WH_DECLARE(name) decltype(&::name) name;  // NOLINT(bugprone-macro-parentheses)
  WH_WRAPPED(WH_DECLARE)
#undef WH_DECLARE
} next;

enum class LookedUp : int { kNo, kNow, kYes };
std::atomic<LookedUp> looked_up{LookedUp::kNo};

// dlvsym, as dlsym is wrapped. The versions are those of glibc on x86_64 and aarch64, newest first:
// of pthread_cond_wait, the oldest is that of another kind of condition.
void* InNextLibrary(const char* name) {
  for (const char* version :
       {"GLIBC_2.34", "GLIBC_2.30", "GLIBC_2.17", "GLIBC_2.3.2", "GLIBC_2.3.3", "GLIBC_2.2.5"})
    if (void* found = dlvsym(RTLD_NEXT, name, version); found != nullptr) return found;
  return nullptr;
}

// The first that has the name, whatever its version: other allocators have none.
void* NextOf(const char* name) {
  void* found = next.dlsym(RTLD_NEXT, name);
  const bool of_condition = std::strncmp(name, "pthread_cond_", 13) == 0;
  return found == nullptr || of_condition ? InNextLibrary(name) : found;
}

// Called by the first function that is used, while the process has one thread. dlsym may
// allocate, from Bootstrap.
__attribute__((constructor)) void LookUp() {
  LookedUp no = LookedUp::kNo;
  if (!looked_up.compare_exchange_strong(no, LookedUp::kNow)) return;
  next.dlsym = reinterpret_cast<decltype(next.dlsym)>(InNextLibrary("dlsym"));
#define WH_LOOK_UP(name) next.name = reinterpret_cast<decltype(next.name)>(NextOf(#name));
  WH_WRAPPED(WH_LOOK_UP)
#undef WH_LOOK_UP
  looked_up.store(LookedUp::kYes, std::memory_order_release);
}

bool Ready() {
  if (__builtin_expect(looked_up.load(std::memory_order_acquire) != LookedUp::kYes, 0)) {
    LookUp();
    return looked_up.load() == LookedUp::kYes;
  }
  return true;
}

// Memory for what dlsym allocates during LookUp. Nothing is given back.
class Bootstrap {
 public:
  void* Allocate(size_t size, size_t alignment = 16) {
    if (alignment < 16) alignment = 16;
    if (size > sizeof memory_ || alignment > sizeof memory_) return NoMemory();
    const size_t from = used_.fetch_add(size + alignment + 16);
    const auto begin = reinterpret_cast<uint64_t>(memory_) + from + 16;
    const uint64_t place = (begin + alignment - 1) / alignment * alignment;
    if (place + size > reinterpret_cast<uint64_t>(memory_) + sizeof memory_) return NoMemory();
    reinterpret_cast<size_t*>(place)[-1] = size;
    return reinterpret_cast<void*>(place);
  }
  bool Has(const void* memory) const {
    const auto* place = static_cast<const char*>(memory);
    return place >= memory_ && place < memory_ + sizeof memory_;
  }
  static size_t SizeOf(const void* memory) { return static_cast<const size_t*>(memory)[-1]; }

 private:
  static void* NoMemory() {
    errno = ENOMEM;
    return nullptr;
  }

  alignas(16) char memory_[64 * 1024] = {};
  std::atomic<size_t> used_{0};
};
constinit Bootstrap bootstrap;

}  // namespace
}  // namespace walkhammer

using walkhammer::bootstrap;
using walkhammer::next;
using walkhammer::Ready;
using walkhammer::SlotOfCall;
using walkhammer::UnsafeSection;

// A wrapper that records its call. Cancellation unwinds through it.
#define WH_WRAPPER(type, name, parameters, arguments) \
  WH_EXPORT type name parameters {                    \
    WH_UNSAFE(#name);                                 \
    Ready();                                          \
    return next.name arguments;                       \
  }

extern "C" {

WH_EXPORT void* malloc(size_t size) {
  WH_UNSAFE("malloc");
  return Ready() ? next.malloc(size) : bootstrap.Allocate(size);
}

WH_EXPORT void* calloc(size_t count, size_t size) {
  WH_UNSAFE("calloc");
  if (Ready()) return next.calloc(count, size);
  size_t bytes = 0;
  return bootstrap.Allocate(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

WH_EXPORT void* realloc(void* memory, size_t size) {
  WH_UNSAFE("realloc");
  const bool ready = Ready();
  if (ready && !bootstrap.Has(memory)) return next.realloc(memory, size);
  void* moved = ready ? next.malloc(size) : bootstrap.Allocate(size);
  if (moved == nullptr || memory == nullptr) return moved;
  const size_t old_size = bootstrap.SizeOf(memory);
  std::memcpy(moved, memory, old_size < size ? old_size : size);
  return moved;
}

WH_EXPORT void free(void* memory) {
  WH_UNSAFE("free");
  if (Ready() && !bootstrap.Has(memory)) next.free(memory);
}

WH_EXPORT size_t malloc_usable_size(void* memory) {
  if (bootstrap.Has(memory)) return bootstrap.SizeOf(memory);
  return Ready() ? next.malloc_usable_size(memory) : 0;
}

WH_EXPORT void* memalign(size_t alignment, size_t size) {
  WH_UNSAFE("memalign");
  return Ready() ? next.memalign(alignment, size) : bootstrap.Allocate(size, alignment);
}

WH_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  WH_UNSAFE("aligned_alloc");
  return Ready() ? next.aligned_alloc(alignment, size) : bootstrap.Allocate(size, alignment);
}

// libc's dynamic loader uses none of the next three.
WH_WRAPPER(int, posix_memalign, (void** out, size_t alignment, size_t size), (out, alignment, size))
WH_WRAPPER(void*, valloc, (size_t size), (size))
WH_WRAPPER(void*, pvalloc, (size_t size), (size))

WH_WRAPPER(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WH_WRAPPER(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
WH_WRAPPER(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until),
           (mutex, until))
WH_WRAPPER(int, pthread_mutex_clocklock,
           (pthread_mutex_t * mutex, clockid_t clock, const timespec* until), (mutex, clock, until))
WH_WRAPPER(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WH_WRAPPER(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
WH_WRAPPER(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until),
           (lock, until))
WH_WRAPPER(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WH_WRAPPER(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
WH_WRAPPER(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until),
           (lock, until))
WH_WRAPPER(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex),
           (condition, mutex))
WH_WRAPPER(int, pthread_cond_timedwait,
           (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
           (condition, mutex, until))
WH_WRAPPER(int, pthread_cond_clockwait,
           (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock,
            const timespec* until),
           (condition, mutex, clock, until))
WH_WRAPPER(int, sem_wait, (sem_t * semaphore), (semaphore))
WH_WRAPPER(int, sem_trywait, (sem_t * semaphore), (semaphore))
WH_WRAPPER(int, sem_timedwait, (sem_t * semaphore, const timespec* until), (semaphore, until))
WH_WRAPPER(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until),
           (semaphore, clock, until))

WH_WRAPPER(int, dl_iterate_phdr, (int (*visit)(dl_phdr_info*, size_t, void*), void* data),
           (visit, data))
WH_WRAPPER(int, dladdr, (const void* address, Dl_info* info), (address, info))
WH_WRAPPER(int, dlclose, (void* library), (library))

// dlopen and dlsym look at who calls them: for RUNPATH, for RTLD_NEXT. So outside of guarded calls
// the next library's are jumped to; the build compiles this file with optimisation for that.
__attribute__((noinline)) static void* OpenInCall(const char* file, int mode, void* caller,
                                                  void* frame) {
  UnsafeSection section("dlopen", caller, frame);
  return next.dlopen(file, mode);
}
WH_EXPORT void* dlopen(const char* file, int mode) {
  Ready();
  if (SlotOfCall() != nullptr) {
    void* result = OpenInCall(file, mode, __builtin_return_address(0), __builtin_frame_address(0));
    asm volatile("" ::: "memory");  // a call, no jump: its frame is read
    return result;
  }
  return next.dlopen(file, mode);
}

__attribute__((noinline)) static void* FindInCall(void* library, const char* name, void* caller,
                                                  void* frame) {
  UnsafeSection section("dlsym", caller, frame);
  return next.dlsym(library, name);
}
WH_EXPORT void* dlsym(void* library, const char* name) {
  Ready();
  if (SlotOfCall() != nullptr) {
    void* result =
        FindInCall(library, name, __builtin_return_address(0), __builtin_frame_address(0));
    asm volatile("" ::: "memory");  // a call, no jump: its frame is read
    return result;
  }
  return next.dlsym(library, name);
}

}  // extern "C"
