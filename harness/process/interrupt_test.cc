// SPDX-License-Identifier: Apache-2.0
#include "harness/process/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "harness/base/files.h"
#include "harness/process/program.h"
#include "harness/process/scratch.h"
#include "harness/process/spawn.h"

namespace walkhammer {
namespace {

// The wait status of a process that catches interrupts and gets `signal` `times` times; it exits
// with 1 if it is interrupted, else with 0.
int StatusAfter(int signal, int times, void (*before)(int) = SIG_DFL) {
  const pid_t child = fork();
  if (child == 0) {
    ::signal(signal, before);
    CatchInterrupts();
    for (int i = 0; i < times; i++) raise(signal);
    _exit(Interrupted().load() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Interrupts, TheFirstSetsAFlagAndTheSecondEnds) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(WEXITSTATUS(StatusAfter(signal, 0)), 0) << signal;
    const int first = StatusAfter(signal, 1);
    EXPECT_TRUE(WIFEXITED(first)) << signal;
    EXPECT_EQ(WEXITSTATUS(first), 1) << signal;
    EXPECT_EQ(WEXITSTATUS(StatusAfter(signal, 2)), 128 + signal) << signal;
  }
}

TEST(Interrupts, TheSecondEndsWhatWasStarted) {
  const ScratchFolder scratch;
  const std::string file = scratch.path() + "/pid";
  const pid_t child = fork();
  if (child == 0) {
    CatchInterrupts();
    Spawned program;
    (void)program.Start({.arguments = {"sh", "-c", "sleep 1000 & echo $! >" + file + "; wait"}});
    while (!ReadFile(file).ends_with('\n')) usleep(1000);
    raise(SIGINT);
    raise(SIGINT);
  }
  waitpid(child, nullptr, 0);
  const pid_t grandchild = std::stoi(ReadFile(file));
  for (int i = 0; i < 60000 && IsAlive(grandchild); i++) usleep(1000);
  EXPECT_FALSE(IsAlive(grandchild));
}

TEST(Interrupts, AFileThatGrowsTooLargeIsAnError) {
  const int status = StatusAfter(SIGXFSZ, 1);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupts, NohupStays) {
  const int status = StatusAfter(SIGHUP, 2, SIG_IGN);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace walkhammer
