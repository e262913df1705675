// SPDX-License-Identifier: Apache-2.0
// A child without a JVM: does to the SharedState of $WALKHAMMER_STATE, one after the other, what
// its arguments say. Tests of the parent's side start it.
//   starting|running|done|retired|unable|failed  goes into this phase
//   walk, walked      begins a walk, ends it as judged
//   input=HASH        is at this input of an engine
//   crash=OFFSET      hands over a crash at that offset of Planted
//   overrun           claims more findings than the ring has room for
//   serve=OFFSET      answers each request of a parent that keeps it with a crash there
//   say=TEXT          sets the message that belongs to unable and failed
//   print=TEXT        prints it
//   flood=BYTES       prints so many dots
//   hs_err=TEXT       writes it where the JVM would write its hs_err log
//   buries=SIGNAL, ends=SIGNAL  as an engine does with a child that died by that signal, or that it
//                     has killed by that signal itself: posts the exit, and waits for the parent
//   worker=N          what follows is done by the child of worker N alone
//   touch=FILE, await=FILE  makes it, waits until somebody has
//   stopped           waits until the parent asks it to end
//   signal=SIGNAL, exit=CODE, sleep  its end, or none
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "harness/ipc/shared_mapping.h"
#include "harness/oracles/oracle.h"

namespace walkhammer {

// Where its crashes are; only name and addresses matter.
__attribute__((noinline)) int Planted(int x) {
  asm volatile("nop\nnop\nnop\nnop");
  return x + 1;
}

namespace {

template <size_t kSize>
void Copy(char (&field)[kSize], std::string_view text) {
  std::snprintf(field, kSize, "%s", std::string(text).c_str());
}

void Crash(SharedState& state, uint64_t offset) {
  state.module_count.store(ListModules(state.modules));
  RawFinding& finding = state.ring.slots[state.ring.head.load() % kRingSize];
  finding = RawFinding{};
  finding.request = state.journal.request;
  while (&AllOracles()[finding.oracle] != FindOracle("crash")) finding.oracle++;
  finding.ending = Ending::kCrashed;
  finding.fault.signal = SIGSEGV;
  finding.fault.registers.pc = reinterpret_cast<uint64_t>(&Planted) + offset;
  state.ring.head.fetch_add(1);
}

void Serve(SharedState& state, uint64_t offset) {
  state.phase.store(ChildPhase::kRunning);
  for (;;) {
    Crash(state, offset);
    const uint32_t answered = state.answered.fetch_add(1) + 1;
    if (state.job.keep == 0) return state.phase.store(ChildPhase::kDone);
    while (state.asked.load() == answered) usleep(50);
  }
}

void WriteHsErr(SharedState& state, std::string_view text) {
  constexpr std::string_view kFlag = "-XX:ErrorFile=";
  const std::string flags = FieldText(state.launch.flags);
  const size_t begin = flags.find(kFlag) + kFlag.size();
  std::ofstream(flags.substr(begin, flags.find('\n', begin) - begin)) << text;
}

void PostExit(SharedState& state, int signal, bool by_engine) {
  state.exits.wait_status = signal;
  state.exits.by_engine = by_engine ? 1 : 0;
  const uint32_t number = state.exits.posted.fetch_add(1) + 1;
  while (state.exits.acknowledged.load() != number) usleep(1000);
  ForgetChild(state);
}

void GoInto(SharedState& state, std::string_view phase) {
  constexpr struct {
    std::string_view name;
    ChildPhase phase;
  } kPhases[] = {{"starting", ChildPhase::kStarting}, {"running", ChildPhase::kRunning},
                 {"done", ChildPhase::kDone},         {"retired", ChildPhase::kRetired},
                 {"unable", ChildPhase::kUnable},     {"failed", ChildPhase::kFailed}};
  for (const auto& known : kPhases)
    if (known.name == phase) return state.phase.store(known.phase);
  std::fprintf(stderr, "fake_child knows no %s\n", std::string(phase).c_str());
  _exit(2);
}

void Do(SharedState& state, std::string_view step) {
  const size_t equals = step.find('=');
  const std::string_view verb = step.substr(0, equals);
  const std::string value(equals == std::string_view::npos ? "" : step.substr(equals + 1));
  const int number = std::atoi(value.c_str());
  if (verb == "walk") {
    state.journal.sequence.fetch_add(1);
    state.journal.phase.store(1);
  } else if (verb == "walked") {
    state.journal.phase.store(0);
    state.walks.fetch_add(1);
  } else if (verb == "input") {
    state.crashing.current.store(static_cast<uint64_t>(number));
  } else if (verb == "crash") {
    Crash(state, static_cast<uint64_t>(number));
  } else if (verb == "overrun") {
    state.ring.head.store(state.ring.tail.load() + kRingSize + 1);
  } else if (verb == "serve") {
    Serve(state, static_cast<uint64_t>(number));
  } else if (verb == "say") {
    Copy(state.message, value);
  } else if (verb == "print") {
    std::printf("%s\n", value.c_str());
  } else if (verb == "flood") {
    std::printf("%s\n", std::string(static_cast<size_t>(number), '.').c_str());
  } else if (verb == "hs_err") {
    WriteHsErr(state, value);
  } else if (verb == "buries" || verb == "ends") {
    PostExit(state, number, verb == "ends");
  } else if (verb == "touch") {
    std::ofstream file(value);
  } else if (verb == "await") {
    while (access(value.c_str(), F_OK) != 0) usleep(1000);
  } else if (verb == "stopped") {
    while (state.stop.load() == 0) usleep(1000);
  } else if (verb == "signal") {
    std::fflush(stdout);
    signal(number, SIG_DFL);
    kill(getpid(), number);
  } else if (verb == "exit") {
    std::fflush(stdout);
    _exit(number);
  } else if (verb == "sleep") {
    std::fflush(stdout);
    for (;;) pause();
  } else {
    GoInto(state, verb);
  }
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) {
  auto state = walkhammer::OpenState();
  if (!state.ok() || state.value() == nullptr) return 2;
  bool is_mine = true;
  for (int i = 1; i < argc; i++) {
    const std::string_view step = argv[i];
    if (step.starts_with("worker="))
      is_mine = state.value()->job.worker ==
                static_cast<uint32_t>(std::atoi(argv[i] + step.find("=") + 1));
    else if (is_mine)
      walkhammer::Do(*state.value(), step);
  }
  return 0;
}
