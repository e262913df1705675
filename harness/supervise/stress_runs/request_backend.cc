// SPDX-License-Identifier: Apache-2.0
// The backend "request": walkhammer's agent asks for stack traces by RequestStackTrace, at each
// sample; the backend reads the answers out of a recording, and holds them against what was asked.
#include <utility>

#include "harness/supervise/stress_runs/backend_samples.h"
#include "harness/supervise/stress_runs/recordings.h"
#include "harness/supervise/stress_runs/request_answers.h"
#include "harness/supervise/stress_runs/sampling_backend.h"

namespace walkhammer {
namespace {

constexpr char kRequestEvents[] = R"(  <event name="jdk.StackTraceRequest">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
  </event>
)";

Result<std::vector<std::string>> RequestFlags(const BackendPlan& plan) {
  ASSIGN_OR_RETURN(auto flags, kOwnBackend.flags(plan));
  ASSIGN_OR_RETURN(const auto recording, RecordingFlags(plan, kRequestEvents));
  flags.insert(flags.end(), recording.begin(), recording.end());
  return flags;
}

AfterRecording CountingAnswers(const BackendPlan& plan) {
  return [walks = plan.walks](BackendSamples& samples) {
    samples.requests.Count(std::exchange(samples.given, {}), walks - samples.asked);
    samples.asked = walks;
  };
}

BackendVerdict JudgeAnswers(const BackendPlan& plan, const std::string&) {
  BackendSamples samples = plan.samples == nullptr ? BackendSamples() : *plan.samples;
  const Status read = ReadNewRecordings(plan, true, samples, CountingAnswers(plan));
  if (!read.ok()) return BadBackend(StatusOfFailure(read.failure()), read.failure().message);
  BackendVerdict verdict = VerdictOf(samples, kRequestBackend);
  verdict.findings = FindingsOf(samples.requests, plan.code_0);
  if (verdict.status == CellStatus::kPassed || samples.samples == 0)
    verdict.reason = WordsFor(samples.requests, plan.code_0);
  return verdict;
}

}  // namespace

const SamplingBackend kRequestBackend = {
    .name = "request",
    .what = "walkhammer's own agent asks for stack traces, which a recording answers",
    .own_agent = true,
    .check = nullptr,
    .flags = RequestFlags,
    .began = nullptr,
    .collect =
        [](const BackendPlan& plan) { return CollectRecordings(plan, CountingAnswers(plan)); },
    .judge = JudgeAnswers,
};

}  // namespace walkhammer
