// SPDX-License-Identifier: Apache-2.0
// Stepper: single-steps one Java thread by the trap flag, for windows of some thousand
// instructions, walks the thread at each instruction and compares what successive stacks must
// share: between two steps a stack stays, grows by a call or shrinks by a return. x86_64 only;
// elsewhere ptrace steps from outside. Signal-safe: OnSignal and OnStep yes; the rest no.
#ifndef WALKHAMMER_STRESS_STEPPER_H_
#define WALKHAMMER_STRESS_STEPPER_H_

#include <atomic>
#include <vector>

#include "harness/guard/arch.h"
#include "harness/guard/guard.h"
#include "harness/jvm/structs/code_finder.h"
#include "stress/known_callers.h"
#include "stress/sample_line.h"
#include "stress/step_code.h"
#include "stress/step_evidence.h"
#include "stress/step_truth.h"
#include "stress/stepped_stack.h"

namespace walkhammer::stress {

class Stepper {
 public:
  Stepper(StressState& state, const MethodRegistry& methods, const CodeFinder& code,
          SampleLine& line)
      : state_(state),
        methods_(methods),
        code_(code),
        line_(line),
        step_code_(code, line.described(), line.codelets(), methods, line.facts().method_of),
        truths_(state.job.walker_count, StepTruth(kHasLinkRegister)) {}

  // Asks the guard for the SIGTRAPs of steps, by `options`. Call before InstallGuard.
  void Prepare(GuardOptions& options);
  // Called once in a while: begins the next window, on a thread that Choose gives.
  void Manage(ThreadTable& threads);
  void Stop() { stopped_.store(true); }

  // Handles the sampling signal on `thread`: begins the thread's window; by ptrace, takes one step.
  void OnSignal(SampledThread& thread, ucontext_t& context);

 private:
  static bool OnStep(siginfo_t* info, ucontext_t* context);
  void OnTracedStep(SampledThread& thread, ucontext_t& context);
  void Step(SampledThread& thread, ucontext_t& context);
  struct Place;  // where a step is
  Place PlaceAt(const SampledThread& thread, const ucontext_t& context) const;
  void SeeIn(SteppedPc& counts, const Place& place, const SampledThread& thread,
             const ucontext_t& context);
  void Judge(int walker, const Place& place, const Trace& trace, Disagreement differs);
  struct CallersJudged {
    CallerVerdict all = CallerVerdict::kUnknown, newest = CallerVerdict::kUnknown;  // NewestCalls
  };
  CallersJudged JudgeByCalls(int walker, const Place& place, const Trace& trace,
                             Disagreement differs);
  void ResetTruths();
  void EndWindow(SampledThread& thread, ucontext_t& context);
  // Without walkers, C code shows nothing.
  bool LeavesC() const { return state_.job.no_walk != 0 && state_.undescribed == 0; }
  bool IsWanted(SampledThread& thread, ucontext_t& context);
  void WalkLightly(SampledThread& thread, ucontext_t& context, const OnTrace& on_trace);
  static void Count(StepAnswers& answers, const Trace& trace, StepVerdict verdict,
                    CallersJudged by_calls);
  SampledThread* Choose(ThreadTable& threads);
  void LeaveSleeper(uint64_t now);
  void NameNext(ThreadTable& threads, uint64_t now);

  StressState& state_;
  const MethodRegistry& methods_;
  const CodeFinder& code_;
  SampleLine& line_;
  StepCode step_code_;
  SteppedStack stack_{step_code_};
  CallerVerdict by_calls_ = CallerVerdict::kUnknown;  // of the walker before, at the same step
  std::vector<StepTruth> truths_;                     // one for each walker
  StepEvidence evidence_{state_};
  std::atomic<bool> stopped_{false};
  std::atomic<SampledThread*> target_{nullptr};   // the thread whose window is on or about to begin
  std::atomic<SampledThread*> refused_{nullptr};  // see IsWanted
  std::atomic<bool> stepping_{false};             // the target's trap flag is set
  std::atomic<SampledThread*> busy_{nullptr};     // the thread that is at a step
  uint64_t left_ = 0;                             // steps left in this window
  uint32_t native_ = 0;                           // steps in C code in a row
  uint64_t cpu_at_start_ = 0;
  uint64_t asked_at_ns_ = 0;
  uint64_t steps_seen_ = 0, moved_at_ns_ = 0;
  uint64_t cpu_seen_[kMaxSampledThreads] = {};
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEPPER_H_
