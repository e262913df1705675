// SPDX-License-Identifier: Apache-2.0
#include "harness/process/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <thread>

#include "harness/base/files.h"
#include "harness/process/interrupt.h"
#include "harness/process/signal_name.h"

namespace walkhammer {
namespace {

constexpr int kPipeBytes = 1 << 20;        // what a program prints between two looks at it
constexpr size_t kKeptOutput = 64 * 1024;  // bytes of the output's end

}  // namespace

Result<std::unique_ptr<Program>> Program::Start(const ProgramSetup& setup) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return ToolFailed(std::string("cannot make a pipe: ") + strerror(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);  // refused, the program waits more often
  std::unique_ptr<Program> program(new Program);
  program->pipe_ = ends[0];
  const Status started = program->process_.Start({.arguments = setup.arguments,
                                                  .environment = setup.environment,
                                                  .directory = setup.directory,
                                                  .inherited = setup.inherited,
                                                  .output = ends[1]});
  close(ends[1]);
  if (!started.ok()) return started.failure();
  return program;
}

Program::~Program() {
  Kill();
  if (pipe_ >= 0) close(pipe_);
}

// Reads a few megabytes at most: a program that prints without end must not hold us up.
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
  if (!ended_ && process_.HasEnded()) {
    ended_ = true;
    Drain();
  }
  return ended_;
}

bool Program::EndsWithin(std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!HasEnded()) {
    if (Interrupted().load() || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

namespace {

// The fields of /proc/PID/stat, or of that of a thread, after the command's name.
std::istringstream StatOf(const std::string& process_or_thread) {
  const std::string text = ReadFile("/proc/" + process_or_thread + "/stat");
  const size_t name_end = text.rfind(')');
  return std::istringstream(name_end == std::string::npos ? "" : text.substr(name_end + 1));
}

}  // namespace

uint64_t CpuMsOf(pid_t pid) {
  std::istringstream fields = StatOf(std::to_string(pid));
  std::string word;
  for (int i = 0; i < 11; i++) fields >> word;  // state .. cmajflt
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  return (user + system) * 1000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

char StateOf(pid_t pid, pid_t tid) {
  char state = 0;
  StatOf(std::to_string(pid) + "/task/" + std::to_string(tid)) >> state;
  return state;
}

bool IsAlive(pid_t pid) {
  const char state = StateOf(pid, pid);
  return state != 0 && state != 'Z' && state != 'X';
}

std::string Program::EndText() const {
  if (WIFSIGNALED(wait_status())) return SignalName(WTERMSIG(wait_status()));
  return "exit code " + std::to_string(WEXITSTATUS(wait_status()));
}

}  // namespace walkhammer
