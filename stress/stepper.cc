// SPDX-License-Identifier: Apache-2.0
#include "stress/stepper.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "harness/base/clock.h"
#include "harness/base/hash.h"
#include "harness/guard/arch.h"
#include "harness/line/line.h"

namespace walkhammer::stress {
namespace {

constexpr uint64_t kAskAgainNs = 200000000;  // a thread that makes no step for so long sleeps

Stepper* the_stepper = nullptr;

}  // namespace

void Stepper::Prepare(GuardOptions& options) {
  the_stepper = this;
  options.on_step = OnStep;
  options.blocked_in_trap |= uint64_t{1} << (kSampleSignal - 1);
}

// Of the Java threads that the job allows, the one that has run most since the last call; null:
// none.
SampledThread* Stepper::Choose(ThreadTable& threads) {
  SampledThread* best = nullptr;
  uint64_t most = 0;
  int place = 0;
  threads.ForEach([&](SampledThread& thread) {
    const int here = place++;
    if (thread.env == nullptr || here >= kMaxSampledThreads) return;
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

// True if the method that the job names is on the stack, or if the job names none.
bool Stepper::IsWanted(SampledThread& thread, ucontext_t& context) {
  if (state_.job.step_method[0] == 0) return true;
  bool found = false;
  struct Look {
    const Stepper* self;
    bool* found;
  } look{this, &found};
  SampleOptions options;
  options.light = true;
  options.data = &look;
  options.on_trace = [](void* data, int walker, const Trace& trace, Disagreement) {
    auto& look = *static_cast<Look*>(data);
    if (walker != 0 || trace.ending != Ending::kReturned) return;
    const char* wanted = look.self->state_.job.step_method;
    for (int i = 0; i < trace.num_frames && !*look.found; i++) {
      const MethodEntry* method = look.self->methods_.Find(trace.frames[i].method);
      *look.found =
          method != nullptr && std::strncmp(method->name, wanted, std::strlen(wanted)) == 0;
    }
  };
  line_.Take(thread, context, options);
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
    target_.store(nullptr);
    return;
  }
  if (sigismember(&context.uc_sigmask, SIGTRAP) == 1 || AtCallThatEndsSteps(context)) {
    target_.store(nullptr);
    return;
  }
  ResetTruths();
  left_ = state_.job.step_window;
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
    if (!IsWanted(thread, context)) state_.step_tid.store(0);
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
  self->busy_.store(thread);
  if (self->target_.load() == thread) {
    self->Step(*thread, *context);
    if (--self->left_ == 0 || self->stopped_.load(std::memory_order_relaxed) ||
        AtCallThatEndsSteps(*context))
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
}

void Stepper::Step(SampledThread& thread, ucontext_t& context) {
  state_.steps.fetch_add(1, std::memory_order_relaxed);
  if (state_.job.no_walk == 0) {
    struct Done {
      Stepper* self;
      StepPoint at;
    } done{this, PointOf(ReadContext(context), thread.env == nullptr ? 0 : *thread.view.last_sp())};
    if (state_.job.walker_count > 1) done.at.number = evidence_.Begin(line_.RegionOf(done.at.pc));
    SampleOptions options;
    options.light = true;
    options.data = &done;
    options.on_trace = [](void* data, int walker, const Trace& trace, Disagreement differs) {
      auto& done = *static_cast<Done*>(data);
      done.self->evidence_.Differs(walker, differs);
      done.self->Judge(walker, done.at, trace);
    };
    line_.Take(thread, context, options);
  }
}

// The map of instructions (StressState::pcs) shows the first walker alone.
void Stepper::Judge(int walker, const StepPoint& at, const Trace& trace) {
  StepTruth& truth = truths_[static_cast<size_t>(walker)];
  const StepVerdict verdict = truth.Step(at, trace);
  if (walker == 0) Count(at.pc, trace, verdict);
  if (verdict == StepVerdict::kWrong) evidence_.Wrong(walker, at.number);
  const JudgedStep* proven = nullptr;
  for (int i = truth.TakeProven(proven); i-- > 0;) {
    evidence_.Wrong(walker, proven[i].number);
    SteppedPc* place = walker == 0 ? PlaceOf(proven[i].pc) : nullptr;
    if (place != nullptr) place->wrong++, place->answered--;
  }
}

StepPoint Stepper::PointOf(const Registers& at, uint64_t anchor_sp) const {
  StepPoint point{at.pc, at.sp, at.lr, StepPoint::Code::kOther, false, anchor_sp};
  if constexpr (!kHasLinkRegister) point.link = *reinterpret_cast<const uint64_t*>(at.sp);
  point.link_interprets = code_.InInterpreter(point.link);
  if (code_.InInterpreter(at.pc))
    point.code = StepPoint::Code::kInterpreter;
  else if (code_.Find(at.pc).kind == CodeKind::kNmethod)
    point.code = StepPoint::Code::kCompiled;
  return point;
}

// Neighbouring instructions have neighbouring places, which spares most cache misses.
SteppedPc* Stepper::PlaceOf(uint64_t pc) {
  constexpr uint32_t kMostProbes = 256;
  constexpr uint64_t kBlock = 64, kPlacesOfBlock = 16;
  const uint64_t hash = walkhammer::PlaceOf(pc / kBlock, 32) * kPlacesOfBlock +
                        pc % kBlock / (kBlock / kPlacesOfBlock);
  for (uint32_t probe = 0; probe < kMostProbes; probe++) {
    SteppedPc& place = state_.pcs[(hash + probe) % StressState::kMaxPcs];
    uint64_t there = place.pc.load(std::memory_order_relaxed);
    if (there == pc) return &place;
    if (there != 0) continue;
    place.pc.store(pc);  // one thread is stepped at a time
    return &place;
  }
  return nullptr;
}

void Stepper::Count(uint64_t pc, const Trace& trace, StepVerdict verdict) {
  SteppedPc* place = PlaceOf(pc);
  if (place == nullptr) return;
  place->steps++;
  if (trace.ending == Ending::kReturned && trace.num_frames > 0) {
    if (verdict == StepVerdict::kWrong)
      place->wrong++;
    else
      place->answered++;
    return;
  }
  place->failed++;
  place->code = trace.ending == Ending::kReturned ? trace.num_frames : CodeSlotOf(trace);
}

}  // namespace walkhammer::stress
