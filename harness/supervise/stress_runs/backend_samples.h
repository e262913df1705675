// SPDX-License-Identifier: Apache-2.0
// BackendSamples: the output of other profilers, read into one form. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_BACKEND_SAMPLES_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_BACKEND_SAMPLES_H_

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/stress_runs/request_answers.h"
#include "harness/supervise/stress_runs/sampling_backend.h"

namespace walkhammer {

struct BackendSamples {
  uint64_t samples = 0;
  uint64_t successful = 0;  // samples with at least one frame
  uint64_t coalesced = 0;   // expiries that were merged into a sample
  uint64_t lost = 0;        // samples that the profiler says it lost
  uint64_t frames = 0;      // of distinct stacks
  uint64_t without_line = 0;
  uint64_t events = 0;  // of all kinds
  // Keeps so many distinct frames; see StackTree.
  static constexpr size_t kMostFrames = 1 << 20;
  StackTree stacks{kMostFrames};
  std::map<std::pair<std::string, std::string>, uint64_t> answers;  // kind of sample, answer
  std::vector<RequestAnswer> given;  // events StackTraceRequest that were not counted yet
  RequestAnswers requests;
  uint64_t asked = 0;  // requests of the programs that `requests` counts
};

// Period of jdk.CPUTimeSample, by its setting `throttle`; ns of CPU time.
inline constexpr uint64_t kJfrCpuPeriodNs = 10000;

// Adds what java/wh/recordings/ReadBack.java wrote. Its answers: "frames"; "no-stack"; "truncated"
// at the stack depth; "unknown-method"; "cut-off": the outermost frame starts no thread; "gap":
// callers in between are missing; "no-bci": a Java frame without a bci.
Status ReadBackText(std::istream& text, BackendSamples& samples);

// Adds lines "outermost;..;newest COUNT". Answers: "frames", or the frame that reports an error,
// such as "[unknown_Java]". kUnable if a line is not of that form.
Status ReadCollapsed(std::istream& text, BackendSamples& samples);
// True if a file with this first line holds collapsed stacks.
bool IsCollapsed(const std::string& first_line);

// Adds JFR recordings, read by the JDK of `plan` in the plan's scratch folder. kUnable: the JDK
// cannot read them; other failures say nothing about the recordings.
Status ReadRecordings(const BackendPlan& plan, const std::vector<std::string>& recordings,
                      BackendSamples& samples);

// The verdict on `samples`: passed, or vacuous if no sample has a frame.
BackendVerdict VerdictOf(const BackendSamples& samples, const SamplingBackend& backend);
// For a cell whose backend's output could not be read.
inline CellStatus StatusOfFailure(const Failure& failure) {
  return failure.code == ExitCode::kUnable ? CellStatus::kBadOutput : CellStatus::kToolFailed;
}
inline BackendVerdict BadBackend(CellStatus status, std::string reason) {
  return {status, std::move(reason), {}, {}, {}, "", ""};
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_BACKEND_SAMPLES_H_
