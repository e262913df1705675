// SPDX-License-Identifier: Apache-2.0
// Linked with interpose.cc: this whole program uses the interposed malloc and locks.
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>

#include <cstdlib>
#include <functional>

#include "harness/guard/guard.h"

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

void Crash() {
  volatile uint64_t nowhere = 0x10;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

WH_CALLER void CallFrom(const std::function<void()>& body) {
  body();
  asm volatile("" ::: "memory");
}

Ending Call(const std::function<void()>& body) {
  return GuardedCall(
      slot, [](void* data) { CallFrom(*static_cast<const std::function<void()>*>(data)); },
      const_cast<void*>(static_cast<const void*>(&body)));
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
    ASSERT_TRUE(InstallGuard({40, nullptr, {}}).ok());
    EnterGuardedThread(slot);
  }

  static void ExpectRecorded(const char* function, const std::function<void()>& body) {
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
  pthread_t other;
  pthread_create(
      &other, nullptr,
      [](void*) -> void* {
        while (turn != 1) {
        }
        do_free(do_malloc(8));
        turn = 2;
        return nullptr;
      },
      nullptr);
  EXPECT_EQ(Call([] {
              turn = 1;
              while (turn != 2) {
              }
            }),
            Ending::kReturned);
  EXPECT_EQ(slot.unsafe_call.function, nullptr);
  pthread_join(other, nullptr);
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
              Crash();
            }),
            Ending::kCrashed);
  EXPECT_STREQ(slot.unsafe_call.function, "malloc");
  EXPECT_FALSE(slot.inside_unsafe_call);
  // A crash inside of free does not count for later calls either.
  EXPECT_EQ(Call([] { do_free(reinterpret_cast<void*>(0x1000)); }), Ending::kCrashed);
  EXPECT_EQ(Call([] { Crash(); }), Ending::kCrashed);
  EXPECT_FALSE(slot.inside_unsafe_call);
}

}  // namespace
}  // namespace walkhammer
