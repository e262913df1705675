// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/base/files.h"
#include "harness/base/names.h"

namespace walkhammer {
namespace {

constexpr size_t kMostOutput = 64 * 1024;  // bytes of a child's output that are read back

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void Exec(char* const* arguments, char* const* environment, int shared_fd, int log_fd,
                       bool aslr, pid_t parent) {
  // Its own group: a terminal's Ctrl-C reaches the parent, which ends the child in order.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  if (!aslr) personality(ADDR_NO_RANDOMIZE);
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int null_fd = open("/dev/null", O_RDONLY);
  if (null_fd >= 0) dup2(null_fd, 0);
  dup2(log_fd, 1);
  dup2(log_fd, 2);
  fcntl(shared_fd, F_SETFD, 0);
  // Who ends a service or a container tells all of its processes. The parent ends its children; a
  // JVM that ends by itself would look like one that a walk has killed.
  for (int ends : {SIGHUP, SIGINT, SIGTERM}) ::signal(ends, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(arguments[0], arguments, environment);
  _exit(127);
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

bool CanSwitchAslrOff() {
  // 0xffffffff asks what is set now. Containers permit some values and not others, so the one that
  // is wanted is tried, and taken back.
  const int now = personality(0xffffffff);
  if (now == -1) return false;
  const auto before = static_cast<unsigned long>(now);
  if (personality(before | ADDR_NO_RANDOMIZE) == -1) return false;
  personality(before);
  return true;
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(SharedMapping& shared,
                                                          const ChildSetup& setup) {
  ASSIGN_OR_RETURN(auto base, BaseFlags(setup.platform.feature));
  static std::atomic<int> number{0};
  const std::string stem = setup.scratch + "/child-" + std::to_string(number++);
  std::vector<std::string> flags = std::move(base);
  flags.push_back("-XX:ErrorFile=" + stem + ".hs_err");
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
  // The descriptor is inherited, also through an engine that starts its target itself.
  environment.push_back(std::string(kStateVariable) + "=/proc/self/fd/" +
                        std::to_string(shared.fd()));
  for (char** variable = environ; *variable != nullptr; variable++)
    environment.push_back(*variable);
  std::vector<char*> arguments = Pointers(command), variables = Pointers(environment);

  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->scratch_ = stem;
  child->log_path_ = stem + ".log";
  const int log_fd = open(child->log_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log_fd < 0) return ToolFailed("cannot write " + child->log_path_ + ": " + strerror(errno));
  ForgetChild(shared.state());
  signal(SIGCHLD, SIG_DFL);  // ignored, as some parents leave it, children could not be waited for
  const pid_t parent = getpid();
  child->pid_ = fork();
  if (child->pid_ == 0)
    Exec(arguments.data(), variables.data(), shared.fd(), log_fd, setup.aslr, parent);
  close(log_fd);
  if (child->pid_ < 0) return ToolFailed(std::string("cannot start a child: ") + strerror(errno));
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !HasEnded()) {
    Kill();
    while (!ended_ && waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code ignored;
  std::filesystem::remove(log_path_, ignored);
  std::filesystem::remove(scratch_ + ".hs_err", ignored);
}

bool ChildProcess::HasEnded() {
  if (!ended_ && waitpid(pid_, &wait_status_, WNOHANG) == pid_) ended_ = true;
  return ended_;
}

// It leads a group of its own, unless it has not got there yet. Engines start processes, some
// through a shell.
void ChildProcess::Kill() {
  if (!ended_ && kill(-pid_, SIGKILL) != 0) Signal(SIGKILL);
}

void ChildProcess::Signal(int signal) {
  if (!ended_) kill(pid_, signal);  // unreaped, so the pid is still the child's
}

bool ChildProcess::ExitedCleanly() const {
  return ended_ && WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 0;
}

std::string ChildProcess::Output() const { return ReadFile(log_path_, kMostOutput); }
std::string ChildProcess::HsErr() const { return ReadFile(scratch_ + ".hs_err", 1 << 20); }

void ChildProcess::DropHsErr() {
  std::error_code ignored;
  std::filesystem::remove(scratch_ + ".hs_err", ignored);
}

}  // namespace walkhammer
