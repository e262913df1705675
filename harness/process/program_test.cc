// SPDX-License-Identifier: Apache-2.0
// A workload's process: its output, its end, and what it leaves behind.
#include "harness/process/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/process/log_file.h"
#include "harness/process/oom_kills.h"
#include "harness/process/scratch.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Program> Shell(const std::string& script, std::vector<std::string> environment = {},
                               const std::string& directory = "") {
  return Must(Program::Start({{"sh", "-c", script}, std::move(environment), directory}));
}

// Waits for at most 20 s.
bool Becomes(const std::function<bool()>& true_soon) {
  for (int i = 0; i < 2000 && !true_soon(); i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return true_soon();
}
bool Ends(Program& program) {
  return Becomes([&] { return program.HasEnded(); });
}

pid_t PidIn(const std::string& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}
// True if the process whose id is in the file is gone soon.
bool IsGone(const std::string& file) {
  const pid_t pid = PidIn(file);
  EXPECT_GT(pid, 0);
  return Becomes([&] { return !IsAlive(pid); });
}

TEST(Program, TellsHowItEnded) {
  auto program = Shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(Ends(*program));
  EXPECT_EQ(program->EndText(), "exit code 3");
  EXPECT_THAT(program->output(), HasSubstr("out\n"));
  EXPECT_THAT(program->output(), HasSubstr("err\n"));
  auto killed = Shell("kill -ABRT $$");
  ASSERT_TRUE(Ends(*killed));
  EXPECT_EQ(killed->EndText(), "SIGABRT");
}

TEST(Spawned, WhatCannotBeRunTellsSoByItsExitCode) {
  for (const auto& [options, code] :
       {std::pair{SpawnOptions{.arguments = {"no-such-program"}}, 127},
        {SpawnOptions{.arguments = {"true"}, .directory = "/no/such/folder"}, 126},
        {SpawnOptions{.arguments = {"true"}, .own_group = false}, 0}}) {
    Spawned process;
    ASSERT_TRUE(process.Start(options).ok());
    process.Wait();
    EXPECT_TRUE(process.HasEnded());
    EXPECT_EQ(WEXITSTATUS(process.wait_status()), code) << options.arguments[0];
    EXPECT_EQ(process.ExitedCleanly(), code == 0);
    process.Signal(SIGKILL);  // goes to no process
  }
  Spawned never;
  EXPECT_FALSE(never.HasEnded());
}

TEST(Spawned, LeadsAGroupOrStaysInOurs) {
  for (const bool own_group : {true, false}) {
    Spawned process;
    ASSERT_TRUE(process.Start({.arguments = {"sleep", "100"}, .own_group = own_group}).ok());
    EXPECT_EQ(getpgid(process.pid()) == process.pid(), own_group);
    process.Kill();
    process.Wait();
    EXPECT_EQ(WTERMSIG(process.wait_status()), SIGKILL);
  }
}

TEST(Spawned, WhatItHasLeftBehindEndsWithIt) {
  ScratchFolder scratch;
  const std::string file = scratch.path() + "/pid";
  {
    Spawned process;
    ASSERT_TRUE(process.Start({.arguments = {"sh", "-c", "sleep 100 & echo $! >" + file}}).ok());
    siginfo_t ended{};  // not reaped
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(process.pid()), &ended, WEXITED | WNOWAIT), 0);
  }
  EXPECT_TRUE(IsGone(file));
}

// Its end is known only once they are gone: the number of its group may be another's by then.
TEST(Spawned, WhatItHasLeftBehindIsGoneWhenItsEndIsTold) {
  ScratchFolder scratch;
  const std::string file = scratch.path() + "/pid";
  for (const bool waits : {false, true}) {
    Spawned process;
    ASSERT_TRUE(process.Start({.arguments = {"sh", "-c", "sleep 100 & echo $! >" + file}}).ok());
    if (waits) process.Wait();
    ASSERT_TRUE(Becomes([&] { return process.HasEnded(); }));
    EXPECT_TRUE(process.ExitedCleanly());
    EXPECT_TRUE(IsGone(file)) << waits;
  }
}

TEST(Spawned, TellsWhetherItsAddressesAreRandom) {
  if (!CanSwitchAslrOff()) GTEST_SKIP() << "this kernel does not let us";
  for (const bool aslr : {true, false}) {
    Spawned process;
    EXPECT_FALSE(process.IsAslrOff().has_value()) << "nothing runs";
    ASSERT_TRUE(process.Start({.arguments = {"sleep", "100"}, .aslr = aslr}).ok());
    EXPECT_TRUE(Becomes([&] { return process.IsAslrOff() == !aslr; }));
    process.Kill();
    process.Wait();
    EXPECT_FALSE(process.IsAslrOff().has_value()) << "nothing runs any more";
  }
}

TEST(LogFile, StaysSmallAndKeepsTheEnd) {
  ScratchFolder scratch;
  const std::string path = scratch.path() + "/log";
  {
    LogFile log;
    ASSERT_TRUE(log.Open(path).ok());
    EXPECT_EQ(log.End(), "");
    Spawned process;
    const auto print = [&](const std::string& script) {
      Spawned shell;
      ASSERT_TRUE(shell.Start({.arguments = {"sh", "-c", script}, .output = log.fd()}).ok());
      shell.Wait();
      EXPECT_TRUE(shell.ExitedCleanly());
    };
    print("echo first");
    log.Trim();
    EXPECT_EQ(log.End(), "first\n") << "nothing is cut of what is small";
    // One process that prints on while the file is cut.
    ASSERT_TRUE(process
                    .Start({.arguments = {"sh", "-c", "yes walkhammer | head -c 30000000"},
                            .output = log.fd()})
                    .ok());
    while (!process.HasEnded()) {
      log.Trim();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    log.Trim();
    EXPECT_LE(std::filesystem::file_size(path), LogFile::kMost);
    print("echo last");
    const std::string end = log.End();
    EXPECT_EQ(end.size(), LogFile::kKept);
    EXPECT_THAT(end, testing::EndsWith("last\n"));
    EXPECT_THAT(end, testing::Not(HasSubstr("first")));
    EXPECT_EQ(log.End(5), "last\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  LogFile nowhere;
  EXPECT_THAT(nowhere.Open("/no/such/folder/log"),
              FailsWith(testing::_, HasSubstr("/no/such/folder/log")));
}

// As files of the kernel: version 2, version 1, and neither.
TEST(OomKills, AreThoseOfTheMemoryControlGroup) {
  const TemporaryFolder folder;
  const auto machine = [&](const std::string& name, const std::string& groups,
                           const std::vector<std::pair<std::string, std::string>>& files) {
    folder.Write(name + "/proc/self/cgroup", groups);
    for (const auto& [path, text] : files) folder.Write(name + "/sys/fs/cgroup" + path, text);
    return folder.Under(name);
  };
  const std::string events = "low 0\nhigh 4\nmax 9\noom 5\noom_kill 3\noom_group_kill 1\n";
  EXPECT_EQ(OomKills(machine("v2", "0::/a/b\n", {{"/a/b/memory.events", events}})), 3u);
  EXPECT_EQ(OomKills(machine("inside", "0::/a/b\n", {{"/memory.events", events}})), 3u);
  EXPECT_EQ(OomKills(machine("v1", "5:cpu,cpuacct:/c\n4:memory:/m\n0::/\n",
                             {{"/memory/m/memory.oom_control",
                               "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"}})),
            7u);
  EXPECT_EQ(OomKills(machine("silent", "0::/a\n", {{"/a/memory.events", "oom 5\noom_kill"}})), 0u);
  EXPECT_EQ(OomKills(machine("none", "", {})), 0u);
  const std::string root = machine("since", "0::/a/b\n", {{"/a/b/memory.events", events}});
  EXPECT_EQ(OomKillsSince(1, root), 2u);
  EXPECT_EQ(OomKillsSince(3, root), 0u);
  EXPECT_EQ(OomKillsSince(4, root), 0u) << "of another group";
}

TEST(Program, CountsWhatItKeepsOnlyTheEndOf) {
  auto program = Shell("head -c 3000000 /dev/zero; echo last");
  ASSERT_TRUE(Ends(*program));
  EXPECT_EQ(program->output_bytes(), 3000005u);
  EXPECT_LE(program->output().size(), 128u * 1024);
  EXPECT_THAT(program->output(), HasSubstr("last\n"));
}

TEST(Program, CountsATextHoweverItIsPrinted) {
  // A text in two writes, one right after another, one cut off by another letter.
  auto program = Must(Program::Start(
      {.arguments = {"sh", "-c",
                     "printf 'abab ab'; sleep 0.2; printf 'ab xabab\\nab'; echo ab >&2"},
       .errors_apart = true,
       .counted = {"abab", "", "b x"}}));
  ASSERT_TRUE(Ends(*program));
  EXPECT_EQ(program->output(), "abab abab xabab\nab");
  EXPECT_EQ(program->counted(0), 3u);
  EXPECT_EQ(program->counted(1), 0u) << "an empty text";
  EXPECT_EQ(program->counted(2), 1u);
  EXPECT_EQ(program->errors(), "ab\n");
}

TEST(Program, EnvironmentAndDirectoryAreAsGiven) {
  setenv("WALKHAMMER_TEST", "ours", 1);
  ScratchFolder scratch;
  auto program = Shell("echo $WALKHAMMER_TEST; pwd", {"WALKHAMMER_TEST=added"}, scratch.path());
  ASSERT_TRUE(Ends(*program));
  EXPECT_EQ(program->output(), "added\n" + scratch.path() + "\n");
}

TEST(Program, WhatItStartedEndsWithIt) {
  ScratchFolder scratch;
  const std::string pid_file = scratch.path() + "/pid";
  {
    auto program = Shell("sleep 1000 & echo $! > " + pid_file + "; wait");
    ASSERT_TRUE(Becomes([&] { return PidIn(pid_file) != 0; }));
  }
  EXPECT_TRUE(IsGone(pid_file));
}

TEST(Program, MissingProgramIsAnEndNotAFailure) {
  auto program = Must(Program::Start({{"/nonexistent/java"}, {}, "", {}}));
  ASSERT_TRUE(Ends(*program));
  EXPECT_EQ(program->EndText(), "exit code 127");
}

TEST(Program, CpuTimeGrows) {
  auto program = Shell("while :; do :; done");
  EXPECT_TRUE(Becomes([&] { return CpuMsOf(program->pid()) >= 50; }));
}

}  // namespace
}  // namespace walkhammer
