// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/reported_agent.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/base/text.h"
#include "harness/crash/profiler_library.h"

namespace walkhammer {
namespace {

// Options of async-profiler 1 to 4.6 that decide what is sampled and how stacks are walked, each
// with or without a value.
constexpr std::string_view kSamplingOptions[] = {
    "event",   "interval",   "alloc",      "lock",     "wall",   "cpu",         "nativemem",
    "nofree",  "nativelock", "proc",       "live",     "trace",  "jstackdepth", "threads",
    "sched",   "cstack",     "features",   "safemode", "signal", "clock",       "allkernel",
    "alluser", "target-cpu", "record-cpu", "all",      "batch",  "nobatch"};

bool IsOfSampling(std::string_view option) {
  return std::find(std::begin(kSamplingOptions), std::end(kSamplingOptions),
                   option.substr(0, option.find('='))) != std::end(kSamplingOptions);
}

// The options of "-agentpath:PATH=OPTIONS" or "-agentlib:NAME=OPTIONS", if that is async-profiler;
// else empty.
std::string_view OptionsIn(std::string_view word) {
  for (const std::string_view flag : {"-agentpath:", "-agentlib:"}) {
    if (!word.starts_with(flag)) continue;
    const std::string_view agent = word.substr(flag.size());
    const size_t equals = std::min(agent.find('='), agent.size());
    const char* profiler = ProfilerByName(agent.substr(0, equals));
    if (profiler != nullptr && std::string_view(profiler) == kAsyncProfilerName)
      return agent.substr(std::min(equals + 1, agent.size()));
  }
  return {};
}

}  // namespace

std::string ReportedAgentOptions(const CrashReport& report) {
  std::string options = "start";
  std::istringstream words(report.command_line.value);
  for (std::string word; words >> word;)
    for (const std::string& option : Split(OptionsIn(word), ','))
      if (IsOfSampling(option)) options += "," + option;
  return options;
}

}  // namespace walkhammer
