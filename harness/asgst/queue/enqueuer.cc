// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/queue/enqueuer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "harness/asgst/process/attach.h"

namespace walkhammer::asgst {
namespace {

int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Enqueuer Enqueuer::Note(uint64_t thread, bool is_current, const ucontext_t* context) {
  Enqueuer made{};
  made.time_ = Now();
  made.end_ = End::kAtSafepoint;
  if (!is_current || !NeedsNoPoll(thread)) return made;
  made.end_ = End::kByTime;
  if (context == nullptr) return made;
  uint64_t blocked = 0;
  static_assert(sizeof context->uc_sigmask >= sizeof blocked);
  std::memcpy(&made.blocked_before_, &context->uc_sigmask, sizeof blocked);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof blocked);
  if (blocked != made.blocked_before_) made.end_ = End::kByMask;
  return made;
}

bool Enqueuer::HasReturned(std::optional<uint64_t> blocked) const {
  if (end_ == End::kAtSafepoint) return true;
  if (end_ == End::kByTime) return IsOlderThan(kMost);
  return blocked == blocked_before_ || IsOlderThan(kMostByMask);
}

bool Enqueuer::IsOlderThan(int milliseconds) const {
  return Now() - time_ > milliseconds * 1'000'000LL;
}

bool NeedsNoPoll(uint64_t thread) {
  constexpr int kInNative = 4, kBlocked = 10;  // numbers of ThreadStates
  int32_t state = 0;
  if (!LiveMemory().Read(thread + Live()->jvm.thread_state, state)) return true;
  const int number = Live()->jvm.states.StateOf(state);
  return number == kInNative || number == kBlocked;
}

std::optional<uint64_t> BlockedSignalsOf(int32_t os_thread) {
  constexpr char kName[] = "SigBlk:";
  std::ifstream status("/proc/self/task/" + std::to_string(os_thread) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kName)) return std::stoull(line.substr(sizeof kName), nullptr, 16);
  return std::nullopt;
}

}  // namespace walkhammer::asgst
