// SPDX-License-Identifier: Apache-2.0
// Helpers of end-to-end tests: they run the walkhammer command in the test's own folder, with
// --json. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_COMMAND_TESTING_H_
#define WALKHAMMER_HARNESS_SUPERVISE_COMMAND_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/names.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

struct CommandResult {
  int exit_code = -1;   // -1: ended by a signal
  nlohmann::json json;  // of stdout
  std::string line;     // the command line, for messages
};

// The command line for a shell. The first argument is the verb; those after "--" are JVM flags. No
// argument may contain a single quote.
inline std::string WalkhammerLine(const std::vector<std::string>& arguments) {
  std::string line = "'" + BesideExecutable("walkhammer") + "' " + arguments.front() + " --json";
  for (size_t i = 1; i < arguments.size(); i++) line += " '" + arguments[i] + "'";
  return line;
}

// Runs `line` in a shell. Its stderr goes to the test's stderr. The test ends if stdout is not
// JSON.
inline CommandResult RunLine(const std::string& line) {
  CommandResult result;
  result.line = line;
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + line);
  std::string text;
  char buffer[4096];
  for (size_t size; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, size);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  result.json = nlohmann::json::parse(text, nullptr, false);
  if (!result.json.is_structured()) throw std::runtime_error("no JSON from " + line);
  return result;
}

inline CommandResult RunWalkhammer(const std::vector<std::string>& arguments) {
  return RunLine(WalkhammerLine(arguments));
}

// Runs walkhammer and interrupts it, as a user would, once its stderr contains `words`.
inline CommandResult RunWalkhammerUntil(const std::string& words,
                                        const std::vector<std::string>& arguments) {
  std::string said = (std::filesystem::temp_directory_path() / "wh-said-XXXXXX").string();
  close(mkstemp(said.data()));
  CommandResult result =
      RunLine("env --default-signal=INT " + WalkhammerLine(arguments) + " 2>'" + said +
              "' & pid=$!; while kill -0 $pid 2>&-; do if grep -q '" + words + "' '" + said +
              "'; then kill -INT $pid; break; fi; sleep 0.2; done; wait $pid; code=$?; cat '" +
              said + "' >&2; exit $code");
  std::filesystem::remove(said);
  return result;
}

// The JDKs that tests run on: the newest installed and then the oldest; fewer if fewer are
// installed.
inline std::vector<Jdk> TestJdks() {
  std::vector<Jdk> jdks = FindJdks();
  if (jdks.size() > 2) jdks.erase(jdks.begin() + 1, jdks.end() - 1);
  std::reverse(jdks.begin(), jdks.end());
  return jdks;
}

// The arguments of a campaign on the scene c2; `more`: further arguments.
inline std::vector<std::string> FuzzArguments(const Jdk& jdk, const std::string& walker,
                                              const std::string& out,
                                              const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"fuzz",    "--jdk", jdk.home, "--walker", walker,
                                        "--scene", "c2",    "--out",  out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The first bucket whose title contains `title`. The test ends if there is none.
inline nlohmann::json BucketOf(const CommandResult& run, const std::string& title) {
  for (const nlohmann::json& bucket : run.json["buckets"])
    if (bucket["title"].get<std::string>().find(title) != std::string::npos) return bucket;
  throw std::runtime_error("no bucket " + title + " among " + run.json["buckets"].dump());
}

// Tests on the newest JDK, with files in a folder of their own.
class NewestJdkTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<Jdk> jdks = TestJdks();
    if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
    jdk_ = jdks.front();
  }
  // The path of a bucket's input, in the run in the folder's `run`.
  std::string InputOf(const std::string& run, const nlohmann::json& bucket) const {
    return folder_.Under(run + "/" + bucket["input"].get<std::string>());
  }
  CommandResult Replay(const std::string& file, int times) const {
    return RunWalkhammer({"replay", file, "--jdk", jdk_.home, "--times", std::to_string(times)});
  }

  TemporaryFolder folder_;
  Jdk jdk_;
};

inline CommandResult Fuzz(const Jdk& jdk, const std::string& walker, const std::string& out,
                          const std::vector<std::string>& more) {
  return RunWalkhammer(FuzzArguments(jdk, walker, out, more));
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_COMMAND_TESTING_H_
