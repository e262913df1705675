// SPDX-License-Identifier: Apache-2.0
// The lane "request": walkhammer's agent asks for stack traces by RequestStackTrace, at each
// sample; the lane reads the answers out of a recording, and holds them against what was asked.
#include <utility>

#include "harness/supervise/matrix/lane.h"
#include "harness/supervise/matrix/lane_samples.h"
#include "harness/supervise/matrix/recordings.h"
#include "harness/supervise/matrix/request_answers.h"

namespace walkhammer {
namespace {

constexpr char kRequestEvents[] = R"(  <event name="jdk.StackTraceRequest">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
  </event>
)";

Result<std::vector<std::string>> RequestFlags(const LanePlan& plan) {
  ASSIGN_OR_RETURN(auto flags, kOwnLane.flags(plan));
  ASSIGN_OR_RETURN(const auto recording, RecordingFlags(plan, kRequestEvents));
  flags.insert(flags.end(), recording.begin(), recording.end());
  return flags;
}

AfterRecording CountingAnswers(const LanePlan& plan) {
  return [walks = plan.walks](LaneSamples& samples) {
    samples.requests.Count(std::exchange(samples.given, {}), walks - samples.asked);
    samples.asked = walks;
  };
}

LaneVerdict JudgeAnswers(const LanePlan& plan, const std::string&) {
  LaneSamples samples = plan.samples == nullptr ? LaneSamples() : *plan.samples;
  const Status read = ReadNewRecordings(plan, true, samples, CountingAnswers(plan));
  if (!read.ok()) return BadLane(StatusOfFailure(read.failure()), read.failure().message);
  LaneVerdict verdict = VerdictOf(samples, kRequestLane);
  verdict.findings = FindingsOf(samples.requests, plan.code_0);
  if (verdict.status == CellStatus::kPassed || samples.samples == 0)
    verdict.reason = WordsFor(samples.requests, plan.code_0);
  return verdict;
}

}  // namespace

const Lane kRequestLane = {
    .name = "request",
    .what = "walkhammer's own agent asks for stack traces, which a recording answers",
    .own_agent = true,
    .check = nullptr,
    .flags = RequestFlags,
    .began = nullptr,
    .collect = [](const LanePlan& plan) { return CollectRecordings(plan, CountingAnswers(plan)); },
    .judge = JudgeAnswers,
};

}  // namespace walkhammer
