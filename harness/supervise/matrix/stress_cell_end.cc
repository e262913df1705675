// SPDX-License-Identifier: Apache-2.0
// The part of StressCell that comes after a program's end: why it ended, the next start, the
// verdict.
#include <fmt/format.h>
#include <sys/wait.h>

#include <memory>
#include <mutex>

#include "harness/base/files.h"
#include "harness/supervise/matrix/cell_words.h"
#include "harness/supervise/matrix/lane_samples.h"
#include "harness/supervise/matrix/stress_cell.h"

namespace walkhammer {
namespace {

constexpr size_t kMostOutput = 1 << 20;  // bytes of the hs_err log that are read

}  // namespace

// How the program has ended, by itself or because it was asked to: the ring, the journals and the
// hs_err log are final.
StressCell::ProgramEnd StressCell::HowItEnded(const std::string& hs_err) const {
  const int wait_status = program_->wait_status();
  const bool exited = WIFEXITED(wait_status);
  const int killer = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  const bool told_to = ending_ && (killer == SIGTERM || killer == SIGKILL);
  // A JVM that ends in order sets kEnded first. A JVM that ends in the middle of a walk was killed
  // by that walk.
  bool walking = false;
  for (const SampleJournal& journal : state_->journals) walking |= journal.phase.load() == 1;
  const bool vanished = plan_.attach_pid != 0 && state_->phase.load() != AgentPhase::kEnded;
  const bool in_order =
      ending_ || state_->phase.load() == AgentPhase::kEnded || !(walking || vanished);
  if (vanished && !walking && hs_err.empty())
    return {CellStatus::kWorkloadFailed,
            "the JVM is gone, without an hs_err log and in no walk: did somebody kill it?"};
  if (killer == SIGKILL && !ending_ && hs_err.empty())
    return {CellStatus::kWorkloadFailed, "somebody killed it (SIGKILL): was the memory full?"};
  if (!hs_err.empty() || (!exited && !told_to) || !in_order)
    return {CellStatus::kDied, "the JVM died: " + program_->EndText()};
  if (ending_ || !exited || WEXITSTATUS(wait_status) == 0) return {};
  const std::string& output = program_->output();
  const std::string complaint = JvmComplaint(output);
  if (!complaint.empty() && (!sampled_ || complaint.find("main class") != std::string::npos))
    return {CellStatus::kUnavailable, complaint};
  if (!plan_.lane->own_agent && NeverRan(output))
    return {CellStatus::kUnavailable, "the JVM did not start: " + LastLines(output)};
  if (output.find("No space left on device") != std::string::npos)
    return {CellStatus::kDiskFull, "the disk is full: " + LastLines(output)};
  return {CellStatus::kWorkloadFailed,
          fmt::format("it ended with {}; it printed: {}", program_->EndText(), LastLines(output))};
}

Status StressCell::AfterProgram() {
  ptrace_stepper_.reset();  // its thread uses the state
  EndTimerSignals();
  const std::string hs_err = ReadFile(hs_err_path_, kMostOutput);
  const ProgramEnd end = HowItEnded(hs_err);
  return OnRecords(
      [died = end.status == CellStatus::kDied, wait_status = program_->wait_status(),
       hs_err](CellRecords& records) { return records.DrainEnded(died, wait_status, hs_err); },
      [this, end]() -> Status {
        if (end.status != CellStatus::kRunning) {
          End(end.status, end.reason);
          return Ok();
        }
        const bool again = !ending_ && plan_.attach_pid == 0 && load_.repeat && sampled_ &&
                           !TimeIsUp() && plan_.time.count() != 0;
        return again ? StartNext() : Judge();
      });
}

Status StressCell::StartAgain() {
  return OnRecords(
      [](CellRecords& records) {
        records.ForgetProgram();
        return Ok();
      },
      [this] { return StartProgram(); });
}

// Starts the program again, once the lane has collected what the last one wrote.
Status StressCell::StartNext() {
  if (plan_.lane->collect == nullptr) return StartAgain();
  if (samples_ == nullptr) samples_ = std::make_shared<LaneSamples>();
  auto collected = std::make_shared<Status>(Ok());
  return Beside(
      [collected, lane = plan_.lane, plan = ForLane()] { *collected = lane->collect(plan); },
      [this, collected] {
        collected_ = plan_.row.starts;
        if (interrupted_)
          End(CellStatus::kInterrupted, "");
        else if (!collected->ok())
          End(StatusOfFailure(collected->failure()), collected->failure().message);
        else
          return TimeIsUp() ? Judge() : StartAgain();
        return Ok();
      });
}

// Judges what the walker did, once the program has done what it should.
Status StressCell::Judge() {
  Publish();
  if (!plan_.lane->own_agent) return JudgeByLane();
  struct Facts {
    Delivery delivery;
    bool java = false;
  };
  auto facts = std::make_shared<Facts>();
  return OnRecords(
      [facts](CellRecords& records) {
        *facts = {records.CurrentRow().delivery, records.HasJavaThread()};
        return Ok();
      },
      [this, facts] {
        const std::string lacks = WhatLacks(facts->delivery, facts->java);
        if (lacks.empty() && plan_.lane->judge != nullptr) return JudgeByLane();
        if (lacks.empty())
          End(CellStatus::kPassed, Remarks(*state_));
        else
          End(CellStatus::kVacuous, lacks);
        return Ok();
      });
}

Status StressCell::JudgeByLane() {
  auto verdict = std::make_shared<LaneVerdict>();
  auto set = std::make_shared<Status>(Ok());
  return Beside(
      [verdict, set, lane = plan_.lane, plan = ForLane(), output = program_->output(),
       records = records_, &lock = lock_] {
        *verdict = lane->judge(plan, output);
        const std::lock_guard<std::mutex> guard(lock);
        *set = records->SetVerdict(*verdict);
      },
      [this, verdict, set] {
        TakeVerdict(*verdict);
        return *set;
      });
}

// Why what the agent did proves nothing; empty: it does prove something.
std::string StressCell::WhatLacks(const Delivery& delivery, bool java) const {
  if (!sampled_) return "it ended before the agent could sample";
  if (!java) return "no Java thread was tracked";
  if (delivery.delivered == 0 && state_->steps.load() == 0) return "no signal was delivered";
  if (plan_.job.no_walk == 0 && delivery.successful == 0) return "no walk was successful";
  return "";
}

void StressCell::TakeVerdict(const LaneVerdict& verdict) {
  if (!plan_.lane->own_agent) {
    plan_.row.delivery = verdict.delivery;
    plan_.row.sampler = verdict.sampler;
    plan_.row.sampler_reason = verdict.sampler_reason;
  }
  const std::string remarks = plan_.lane->own_agent ? Remarks(*state_) : "";
  if (interrupted_ && verdict.status == CellStatus::kToolFailed)
    End(CellStatus::kInterrupted, "");
  else
    End(verdict.status, verdict.reason + (remarks.empty() ? "" : "; ") + remarks);
}

}  // namespace walkhammer
