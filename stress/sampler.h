// SPDX-License-Identifier: Apache-2.0
// Sampler: sends the sampling signals. A new sampler is one file and one row in sampler.cc.
// Signal-safe: Rearm yes; the rest no.
#ifndef WALKHAMMER_STRESS_SAMPLER_H_
#define WALKHAMMER_STRESS_SAMPLER_H_

#include <csignal>
#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/ipc/stress_state.h"
#include "stress/sampled_threads.h"

namespace walkhammer::stress {

// Shortest pause between two samples, ns. With a shorter one the program would not get on: the next
// signal would be there before the program's first instruction.
inline constexpr uint64_t kLeastPauseNs = 2000;

// From this interval on, ns, expiries are periodic; below it, each interval begins at the end of
// the handler before.
inline constexpr uint64_t kPeriodicFromNs = 50000;

// From so many handlers in a row on that take more than half of the interval, they are too long.
inline constexpr uint32_t kMostLongHandlers = 4;

// A signal that is handled within this time after the handler before, ns, was queued during that
// handler.
inline constexpr uint64_t kQueuedWithinNs = kPeriodicFromNs / 10;

// True if the signal whose handler began at `begun_ns` was queued while the thread's handler before
// ran, one of several that are too long. If each such sample were walked, the program would not
// execute one instruction between them. Signal-safe: yes.
inline bool WasQueued(const SampledThread& thread, uint64_t begun_ns) {
  return thread.long_handlers >= kMostLongHandlers &&
         begun_ns - thread.handled_ns < kQueuedWithinNs;
}

class Sampler {
 public:
  explicit Sampler(const StressJob& job) : job_(job) {}
  virtual ~Sampler() = default;
  // Begins to send signals to this living thread. False: the kernel refused.
  virtual bool Arm(SampledThread& thread) = 0;
  // Stops sending signals to the thread. Called on the thread itself or on another.
  virtual void Disarm(SampledThread& thread) = 0;
  // Called at the end of the thread's handler, which took `spent_ns`. Starts the next interval if
  // intervals are not periodic, or if handlers leave too little of them for the program to get on.
  virtual void Rearm(SampledThread& thread, uint64_t spent_ns) = 0;
  // Begins and ends what serves all threads.
  virtual Status Start(ThreadTable&) { return Ok(); }
  virtual void Stop() {}

 protected:
  bool Periodic() const {
    return job_.interval_min_ns == job_.interval_max_ns && job_.interval_min_ns >= kPeriodicFromNs;
  }
  // True if the handlers take more than half of the interval, the program's share, several times in
  // a row, which would keep the program from getting on. A single long handler may have been
  // preempted. Signal-safe: yes.
  bool TooLong(SampledThread& thread, uint64_t spent_ns) const {
    thread.long_handlers = spent_ns > job_.interval_min_ns / 2 ? thread.long_handlers + 1 : 0;
    return thread.long_handlers >= kMostLongHandlers;
  }
  uint64_t NextInterval(SampledThread& thread) const;  // ns. Signal-safe: yes

  const StressJob& job_;
};

struct SamplerInfo {
  SamplerKind kind;
  const char* name;  // as in --sampler
  const char* what;
  bool cpu_clock, wall_clock;  // which clocks it can follow
  Status (*usable)();          // whether this machine permits it
  std::unique_ptr<Sampler> (*make)(const StressJob& job);
};

extern const SamplerInfo kPerfSampler, kTimerSampler, kThreadSampler;

// The sampler that the job names, or the best one that the machine permits; `reason` says why that
// one.
Result<const SamplerInfo*> ChooseSampler(const StressJob& job, std::string& reason);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SAMPLER_H_
