// SPDX-License-Identifier: Apache-2.0
// LaneSamples: what other profilers wrote down, read into one form. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_LANE_SAMPLES_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_LANE_SAMPLES_H_

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/matrix/lane.h"

namespace walkhammer {

struct LaneSamples {
  uint64_t samples = 0;
  uint64_t successful = 0;  // of these, with at least one frame
  uint64_t coalesced = 0;   // expiries that were merged into a sample
  uint64_t lost = 0;        // samples that the profiler says it lost
  uint64_t frames = 0;      // of distinct stacks
  uint64_t without_line = 0;
  uint64_t events = 0;  // of all kinds
  std::map<std::string, uint64_t> stacks;
  std::map<std::pair<std::string, std::string>, uint64_t> answers;  // kind of sample, answer

  // Keeps so many distinct stacks and bytes of them; more count as "[stack table full]".
  static constexpr size_t kMostStacks = 50000, kMostBytes = 64 << 20;
  void AddStack(const std::vector<std::string_view>& frames, uint64_t count);

 private:
  size_t bytes_ = 0;
};

// Throttle of jdk.CPUTimeSample, ns of CPU time.
inline constexpr uint64_t kJfrCpuPeriodNs = 10000;

// What java/wh/lane/ReadBack.java writes. Its answers: "frames"; "no-stack"; "truncated" at the
// stack depth; "unknown-method"; "cut-off": the outermost frame starts no thread; "gap": callers in
// between are missing; "no-bci": a Java frame without a place in its byte code.
Status ReadBackText(std::istream& text, LaneSamples& samples);

// Lines of "outermost;..;newest COUNT". The answers are "frames" or the frame that tells of an
// error, as "[unknown_Java]".
Status ReadCollapsed(std::istream& text, LaneSamples& samples);
// Whether a file with this first line is of that kind.
bool IsCollapsed(const std::string& first_line);

// Reads JFR recordings with the reader of the JDK of `plan`, in its folder. kUnable: it could not
// read them; other failures say nothing about the recordings.
Status ReadRecordings(const LanePlan& plan, const std::vector<std::string>& recordings,
                      LaneSamples& samples);

// Vacuous without a sample that has a frame.
LaneVerdict VerdictOf(const LaneSamples& samples, const Lane& lane);
inline LaneVerdict BadLane(CellStatus status, std::string reason) {
  return {status, std::move(reason), {}, {}, {}, "", ""};
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_LANE_SAMPLES_H_
