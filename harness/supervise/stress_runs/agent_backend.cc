// SPDX-License-Identifier: Apache-2.0
// The backend "agent:PATH=OPTIONS": the agent of any profiler walks. "{out}" in OPTIONS stands for
// a file that the agent should write and that the backend judges.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/supervise/stress_runs/backend_samples.h"
#include "harness/supervise/stress_runs/sampling_backend.h"

namespace walkhammer {
namespace {

constexpr std::string_view kOut = "{out}";
constexpr std::string_view kOutName = "profile-";  // then start number and OPTIONS' suffix

std::string LibraryOf(const std::string& argument) {
  return std::filesystem::absolute(argument.substr(0, argument.find('='))).string();
}

Status Check(const std::string& argument) {
  if (argument.empty() || argument.front() == '=')
    return BadInput("--walker agent must name a library and its options: agent:PATH=OPTIONS");
  std::error_code error;
  if (!std::filesystem::is_regular_file(LibraryOf(argument), error))
    return BadInput("there is no library " + LibraryOf(argument) + " for --walker agent:");
  return Ok();
}

Result<std::vector<std::string>> AgentFlags(const BackendPlan& plan) {
  const size_t equals = plan.argument.find('=');
  std::string options = equals == std::string::npos ? "" : plan.argument.substr(equals);
  const std::string out = fmt::format("{}/{}{}", plan.scratch, kOutName, plan.starts);
  for (size_t at; (at = options.find(kOut)) != std::string::npos;)
    options.replace(at, kOut.size(), out);
  return std::vector<std::string>{"-agentpath:" + LibraryOf(plan.argument) + options};
}

// The files that the agent wrote as {out}, sorted, without empty ones.
std::vector<std::string> Written(const BackendPlan& plan) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(plan.scratch, error), end; !error && at != end;
       at.increment(error))
    if (at->path().filename().string().starts_with(kOutName) && at->is_regular_file(error) &&
        at->file_size(error) > 0)
      files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// Adds the samples of a profile to `samples`. False if the file has no known format.
Result<bool> ReadProfile(const BackendPlan& plan, const std::string& path,
                         BackendSamples& samples) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  if (line.starts_with(std::string_view("FLR\0", 4))) {
    RETURN_IF_ERROR(ReadRecordings(plan, {path}, samples));
    return true;
  }
  if (!IsCollapsed(line)) return false;
  file.clear();
  file.seekg(0);
  RETURN_IF_ERROR(ReadCollapsed(file, samples));
  return true;
}

// Programs that are started again and again would fill the disk. Of files whose format is not
// known, the first stays, for the verdict.
Status CollectStacks(const BackendPlan& plan) {
  bool unknown = false;
  for (const std::string& path : Written(plan)) {
    ASSIGN_OR_RETURN(const bool known, ReadProfile(plan, path, *plan.samples));
    std::error_code ignored;
    if (known || unknown) std::filesystem::remove(path, ignored);
    unknown |= !known;
  }
  return Ok();
}

BackendVerdict Judge(const BackendPlan& plan, const std::string&) {
  if (plan.argument.find(kOut) == std::string::npos)
    return BadBackend(
        CellStatus::kVacuous,
        "its options have no {out} for its output file: nothing shows that it sampled");
  const std::vector<std::string> files = Written(plan);
  BackendSamples samples = plan.samples == nullptr ? BackendSamples() : *plan.samples;
  if (files.empty() && samples.samples == 0)
    return BadBackend(CellStatus::kVacuous, "it wrote nothing into {out}");
  for (const std::string& path : files) {
    const auto known = ReadProfile(plan, path, samples);
    const std::string name = std::filesystem::path(path).filename();
    if (!known.ok())
      return BadBackend(StatusOfFailure(known.failure()), name + ": " + known.failure().message);
    if (!known.value())
      return BadBackend(CellStatus::kVacuous,
                        name +
                            " is neither collapsed stacks nor a JFR recording: nothing shows that "
                            "it sampled");
  }
  BackendVerdict verdict = VerdictOf(samples, kForeignAgentBackend);
  verdict.sampler = "agent";
  return verdict;
}

}  // namespace

const SamplingBackend kForeignAgentBackend = {
    .name = "agent",
    .what = "another profiler's agent, by its own output",
    .own_agent = false,
    .check = Check,
    .flags = AgentFlags,
    .began = nullptr,
    .collect = CollectStacks,
    .judge = Judge,
};

}  // namespace walkhammer
