// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/reported_flags.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

namespace walkhammer {
namespace {

constexpr std::string_view kIgnore = "-XX:+IgnoreUnrecognizedVMOptions";

// Names of -XX flags.
constexpr std::array<std::string_view, 24> kKept = {"UnlockExperimentalVMOptions",
                                                    "UnlockDiagnosticVMOptions",
                                                    "UseSerialGC",
                                                    "UseParallelGC",
                                                    "UseG1GC",
                                                    "UseZGC",
                                                    "ZGenerational",
                                                    "UseShenandoahGC",
                                                    "UseEpsilonGC",
                                                    "UseConcMarkSweepGC",
                                                    "TieredCompilation",
                                                    "TieredStopAtLevel",
                                                    "BackgroundCompilation",
                                                    "Inline",
                                                    "PreserveFramePointer",
                                                    "DebugNonSafepoints",
                                                    "SegmentedCodeCache",
                                                    "ReservedCodeCacheSize",
                                                    "UseCompressedOops",
                                                    "UseCompressedClassPointers",
                                                    "UseCompactObjectHeaders",
                                                    "UseTransparentHugePages",
                                                    "VMContinuations",
                                                    "UseJVMCICompiler"};

constexpr std::pair<std::string_view, std::string_view> kCollectors[] = {
    {"g1", "-XX:+UseG1GC"},
    {"serial", "-XX:+UseSerialGC"},
    {"parallel", "-XX:+UseParallelGC"},
    {"z", "-XX:+UseZGC"},
    {"shenandoah", "-XX:+UseShenandoahGC"},
    {"cms", "-XX:+UseConcMarkSweepGC"}};

bool IsKept(std::string_view word) {
  if (word == "-Xint" || word == "-Xcomp") return true;
  if (!word.starts_with("-XX:")) return false;
  std::string_view name = word.substr(4);
  if (name.starts_with('+') || name.starts_with('-')) name.remove_prefix(1);
  name = name.substr(0, name.find('='));
  return std::find(kKept.begin(), kKept.end(), name) != kKept.end();
}

void Add(std::string_view flag, std::vector<std::string>& flags) {
  if (std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.emplace_back(flag);
}

}  // namespace

std::vector<std::string> ReportedFlags(const CrashReport& report) {
  std::vector<std::string> flags;
  std::istringstream words(report.command_line.value);
  for (std::string word; words >> word;)
    if (IsKept(word)) Add(word, flags);
  const bool has_collector = std::any_of(flags.begin(), flags.end(), [](const auto& flag) {
    return flag.starts_with("-XX:+Use") && flag.ends_with("GC");
  });
  for (const auto& [gc, flag] : kCollectors)
    if (report.gc.value == gc && !has_collector) Add(flag, flags);
  const std::string& vm = report.version.vm.value;
  if (vm.find("interpreted mode") != std::string::npos) Add("-Xint", flags);
  if (vm.find("compiled mode") != std::string::npos) Add("-Xcomp", flags);
  if (!flags.empty()) flags.emplace(flags.begin(), kIgnore);
  return flags;
}

}  // namespace walkhammer
