// SPDX-License-Identifier: Apache-2.0
// The backend "jfr": JFR's own samplers walk at their highest rate; the backend reads their
// recording back.
#include <fmt/format.h>
#include <signal.h>

#include "harness/supervise/stress_runs/backend_samples.h"
#include "harness/supervise/stress_runs/recordings.h"
#include "harness/supervise/stress_runs/sampling_backend.h"

namespace walkhammer {
namespace {

// A JDK raises periods that are too short for it, and ignores settings that it does not know.
constexpr char kSamplerEvents[] = R"(  <event name="jdk.ExecutionSample">
    <setting name="enabled">true</setting>
    <setting name="period">1 ms</setting>
  </event>
  <event name="jdk.NativeMethodSample">
    <setting name="enabled">true</setting>
    <setting name="period">1 ms</setting>
  </event>
  <event name="jdk.CPUTimeSample">
    <setting name="enabled">true</setting>
    <setting name="throttle">{} us</setting>
  </event>
  <event name="jdk.CPUTimeSamplesLost">
    <setting name="enabled">true</setting>
  </event>
)";

BackendVerdict JudgeRecording(const BackendPlan& plan, const std::string&) {
  BackendSamples samples = plan.samples == nullptr ? BackendSamples() : *plan.samples;
  const Status read = ReadNewRecordings(plan, true, samples, nullptr);
  if (!read.ok()) return BadBackend(StatusOfFailure(read.failure()), read.failure().message);
  BackendVerdict verdict = VerdictOf(samples, kJfrBackend);
  verdict.sampler = "jfr";
  verdict.sampler_reason = fmt::format(
      "asked for every 1 ms, and every {} us of CPU time where JFR can, with {} signals as its "
      "timers send them. {} of {} frames of distinct stacks have no line",
      kJfrCpuPeriodNs / 1000, plan.timer_signals, samples.without_line, samples.frames);
  return verdict;
}

}  // namespace

const SamplingBackend kJfrBackend = {
    .name = "jfr",
    .what = "JFR's own samplers at their highest rate",
    .own_agent = false,
    .check = nullptr,
    .flags =
        [](const BackendPlan& plan) {
          return RecordingFlags(plan, fmt::format(kSamplerEvents, kJfrCpuPeriodNs / 1000));
        },
    .began = RecordingBegan,
    .collect = [](const BackendPlan& plan) { return CollectRecordings(plan, nullptr); },
    .judge = JudgeRecording,
    .timer_signal = SIGPROF,  // jfrCPUTimeThreadSampler.cpp, JDK 25
};

}  // namespace walkhammer
