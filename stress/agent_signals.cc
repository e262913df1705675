// SPDX-License-Identifier: Apache-2.0
// What the agent does in signal handlers, and what it asks the JVM about a parked thread.
// Signal-safe: yes, but for AskJvm.
#include <cerrno>
#include <cstring>
#include <ctime>

#include "harness/base/clock.h"
#include "stress/agent.h"

namespace walkhammer::stress {
namespace {

constexpr uint64_t kNestedFromNs = 300, kNestedSpanNs = 4096;  // from arming on, at random
constexpr uint64_t kIdleNs = 500;                              // less CPU time means idle

// Gives the thread its signal stack, which is in force once the handler returns: the kernel takes
// it from the context.
void GiveStackOnReturn(SampledThread& thread, ucontext_t& context) {
  if (thread.has_signal_stack) return;
  thread.has_signal_stack = true;
  // A signal stack that the thread has already stays.
  if ((context.uc_stack.ss_flags & SS_DISABLE) != 0) context.uc_stack = thread.signal_stack;
}

uint64_t OwnCpuNs() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return static_cast<uint64_t>(cpu.tv_sec) * 1000000000 + static_cast<uint64_t>(cpu.tv_nsec);
}

void ArmNested(SampledThread& thread) {
  if (!thread.has_nested_timer) return;
  itimerspec when{};
  when.it_value.tv_nsec = static_cast<long>(kNestedFromNs + thread.random % kNestedSpanNs);
  thread.random = thread.random * 6364136223846793005 + 1442695040888963407;
  if (!thread.rearming.Begin()) return;
  timer_settime(thread.nested_timer, 0, &when, nullptr);
  thread.rearming.End();
}

}  // namespace

void Agent::UseFaultStack(SampledThread& thread, WalkingHandler handler) {
  if (!stress::UseFaultStack(thread, handler))
    state_.foreign_stacks.fetch_add(1, std::memory_order_relaxed);
}

void Agent::TakeSample(SampledThread& thread, ucontext_t& context) {
  switch (state_.job.mode) {
    case WalkMode::kParked:
      service_->ParkUntilWalked(thread, context);
      break;
    case WalkMode::kRunning:
      service_->Post(thread, context);
      break;
    case WalkMode::kNested:
      UseFaultStack(thread, WalkingHandler::kSample);
      ArmNested(thread);
      line_->Take(thread, context, {});
      break;
    default:
      UseFaultStack(thread, WalkingHandler::kSample);
      line_->Take(thread, context, {});
      break;
  }
}

void Agent::OnSample(int, siginfo_t* info, void* raw_context) {
  const int error_number = errno;
  Agent* agent = Get();
  SampledThread* thread = CurrentSampledThread();
  auto& context = *static_cast<ucontext_t*>(raw_context);
  if (thread == nullptr) {
    agent->state_.untracked.fetch_add(1, std::memory_order_relaxed);
    errno = error_number;
    return;
  }
  GiveStackOnReturn(*thread, context);
  if (agent->stepper_ != nullptr) {
    agent->UseFaultStack(*thread, WalkingHandler::kSample);
    agent->stepper_->OnSignal(*thread, context);
    errno = error_number;
    return;
  }
  ThreadCounts& counts = *thread->counts;
  const uint64_t begun = MonotonicNs();
  if (WasQueued(*thread, begun)) {
    counts.coalesced.fetch_add(1, std::memory_order_relaxed);
    thread->handled_ns = MonotonicNs();
    errno = error_number;
    return;
  }
  counts.delivered.fetch_add(1, std::memory_order_relaxed);
  if (info->si_code == SI_TIMER && info->si_overrun > 0)
    counts.coalesced.fetch_add(static_cast<uint64_t>(info->si_overrun), std::memory_order_relaxed);
  // A timer follows the wall clock. For the CPU clock, only those samples count before which the
  // thread has run.
  const bool by_timer =
      agent->state_.sampler == SamplerKind::kTimer && agent->state_.job.clock == SampleClock::kCpu;
  const bool idle = by_timer && OwnCpuNs() - thread->cpu_at_last_ns < kIdleNs;
  if (idle) counts.idle.fetch_add(1, std::memory_order_relaxed);
  if (agent->sampling()) {
    // Once the supervisor says stop, walks that hang must not keep the manager from stopping.
    const bool wanted =
        agent->state_.job.no_walk == 0 && agent->state_.stop.load(std::memory_order_relaxed) == 0;
    if (!idle && wanted) agent->TakeSample(*thread, context);
    if (thread->rearming.Begin()) {
      agent->sampler_->Rearm(*thread, MonotonicNs() - begun);
      thread->rearming.End();
    }
  }
  if (thread->long_handlers >= kMostLongHandlers) thread->handled_ns = MonotonicNs();
  if (by_timer) thread->cpu_at_last_ns = OwnCpuNs();
  errno = error_number;
}

void Agent::OnNested(int, siginfo_t*, void* raw_context) {
  const int error_number = errno;
  Agent* agent = Get();
  SampledThread* thread = CurrentSampledThread();
  // The timer's signal may come before the walk has begun or after it has ended: then the sample is
  // a plain one.
  const GuardSlot* outer = CurrentGuardSlot();
  const bool nested = outer != nullptr && outer->inside != 0;
  if (thread != nullptr && agent->sampling()) {
    agent->UseFaultStack(*thread, WalkingHandler::kNested);
    agent->line_->Take(*thread, *static_cast<ucontext_t*>(raw_context), {.nested = nested});
  }
  errno = error_number;
}

// Asks only about a thread that the JVM need not stop: one that is parked in its handler could not
// stop.
std::span<const Frame> Agent::AskJvm(SampledThread& thread) {
  constexpr int kMost = 256;
  static jvmtiFrameInfo asked[kMost];  // there is one walking thread
  static Frame frames[kMost];
  if (thread.env == nullptr || thread.object == nullptr) return {};
  const uint8_t state = thread.view.State();
  if (state != kStateInNative && state != kStateBlocked) return {};
  Agent* agent = Get();
  JNIEnv* env = agent->jvm_->env();
  if (env == nullptr) return {};
  jobject object = agent->LocalRef(env, thread);
  if (object == nullptr) return {};
  jint count = 0;
  const jvmtiError error = agent->jvm_->jvmti()->GetStackTrace(object, 0, kMost, asked, &count);
  env->DeleteLocalRef(object);
  if (error != JVMTI_ERROR_NONE || count <= 0 || count == kMost) return {};
  for (jint i = 0; i < count; i++) {
    const MethodEntry* method = agent->methods().Find(asked[i].method);
    if (method == nullptr) return {};
    // These are a carrier's own frames; a walker sees the frames of its virtual thread.
    if (i == 0 && std::strstr(method->name, "Continuation.run()V") != nullptr) return {};
    frames[i].method = asked[i].method;
    frames[i].bci = method->is_native ? -3 : static_cast<int32_t>(asked[i].location);
  }
  agent->state_.truth_checked.fetch_add(1);
  return {frames, static_cast<size_t>(count)};
}

}  // namespace walkhammer::stress
