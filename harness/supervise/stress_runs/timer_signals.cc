// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/timer_signals.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/process/program.h"
#include "harness/process/service_thread.h"

namespace walkhammer {
namespace {

constexpr uint64_t kLookEveryNs = 10'000'000;    // which threads run; their files in /proc are slow
constexpr uint64_t kLongestWaitNs = 10'000'000;  // so that the end does not wait for an interval

// proc(5): /proc/PID/status, SigCgt.
bool Handles(pid_t pid, int signal) {
  const std::string status = ReadFile(fmt::format("/proc/{}/status", pid));
  constexpr std::string_view kField = "SigCgt:\t";
  const size_t at = status.find(kField);
  if (at == std::string::npos) return false;
  uint64_t caught = 0;
  std::from_chars(status.data() + at + kField.size(), status.data() + status.size(), caught, 16);
  return (caught >> (signal - 1) & 1) != 0;
}

// The number after `field`, in what is left of `line`; -1: `line` begins otherwise.
int64_t NumberAfter(std::string_view field, std::string_view line) {
  int64_t number = -1;
  if (line.starts_with(field))
    std::from_chars(line.data() + field.size(), line.data() + line.size(), number);
  return number;
}

// The threads that timers send `signal` to: proc(5), /proc/PID/timers. None if the kernel lacks
// that file (CONFIG_CHECKPOINT_RESTORE).
std::vector<pid_t> TimedThreads(pid_t pid, int signal) {
  std::vector<pid_t> timed;
  bool wanted = false;
  for (const std::string& line : Split(ReadFile(fmt::format("/proc/{}/timers", pid)), '\n')) {
    if (const int64_t number = NumberAfter("signal: ", line); number >= 0)
      wanted = number == signal;
    const int64_t tid = NumberAfter("notify: signal/tid.", line);
    if (wanted && tid > 0) timed.push_back(static_cast<pid_t>(tid));
  }
  return timed;
}

std::vector<pid_t> RunningThreads(pid_t pid, int signal) {
  std::vector<pid_t> threads = TimedThreads(pid, signal);
  std::erase_if(threads, [&](pid_t tid) { return StateOf(pid, tid) != 'R'; });
  return threads;
}

}  // namespace

TimerSignals::TimerSignals(pid_t pid, int signal, uint64_t interval_min_ns,
                           uint64_t interval_max_ns)
    : pid_(pid),
      signal_(signal),
      interval_min_ns_(interval_min_ns),
      interval_max_ns_(interval_max_ns) {
  const auto run = [](void* self) -> void* {
    static_cast<TimerSignals*>(self)->Run();
    return nullptr;
  };
  if (auto started = StartThread("wh-timer", run, this); started.ok()) thread_ = started.value();
}

TimerSignals::~TimerSignals() {
  stop_ = true;
  if (thread_) pthread_join(*thread_, nullptr);
}

void TimerSignals::WaitForNext() {
  if (interval_max_ns_ == 0) return;
  const uint64_t spread = interval_max_ns_ - interval_min_ns_;
  const uint64_t until = MonotonicNs() + interval_min_ns_ + random_.Next() % (spread + 1);
  for (uint64_t now = MonotonicNs(); now < until && !stop_; now = MonotonicNs()) {
    const uint64_t ns = std::min(until - now, kLongestWaitNs);
    const timespec part{0, static_cast<long>(ns)};
    nanosleep(&part, nullptr);
  }
}

void TimerSignals::Run() {
  prctl(PR_SET_TIMERSLACK, 1);  // else each wait is 50 us longer
  siginfo_t info{};
  info.si_signo = signal_;
  info.si_code = SI_TIMER;
  std::vector<pid_t> running;
  uint64_t looked = 0;
  while (!stop_) {
    if (const uint64_t now = MonotonicNs(); now - looked >= kLookEveryNs) {
      looked = now;
      running = Handles(pid_, signal_) ? RunningThreads(pid_, signal_) : std::vector<pid_t>{};
    }
    uint64_t taken = 0;
    for (const pid_t tid : running)
      if (syscall(SYS_rt_tgsigqueueinfo, pid_, tid, signal_, &info) == 0) taken++;
    sent_ += taken;
    if (taken == 0) usleep(1000);  // nobody runs
    WaitForNext();
  }
}

}  // namespace walkhammer
