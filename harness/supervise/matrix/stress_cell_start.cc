// SPDX-License-Identifier: Apache-2.0
// The part of StressCell that starts a program, or attaches to one that runs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/shell.h"
#include "harness/supervise/matrix/stress_cell.h"

namespace walkhammer {
namespace {

std::string UsersPreload() {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload == nullptr || preload[0] == 0 ? "" : std::string(":") + preload;
}

// Where a running JVM will write its hs_err log, if nobody has told it otherwise; empty if not
// known, or if there is one already, of an older process with this pid.
std::string HsErrPathOf(pid_t pid) {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), error);
  if (error) return "";
  std::string path = folder / fmt::format("hs_err_pid{}.log", pid);
  return std::filesystem::exists(path, error) ? "" : path;
}

}  // namespace

Status StressCell::StartProgram() {
  ForgetProgram();
  auto flags = plan_.lane->flags(ForLane());
  if (!flags.ok()) {
    End(CellStatus::kUnavailable, flags.failure().message);
    return Ok();
  }
  ProgramSetup setup;
  setup.arguments = {plan_.java};
  for (const auto* list : {&flags.value(), &load_.jvm_flags, &plan_.jvm_flags, &load_.arguments})
    setup.arguments.insert(setup.arguments.end(), list->begin(), list->end());
  setup.arguments.insert(setup.arguments.begin() + 1, "-XX:ErrorFile=" + hs_err_path_);
  if (plan_.platform.feature != 8)  // JDK 8 knows no such flag
    setup.arguments.insert(setup.arguments.begin() + 1, "-XX:-CreateCoredumpOnCrash");
  setup.directory = load_.directory.empty() ? plan_.scratch : load_.directory;
  setup.inherited = {state_fd_};
  if (plan_.lane->own_agent) {
    ASSIGN_OR_RETURN(auto agent, PlainPath(plan_.platform.File(kAgentName), AgentLink()));
    setup.environment = {
        std::string(kStateVariable) + "=/proc/self/fd/" + std::to_string(state_fd_),
        "LD_PRELOAD=" + agent + UsersPreload()};
  }
  setup.environment.push_back("TMPDIR=" + plan_.scratch);
  if (plan_.row.jvm_flags.empty()) {
    std::string words;
    for (size_t i = 1; i < setup.arguments.size() - load_.arguments.size(); i++)
      words += (words.empty() ? "" : " ") + setup.arguments[i];
    plan_.row.jvm_flags = words;
  }
  setup.arguments = plan_.platform.Command(setup.arguments, setup.environment);
  ASSIGN_OR_RETURN(program_, Program::Start(setup));
  plan_.row.starts++;
  return Ok();
}

// jcmd loads the agent into the running JVM. The agent opens this process's state_fd_ through
// /proc.
Status StressCell::StartAttached() {
  hs_err_path_ = HsErrPathOf(plan_.attach_pid);
  ASSIGN_OR_RETURN(auto agent, PlainPath(plan_.platform.File(kAgentName), AgentLink()));
  ProgramSetup setup;
  setup.arguments = {plan_.jcmd, std::to_string(plan_.attach_pid), "JVMTI.agent_load", agent,
                     fmt::format("/proc/{}/fd/{}", getpid(), state_fd_)};
  ASSIGN_OR_RETURN(program_, Program::Start(setup));
  plan_.row.starts++;
  return Ok();
}

}  // namespace walkhammer
