// SPDX-License-Identifier: Apache-2.0
// The lane "jfr": JFR's own samplers walk at their highest rate; the lane reads their recording
// back.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "harness/supervise/matrix/lane.h"
#include "harness/supervise/matrix/lane_samples.h"

namespace walkhammer {
namespace {

// A JDK raises periods that are too short for it, and ignores settings that it does not know.
constexpr char kSettings[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ExecutionSample">
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
</configuration>
)";

std::string RecordingOf(const LanePlan& plan, uint64_t start) {
  return fmt::format("{}/recording-{}.jfr", plan.scratch, start);
}
std::string Repository(const LanePlan& plan) { return plan.scratch + "/repository"; }

Result<std::vector<std::string>> Flags(const LanePlan& plan) {
  const std::string settings = plan.scratch + "/settings.jfc";
  std::ofstream file(settings);
  file << fmt::format(kSettings, kJfrCpuPeriodNs / 1000);
  if (!file.flush()) return ToolFailed("cannot write " + settings);
  return std::vector<std::string>{
      fmt::format("-XX:StartFlightRecording:filename={},settings={},dumponexit=true,maxsize=1g",
                  RecordingOf(plan, plan.starts), settings),
      "-XX:FlightRecorderOptions:stackdepth=512,repository=" + Repository(plan),
      "-Xlog:jfr+startup=error"};
}

// True once a chunk is in the repository: a recording that has begun writes them there.
bool Began(const LanePlan& plan) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(Repository(plan), error), end;
       !error && at != end; at.increment(error))
    if (at->path().extension() == ".jfr") return true;
  return false;
}

// Adds the recordings of the JVMs that were not collected yet. Only the last JVM of several may
// have ended too early for one.
Status ReadNew(const LanePlan& plan, bool last_may_lack, LaneSamples& samples) {
  std::vector<std::string> recordings;
  for (uint64_t start = plan.collected; start < plan.starts; start++) {
    const std::string path = RecordingOf(plan, start);
    std::error_code error;
    if (std::filesystem::exists(path, error))
      recordings.push_back(path);
    else if (start + 1 < plan.starts || start == 0 || !last_may_lack)
      return Unable(fmt::format("JVM {} of {} ended without a recording", start + 1, plan.starts));
  }
  return recordings.empty() ? Ok() : ReadRecordings(plan, recordings, samples);
}

// A recording takes up to 1 GiB.
Status Collect(const LanePlan& plan) {
  RETURN_IF_ERROR(ReadNew(plan, false, *plan.samples));
  for (uint64_t start = plan.collected; start < plan.starts; start++) {
    std::error_code ignored;
    std::filesystem::remove(RecordingOf(plan, start), ignored);
  }
  return Ok();
}

LaneVerdict JudgeRecording(const LanePlan& plan, const std::string&) {
  LaneSamples samples = plan.samples == nullptr ? LaneSamples() : *plan.samples;
  const Status read = ReadNew(plan, true, samples);
  if (!read.ok()) return BadLane(StatusOfFailure(read.failure()), read.failure().message);
  LaneVerdict verdict = VerdictOf(samples, kJfrLane);
  verdict.sampler = "jfr";
  verdict.sampler_reason = fmt::format(
      "asked for every 1 ms, and every {} us of CPU time where JFR can; {} of {} frames of "
      "distinct "
      "stacks have no line",
      kJfrCpuPeriodNs / 1000, samples.without_line, samples.frames);
  return verdict;
}

}  // namespace

const Lane kJfrLane = {
    .name = "jfr",
    .what = "JFR's own samplers at their highest rate",
    .own_agent = false,
    .check = nullptr,
    .flags = Flags,
    .began = Began,
    .collect = Collect,
    .judge = JudgeRecording,
};

}  // namespace walkhammer
