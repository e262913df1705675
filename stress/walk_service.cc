// SPDX-License-Identifier: Apache-2.0
#include "stress/walk_service.h"

#include <linux/futex.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "harness/base/clock.h"
#include "harness/guard/arch.h"
#include "harness/process/service_thread.h"

namespace walkhammer::stress {
namespace {

constexpr int kSpins = 2000;  // before sleeping: a walk takes a microsecond or two

void FutexWait(std::atomic<uint32_t>& word, uint32_t seen, uint64_t most_ns) {
  const timespec most{static_cast<time_t>(most_ns / 1000000000),
                      static_cast<long>(most_ns % 1000000000)};
  BareFutex(&word, FUTEX_WAIT_PRIVATE, seen, &most);
}

void FutexWake(std::atomic<uint32_t>& word) {
  BareFutex(&word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr);
}

// The futex word of a thread's Park state.
std::atomic<uint32_t>& WordOf(std::atomic<Park>& park) {
  static_assert(sizeof(std::atomic<Park>) == sizeof(std::atomic<uint32_t>));
  return reinterpret_cast<std::atomic<uint32_t>&>(park);
}

}  // namespace

Status WalkService::Start(void (*on_start)(), void (*on_end)(),
                          std::span<const Frame> (*ask_jvm)(SampledThread&)) {
  on_start_ = on_start;
  on_end_ = on_end;
  ask_jvm_ = ask_jvm;
  ASSIGN_OR_RETURN(thread_, StartThread("wh-walker", Run, this, HangSignal()));
  running_ = true;
  return Ok();
}

void WalkService::Stop() {
  if (!running_) return;
  stop_.store(true);
  Wake();
  pthread_join(thread_, nullptr);
  running_ = false;
}

void WalkService::Wake() {
  posted_.fetch_add(1);
  FutexWake(posted_);
}

void* WalkService::Run(void* self) {
  GiveSignalStack();
  auto* service = static_cast<WalkService*>(self);
  if (service->on_start_ != nullptr) service->on_start_();
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigaddset(&mask, SIGTERM);
  sigaddset(&mask, SIGINT);
  sigaddset(&mask, SIGHUP);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);  // attaching to the JVM has unblocked these
  service->Loop();
  if (service->on_end_ != nullptr) service->on_end_();
  return nullptr;
}

void WalkService::Loop() {
  while (!stop_.load()) {
    const uint32_t seen = posted_.load();
    bool any = false;
    threads_.ForEach([&](SampledThread& thread) {
      Park waiting = Park::kWaiting;
      if (thread.park.load() != waiting ||
          !thread.park.compare_exchange_strong(waiting, Park::kAsking))
        return;
      any = true;
      WalkFor(thread);
    });
    if (!any) FutexWait(posted_, seen, 10000000);
  }
}

// During the walk of a Java thread, the thread pointer is that thread's own: whatever is
// thread-local (errno, the guard's slot, HotSpot's current thread) is the sampled thread's.
void WalkService::WalkFor(SampledThread& thread) {
  const bool running = state_.job.mode == WalkMode::kRunning;
  ucontext_t& context = running ? thread.context : *thread.parked_context;
  SampleOptions options;
  options.running = running;
  if (ask_jvm_ != nullptr && !running) options.jvmti = ask_jvm_(thread);
  // From here on a parked thread waits for the end of the walk, which the guard ensures.
  Park asking = Park::kAsking;
  if (!thread.park.compare_exchange_strong(asking, Park::kWalking)) return;  // no longer waiting
  const uint64_t mine = ThreadPointer();
  if (thread.env != nullptr && thread.thread_pointer != 0) SetThreadPointer(thread.thread_pointer);
  const int error_number = errno;
  line_.Take(thread, context, options);
  if (!running) errno = error_number;
  SetThreadPointer(mine);
  thread.park.store(running ? Park::kNone : Park::kWalked);
  if (!running) FutexWake(WordOf(thread.park));
}

void WalkService::ParkUntilWalked(SampledThread& thread, ucontext_t& context) {
  thread.parked_context = &context;
  thread.park.store(Park::kWaiting, std::memory_order_release);
  Wake();
  const uint64_t limit = uint64_t{state_.job.park_limit_ms} * 1000000;
  const uint64_t until = MonotonicNs() + limit;
  for (int spin = 0;; spin++) {
    Park seen = thread.park.load(std::memory_order_acquire);
    if (seen == Park::kWalked) break;
    if (spin < kSpins) continue;
    const uint64_t now = MonotonicNs();
    if (seen == Park::kWalking || now < until) {
      FutexWait(WordOf(thread.park), static_cast<uint32_t>(seen),
                seen == Park::kWalking ? limit : until - now);
      continue;
    }
    if (!thread.park.compare_exchange_strong(seen, Park::kAbandoned)) continue;
    state_.abandoned.fetch_add(1);
    break;
  }
  thread.park.store(Park::kNone);
}

void WalkService::Post(SampledThread& thread, const ucontext_t& context) {
  if (thread.park.load() != Park::kNone) return;  // the sample before is not done
  std::memcpy(&thread.context, &context, sizeof context);
  thread.park.store(Park::kWaiting, std::memory_order_release);
  Wake();
}

}  // namespace walkhammer::stress
