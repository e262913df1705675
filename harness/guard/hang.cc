// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/hang.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "harness/base/clock.h"
#include "harness/guard/arch.h"
#include "harness/process/service_thread.h"

namespace walkhammer {
namespace {

constexpr int kSleepLimitFactor = 20;
constexpr long kBetweenLooksNs = 1000000;
constexpr int kMostPauses = 20;  // of that length, for a look to be heard

std::atomic<GuardSlot*> watched[kMaxGuardSlots];
std::atomic<int> hang_limit_ms{0};

uint64_t Milliseconds(const timespec& t) {
  return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1000000;
}

// True if the thread waits for something other than a processor. A thread that is ready to run, or
// that a signal or a tracer has stopped, does not hang for that. True if the kernel does not say.
bool IsAsleep(int tid) {
  char path[48], text[128];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  text[got < 0 ? 0 : got] = 0;
  // "TID (NAME) STATE ...": proc(5). The name may hold anything.
  const char* state = std::strrchr(text, ')');
  return state == nullptr || std::strchr("RTt", state[1] == 0 ? 'S' : state[2]) == nullptr;
}

// As tgkill, with the slot as the signal's value.
void SendHangSignal(GuardSlot& slot, int tid) {
  siginfo_t info{};
  info.si_signo = HangSignal();
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = &slot;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, HangSignal(), &info);
}

// Signals are queued, and each queued signal would run the handler: the next is sent once the one
// before was heard. What is not heard in time is left to the next tick.
void AskForLooks(GuardSlot& slot, uint64_t call, int tid) {
  const timespec pause{0, kBetweenLooksNs};
  const auto hangs = [&] {
    return slot.inside != 0 && slot.hung_call.load() == call && slot.calls.load() == call;
  };
  while (hangs() && slot.asked == slot.looks.load() && slot.asked < slot.wanted) {
    slot.asked++;
    SendHangSignal(slot, tid);
    for (int i = 0; i < kMostPauses && hangs() && slot.looks.load() < slot.asked; i++)
      nanosleep(&pause, nullptr);
    nanosleep(&pause, nullptr);  // so that the call gets on
  }
}

// `waited_ms`: since the last call, without time in which the watchdog itself did not run.
void WatchSlot(GuardSlot& slot, uint64_t waited_ms) {
  if (slot.inside == 0) return;
  const uint64_t call = slot.calls.load();
  const int tid = slot.tid.load();
  timespec cpu{};
  if (clock_gettime(ThreadCpuClock(tid), &cpu) != 0) return;
  const bool unheard = slot.signalled && slot.hung_call.load() == 0;
  if (call != slot.seen_call || unheard) {
    slot.seen_call = call;
    slot.hung_call.store(0);
    slot.signalled = false;
    slot.cpu_at = Milliseconds(cpu);
    slot.asleep_for = 0;
    return;
  }
  if (IsAsleep(tid)) slot.asleep_for += waited_ms;
  const auto limit = static_cast<uint64_t>(hang_limit_ms.load());
  const bool slept = slot.asleep_for >= limit * kSleepLimitFactor;
  const bool hung = slept || Milliseconds(cpu) - slot.cpu_at >= limit;
  if (!hung || slot.calls.load() != call) return;
  if (!slot.signalled) {
    slot.looks.store(0);
    slot.asked = 0;
    slot.wanted = slept ? 1 : kLooksAtHang;  // a look would wake a sleeper
    slot.hung_call.store(call);
    slot.signalled = true;
  }
  AskForLooks(slot, call, tid);
}

void* Watchdog(void*) {
  timespec pause{0, hang_limit_ms.load() * 100000L};  // a tenth of the limit
  if (pause.tv_nsec > 50000000) pause.tv_nsec = 50000000;
  const auto most_ms = static_cast<uint64_t>(hang_limit_ms.load());
  uint64_t before_ms = MonotonicNs() / 1000000;
  for (;;) {
    nanosleep(&pause, nullptr);
    // A much longer pause means that the whole process was stopped, or got no processor.
    const uint64_t now_ms = MonotonicNs() / 1000000;
    const uint64_t waited_ms = std::min(now_ms - before_ms, most_ms);
    before_ms = now_ms;
    for (auto& slot : watched)
      if (GuardSlot* here = slot.load(); here != nullptr) WatchSlot(*here, waited_ms);
  }
  return nullptr;
}

// How many of the outermost calls the looks have in common. The innermost is none of them. A look
// that met code without frame pointers, and so knows no caller, does not count beside others.
int LastingCalls(std::span<const GuardSlot::Look> looks) {
  const GuardSlot::Look* first = nullptr;
  int most = 0;
  for (const GuardSlot::Look& look : looks) {
    if (look.native_count < 2) continue;
    if (first == nullptr) {
      first = &look;
      most = look.native_count - 1;
    }
    const auto from_end = [](const GuardSlot::Look& chain, int i) {
      return chain.native[chain.native_count - 1 - i];
    };
    int common = 0;
    while (common < std::min(most, look.native_count - 1) &&
           from_end(look, common) == from_end(*first, common))
      common++;
    most = common;
  }
  return most;
}

}  // namespace

Status StartWatchdog(int limit_ms) {
  hang_limit_ms.store(limit_ms);
  // A second one would count the same sleep again.
  static const Status watchdog = StartServiceThread("wh-watchdog", Watchdog);
  return watchdog;
}

int HangSignal() { return SIGRTMIN + 7; }

void JudgeHangsAnew() {
  const int tid = static_cast<int>(syscall(SYS_gettid));
  for (auto& place : watched)
    if (GuardSlot* slot = place.load(); slot != nullptr && slot->tid.load() == tid)
      slot->hung_call.store(0);
}

// A loop may be anywhere when it is interrupted. What lasts from look to look are the calls that
// led to it. The function inside of these is surely one that has called another; else it may be one
// that the loop calls and that keeps no frame pointer.
void FindLoop(std::span<const GuardSlot::Look> looks, Fault& fault) {
  fault.lasting_calls = LastingCalls(looks);
  if (fault.lasting_calls == 0) return;
  for (const GuardSlot::Look& look : looks) {
    const int inside = look.native_count - fault.lasting_calls - 1;
    if (inside < 0 || (inside == 0 && fault.looping_returns != 0)) continue;
    fault.looping = look.native[inside];
    fault.looping_returns = inside > 0 ? 1 : 0;
  }
}

bool WatchGuardSlot(GuardSlot& slot) {
  // Call numbers differ between slots, so that a number identifies one call.
  static std::atomic<uint64_t> slots{1};
  slot.calls.store(slots.fetch_add(1) << 40);
  for (auto& place : watched)
    if (place.load() == &slot) return true;
  for (auto& place : watched) {
    GuardSlot* none = nullptr;
    if (place.compare_exchange_strong(none, &slot)) return true;
  }
  return false;
}

void UnwatchGuardSlot(GuardSlot& slot) {
  for (auto& place : watched) {
    GuardSlot* mine = &slot;
    place.compare_exchange_strong(mine, nullptr);
  }
}

}  // namespace walkhammer
