// SPDX-License-Identifier: Apache-2.0
#include "stress/sampled_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "harness/base/clock.h"
#include "harness/base/hash.h"
#include "harness/guard/arch.h"
#include "harness/guard/guard.h"

namespace walkhammer::stress {
namespace {

// initial-exec: a plain thread_local may allocate at its first touch inside a handler.
__attribute__((tls_model("initial-exec"))) thread_local SampledThread* me = nullptr;
ThreadTable* the_table = nullptr;

uint64_t Nanoseconds(const timespec& t) {
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

uint64_t ThreadCpuNs(int tid) {
  timespec cpu{};
  if (tid == 0) return 0;  // the kernel would take 0 for the calling thread
  if (clock_gettime(ThreadCpuClock(tid), &cpu) != 0) return 0;
  return Nanoseconds(cpu);
}

SampledThread* CurrentSampledThread() {
  if (me != nullptr || the_table == nullptr) return me;
  SampledThread* mine = the_table->Find(static_cast<int>(syscall(SYS_gettid)));
  if (mine != nullptr) {
    mine->thread_pointer = ThreadPointer();
    me = mine;
  }
  return mine;
}

bool UseFaultStack(const SampledThread& thread, WalkingHandler handler, StressState& state) {
  const stack_t& stack = thread.fault_stacks[static_cast<int>(handler)];
  if (stack.ss_sp != nullptr && sigaltstack(&stack, nullptr) == 0) return true;
  state.foreign_stacks.fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool Rearming::Withdraw(int most_ms) {
  allowed_.store(false);
  const uint64_t until = MonotonicNs() + static_cast<uint64_t>(most_ms) * 1000000;
  while (busy_.load()) {
    if (MonotonicNs() > until) return false;
    usleep(100);
  }
  return true;
}

SampledThread* ThreadTable::Find(int tid) {
  for (int i = 1; i < kMaxSampledThreads; i++)
    if (threads_[i].tid.load(std::memory_order_acquire) == tid) return &threads_[i];
  return nullptr;
}

void ThreadTable::FoldInto0(ThreadCounts& counts) {
  ThreadCounts& all = state_.threads[0];
  all.tid.store(-1);
  all.java = 1;
  all.ended = 1;
  std::snprintf(all.name, sizeof all.name, "(threads that have ended)");
  for (const auto sum : kThreadSums) (all.*sum).fetch_add((counts.*sum).load());
}

SampledThread* ThreadTable::Add(int tid, const char* name, bool java) {
  std::lock_guard<std::mutex> lock(mutex_);
  the_table = this;
  int place = 0;
  for (int i = 1; i < kMaxSampledThreads && place == 0; i++)
    if (threads_[i].tid.load() == 0 && state_.threads[i].tid.load() == 0) place = i;
  for (int i = 1; i < kMaxSampledThreads && place == 0; i++)
    if (threads_[i].tid.load() == 0) {
      FoldInto0(state_.threads[i]);
      place = i;
    }
  if (place == 0) return nullptr;
  ThreadCounts& counts = state_.threads[place];
  counts.tid.store(0);
  for (const auto sum : kThreadSums) (counts.*sum).store(0);
  counts.java = java ? 1 : 0;
  counts.ended = 0;
  std::snprintf(counts.name, sizeof counts.name, "%s", name);
  counts.tid.store(tid);

  SampledThread& thread = threads_[place];
  thread.counts = &counts;
  thread.env = nullptr;
  thread.view = {};
  thread.stack_limit = thread.stack_base = 0;
  thread.object = nullptr;
  thread.has_signal_stack = true;
  const int handlers = state_.job.mode == WalkMode::kNested ? 2 : 1;
  for (int i = 0; i < handlers; i++)
    if (thread.fault_stacks[i].ss_sp == nullptr)
      thread.fault_stacks[i] = NewSignalStack(kDisarmedInHandlers);
  thread.random = state_.job.seed * kGoldenRatio + static_cast<uint64_t>(place) + 1;
  thread.born_ns = MonotonicNs();
  thread.cpu_at_birth_ns = thread.cpu_at_last_ns = ThreadCpuNs(tid);
  thread.thread_pointer = 0;
  thread.shadow.store(nullptr);
  thread.perf_fd = -1;
  thread.has_timer = thread.has_nested_timer = false;
  thread.park.store(Park::kNone);
  thread.tid.store(tid, std::memory_order_release);
  return &thread;
}

void ThreadTable::Enter(SampledThread& thread) {
  thread.thread_pointer = ThreadPointer();
  me = &thread;
}

void ThreadTable::UpdateClocks(SampledThread& thread) {
  const uint64_t cpu = ThreadCpuNs(thread.tid.load());
  if (cpu > thread.cpu_at_birth_ns) thread.counts->cpu_ns.store(cpu - thread.cpu_at_birth_ns);
  thread.counts->alive_ns.store(MonotonicNs() - thread.born_ns);
}

void ThreadTable::Remove(SampledThread& thread, bool self) {
  if (self) me = nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (self) UpdateClocks(thread);
  thread.counts->ended = 1;
  thread.tid.store(0);
}

}  // namespace walkhammer::stress
