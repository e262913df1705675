// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/program_end.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness/findings/crash_error_text.h"
#include "harness/supervise/stress_runs/cell_status_text.h"

namespace walkhammer {
namespace {

constexpr char kNoRoom[] = "this machine has no memory or no threads left for the JVM: ";

// Why a program ended by itself with an exit code other than 0, by what it printed.
ProgramEnd WhyItFailed(const EndedProgram& of) {
  const std::string& output = of.program.output();
  const std::string complaint = JvmComplaint(output);
  if (!complaint.empty() && (!of.sampled || complaint.find("main class") != std::string::npos))
    return {CellStatus::kUnavailable, complaint};
  if (!of.own_agent && NeverRan(output))
    return {CellStatus::kUnavailable, "the JVM did not start: " + LastLines(output)};
  if (output.find("unable to create native thread") != std::string::npos ||
      output.find("pthread_create failed (EAGAIN)") != std::string::npos)
    return {CellStatus::kUnavailable, kNoRoom + LastLines(output)};
  if (output.find("No space left on device") != std::string::npos)
    return {CellStatus::kDiskFull, "the disk is full: " + LastLines(output)};
  return {CellStatus::kWorkloadFailed,
          fmt::format("it ended with {}; it printed: {}", of.program.EndText(), LastLines(output))};
}

}  // namespace

ProgramEnd HowProgramEnded(const EndedProgram& of) {
  const int wait_status = of.program.wait_status();
  const bool exited = WIFEXITED(wait_status);
  const int killer = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  const bool told_to = of.asked_to && (killer == SIGTERM || killer == SIGKILL);
  // A JVM that ends in order sets kEnded first. A JVM that ends in the middle of a walk was killed
  // by that walk.
  bool walking = false;
  for (const SampleJournal& journal : of.state.journals) walking |= journal.phase.load() == 1;
  if (const std::string killer = KilledBy(of.hs_err); !killer.empty())
    return {CellStatus::kWorkloadFailed, "the JVM was killed from outside by " + killer};
  if (ParseHsErrHead(of.hs_err).error == kNoMemoryError && of.state.walks.load() == 0)
    return {CellStatus::kUnavailable, kNoRoom + LastLines(of.program.output())};
  const bool vanished = of.attached && of.state.phase.load() != AgentPhase::kEnded;
  const bool in_order =
      of.asked_to || of.state.phase.load() == AgentPhase::kEnded || !(walking || vanished);
  if (vanished && !walking && of.hs_err.empty())
    return {CellStatus::kWorkloadFailed,
            "the JVM is gone, without an hs_err log and in no walk: did somebody kill it?"};
  if (killer == SIGKILL && !of.asked_to && of.hs_err.empty())
    return {CellStatus::kWorkloadFailed, "somebody killed it (SIGKILL): was the memory full?"};
  if (!of.hs_err.empty() || (!exited && !told_to) || !in_order)
    return {CellStatus::kDied, "the JVM died: " + of.program.EndText()};
  if (of.asked_to || !exited || WEXITSTATUS(wait_status) == 0) return {};
  return WhyItFailed(of);
}

}  // namespace walkhammer
