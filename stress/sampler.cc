// SPDX-License-Identifier: Apache-2.0
#include "stress/sampler.h"

namespace walkhammer::stress {
namespace {

// Best first.
const SamplerInfo* const kSamplers[] = {&kPerfSampler, &kTimerSampler, &kThreadSampler};

bool Follows(const SamplerInfo& info, SampleClock clock) {
  return clock == SampleClock::kCpu ? info.cpu_clock : info.wall_clock;
}

}  // namespace

uint64_t Sampler::NextInterval(SampledThread& thread) const {
  if (job_.interval_max_ns == 0) return kLeastPauseNs;
  uint64_t& x = thread.random;  // xorshift64
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  const uint64_t span = job_.interval_max_ns - job_.interval_min_ns;
  const uint64_t interval = job_.interval_min_ns + (span == 0 ? 0 : x % (span + 1));
  return interval < kLeastPauseNs ? kLeastPauseNs : interval;
}

Result<const SamplerInfo*> ChooseSampler(const StressJob& job, std::string& reason) {
  std::string refusals;
  for (const SamplerInfo* info : kSamplers) {
    const bool asked = job.sampler == info->kind;
    if (job.sampler != SamplerKind::kAuto && !asked) continue;
    // Perf events cannot follow the wall clock; timers can.
    if (!Follows(*info, job.clock)) {
      if (asked)
        return BadInput(std::string("the sampler ") + info->name + " cannot follow this clock");
      continue;
    }
    Status usable = info->usable();
    if (usable.ok()) {
      reason = asked ? "as asked" : info->what + (refusals.empty() ? "" : "; " + refusals);
      return info;
    }
    if (asked) return usable.failure();
    refusals += (refusals.empty() ? "" : "; ") + usable.failure().message;
  }
  return Unable("no sampler works here: " + refusals);
}

}  // namespace walkhammer::stress
