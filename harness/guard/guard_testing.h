// SPDX-License-Identifier: Apache-2.0
// What tests of the guard, and of threads, have in common. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_
#define WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_

#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <thread>

#include "harness/base/clock.h"
#include "harness/guard/guard.h"

namespace walkhammer {

inline constexpr int kHangLimitMs = 40;
inline constexpr int kSleepLimitMs = kHangLimitMs * 20;

inline volatile bool forever = true;
inline volatile int sink = 0;

// An address at which no memory can be.
inline constexpr uint64_t kNonCanonical = 0x8000000000000000;

inline uint64_t Address(const volatile void* p) { return reinterpret_cast<uint64_t>(p); }
inline size_t PageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Writes to any address.
inline void Write(uint64_t address) {
  const volatile uint64_t unforeseen = address;
  *reinterpret_cast<volatile int*>(unforeseen) = 1;
}

// Overflows the stack.
inline int Recurse(int depth) {
  volatile char pad[512];
  pad[0] = static_cast<char>(depth);
  return forever ? Recurse(depth + 1) + pad[0] : 0;
}

inline uint64_t WallMs() { return MonotonicNs() / 1000000; }
inline uint64_t CpuNs() {  // of this thread
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t CpuMs() { return CpuNs() / 1000000; }
// Keeps the calling thread busy for that CPU time, however long that takes.
// Hardly any of the time is the kernel's, in which perf samples no thread of an ordinary user.
inline void Burn(uint64_t ms) {
  for (const uint64_t end = CpuNs() + ms * 1000000; CpuNs() < end;)
    for (int i = 0; i < 10'000; i++) sink = sink + 1;
}
inline void Spin() {
  while (forever) sink = sink + 1;
}

// How a call ends that is a new thread's only one; the thread burns CPU time first.
inline Ending CallOnThread(GuardSlot& slot, FunctionRef<void()> body, uint64_t burn_ms = 0) {
  Ending ending = Ending::kReturned;
  std::thread([&] {
    EnterGuardedThread(slot);
    Burn(burn_ms);
    ending = GuardedCall(slot, body);
    LeaveGuardedThread();
  }).join();
  return ending;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_
