// SPDX-License-Identifier: Apache-2.0
// Runs workloads to their end on every JDK found: two small workloads, or those that match the
// pattern in $WALKHAMMER_WORKLOAD, such as 'debian:*'. Prints the time that each took.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "harness/base/names.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/jvm/images/jdk.h"
#include "harness/process/log_file.h"
#include "harness/process/spawn.h"
#include "workloads/catalogue.h"

namespace walkhammer {
namespace {

// CPU time of the processes that have ended, in s.
double CpuOfChildren() {
  rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Runs the command with its output in `log`. True: it ended with exit code 0.
bool Runs(const std::string& java, const WorkloadCommand& command, const LogFile& log) {
  SpawnOptions options{.arguments = {java}, .directory = command.directory, .output = log.fd()};
  for (const auto* words : {&command.jvm_flags, &command.arguments})
    options.arguments.insert(options.arguments.end(), words->begin(), words->end());
  Spawned process;
  EXPECT_TRUE(process.Start(options).ok());
  process.Wait();
  return process.ExitedCleanly();
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
    LogFile log;
    ASSERT_TRUE(log.Open(scratch + "/log").ok());
    const double cpu = CpuOfChildren();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(Runs(jdk.home + "/bin/java", command.value(), log)) << log.End();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    fmt::print("{:18} JDK {}: {:5.1f} s wall, {:5.1f} s CPU\n", workload.FullName(), jdk.feature,
               wall.count(), CpuOfChildren() - cpu);
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
  auto all = Must(LoadCatalogues(folder));
  std::vector<std::string> patterns = {"debian:xalan", "debian:ecj"};
  int rounds = 1;
  if (const char* pattern = std::getenv("WALKHAMMER_WORKLOAD")) {
    patterns = {pattern};
    rounds = 2;  // in the same folder, since stress starts many again and again
  }
  auto chosen = Must(SelectWorkloads(all, patterns));
  const std::vector<Jdk> jdks = FindJdks();
  if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
  for (const Workload* workload : chosen) {
    for (const Jdk& jdk : jdks) {
      RunOn(jdk, *workload, std::filesystem::path(folder).parent_path(), rounds);
    }
  }
}

}  // namespace
}  // namespace walkhammer
