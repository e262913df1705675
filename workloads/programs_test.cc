// SPDX-License-Identifier: Apache-2.0
// Runs workloads to their end on every JDK found: two small workloads, or those that match the
// pattern in $WALKHAMMER_WORKLOAD, such as 'debian:*'. Prints the time that each took.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/jvm/images/jdk.h"
#include "workloads/catalogue.h"

namespace walkhammer {
namespace {

double Cpu(const rusage& used) {
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Runs the command with its output in `log` and returns the wait status.
int Run(const std::string& java, const WorkloadCommand& command, const std::string& log,
        rusage& used) {
  std::vector<std::string> words = {java};
  words.insert(words.end(), command.jvm_flags.begin(), command.jvm_flags.end());
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    if (chdir(command.directory.c_str()) == 0) execv(argv[0], argv.data());
    _exit(127);
  }
  int status = -1;
  wait4(pid, &status, 0, &used);
  return status;
}

uintmax_t BytesIn(const std::string& folder) {
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void RunOn(const Jdk& jdk, const Workload& workload, const std::string& home, int rounds) {
  SCOPED_TRACE(jdk.home + " " + workload.FullName());
  const TemporaryFolder folder;
  const std::string& scratch = folder.path();
  Result<WorkloadCommand> command =
      PrepareWorkload(workload, jdk.feature, {.home = home, .scratch = scratch});
  if (!command.ok()) {
    EXPECT_EQ(command.failure().code, ExitCode::kUnable) << command.failure().message;
    fmt::print("{}\n", command.failure().message);
    return;
  }
  for (int round = 0; round < rounds; round++) {
    rusage used = {};
    const auto begin = std::chrono::steady_clock::now();
    const int status = Run(jdk.home + "/bin/java", command.value(), scratch + "/log", used);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ReadFile(scratch + "/log");
    fmt::print("{:18} JDK {}: {:5.1f} s wall, {:5.1f} s CPU\n", workload.FullName(), jdk.feature,
               wall.count(), Cpu(used));
    std::fflush(stdout);
    // batik and xalan exit with 0 whatever happened.
    const auto writes = [](const std::string& arg) { return arg.find("{scratch}") != arg.npos; };
    if (std::any_of(workload.args.begin(), workload.args.end(), writes)) {
      EXPECT_GT(BytesIn(command.value().directory), 1000u);
    }
    if (!workload.repeat) break;
  }
}

TEST(Programs, RunToTheirEnd) {
  const std::string folder = BesideExecutable("workloads");
  Result<std::vector<Workload>> all = LoadCatalogues(folder);
  ASSERT_TRUE(all.ok()) << all.failure().message;
  std::vector<std::string> patterns = {"debian:xalan", "debian:ecj"};
  int rounds = 1;
  if (const char* pattern = std::getenv("WALKHAMMER_WORKLOAD")) {
    patterns = {pattern};
    rounds = 2;  // in the same folder, since stress starts many again and again
  }
  Result<std::vector<const Workload*>> chosen = SelectWorkloads(all.value(), patterns);
  ASSERT_TRUE(chosen.ok()) << chosen.failure().message;
  const std::vector<Jdk> jdks = FindJdks();
  if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
  for (const Workload* workload : chosen.value()) {
    for (const Jdk& jdk : jdks) {
      RunOn(jdk, *workload, std::filesystem::path(folder).parent_path(), rounds);
    }
  }
}

}  // namespace
}  // namespace walkhammer
