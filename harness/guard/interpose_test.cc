// SPDX-License-Identifier: Apache-2.0
// Linked with interpose.cc: this whole program uses the interposed malloc and locks.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "harness/base/shell.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/guard/guard.h"
#include "harness/guard/guard_testing.h"
#include "harness/guard/interposition.h"

// For a function whose extent the test knows, as the function is alone in its section.
extern "C" const char __start_wh_caller[], __stop_wh_caller[];
#define WH_CALLER __attribute__((noinline, section("wh_caller")))

namespace walkhammer {
namespace {

// Volatile, as the compiler would optimise direct calls of malloc and free.
void* (*volatile do_malloc)(size_t) = std::malloc;
void* (*volatile do_calloc)(size_t, size_t) = std::calloc;
void* (*volatile do_realloc)(void*, size_t) = std::realloc;
void (*volatile do_free)(void*) = std::free;

GuardSlot slot;

WH_CALLER void CallFrom(FunctionRef<void()> body) {
  body();
  asm volatile("" ::: "memory");
}

Ending Call(FunctionRef<void()> body) {
  return GuardedCall(slot, [&] { CallFrom(body); });
}

bool IsInChain(const UnsafeCall& call) {
  for (int i = 0; i < call.native_count; i++)
    if (call.native[i] > reinterpret_cast<uint64_t>(__start_wh_caller) &&
        call.native[i] <= reinterpret_cast<uint64_t>(__stop_wh_caller))
      return true;
  return false;
}

class InterposeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(InstallGuard({kHangLimitMs, nullptr, {}}).ok());
    EnterGuardedThread(slot);
  }

  static void ExpectRecorded(const char* function, FunctionRef<void()> body) {
    EXPECT_EQ(Call(body), Ending::kReturned);
    EXPECT_STREQ(slot.unsafe_call.function, function);
    EXPECT_GE(slot.unsafe_call.native_count, 2) << function;
    EXPECT_TRUE(IsInChain(slot.unsafe_call)) << function;
    // The next call records nothing.
    EXPECT_EQ(Call([] {}), Ending::kReturned);
    EXPECT_EQ(slot.unsafe_call.function, nullptr);
  }
};

TEST_F(InterposeTest, Allocation) {
  void* memory = nullptr;
  ExpectRecorded("malloc", [&] { memory = do_malloc(24); });
  ASSERT_NE(memory, nullptr);
  ExpectRecorded("realloc", [&] { memory = do_realloc(memory, 4000); });
  ExpectRecorded("free", [&] { do_free(memory); });
  ExpectRecorded("calloc", [&] { memory = do_calloc(3, 8); });
  for (int i = 0; i < 24; i++) EXPECT_EQ(static_cast<char*>(memory)[i], 0);
  do_free(memory);
  ExpectRecorded("posix_memalign", [&] { EXPECT_EQ(posix_memalign(&memory, 4096, 100), 0); });
  EXPECT_EQ(reinterpret_cast<uint64_t>(memory) % 4096, 0u);
  do_free(memory);
  ExpectRecorded("aligned_alloc", [&] { memory = std::aligned_alloc(64, 128); });
  EXPECT_EQ(reinterpret_cast<uint64_t>(memory) % 64, 0u);
  do_free(memory);
}

TEST_F(InterposeTest, AllocationThatIsAligned) {
  void* memory = nullptr;
  ExpectRecorded("memalign", [&] { memory = memalign(1 << 16, 10); });
  EXPECT_EQ(reinterpret_cast<uint64_t>(memory) % (1 << 16), 0u);
  EXPECT_GE(malloc_usable_size(memory), 10u);
  do_free(memory);
  ExpectRecorded("valloc", [&] { memory = valloc(10); });
  EXPECT_EQ(reinterpret_cast<uint64_t>(memory) % 4096, 0u);
  do_free(memory);
  ExpectRecorded("pvalloc", [&] { memory = pvalloc(10); });
  EXPECT_GE(malloc_usable_size(memory), 4096u);
  do_free(memory);
}

TEST_F(InterposeTest, WhatCannotBeAllocatedIsToldAsLibcTellsIt) {
  int there = 0;
  void* memory = &there;
  for (const size_t alignment : {0, 1, 3, 4, 24})
    EXPECT_EQ(posix_memalign(&memory, alignment, 100), EINVAL) << alignment;
  EXPECT_EQ(posix_memalign(&memory, 64, SIZE_MAX / 2), ENOMEM);
  EXPECT_EQ(memory, &there) << "it is left as it was";
  EXPECT_EQ(do_malloc(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(do_calloc(SIZE_MAX / 2, 4), nullptr);
}

// Also run beneath another allocator, below.
TEST_F(InterposeTest, AllMemoryIsOfOneAllocator) {
  const auto owns = reinterpret_cast<bool (*)(const void*)>(dlsym(RTLD_DEFAULT, "wh_owns"));
  ASSERT_EQ(owns != nullptr, std::getenv("WALKHAMMER_BENEATH") != nullptr);
  void* by_posix = nullptr;
  ASSERT_EQ(posix_memalign(&by_posix, 64, 100), 0);
  for (void* memory : {do_malloc(100), do_calloc(10, 10), do_realloc(nullptr, 100), by_posix,
                       std::aligned_alloc(64, 128), memalign(4096, 8192), valloc(100), pvalloc(100),
                       ::operator new(100)}) {
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(owns == nullptr || owns(memory));
    const size_t size = malloc_usable_size(memory);
    EXPECT_GE(size, 100u);
    std::memset(memory, 1, size);
    memory = do_realloc(memory, 20000);
    EXPECT_EQ(static_cast<char*>(memory)[99], 1);
    do_free(memory);
  }
  do_free(nullptr);
}

TEST_F(InterposeTest, AnotherAllocatorMayLieBeneath) {
  if (std::getenv("WALKHAMMER_BENEATH") != nullptr) return;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const TemporaryFolder folder;
  const auto allocator = PlainPath(WALKHAMMER_ALLOCATOR, folder.Under("allocator.so"));
  ASSERT_TRUE(allocator.ok()) << allocator.failure().message;
  const std::string run = "WALKHAMMER_BENEATH=1 LD_PRELOAD=" + allocator.value() + " " +
                          ShellWord(self) +
                          " --gtest_filter='InterposeTest.All*:InterposeTest.*InForce' >&2";
  const int status = std::system(run.c_str());
  constexpr int kCannotRun = 126;  // of a shell, for a program of another architecture
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotRun)
    GTEST_SKIP() << "this machine runs such programs by an emulator only";
  EXPECT_EQ(status, 0) << run;
}

TEST_F(InterposeTest, NewAndDelete) {
  int* number = nullptr;
  ExpectRecorded("malloc", [&] { number = static_cast<int*>(::operator new(sizeof(int))); });
  ExpectRecorded("free", [&] { ::operator delete(number); });
}

TEST_F(InterposeTest, Locks) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ExpectRecorded("pthread_mutex_lock", [&] { EXPECT_EQ(pthread_mutex_lock(&mutex), 0); });
  EXPECT_NE(pthread_mutex_trylock(&mutex), 0);  // the real function has locked it
  pthread_mutex_unlock(&mutex);

  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ExpectRecorded("pthread_rwlock_rdlock", [&] { pthread_rwlock_rdlock(&lock); });
  EXPECT_NE(pthread_rwlock_trywrlock(&lock), 0);
  pthread_rwlock_unlock(&lock);
  ExpectRecorded("pthread_rwlock_wrlock", [&] { pthread_rwlock_wrlock(&lock); });
  EXPECT_NE(pthread_rwlock_tryrdlock(&lock), 0);
  pthread_rwlock_unlock(&lock);

  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  ExpectRecorded("sem_wait", [&] { EXPECT_EQ(sem_wait(&semaphore), 0); });
  EXPECT_NE(sem_trywait(&semaphore), 0);
  sem_destroy(&semaphore);
}

constexpr timespec kLongAgo{1, 0};

TEST_F(InterposeTest, LocksThatAreTried) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ExpectRecorded("pthread_mutex_trylock", [&] { EXPECT_EQ(pthread_mutex_trylock(&mutex), 0); });
  ExpectRecorded("pthread_mutex_timedlock",
                 [&] { EXPECT_EQ(pthread_mutex_timedlock(&mutex, &kLongAgo), ETIMEDOUT); });
  ExpectRecorded("pthread_mutex_clocklock", [&] {
    EXPECT_EQ(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &kLongAgo), ETIMEDOUT);
  });
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ExpectRecorded("pthread_rwlock_trywrlock",
                 [&] { EXPECT_EQ(pthread_rwlock_trywrlock(&lock), 0); });
  ExpectRecorded("pthread_rwlock_tryrdlock",
                 [&] { EXPECT_EQ(pthread_rwlock_tryrdlock(&lock), EBUSY); });
  pthread_rwlock_unlock(&lock);
  ExpectRecorded("pthread_rwlock_timedrdlock",
                 [&] { EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &kLongAgo), 0); });
  ExpectRecorded("pthread_rwlock_timedwrlock",
                 [&] { EXPECT_NE(pthread_rwlock_timedwrlock(&lock, &kLongAgo), 0); });
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  ExpectRecorded("sem_trywait", [&] { EXPECT_EQ(sem_trywait(&semaphore), 0); });
  ExpectRecorded("sem_timedwait", [&] { EXPECT_NE(sem_timedwait(&semaphore, &kLongAgo), 0); });
  ExpectRecorded("sem_clockwait",
                 [&] { EXPECT_NE(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kLongAgo), 0); });
  sem_destroy(&semaphore);
}

TEST_F(InterposeTest, Conditions) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  ExpectRecorded("pthread_cond_timedwait", [&] {
    EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &kLongAgo), ETIMEDOUT);
  });
  ExpectRecorded("pthread_cond_clockwait", [&] {
    EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &kLongAgo), ETIMEDOUT);
  });
  std::thread waker([] {
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  });
  ExpectRecorded("pthread_cond_wait", [&] { EXPECT_EQ(pthread_cond_wait(&condition, &mutex), 0); });
  pthread_mutex_unlock(&mutex);
  waker.join();
}

TEST_F(InterposeTest, Loader) {
  void* found = nullptr;
  ExpectRecorded("dlsym", [&] { found = dlsym(RTLD_DEFAULT, "getpid"); });
  EXPECT_NE(found, nullptr);
  Dl_info info{};
  ExpectRecorded("dladdr", [&] { EXPECT_NE(dladdr(found, &info), 0); });
  ExpectRecorded("dl_iterate_phdr", [] {
    EXPECT_EQ(dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return 7; }, nullptr), 7);
  });
  ExpectRecorded("dlopen", [&] { found = dlopen(nullptr, RTLD_NOW); });
  ASSERT_NE(found, nullptr);
  ExpectRecorded("dlclose", [&] { EXPECT_EQ(dlclose(found), 0); });
}

// A library's dlsym and dlopen must see that library as their caller.
TEST_F(InterposeTest, TheLoaderSeesItsTrueCaller) {
  void* library = dlopen(WALKHAMMER_CALLER, RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto call = [&](const char* name) {
    return reinterpret_cast<void* (*)()>(dlsym(library, name))();
  };
  EXPECT_EQ(call("wh_caller_next_of_itself"), nullptr) << "after that library there is none";
  void* beside = call("wh_caller_open_by_runpath");
  EXPECT_NE(beside, nullptr) << "its RUNPATH was not looked at";
  dlclose(beside);
  dlclose(library);
}

TEST_F(InterposeTest, TheCheckFindsItInForce) { EXPECT_EQ(WhatIsNotInterposed(), ""); }

// What oracles and reports say is put together in signal handlers, by snprintf: of integers,
// pointers and strings, with no width and no long double, it neither allocates nor locks.
TEST_F(InterposeTest, PrintingWhatOraclesSayIsSafe) {
  static char name[3000], text[4096];
  for (char& c : name) c = 'x';
  name[sizeof name - 1] = 0;
  int size = 0;
  EXPECT_EQ(Call([&] {
              size += std::snprintf(text, sizeof text, "%d %u %zu 0x%x 0x%llx %p", -1, 2u,
                                    size_t{3}, 4u, 5ull, static_cast<void*>(name));
              size += std::snprintf(text, sizeof text, "%s%s @ %d, %.100s", name, "\n", 7, name);
              size += std::snprintf(text, 16, "%s", name);
            }),
            Ending::kReturned);
  EXPECT_GT(size, 6000);
  EXPECT_EQ(slot.unsafe_call.function, nullptr);
}

TEST_F(InterposeTest, OnlyTheFirstIsKept) {
  ExpectRecorded("malloc", [] { do_free(do_malloc(8)); });
}

TEST_F(InterposeTest, OutsideOfCallsNothingIsRecorded) {
  EXPECT_EQ(Call([] {}), Ending::kReturned);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  do_free(do_malloc(8));
  EXPECT_EQ(slot.unsafe_call.function, nullptr);
}

// Other threads may allocate while this thread walks.
TEST_F(InterposeTest, OtherThreadsAreNotRecorded) {
  static volatile int turn = 0;
  std::thread other([] {
    while (turn != 1) {
    }
    do_free(do_malloc(8));
    turn = 2;
  });
  EXPECT_EQ(Call([] {
              turn = 1;
              while (turn != 2) {
              }
            }),
            Ending::kReturned);
  EXPECT_EQ(slot.unsafe_call.function, nullptr);
  other.join();
}

// --- calls that are left inside of an interposed function ---

TEST_F(InterposeTest, CrashInsideAllocatorIsKnown) {
  EXPECT_EQ(Call([] { do_free(reinterpret_cast<void*>(0x1000)); }), Ending::kCrashed);
  EXPECT_TRUE(slot.inside_unsafe_call);
  EXPECT_STREQ(slot.unsafe_call.function, "free");
  EXPECT_TRUE(IsInChain(slot.unsafe_call));
}

TEST_F(InterposeTest, CrashInsideLockIsKnown) {
  auto* volatile nowhere = reinterpret_cast<pthread_mutex_t*>(0x1000);
  EXPECT_EQ(Call([&] { pthread_mutex_lock(nowhere); }), Ending::kCrashed);
  EXPECT_TRUE(slot.inside_unsafe_call);
}

TEST_F(InterposeTest, DeadlockIsKnown) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ASSERT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(Call([] { pthread_mutex_lock(&mutex); }), Ending::kHung);
  EXPECT_TRUE(slot.inside_unsafe_call);
  EXPECT_STREQ(slot.unsafe_call.function, "pthread_mutex_lock");
  pthread_mutex_unlock(&mutex);
}

TEST_F(InterposeTest, CrashAfterAllocatingStrandsNothing) {
  EXPECT_EQ(Call([] {
              do_free(do_malloc(8));
              Write(0x10);
            }),
            Ending::kCrashed);
  EXPECT_STREQ(slot.unsafe_call.function, "malloc");
  EXPECT_FALSE(slot.inside_unsafe_call);
  // A crash inside of free does not count for later calls either.
  EXPECT_EQ(Call([] { do_free(reinterpret_cast<void*>(0x1000)); }), Ending::kCrashed);
  EXPECT_EQ(Call([] { Write(0x10); }), Ending::kCrashed);
  EXPECT_FALSE(slot.inside_unsafe_call);
}

}  // namespace
}  // namespace walkhammer
