// SPDX-License-Identifier: Apache-2.0
// Reads recordings with the reader of the JDK that made them.
#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "harness/base/names.h"
#include "harness/process/program.h"
#include "harness/supervise/stress_runs/backend_samples.h"

namespace walkhammer {
namespace {

constexpr char kRecordingsJarName[] = "walkhammer-recordings.jar";
constexpr auto kReadWithin = std::chrono::seconds(120);

// The line that names the exception, or else the last line.
std::string Complaint(const std::string& output) {
  size_t begin = output.find("Exception in thread");
  if (begin == std::string::npos) {
    const size_t end = output.find_last_not_of('\n');
    if (end == std::string::npos) return "no reason given";
    begin = output.rfind('\n', end) == std::string::npos ? 0 : output.rfind('\n', end) + 1;
  }
  return output.substr(begin, std::min<size_t>(output.find('\n', begin) - begin, 300));
}

}  // namespace

Status ReadRecordings(const BackendPlan& plan, const std::vector<std::string>& recordings,
                      BackendSamples& samples) {
  const std::string jar = BesideExecutable(kRecordingsJarName), out = plan.scratch + "/read-back";
  if (!std::filesystem::exists(jar))
    return ToolFailed(fmt::format("{} is missing: build everything", jar));
  ProgramSetup setup;
  setup.arguments = {plan.jdk_home + "/bin/java",
                     "-XX:+UseSerialGC",
                     "-XX:TieredStopAtLevel=1",
                     "-Xmx1g",
                     "-cp",
                     jar,
                     "wh.recordings.ReadBack",
                     out};
  setup.arguments.insert(setup.arguments.end(), recordings.begin(), recordings.end());
  setup.arguments = plan.platform.Command(setup.arguments);
  setup.directory = plan.scratch;
  ASSIGN_OR_RETURN(auto reader, Program::Start(setup));
  Program& program = *reader;
  if (!program.EndsWithin(kReadWithin))
    return ToolFailed("its recording was not read back within 120 s, or before an interrupt");
  if (!WIFEXITED(program.wait_status()) || WEXITSTATUS(program.wait_status()) != 0) {
    const std::string why = Complaint(program.output());
    if (why.find("OutOfMemoryError") != std::string::npos || WIFSIGNALED(program.wait_status()))
      return ToolFailed(
          fmt::format("the recording's reader ended with {}: {}", program.EndText(), why));
    return Unable("its JDK cannot read the recording back: " + why);
  }
  std::ifstream text(out);
  return ReadBackText(text, samples);
}

}  // namespace walkhammer
