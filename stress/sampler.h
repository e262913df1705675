// SPDX-License-Identifier: Apache-2.0
// Sampler: what makes the signals. A new one is one file and one row in sampler.cc.
// Signal-safe: Rearm yes; the rest no.
#ifndef WALKHAMMER_STRESS_SAMPLER_H_
#define WALKHAMMER_STRESS_SAMPLER_H_

#include <csignal>
#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/shared/stress_state.h"
#include "stress/sampled_threads.h"

namespace walkhammer::stress {

// A shorter pause between two samples than this would leave the program standing still: the next
// signal would be there before its first instruction.
inline constexpr uint64_t kLeastPauseNs = 2000;

// From this interval on, expiries are periodic; below, each waits for the end of the one before.
inline constexpr uint64_t kPeriodicFromNs = 50000;

class Sampler {
 public:
  explicit Sampler(const StressJob& job) : job_(job) {}
  virtual ~Sampler() = default;
  // Signals come to this living thread from now on. False: the kernel refused.
  virtual bool Arm(SampledThread& thread) = 0;
  // No more signals to it. On the thread itself or on another.
  virtual void Disarm(SampledThread& thread) = 0;
  // At the end of the thread's handler, which took `spent_ns`: starts its next interval where that
  // is not periodic, or where the handler has left too little of it for the program to get on.
  virtual void Rearm(SampledThread& thread, uint64_t spent_ns) = 0;
  // Begins and ends what is not a thread's own.
  virtual Status Start(ThreadTable&) { return Ok(); }
  virtual void Stop() {}

 protected:
  bool Periodic() const {
    return job_.interval_min_ns == job_.interval_max_ns && job_.interval_min_ns >= kPeriodicFromNs;
  }
  // Half of the interval is the program's. One long handler may have been preempted; several in a
  // row leave the program standing still. Signal-safe.
  bool TooLong(SampledThread& thread, uint64_t spent_ns) const {
    constexpr uint32_t kMostInARow = 4;
    thread.long_handlers = spent_ns > job_.interval_min_ns / 2 ? thread.long_handlers + 1 : 0;
    return thread.long_handlers >= kMostInARow;
  }
  uint64_t NextInterval(SampledThread& thread) const;  // ns; signal-safe

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

// The one that the job names, or the best one that the machine permits; `reason` tells why that.
Result<const SamplerInfo*> ChooseSampler(const StressJob& job, std::string& reason);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SAMPLER_H_
