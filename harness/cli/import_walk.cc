// SPDX-License-Identifier: Apache-2.0
// import --walk: the Java stacks of a core, walked by the reference walker without a JVM, and
// compared with what is expected of them.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/import.h"
#include "harness/cli/output_file.h"
#include "harness/cli/print_json.h"
#include "harness/crash/core/core_walk.h"
#include "harness/crash/core/expected_stacks.h"

namespace walkhammer {
namespace {

using nlohmann::json;

// The folders of a JDK in which its libraries and its archive of classes lie.
Status AddFoldersOf(const std::string& home, std::vector<std::string>& folders) {
  std::error_code error;
  bool has_libjvm = false;
  for (const char* under : {"lib/server", "lib", "jre/lib/amd64/server", "jre/lib/amd64",
                            "jre/lib/aarch64/server", "jre/lib/aarch64"}) {
    const std::string folder = home + "/" + under;
    if (!std::filesystem::is_directory(folder, error)) continue;
    folders.push_back(folder);
    has_libjvm |= std::filesystem::is_regular_file(folder + "/libjvm.so", error);
  }
  if (!has_libjvm) return BadInput(home + " is not a JDK: it has no libjvm.so");
  return Ok();
}

json FrameJson(const CoreFrame& frame) {
  return {{"name", frame.name},        {"type", FrameTypeWord(frame)}, {"level", frame.level},
          {"bci", frame.bci},          {"line", frame.line},           {"guess", frame.guessed},
          {"function", frame.function}};
}

json WalkJson(const CoreWalk& walk) {
  json stacks = json::array();
  for (const CoreStack& stack : walk.stacks) {
    json frames = json::array();
    for (const CoreFrame& frame : stack.frames) frames.push_back(FrameJson(frame));
    stacks.push_back({{"thread", stack.tid},
                      {"from", PlaceWord(stack.nth_signal)},
                      {"signal", stack.signal},
                      {"state", StateText(stack.state)},
                      {"frames", frames},
                      {"end", WalkEndWord(stack.end)}});
  }
  return {{"schema", 1},
          {"jdk", walk.version},
          {"arch", walk.arch},
          {"threads", walk.threads},
          {"java_threads", walk.java_threads},
          {"left_out", walk.left_out},
          {"cut_off", walk.is_cut_off},
          {"stacks", stacks}};
}

json ComparisonJson(const StackComparison& comparison) {
  json differences = json::array();
  for (const StackDifference& difference : comparison.differences)
    differences.push_back({{"thread", difference.tid},
                           {"from", PlaceWord(difference.nth_signal)},
                           {"frame", difference.frame},
                           {"expected", difference.expected},
                           {"walked", difference.walked}});
  return {{"equal", comparison.equal},
          {"not_expected", comparison.not_expected},
          {"differences", differences}};
}

void PrintComparison(const StackComparison& comparison) {
  constexpr size_t kMostPrinted = 50;
  const auto text = [](const std::string& frame) {
    return frame.empty() ? "nothing" : frame.c_str();
  };
  for (size_t i = 0; i < std::min(kMostPrinted, comparison.differences.size()); i++) {
    const StackDifference& difference = comparison.differences[i];
    Print(stdout, "thread {} {} differs at frame {}\n  expected  {}\n  walked    {}\n",
          difference.tid, PlaceWord(difference.nth_signal), difference.frame,
          text(difference.expected), text(difference.walked));
  }
  if (comparison.differences.size() > kMostPrinted)
    Print(stdout, "the first {} of {}; --json has all\n", kMostPrinted,
          Counted(comparison.differences.size(), "difference"));
  Print(stdout, "{} as expected, {}, {} without an expectation\n",
        Counted(comparison.equal, "stack"), Counted(comparison.differences.size(), "difference"),
        comparison.not_expected);
}

// kToolFailed: no frame was walked.
Status HasFrames(const ImportOptions& options, const CoreWalk& walk) {
  for (const CoreStack& stack : walk.stacks)
    if (!stack.frames.empty()) return Ok();
  if (options.tid != 0 && walk.stacks.empty())
    return BadInput(fmt::format("{} has no Java thread {}", options.files[0], options.tid));
  return ToolFailed(fmt::format("nothing was walked: none of the {} in {} shows a frame",
                                Counted(walk.java_threads, "Java thread"), options.files[0]));
}

Result<CoreWalk> WalkOf(const ImportOptions& options) {
  std::vector<std::string> folders;
  if (!options.modules.empty()) folders.push_back(options.modules);
  for (const std::string& jdk : options.jdks) RETURN_IF_ERROR(AddFoldersOf(jdk, folders));
  ASSIGN_OR_RETURN(const auto core, CoreFile::Open(options.files[0], folders));
  ASSIGN_OR_RETURN(const auto jvm, CoreJvm::Open(*core));
  CoreWalkOptions walk_options;
  walk_options.tid = options.tid;
  walk_options.native = options.native;
  return WalkCore(*core, *jvm, walk_options);
}

}  // namespace

Result<ExitCode> RunImportWalk(const ImportOptions& options) {
  std::vector<ExpectedStack> expected;
  if (!options.expect.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFileOf(options.expect, "expected stacks", 64));
    ASSIGN_OR_RETURN(expected, ParseStacks(text, options.expect));
  }
  ASSIGN_OR_RETURN(const CoreWalk walk, WalkOf(options));
  RETURN_IF_ERROR(HasFrames(options, walk));
  if (!options.write.empty())
    RETURN_IF_ERROR(WriteOutput("--write", options.write, StacksText(walk)));
  const StackComparison comparison = CompareStacks(walk, expected, options.tid);
  if (options.json) {
    json all = WalkJson(walk);
    if (!options.expect.empty()) all["comparison"] = ComparisonJson(comparison);
    PrintJson(all);
  } else if (!options.expect.empty()) {
    PrintComparison(comparison);
  } else if (options.write.empty()) {
    Print(stdout, "{}", StacksText(walk));
  }
  if (!options.expect.empty() && comparison.equal + comparison.differences.size() == 0)
    return ToolFailed(fmt::format("{} expects nothing of thread {}", options.expect, options.tid));
  return comparison.differences.empty() ? ExitCode::kClean : ExitCode::kFindings;
}

}  // namespace walkhammer
