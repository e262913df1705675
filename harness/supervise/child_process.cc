// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/findings/crash_error_text.h"
#include "harness/ipc/launch.h"

namespace walkhammer {

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(SharedMapping& shared,
                                                          const ChildSetup& setup) {
  ASSIGN_OR_RETURN(auto base, BaseFlags(setup.platform.feature));
  static std::atomic<int> number{0};
  const std::string stem = setup.scratch + "/child-" + std::to_string(number++);
  std::vector<std::string> flags = std::move(base);
  flags.push_back("-XX:ErrorFile=" + stem + ".hs_err");
  if (!setup.cores.empty()) flags.push_back("-XX:+CreateCoredumpOnCrash");
  flags.insert(flags.end(), setup.jvm_flags.begin(), setup.jvm_flags.end());
  RETURN_IF_ERROR(SetLaunch(shared.state(), setup.libjvm, flags, setup.provider));

  std::vector<std::string> command = setup.command;
  if (command.empty()) {
    const std::string program = setup.platform.File(kChildName);
    if (access(program.c_str(), X_OK) != 0)
      return ToolFailed(program + " is missing: build it again");
    command = setup.platform.Command({program});
  }
  std::vector<std::string> environment = setup.environment;
  // The child inherits the descriptor, even through an engine that starts its target itself.
  environment.push_back(std::string(kStateVariable) + "=/proc/self/fd/" +
                        std::to_string(shared.fd()));
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->scratch_ = stem;
  RETURN_IF_ERROR(child->log_.Open(stem + ".log"));
  ForgetChild(shared.state());
  // `ignores_sigterm`: a service manager sends SIGTERM to all processes of a service. A JVM that
  // ended by it would look like one that a walk has killed.
  RETURN_IF_ERROR(child->process_.Start({.arguments = std::move(command),
                                         .environment = std::move(environment),
                                         .directory = setup.cores,
                                         .inherited = {shared.fd()},
                                         .output = child->log_.fd(),
                                         .aslr = setup.aslr,
                                         .ignores_sigterm = true,
                                         .writes_core = !setup.cores.empty()}));
  return child;
}

ChildProcess::~ChildProcess() {
  Kill();
  process_.Wait();  // before the files go: a child that still runs could write them again
  DropHsErr();
}

bool ChildProcess::HasEnded() {
  log_.Trim();
  return process_.HasEnded();
}

std::string ChildProcess::HsErr() const { return ReadFile(scratch_ + ".hs_err", 1 << 20); }

std::string ChildProcess::KilledFromOutside(int wait_status, bool by_us) const {
  const std::string hs_err = HsErr();
  if (!hs_err.empty()) return KilledBy(hs_err);
  const bool is_kill = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  return is_kill && !by_us ? "SIGKILL (was the memory full?)" : "";
}

void ChildProcess::DropHsErr() {
  std::error_code ignored;
  std::filesystem::remove(scratch_ + ".hs_err", ignored);
}

}  // namespace walkhammer
