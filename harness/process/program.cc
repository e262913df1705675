// SPDX-License-Identifier: Apache-2.0
#include "harness/process/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "harness/base/files.h"
#include "harness/process/signal_name.h"

namespace walkhammer {
namespace {

constexpr size_t kKeptOutput = 64 * 1024;  // bytes of its end

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
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
    for (const std::string& other : added) known |= std::string_view(other).starts_with(name);
    if (!known) all.emplace_back(text);
  }
  return all;
}

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void Exec(char* const* arguments, char* const* environment, const char* directory,
                       const std::vector<int>& inherited, int output, pid_t parent) {
  setpgid(0, 0);  // a terminal's Ctrl-C reaches the supervisor, which ends it in order
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int null_fd = open("/dev/null", O_RDONLY);
  if (null_fd >= 0) dup2(null_fd, 0);
  dup2(output, 1);
  dup2(output, 2);
  for (int fd : inherited) fcntl(fd, F_SETFD, 0);
  for (int ends : {SIGHUP, SIGINT}) ::signal(ends, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (directory[0] != 0 && chdir(directory) != 0) _exit(126);
  execvpe(arguments[0], arguments, environment);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<Program>> Program::Start(const ProgramSetup& setup) {
  std::vector<std::string> arguments = setup.arguments;
  std::vector<std::string> environment = Environment(setup.environment);
  std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return ToolFailed(std::string("cannot make a pipe: ") + strerror(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<Program> program(new Program);
  program->pipe_ = ends[0];
  signal(SIGCHLD, SIG_DFL);  // ignored, as some parents leave it, children could not be waited for
  const pid_t parent = getpid();
  program->pid_ = fork();
  if (program->pid_ == 0)
    Exec(argv.data(), envp.data(), setup.directory.c_str(), setup.inherited, ends[1], parent);
  close(ends[1]);
  if (program->pid_ < 0)
    return ToolFailed(std::string("cannot start a program: ") + strerror(errno));
  setpgid(program->pid_, program->pid_);  // also here: whoever comes first
  return program;
}

Program::~Program() {
  if (pid_ > 0) {
    Kill();
    while (!ended_ && waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
    }
  }
  if (pipe_ >= 0) close(pipe_);
}

// At most a few megabytes at a time: who prints without end must not hold us up.
void Program::Drain() {
  char buffer[65536];
  for (int i = 0; i < 64; i++) {
    const ssize_t got = read(pipe_, buffer, sizeof buffer);
    if (got <= 0) return;
    output_bytes_ += static_cast<uint64_t>(got);
    output_.append(buffer, static_cast<size_t>(got));
    if (output_.size() > 2 * kKeptOutput) output_.erase(0, output_.size() - kKeptOutput);
  }
}

bool Program::HasEnded() {
  Drain();
  if (!ended_ && waitpid(pid_, &wait_status_, WNOHANG) == pid_) {
    ended_ = true;
    Drain();
    kill(-pid_, SIGKILL);  // what it has left behind
  }
  return ended_;
}

void Program::Terminate() {
  if (!ended_) kill(pid_, SIGTERM);
}

void Program::Kill() {
  if (!ended_ && kill(-pid_, SIGKILL) != 0) kill(pid_, SIGKILL);
}

namespace {

// The fields of /proc/PID/stat behind the command's name.
std::istringstream StatOf(pid_t pid) {
  const std::string text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = text.rfind(')');
  return std::istringstream(name_end == std::string::npos ? "" : text.substr(name_end + 1));
}

}  // namespace

uint64_t CpuMsOf(pid_t pid) {
  std::istringstream fields = StatOf(pid);
  std::string word;
  for (int i = 0; i < 11; i++) fields >> word;  // state .. cmajflt
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  return (user + system) * 1000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

bool IsAlive(pid_t pid) {
  std::string state;
  StatOf(pid) >> state;
  return !state.empty() && state != "Z" && state != "X";
}

std::string Program::EndWords() const {
  if (WIFSIGNALED(wait_status_)) return SignalName(WTERMSIG(wait_status_));
  return "exit code " + std::to_string(WEXITSTATUS(wait_status_));
}

}  // namespace walkhammer
