// SPDX-License-Identifier: Apache-2.0
// The lane "jfr": JFR's own samplers walk at their highest rate; the lane reads their recording
// back.
#include <fmt/format.h>
#include <signal.h>

#include "harness/supervise/matrix/lane.h"
#include "harness/supervise/matrix/lane_samples.h"
#include "harness/supervise/matrix/recordings.h"

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

LaneVerdict JudgeRecording(const LanePlan& plan, const std::string&) {
  LaneSamples samples = plan.samples == nullptr ? LaneSamples() : *plan.samples;
  const Status read = ReadNewRecordings(plan, true, samples, nullptr);
  if (!read.ok()) return BadLane(StatusOfFailure(read.failure()), read.failure().message);
  LaneVerdict verdict = VerdictOf(samples, kJfrLane);
  verdict.sampler = "jfr";
  verdict.sampler_reason = fmt::format(
      "asked for every 1 ms, and every {} us of CPU time where JFR can, with {} signals as its "
      "timers send them; {} of {} frames of distinct stacks have no line",
      kJfrCpuPeriodNs / 1000, plan.timer_signals, samples.without_line, samples.frames);
  return verdict;
}

}  // namespace

const Lane kJfrLane = {
    .name = "jfr",
    .what = "JFR's own samplers at their highest rate",
    .own_agent = false,
    .check = nullptr,
    .flags =
        [](const LanePlan& plan) {
          return RecordingFlags(plan, fmt::format(kSamplerEvents, kJfrCpuPeriodNs / 1000));
        },
    .began = RecordingBegan,
    .collect = [](const LanePlan& plan) { return CollectRecordings(plan, nullptr); },
    .judge = JudgeRecording,
    .timer_signal = SIGPROF,  // jfrCPUTimeThreadSampler.cpp, JDK 25
};

}  // namespace walkhammer
