// SPDX-License-Identifier: Apache-2.0
// SampledThread: a thread that is sampled. ThreadTable: all of them. A thread finds its entry
// through thread-local storage; a thread that was there before the agent finds it by tid, once.
// Signal-safe: CurrentSampledThread, ThreadTable::Find, ThreadCpuNs and the fields yes; the rest
// no.
#ifndef WALKHAMMER_STRESS_SAMPLED_THREADS_H_
#define WALKHAMMER_STRESS_SAMPLED_THREADS_H_

#include <jvmti.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "harness/ipc/stress_state.h"
#include "harness/jvm/structs/vm_structs.h"
#include "harness/oracles/observation.h"

namespace walkhammer::stress {

// Guards the perf event or the timers of a sampled thread. The handler on that thread may use them,
// to start the next interval, until another thread withdraws the permission in order to close them.
// Signal-safe: Begin and End yes.
class Rearming {
 public:
  // The handler calls Begin before each use and End after it. If Begin returns false, the handler
  // must use nothing, and must not call End.
  bool Begin() {
    busy_.store(true);
    if (allowed_.load()) return true;
    busy_.store(false);
    return false;
  }
  void End() { busy_.store(false); }
  void Allow() { allowed_.store(true); }
  // Withdraws the permission, and waits until the handler uses nothing. Call it on another thread,
  // or with the signal blocked. False: the handler is still at work after `most_ms` milliseconds,
  // for example because a debugger has stopped its thread.
  bool Withdraw(int most_ms = 1000);

 private:
  std::atomic<bool> allowed_{false}, busy_{false};
};

// The handlers that walk on a thread. Each has a signal stack for faults and signals during a walk.
enum class WalkingHandler : uint8_t { kSample, kNested, kCount };

// State of the hand-over of a sampled thread to a walking thread.
enum class Park : uint32_t { kNone, kWaiting, kAsking, kWalking, kWalked, kAbandoned };

struct SampledThread {
  std::atomic<int32_t> tid{0};  // 0: free
  ThreadCounts* counts = nullptr;
  JNIEnv* env = nullptr;  // null: not a Java thread
  JavaThreadView view;
  uint64_t stack_limit = 0, stack_base = 0;
  jweak object = nullptr;  // java.lang.Thread
  uint64_t random = 0;     // state of the sequence of intervals
  uint64_t born_ns = 0, cpu_at_birth_ns = 0;
  uint64_t thread_pointer = 0;
  std::atomic<const ShadowStack*> shadow{nullptr};
  bool has_signal_stack = true;  // false: to be given `signal_stack` in its first handler
  stack_t signal_stack{};
  // The alternate stack while that handler walks: a walker that overflows its own stack faults, and
  // the fault's handler needs another one. Owned by the entry of the table; never unmapped.
  stack_t fault_stacks[static_cast<int>(WalkingHandler::kCount)] = {};

  // For the sampler.
  Rearming rearming;
  uint32_t long_handlers = 0;  // in a row
  uint64_t handled_ns = 0;     // when the last long handler ended, as MonotonicNs
  int perf_fd = -1;
  bool has_timer = false;
  timer_t timer{};
  bool has_nested_timer = false;
  timer_t nested_timer{};
  uint64_t cpu_at_last_ns = 0;  // at the last sample; for clock kCpu without perf events

  // For modes kParked and kRunning.
  std::atomic<Park> park{Park::kNone};
  ucontext_t* parked_context = nullptr;
  ucontext_t context;  // kRunning: a copy
};

// The calling thread's entry; null if the thread is not tracked.
SampledThread* CurrentSampledThread();

// Makes the fault stack for `handler` the signal stack of the calling thread, `thread`, until the
// handler returns. Call it in that handler. False, and counted in `state`: the thread keeps the
// signal stack that it has. Signal-safe: yes.
bool UseFaultStack(const SampledThread& thread, WalkingHandler handler, StressState& state);

class ThreadTable {
 public:
  explicit ThreadTable(StressState& state) : state_(state) {}

  // Adds an entry for `tid`, which the table owns; null if the table is full of living threads.
  // Entries of threads that have ended are reused, after their counts were added to entry 0.
  SampledThread* Add(int tid, const char* name, bool java);
  // Makes `thread` the entry of the calling thread, until Remove.
  void Enter(SampledThread& thread);
  // Ends the tracking of the thread and frees its entry. Call on the thread itself (`self` is
  // true), or after the thread has ended.
  void Remove(SampledThread& thread, bool self);

  SampledThread* Find(int tid);  // null: not tracked. Signal-safe: yes
  template <typename Visit>
  void ForEach(Visit visit) {
    for (int i = 1; i < kMaxSampledThreads; i++)
      if (threads_[i].tid.load() != 0) visit(threads_[i]);
  }
  // Brings cpu_ns and alive_ns of the thread's counts up to date.
  void UpdateClocks(SampledThread& thread);

 private:
  void FoldInto0(ThreadCounts& counts);

  StressState& state_;
  std::mutex mutex_;
  SampledThread threads_[kMaxSampledThreads];
};

uint64_t ThreadCpuNs(int tid);  // 0 if the thread is gone. Signal-safe: yes

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SAMPLED_THREADS_H_
