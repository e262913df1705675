// SPDX-License-Identifier: Apache-2.0
#include "stress/stepper.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/guard/arch.h"
#include "harness/line/line.h"
#include "stress/seen_place.h"
#include "stress/stepped_pcs.h"

namespace walkhammer::stress {
namespace {

constexpr uint64_t kAskAgainNs = 200000000;  // a thread that makes no step for so long sleeps
// After so many instructions of C code in a row, a window ends that leaves C code alone.
constexpr uint32_t kMostNative = 500;

Stepper* the_stepper = nullptr;

}  // namespace

void Stepper::Prepare(GuardOptions& options) {
  the_stepper = this;
  state_.follows_calls = kHasLinkRegister ? 0 : 1;
  options.on_step = OnStep;
  options.blocked_in_trap |= uint64_t{1} << (kSampleSignal - 1);
}

// The Java thread, among those that the job allows, that has run most since the last call; null:
// none. Passes over the thread that was refused last, so that other threads have their turn.
SampledThread* Stepper::Choose(ThreadTable& threads) {
  const SampledThread* const refused = refused_.exchange(nullptr);
  SampledThread* best = nullptr;
  uint64_t most = 0;
  int place = 0;
  threads.ForEach([&](SampledThread& thread) {
    const int here = place++;
    if (thread.env == nullptr || &thread == refused || here >= kMaxSampledThreads) return;
    // A process that waits for this one would take the stops of its first thread.
    if (state_.job.step == kStepByPtrace && thread.tid.load() == getpid()) return;
    const uint64_t cpu = ThreadCpuNs(thread.tid.load());
    const uint64_t ran = cpu > cpu_seen_[here] ? cpu - cpu_seen_[here] : 0;
    cpu_seen_[here] = cpu;
    if (state_.job.step_thread[0] != 0 &&
        std::strstr(thread.counts->name, state_.job.step_thread) == nullptr)
      return;
    if (best != nullptr && ran <= most) return;
    best = &thread;
    most = ran;
  });
  return best;
}

void Stepper::Manage(ThreadTable& threads) {
  if (stopped_.load()) return;
  if (state_.job.step_limit != 0 && state_.steps.load() >= state_.job.step_limit) return;
  const uint64_t now = MonotonicNs();
  if (state_.job.step == kStepByPtrace) {
    NameNext(threads, now);
    return;
  }
  LeaveSleeper(now);
  if (stepping_.load() || (target_.load() != nullptr && now - asked_at_ns_ < kAskAgainNs)) return;
  if (busy_.load() != nullptr) return;  // a thread whose window was ended has not noticed yet
  SampledThread* thread = Choose(threads);
  target_.store(thread);
  if (thread == nullptr) return;
  asked_at_ns_ = now;
  syscall(SYS_tgkill, getpid(), thread->tid.load(), kSampleSignal);
}

// Names the next thread in step_tid. The supervisor steps that thread, and clears step_tid when the
// thread's window is over.
void Stepper::NameNext(ThreadTable& threads, uint64_t now) {
  const uint64_t steps = state_.steps.load();
  const int32_t named = state_.step_tid.load();
  if (named == 0) {
    const SampledThread* thread = Choose(threads);
    if (thread != nullptr) state_.step_tid.store(thread->tid.load());
  } else if (steps == steps_seen_) {
    // The thread is asleep: the supervisor takes a signal that it did not ask for as the window's
    // end.
    if (now - moved_at_ns_ > kAskAgainNs) syscall(SYS_tgkill, getpid(), named, kSampleSignal);
    if (now - moved_at_ns_ <= kAskAgainNs) return;
  }
  steps_seen_ = steps;
  moved_at_ns_ = now;
}

// Ends the window of a thread that has blocked, which would keep all others waiting. OnStep clears
// the trap flag when the thread wakes up.
void Stepper::LeaveSleeper(uint64_t now) {
  const uint64_t steps = state_.steps.load();
  if (!stepping_.load() || steps != steps_seen_) {
    steps_seen_ = steps;
    moved_at_ns_ = now;
  } else if (now - moved_at_ns_ > kAskAgainNs) {
    target_.store(nullptr);
    stepping_.store(false);
  }
}

// True if there are Java frames, and among them the method that the job names, if it names one. A
// thread that is about to end, or that loads an agent, has nothing to walk.
bool Stepper::IsWanted(SampledThread& thread, ucontext_t& context) {
  if (thread.env != nullptr && !thread.view.HasJavaFrames()) return false;
  if (LeavesC() && thread.view.State() != kStateInJava) return false;
  if (state_.job.step_method[0] == 0) return true;
  bool found = false;
  const auto look = [&](int walker, const Trace& trace, Disagreement) {
    if (walker != 0 || trace.ending != Ending::kReturned) return;
    const std::string_view wanted = state_.job.step_method;
    for (int i = 0; i < trace.num_frames && !found; i++) {
      const MethodEntry* method = methods_.Find(trace.frames[i].method);
      found = method != nullptr && std::string_view(method->name).starts_with(wanted);
    }
  };
  WalkLightly(thread, context, look);
  return found;
}

void Stepper::OnSignal(SampledThread& thread, ucontext_t& context) {
  if (state_.job.step == kStepByPtrace) {
    OnTracedStep(thread, context);
    return;
  }
  if (stopped_.load() || target_.load() != &thread || stepping_.load()) return;
  thread.counts->delivered.fetch_add(1, std::memory_order_relaxed);
  if (!IsWanted(thread, context)) {
    refused_.store(&thread);
    target_.store(nullptr);
    return;
  }
  if (sigismember(&context.uc_sigmask, SIGTRAP) == 1 || AtCallThatEndsSteps(context)) {
    target_.store(nullptr);
    return;
  }
  ResetTruths();
  left_ = state_.job.step_window;
  native_ = 0;
  cpu_at_start_ = ThreadCpuNs(thread.tid.load());
  stepping_.store(true);
  SetSingleStep(context, true);
}

// The supervisor traces this thread and has put the signal in after an instruction. The same
// signal, sent at the end of this function, comes when this handler has returned, before the next
// instruction: the supervisor waits for that second signal and does not pass it on.
void Stepper::OnTracedStep(SampledThread& thread, ucontext_t& context) {
  const uint32_t on = state_.step_on.load();
  if (on == 0 || state_.step_tid.load() != thread.tid.load()) return;
  if (on == 1) {
    ResetTruths();
    state_.step_on.store(2);
    if (!IsWanted(thread, context)) {
      refused_.store(&thread);
      state_.step_tid.store(0);
    }
  } else {
    Step(thread, context);
  }
  syscall(SYS_tgkill, getpid(), thread.tid.load(), kSampleSignal);
}

bool Stepper::OnStep(siginfo_t*, ucontext_t* context) {
  Stepper* self = the_stepper;
  SampledThread* thread = CurrentSampledThread();
  if (self == nullptr || thread == nullptr || !self->stepping_.load() ||
      self->target_.load() != thread) {
    SetSingleStep(*context, false);  // a flag that was saved and restored by the program itself
    return true;
  }
  UseFaultStack(*thread, WalkingHandler::kSample, self->state_);
  self->busy_.store(thread);
  if (self->target_.load() == thread) {
    self->Step(*thread, *context);
    if (--self->left_ == 0 || self->stopped_.load(std::memory_order_relaxed) ||
        AtCallThatEndsSteps(*context) || (self->LeavesC() && self->native_ > kMostNative))
      self->EndWindow(*thread, *context);
  }
  self->busy_.store(nullptr);
  return true;
}

void Stepper::EndWindow(SampledThread& thread, ucontext_t& context) {
  SetSingleStep(context, false);
  evidence_.Tally();
  state_.step_windows.fetch_add(1, std::memory_order_relaxed);
  state_.step_ns.fetch_add(ThreadCpuNs(thread.tid.load()) - cpu_at_start_,
                           std::memory_order_relaxed);
  stepping_.store(false);
  target_.store(nullptr);
}

void Stepper::ResetTruths() {
  evidence_.Tally();  // of a window that did not end as it should
  for (StepTruth& truth : truths_) truth.Reset(state_.job.depth);
  stack_.Reset();
  step_code_.Forget();
}

struct Stepper::Place {
  SteppedPc* counts;  // of the instruction; null: the table is full
  StepPoint at;
  SteppedPoint point;
  RunningCode running;
  PcRegion region;
  bool in_java;                              // by the thread's state
  std::span<const SteppedCall> newest = {};  // NewestCalls
};

void Stepper::Step(SampledThread& thread, ucontext_t& context) {
  state_.steps.fetch_add(1, std::memory_order_relaxed);
  Place place = PlaceAt(thread, context);
  native_ = place.running.code == SteppedCode::kNative ? native_ + 1 : 0;
  place.counts = SteppedPcAt(state_, place.at.pc, true);
  if (place.counts != nullptr) place.counts->steps++;
  if (place.counts != nullptr && !place.in_java) place.counts->outside.store(true);
  if constexpr (!kHasLinkRegister) {
    stack_.Step(place.point);
    place.newest = NewestCalls(stack_.calls(), step_code_);
    if (place.counts != nullptr && place.point.code != SteppedCode::kNative)
      SeeIn(*place.counts, place, thread, context);
  }
  if (state_.job.no_walk != 0) return;
  if (state_.job.walker_count > 1) place.at.number = evidence_.Begin(place.region);
  WalkLightly(thread, context, [&](int walker, const Trace& trace, Disagreement differs) {
    evidence_.Differs(walker, differs);
    Judge(walker, place, trace, differs);
  });
}

// Code is patched, and other code may come to its address.
void Stepper::SeeIn(SteppedPc& counts, const Place& place, const SampledThread& thread,
                    const ucontext_t& context) {
  const uint64_t code = CodeWordAt(place.at.pc);
  if (counts.outdated.load(std::memory_order_relaxed) || counts.word != code) {
    counts.outdated.store(false);
    counts.seen = {};
    counts.sender = {};
    counts.word = code;
  }
  const std::span<const SteppedCall> calls = stack_.calls();
  constexpr uint64_t kBelowFp = -SeenSender::kSlot;
  const uint64_t fp = place.point.fp;
  const bool has_frame =
      !calls.empty() && fp % 8 == 0 && fp < calls.front().slot && fp >= place.point.sp + kBelowFp;
  See(calls, place.point, ReadJavaRegisters(context).general,
      has_frame ? *reinterpret_cast<const uint64_t*>(fp - kBelowFp) : 0, counts.seen,
      counts.sender);
  SeeAmbiguity(calls, place.newest, place.point, place.running.frame_words, thread.stack_base,
               counts.seen);
}

void Stepper::WalkLightly(SampledThread& thread, ucontext_t& context, const OnTrace& on_trace) {
  SampleOptions options;
  options.light = true;
  options.on_trace = &on_trace;
  line_.Take(thread, context, options);
}

void Stepper::Judge(int walker, const Place& place, const Trace& trace, Disagreement differs) {
  const StepPoint& at = place.at;
  StepTruth& truth = truths_[static_cast<size_t>(walker)];
  const StepVerdict verdict = truth.Step(at, trace);
  const CallersJudged by_calls = JudgeByCalls(walker, place, trace, differs);
  if (place.counts != nullptr) Count(place.counts->Of(walker), trace, verdict, by_calls);
  if (verdict == StepVerdict::kWrong) evidence_.Wrong(walker, at.number);
  const JudgedStep* proven = nullptr;
  for (int i = truth.TakeProven(proven); i-- > 0;) {
    evidence_.Wrong(walker, proven[i].number);
    if (SteppedPc* there = SteppedPcAt(state_, proven[i].pc, true))
      there->Of(walker).wrong++, there->Of(walker).answered--;
  }
}

// Compares the answer with the calls that the thread has made, and counts which walker they
// contradict if they can judge both this walker and the one before.
Stepper::CallersJudged Stepper::JudgeByCalls(int walker, const Place& place, const Trace& trace,
                                             Disagreement differs) {
  CallersJudged judged;
  if (trace.ending == Ending::kReturned && trace.num_frames > 0 && !stack_.calls().empty()) {
    AnsweredFrames frames;
    step_code_.Read(trace, state_.job.depth, frames);
    const auto judge = [&](std::span<const SteppedCall> calls) {
      return JudgeCallers(place.point.code, place.running.method, calls, frames);
    };
    judged = {judge(stack_.calls()), judge(place.newest)};
  }
  const CallerVerdict verdict = judged.all;
  if (walker > 0 && differs != Disagreement::kCount && verdict != CallerVerdict::kUnknown &&
      by_calls_ != CallerVerdict::kUnknown) {
    const Against against = AgainstOf(verdict == CallerVerdict::kContradicted,
                                      by_calls_ == CallerVerdict::kContradicted);
    state_
        .evidence[walker][static_cast<int>(place.region)][static_cast<int>(differs)]
                 [static_cast<int>(Witness::kSteppedStack)][static_cast<int>(against)]
        .fetch_add(1, std::memory_order_relaxed);
  }
  by_calls_ = verdict;
  return judged;
}

Stepper::Place Stepper::PlaceAt(const SampledThread& thread, const ucontext_t& context) const {
  const Registers at = ReadContext(context);
  Place place{};
  place.region = line_.RegionOf(at.pc);
  place.in_java = thread.env != nullptr && thread.view.State() == kStateInJava;
  place.running = step_code_.CodeAt(at.pc);
  const SteppedCode code = place.running.code;
  place.at = {at.pc, at.sp,
              at.lr, StepPoint::Code::kOther,
              false, thread.env == nullptr ? 0 : *thread.view.last_sp()};
  if constexpr (!kHasLinkRegister) {
    place.at.link = *reinterpret_cast<const uint64_t*>(at.sp);
    const StepOp op = StepOpAt(reinterpret_cast<const uint8_t*>(at.pc));
    place.point = {at.pc, at.sp, at.fp, place.at.link, op, code};
  }
  place.at.link_interprets = code_.InInterpreter(place.at.link);
  if (code == SteppedCode::kByteCode || code == SteppedCode::kInterpreter)
    place.at.code = StepPoint::Code::kInterpreter;
  else if (code == SteppedCode::kWrapper || code == SteppedCode::kCompiled)
    place.at.code = StepPoint::Code::kCompiled;
  return place;
}

void Stepper::Count(StepAnswers& answers, const Trace& trace, StepVerdict verdict,
                    CallersJudged by_calls) {
  if (by_calls.all == CallerVerdict::kProven) answers.proven++;
  if (by_calls.all == CallerVerdict::kContradicted) answers.contradicted++;
  if (by_calls.newest == CallerVerdict::kProven) answers.caller_proven++;
  if (by_calls.newest == CallerVerdict::kContradicted) answers.caller_contradicted++;
  if (trace.ending == Ending::kReturned && trace.num_frames > 0) {
    if (verdict == StepVerdict::kWrong)
      answers.wrong++;
    else
      answers.answered++;
    return;
  }
  answers.failed++;
  answers.code = trace.ending == Ending::kReturned ? trace.num_frames : CodeSlotOf(trace);
}

}  // namespace walkhammer::stress
