// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/recordings.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace walkhammer {
namespace {

std::string RecordingOf(const BackendPlan& plan, uint64_t start) {
  return fmt::format("{}/recording-{}.jfr", plan.scratch, start);
}
std::string Repository(const BackendPlan& plan) { return plan.scratch + "/repository"; }

}  // namespace

Result<std::vector<std::string>> RecordingFlags(const BackendPlan& plan, std::string_view events) {
  const std::string settings = plan.scratch + "/settings.jfc";
  std::ofstream file(settings);
  file << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration version=\"2.0\">\n"
       << events << "</configuration>\n";
  if (!file.flush()) return ToolFailed("cannot write " + settings);
  return std::vector<std::string>{
      fmt::format("-XX:StartFlightRecording:filename={},settings={},dumponexit=true,maxsize=1g",
                  RecordingOf(plan, plan.starts), settings),
      "-XX:FlightRecorderOptions:stackdepth=512,repository=" + Repository(plan),
      "-Xlog:jfr+startup=error"};
}

bool RecordingBegan(const BackendPlan& plan) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(Repository(plan), error), end;
       !error && at != end; at.increment(error))
    if (at->path().extension() == ".jfr") return true;
  return false;
}

Status ReadNewRecordings(const BackendPlan& plan, bool last_may_lack, BackendSamples& samples,
                         const AfterRecording& read) {
  for (uint64_t start = plan.collected; start < plan.starts; start++) {
    const std::string path = RecordingOf(plan, start);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      if (start + 1 == plan.starts && start != 0 && last_may_lack) return Ok();
      return Unable(fmt::format("JVM {} of {} ended without a recording", start + 1, plan.starts));
    }
    RETURN_IF_ERROR(ReadRecordings(plan, {path}, samples));
    if (read) read(samples);
  }
  return Ok();
}

Status CollectRecordings(const BackendPlan& plan, const AfterRecording& read) {
  RETURN_IF_ERROR(ReadNewRecordings(plan, false, *plan.samples, read));
  for (uint64_t start = plan.collected; start < plan.starts; start++) {
    std::error_code ignored;
    std::filesystem::remove(RecordingOf(plan, start), ignored);
  }
  return Ok();
}

}  // namespace walkhammer
