// SPDX-License-Identifier: Apache-2.0
#include "harness/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

// The leaders of the groups that KillSpawned kills; 0: free. More groups than that run on.
std::atomic<pid_t> leaders[256];

void Replace(pid_t before, pid_t after) {
  for (std::atomic<pid_t>& leader : leaders)
    if (pid_t expected = before; leader.compare_exchange_strong(expected, after)) return;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> Environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** variable = environ; *variable != nullptr; variable++) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool known = false;
    for (const std::string& other : added) known |= other.starts_with(name);
    if (!known) all.emplace_back(text);
  }
  return all;
}

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void Exec(char* const* arguments, char* const* environment,
                       const SpawnOptions& options, pid_t parent) {
  if (options.own_group) setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before the line above
  if (!options.aslr) personality(ADDR_NO_RANDOMIZE);
  rlimit core{0, 0};
  if (options.writes_core && getrlimit(RLIMIT_CORE, &core) == 0) core.rlim_cur = core.rlim_max;
  setrlimit(RLIMIT_CORE, &core);
  const int null_fd = open("/dev/null", O_RDONLY);
  if (null_fd >= 0) dup2(null_fd, 0);
  dup2(options.output, 1);
  dup2(options.errors < 0 ? options.output : options.errors, 2);
  for (const int fd : options.inherited) fcntl(fd, F_SETFD, 0);
  for (const int ends : {SIGHUP, SIGINT}) ::signal(ends, options.own_group ? SIG_IGN : SIG_DFL);
  ::signal(SIGTERM, options.ignores_sigterm ? SIG_IGN : SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) _exit(126);
  execvpe(arguments[0], arguments, environment);
  _exit(127);
}

}  // namespace

Spawned::~Spawned() {
  Kill();
  Wait();
}

Status Spawned::Start(const SpawnOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = Environment(options.environment);
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);
  signal(SIGCHLD, SIG_DFL);  // while SIGCHLD is ignored, as some parents leave it, waitpid fails
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) Exec(argv.data(), envp.data(), options, parent);
  if (pid_ < 0) return ToolFailed("cannot start " + arguments[0] + ": " + std::strerror(errno));
  if (!options.own_group) return Ok();
  setpgid(pid_, pid_);  // in the child, too: whichever comes first
  Replace(0, pid_);
  return Ok();
}

// The group is killed between the end and the reaping: a reaped process's number, and so that of
// its group, may soon be another's.
bool Spawned::TakeEnd(int options) {
  siginfo_t end{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT | options) != 0) {
    if (errno == EINTR) return false;
    Replace(pid_, 0);  // somebody else has reaped it
    return true;
  }
  if (end.si_pid != pid_) return false;
  kill(-pid_, SIGKILL);
  Replace(pid_, 0);
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  return true;
}

bool Spawned::HasEnded() {
  if (pid_ > 0 && !ended_) ended_ = TakeEnd(WNOHANG);
  return ended_;
}

void Spawned::Wait() {
  while (pid_ > 0 && !ended_) ended_ = TakeEnd(0);
}

void Spawned::Signal(int signal) {
  if (pid_ > 0 && !ended_) kill(pid_, signal);  // not reaped, so the pid is still in use
}

// Kills the whole group: engines start processes, some through a shell.
void Spawned::Kill() {
  if (pid_ > 0 && !ended_ && kill(-pid_, SIGKILL) != 0) Signal(SIGKILL);
}

bool Spawned::ExitedCleanly() const {
  return ended_ && WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 0;
}

std::optional<bool> Spawned::IsAslrOff() const {
  const std::string text = ReadFile("/proc/" + std::to_string(pid_) + "/personality");
  unsigned long value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (pid_ <= 0 || ended_ || read.ec != std::errc()) return std::nullopt;
  return (value & ADDR_NO_RANDOMIZE) != 0;
}

void KillSpawned() {
  for (const std::atomic<pid_t>& leader : leaders)
    if (const pid_t pid = leader.load(); pid != 0) kill(-pid, SIGKILL);
}

bool CanSwitchAslrOff() {
  // 0xffffffff asks for the current value. Containers permit some values and not others, so the
  // wanted value is tried, and then undone.
  const int now = personality(0xffffffff);
  if (now == -1) return false;
  const auto before = static_cast<unsigned long>(now);
  if (personality(before | ADDR_NO_RANDOMIZE) == -1) return false;
  personality(before);
  return true;
}

}  // namespace walkhammer
