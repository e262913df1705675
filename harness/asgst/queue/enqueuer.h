// SPDX-License-Identifier: Apache-2.0
// Enqueuer: who put an element into a queue, and whether that signal handler has returned. Until
// then the handler may ask for its element, which therefore stays in the queue.
// A thread that runs Java code or code of the JVM has left its handler when it stands at a
// safepoint. A thread that is blocked or in native may stand at a safepoint inside its handler:
// there its signal mask tells, since a handler runs with more signals blocked than the code that it
// has interrupted. Signal-safe: Note yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_ENQUEUER_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_ENQUEUER_H_

#include <ucontext.h>

#include <cstdint>
#include <optional>

namespace walkhammer::asgst {

class Enqueuer {
 public:
  // The caller enqueues for `thread`, a JavaThread*. `is_current`: that is the current thread;
  // `context`: of its signal handler, or null.
  static Enqueuer Note(uint64_t thread, bool is_current, const ucontext_t* context);

  // True if the thread may stand at a safepoint inside of its handler.
  bool MayStay() const { return end_ != End::kAtSafepoint; }
  // True if the handler has returned. Also true after kMost where no mask tells (kByTime), and
  // after kMostByMask with any mask. `blocked`: the thread's mask, read after the element was put
  // in.
  bool HasReturned(std::optional<uint64_t> blocked) const;
  // True if `milliseconds` have passed since Note.
  bool IsOlderThan(int milliseconds) const;

 private:
  // A thread whose mask changes for good after its handler would hold its elements endlessly.
  static constexpr int kMost = 500, kMostByMask = 5000;  // ms
  enum class End : uint8_t { kAtSafepoint, kByMask, kByTime };

  End end_;
  uint64_t blocked_before_;  // with kByMask: signals that the interrupted code blocks
  int64_t time_;             // CLOCK_MONOTONIC in ns
};

// True if the thread is in native or blocked: it may stand at a safepoint without a poll. If the
// thread is not stopped, the state may have changed on return. Signal-safe: yes.
bool NeedsNoPoll(uint64_t thread);
// The signals that a thread of this process blocks, by its OS thread id; empty if unknown.
std::optional<uint64_t> BlockedSignalsOf(int32_t os_thread);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_ENQUEUER_H_
