// SPDX-License-Identifier: Apache-2.0
#include "harness/process/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

// Makes a pipe that is read without waiting. Returns the end to write to.
Result<int> MakePipe(int& reading) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return ToolFailed(std::string("cannot make a pipe: ") + strerror(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);  // refused, the program waits more often
  reading = ends[0];
  return ends[1];
}

void AppendToEnd(std::string_view printed, std::string& end) {
  end.append(printed);
  if (end.size() > 2 * kKeptOutput) end.erase(0, end.size() - kKeptOutput);
}

}  // namespace

Result<std::unique_ptr<Program>> Program::Start(const ProgramSetup& setup) {
  std::unique_ptr<Program> program(new Program);
  for (const std::string& text : setup.counted) program->counted_.push_back({text, ""});
  SpawnOptions options = {.arguments = setup.arguments,
                          .environment = setup.environment,
                          .directory = setup.directory,
                          .inherited = setup.inherited};
  ASSIGN_OR_RETURN(options.output, MakePipe(program->pipe_));
  Status started = Ok();
  if (setup.errors_apart) {
    auto errors = MakePipe(program->error_pipe_);
    if (errors.ok())
      options.errors = errors.value();
    else
      started = errors.failure();
  }
  if (started.ok()) started = program->process_.Start(options);
  close(options.output);
  if (options.errors >= 0) close(options.errors);
  if (!started.ok()) return started.failure();
  return program;
}

Program::~Program() {
  Kill();
  if (pipe_ >= 0) close(pipe_);
  if (error_pipe_ >= 0) close(error_pipe_);
}

void Program::Counted::Take(std::string_view printed) {
  if (text.empty()) return;
  rest.append(printed);
  size_t at = 0;
  for (size_t next; (next = rest.find(text, at)) != std::string::npos; times++)
    at = next + text.size();
  rest.erase(0, rest.size() - std::min(text.size() - 1, rest.size() - at));
}

void Program::Take(std::string_view printed) {
  output_bytes_ += printed.size();
  AppendToEnd(printed, output_);
  for (Counted& each : counted_) each.Take(printed);
}

// Reads a few megabytes at most: a program that prints without end must not hold us up.
void Program::Drain() {
  char buffer[65536];
  for (int i = 0; i < 64; i++) {
    const ssize_t got = read(pipe_, buffer, sizeof buffer);
    if (got <= 0) break;
    Take({buffer, static_cast<size_t>(got)});
  }
  for (int i = 0; i < 64 && error_pipe_ >= 0; i++) {
    const ssize_t got = read(error_pipe_, buffer, sizeof buffer);
    if (got <= 0) break;
    AppendToEnd({buffer, static_cast<size_t>(got)}, errors_);
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
