// SPDX-License-Identifier: Apache-2.0
#include "stress/sample_line.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "harness/base/clock.h"
#include "harness/guard/arch.h"
#include "harness/line/line.h"
#include "harness/oracles/oracle.h"
#include "harness/walkers/makers.h"
#include "stress/answer_hash.h"
#include "stress/stack_table.h"

namespace walkhammer::stress {
namespace {

constexpr int kCodePromised = 1;     // slot of code 0; see WalkerInfo::answers_later
constexpr uint64_t kMaskEvery = 16;  // one sample in so many has its signal mask checked
constexpr uint64_t kAgainEvery = 8;  // in one sample of so many, each walker is asked twice

Surroundings Look(const SampledThread& thread, uint64_t mask) {
  Surroundings around{};
  around.error_number = errno;
  around.signal_mask = mask;
  if (thread.env == nullptr) return around;
  around.thread_state = thread.view.State();
  around.anchor_sp = *thread.view.last_sp();
  around.anchor_pc = *thread.view.last_pc();
  around.anchor_fp = *thread.view.last_fp();
  return around;
}

constexpr uint64_t kLightWords = 64;

// Upper end of the frames on the stack, exclusive. pthreads keep their descriptor and thread-local
// storage at the upper end of their stack, and other threads write there.
uint64_t StackEnd(const SampledThread& thread) {
  constexpr uint64_t kThreadLocal = 4096;  // bytes below the descriptor
  const uint64_t descriptor = thread.thread_pointer;
  if (descriptor < thread.stack_limit + kThreadLocal || descriptor >= thread.stack_base)
    return thread.stack_base;
  return descriptor - kThreadLocal;
}

// Records `thread`, interrupted at `context`: registers, thread state, anchor and the newest words
// of its stack. `light`: few words, and no time. `running`: no words, as the thread runs on.
void TakeDown(const SampledThread& thread, const ucontext_t& context, bool light, bool running,
              Sample& sample) {
  sample.time_ns = light ? 0 : MonotonicNs();  // 0: set when a finding is reported
  sample.tid = thread.tid.load(std::memory_order_relaxed);
  sample.java = thread.env != nullptr ? 1 : 0;
  sample.registers = ReadContext(context);
  sample.state = 0;
  sample.anchor_sp = sample.anchor_pc = sample.anchor_fp = 0;
  if (thread.env != nullptr) {
    sample.state = thread.view.State();
    sample.anchor_sp = *thread.view.last_sp();
    sample.anchor_pc = *thread.view.last_pc();
    sample.anchor_fp = *thread.view.last_fp();
  }
  sample.thread = thread.env == nullptr ? 0 : reinterpret_cast<uint64_t>(thread.view.address());
  sample.stack_limit = thread.stack_limit;
  sample.stack_base = thread.stack_base;
  sample.words = 0;
  const uint64_t sp = sample.registers.sp;
  const uint64_t end = StackEnd(thread);
  if (sp % 8 != 0 || sp < thread.stack_limit || sp >= end || running) return;
  sample.words = static_cast<uint32_t>(
      std::min<uint64_t>((end - sp) / 8, light ? kLightWords : uint64_t{kSampleWords}));
  std::memcpy(sample.stack, reinterpret_cast<const void*>(sp), 8 * sample.words);
}

// Finds the lowest word that the walker has changed. Changed words are put back, so that the
// program survives to show more; but not words that were zero, which the walker may rightly have
// filled in.
// Only words up to the newest call of Java from native code are compared: older frames of the JVM
// hold words that others write to, such as the next of several thread dumps. `call_stub_return`:
// where that call returns to; 0: not known, and all words are compared.
StackWrite CompareStack(const Sample& sample, uint64_t call_stub_return) {
  StackWrite write{};
  auto* now = reinterpret_cast<uint64_t*>(sample.registers.sp);
  if (std::memcmp(now, sample.stack, 8 * sample.words) == 0) return write;
  const uint64_t* end = sample.stack + sample.words;
  if (call_stub_return != 0) end = std::find(sample.stack, end, call_stub_return);
  for (auto i = static_cast<uint32_t>(end - sample.stack); i-- > 0;) {
    if (now[i] == sample.stack[i]) continue;
    write = {true, 8 * i, sample.stack[i], now[i]};
    if (sample.stack[i] != 0) now[i] = sample.stack[i];
  }
  return write;
}

// Nothing can change what a walker sees of this sample, however often it is asked.
bool StandsInJava(const WalkSlot& slot, const SampleOptions& options) {
  return slot.journal->sample.state == kStateInJava && slot.still && !options.running &&
         !options.nested && !options.light;
}

}  // namespace

Status SampleLine::SetUp(const WalkerHost& host, const SampleFacts& facts,
                         const std::vector<Codelet>& codelets) {
  facts_ = facts;
  codelets_.Set(codelets);
  state_.unwatched_slots = 0;
  for (int i = 0; i < kWalkSlots; i++) {
    WalkSlot& slot = walk_slots_[i];
    slot.journal = &state_.journals[i];
    if (!WatchGuardSlot(slot.guard)) state_.unwatched_slots++;
    for (int w = 0; w < walker_count(); w++) {
      infos_[w] = &AllWalkers()[state_.job.walkers[w]];
      slot.walkers[w] = MakeWalker(*infos_[w]);
      RETURN_IF_ERROR(slot.walkers[w]->Bind(host));
      if (AsksAgain()) {
        slot.again[w] = MakeWalker(*infos_[w]);
        RETURN_IF_ERROR(slot.again[w]->Bind(host));
      }
    }
    BindWitness(slot, host);
  }
  (void)OraclesFor(0);  // the tables are made at their first use
  return Ok();
}

bool SampleLine::AsksAgain() const {
  return state_.job.step == 0 && state_.job.mode != WalkMode::kRunning &&
         !AllWalkers()[state_.job.walkers[0]].answers_later;
}

void SampleLine::BindWitness(WalkSlot& slot, const WalkerHost& host) {
  if (state_.job.witness == 0 || state_.no_witness[0] != 0) return;
  slot.witness = MakeWalker(AllWalkers()[state_.job.witness - 1U]);
  const Status bound = slot.witness->Bind(host);
  if (bound.ok()) return;
  CopyText(bound.failure().message, state_.no_witness);
  slot.witness.reset();
}

WalkSlot* SampleLine::Claim() {
  for (WalkSlot& slot : walk_slots_) {
    int32_t free = 0;
    if (slot.taken.load(std::memory_order_relaxed) == 0 &&
        slot.taken.compare_exchange_strong(free, 1, std::memory_order_acquire))
      return &slot;
  }
  return nullptr;
}

bool SampleLine::IsInModule(uint64_t pc) const {
  const std::span<const Module> modules(state_.modules, ModuleCount(state_));
  return std::any_of(modules.begin(), modules.end(),
                     [pc](const Module& module) { return pc >= module.start && pc < module.end; });
}

PcRegion SampleLine::RegionOf(uint64_t pc) const {
  switch (code_.Find(pc).kind) {
    case CodeKind::kNmethod:
      return PcRegion::kNmethod;
    case CodeKind::kCodelet:
      return PcRegion::kCodelet;
    case CodeKind::kStub:
      return PcRegion::kStub;
    case CodeKind::kNone:
      break;
  }
  if (code_.finds_code()) return code_.IsInCache(pc) ? PcRegion::kCodeCache : PcRegion::kLibrary;
  return IsInModule(pc) ? PcRegion::kLibrary : PcRegion::kCodeCache;
}

bool SampleLine::Take(SampledThread& thread, ucontext_t& context, const SampleOptions& options) {
  WalkSlot* slot = Claim();
  if (slot == nullptr) {
    thread.counts->no_walk_slot.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const int tid = options.light ? thread.tid.load(std::memory_order_relaxed) : 0;
  GuardSlot* before = SetCurrentGuardSlot(&slot->guard, tid);
  // Clears errno before the stack is recorded, because thread-local storage may be at the stack's
  // upper end. While the sampled thread runs on, errno is that thread's own and stays.
  if (!options.running) errno = 0;
  Sample& sample = slot->journal->sample;
  TakeDown(thread, context, options.light, options.running, sample);
  sample.nested = options.nested ? 1 : 0;
  slot->still =
      sample.java == 0 || thread.view.states().StandsStill(sample.state, sample.anchor_sp);
  slot->guard.walked_stack = sample.words != 0 ? sample.registers.sp : 0;
  sample.sequence = sequence_.fetch_add(1, std::memory_order_relaxed);
  slot->seen.other = {};
  slot->facts = facts_;
  slot->facts.nested = options.nested;
  if (!options.nested && !options.running) slot->facts.shadow = thread.shadow.load();
  for (int w = 0; w < walker_count(); w++) Walk(*slot, thread, context, w, options);
  if (slot->witness != nullptr && StandsInJava(*slot, options)) AskWitness(*slot, thread, context);
  SetCurrentGuardSlot(before);
  slot->taken.store(0, std::memory_order_release);
  return true;
}

void SampleLine::Walk(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker,
                      const SampleOptions& options) {
  Sample& sample = slot.journal->sample;
  sample.walker = state_.job.walkers[walker];
  slot.journal->phase.store(1, std::memory_order_release);
  CallWalker(slot, thread, context, walker, *slot.walkers[walker], options);

  Observation& seen = slot.seen;
  if (HasChanged(slot, thread, context, walker)) seen.other = {};
  // Successive answers are mostly equal: an answer equal to the last clean one is clean.
  const uint64_t answer = options.light ? HashOfAnswer(seen) : 0;
  if (answer == 0 || answer != slot.clean_answer) slot.clean_answer = Judge(slot) ? answer : 0;
  const Disagreement differs =
      agreement_.Count(seen, sample, RegionOf(sample.registers.pc), context, walker);
  // The oracles have judged a count beyond the buffer; no later code may read there.
  seen.trace.num_frames = std::min<int>(seen.trace.num_frames, state_.job.depth);
  if (options.on_trace != nullptr) (*options.on_trace)(walker, seen.trace, differs);
  Count(slot, thread, walker, options);
  slot.answers[walker] = seen.trace;
  if (slot.again[walker] != nullptr && sample.sequence % kAgainEvery == 0 &&
      StandsInJava(slot, options))
    AskAgain(slot, thread, context, walker, options);
  KeepForNext(slot, walker, options);
  slot.journal->phase.store(0, std::memory_order_release);
}

void SampleLine::Call(WalkSlot& slot, Walker& walker, const WalkInput& input, Trace& trace) const {
  if (state_.job.uncontained != 0)
    CallUncontained(walker, input, trace);
  else
    CallGuarded(slot.guard, walker, input, trace);
}

// Calls the walker and fills in slot.seen. From the first Look to the last nothing else runs on the
// thread.
void SampleLine::CallWalker(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker,
                            Walker& called, const SampleOptions& options) {
  const Sample& sample = slot.journal->sample;
  Observation& seen = slot.seen;
  const WalkInput input{&context, thread.env, state_.job.depth, 0};
  // Reading the signal mask costs a system call each time.
  const bool ask_mask = sample.sequence % kMaskEvery == 0 && !options.light;
  const uint64_t mask = ask_mask ? ThreadSignalMask() : 0;
  seen.before = Look(thread, mask);
  Call(slot, called, input, seen.trace);
  seen.after = Look(thread, 0);
  if (options.running)
    seen.after.error_number = seen.before.error_number;
  else
    errno = 0;
  if (ask_mask) seen.after.signal_mask = ThreadSignalMask();
  if (seen.after.signal_mask != mask)
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
  if (options.running || !slot.still) {
    // Other threads may have changed these fields in between, and rightly so.
    seen.after.thread_state = seen.before.thread_state;
    seen.after.anchor_sp = seen.before.anchor_sp;
    seen.after.anchor_pc = seen.before.anchor_pc;
    seen.after.anchor_fp = seen.before.anchor_fp;
  }
  seen.stack_write = {};
  // Only in Java: in the JVM itself, a thread's stack holds words that others write to, such as the
  // waiters of a monitor.
  if (!options.running && slot.still && sample.state == kStateInJava)
    seen.stack_write = CompareStack(sample, facts_.call_stub_return);
  seen.buffer_intact = seen.trace.ending != Ending::kReturned || called.BufferIntact(input);
  // A malloc of the running thread is not the walker's.
  if (options.running) slot.guard.unsafe_call.function = nullptr;

  slot.request.walker = sample.walker;
  slot.request.state = sample.state;
  slot.request.depth = state_.job.depth;
  seen.request = &slot.request;
  seen.walker = infos_[walker];
  seen.methods = &methods_;
  seen.truth = options.jvmti;
  seen.pristine = !options.jvmti.empty();
  seen.fault = &slot.guard.fault;
  seen.unsafe_call = &slot.guard.unsafe_call;
  seen.sample = &slot.facts;
}

void SampleLine::AskAgain(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker,
                          const SampleOptions& options) {
  Observation& seen = slot.seen;
  const Trace first = seen.trace;
  seen.other = {first, infos_[walker], true};
  CallWalker(slot, thread, context, walker, *slot.again[walker], options);
  Judge(slot);
  if (seen.trace.ending != Ending::kReturned)
    state_.contained_crashes.fetch_add(1, std::memory_order_relaxed);
  seen.trace = first;
}

void SampleLine::AskWitness(WalkSlot& slot, SampledThread& thread, ucontext_t& context) {
  SampleJournal& journal = *slot.journal;
  journal.sample.walker = static_cast<uint8_t>(state_.job.witness - 1);  // whose a death would be
  journal.phase.store(1, std::memory_order_release);
  Trace truth;
  Call(slot, *slot.witness, {&context, thread.env, state_.job.depth, 0}, truth);
  errno = 0;
  journal.phase.store(0, std::memory_order_release);
  // Honest walkers, too, have no stack where code of the JVM or a stub runs as Java's, as in the
  // slow path of a lock.
  const PcRegion region = RegionOf(journal.sample.registers.pc);
  const bool in_java_code = region == PcRegion::kNmethod || region == PcRegion::kCodelet;
  const uint64_t slice = MonotonicNs() / 1'000'000'000 % kWitnessSlices;
  for (int w = 0; w < walker_count(); w++)
    if (const auto testimony = TestimonyOn(slot.answers[w], truth, state_.job.depth);
        testimony && (in_java_code || *testimony != Testimony::kNoFrame))
      state_.witnessed[w][static_cast<int>(*testimony)][slice].fetch_add(1,
                                                                         std::memory_order_relaxed);
}

// True if the stack has changed since the previous walker's answer: others may deoptimise a thread
// that is blocked or in native code between two walks, and then the two walkers were not shown the
// same. Where their answers differ, the previous walker is asked again.
bool SampleLine::HasChanged(WalkSlot& slot, SampledThread& thread, ucontext_t& context,
                            int walker) {
  const Observation& seen = slot.seen;
  SampleJournal& journal = *slot.journal;
  const int depth = state_.job.depth;
  if (seen.other.walker == nullptr || slot.still ||
      !CanCompare(seen.trace, seen.other.trace, depth) ||
      Compare(seen.trace, seen.other.trace).kind == Disagreement::kNone)
    return false;
  const WalkInput input{&context, thread.env, depth, 0};
  const UnsafeCall kept = slot.guard.unsafe_call;
  journal.sample.walker = state_.job.walkers[walker - 1];  // the walker that a death is blamed on
  Trace again;
  Call(slot, *slot.walkers[walker - 1], input, again);
  journal.sample.walker = state_.job.walkers[walker];
  slot.guard.unsafe_call = kept;
  errno = 0;
  return again.ending != Ending::kReturned || again.num_frames > depth ||
         HashOfFrames(again) != slot.other_frames;
}

void SampleLine::Count(const WalkSlot& slot, SampledThread& thread, int walker,
                       const SampleOptions& options) {
  const Sample& sample = slot.journal->sample;
  const Trace& trace = slot.seen.trace;
  const bool returned = trace.ending == Ending::kReturned;
  const int code = CodeSlotOf(trace);
  const int state = std::min<int>(sample.state, kMaxStates - 1);
  state_.counts[walker][state][static_cast<int>(RegionOf(sample.registers.pc))][code].fetch_add(
      1, std::memory_order_relaxed);
  if (!options.nested && !options.light && !infos_[walker]->answers_later)
    CountStack(state_, methods_, trace, returned ? std::min(trace.num_frames, 0) : code,
               sample.walker);
  if (returned && trace.end < WalkEnd::kCount)
    state_.ends[walker][static_cast<int>(trace.end)].fetch_add(1, std::memory_order_relaxed);
  state_.walks.fetch_add(1, std::memory_order_relaxed);
  thread.counts->walks.fetch_add(1, std::memory_order_relaxed);
  const bool promised = infos_[walker]->answers_later && code == kCodePromised;
  if (code == kCodeFrames || promised) {
    state_.successful.fetch_add(1, std::memory_order_relaxed);
    state_.walk_times[walker][DepthClassOf(trace.num_frames)][TimeSlotOf(trace.ns)].fetch_add(
        1, std::memory_order_relaxed);
    thread.counts->successful.fetch_add(1, std::memory_order_relaxed);
    if (slot.facts.shadow != nullptr) state_.shadow_checked.fetch_add(1, std::memory_order_relaxed);
  }
  if (!returned) state_.contained_crashes.fetch_add(1, std::memory_order_relaxed);
}

// Keeps the answer for the next walker; sets same_again only for a thread that stands still: while
// a thread is in native code or blocked, a safepoint may begin, and a GC with it.
void SampleLine::KeepForNext(WalkSlot& slot, int walker, const SampleOptions& options) const {
  if (options.running || walker + 1 == walker_count()) return;
  slot.seen.other = {slot.seen.trace, infos_[walker],
                     slot.still && infos_[walker + 1] == infos_[walker]};
  if (!slot.still && slot.seen.trace.ending == Ending::kReturned)
    slot.other_frames = HashOfFrames(slot.seen.trace);
}

bool SampleLine::Judge(WalkSlot& slot) {
  return JudgeWalk(slot.seen, state_.job.without,
                   [&](uint8_t oracle, uint8_t outcome, const char* detail) {
                     Report(slot, oracle, outcome, detail);
                   });
}

void SampleLine::Report(WalkSlot& slot, uint8_t oracle, uint8_t outcome, const char* detail) {
  const Observation& seen = slot.seen;
  const int site =
      WantsReport(state_, SiteOf(seen, oracle, outcome, seen.request->walker, state_), 0, false);
  if (site < 0) return;

  StressFinding* kept = nullptr;
  for (StressFinding& finding : state_.ring) {
    uint32_t free = 0;
    if (!finding.state.compare_exchange_strong(free, 1)) continue;
    kept = &finding;
    break;
  }
  if (kept == nullptr) {
    WasDropped(state_, site);
    return;
  }
  RawFinding& raw = kept->raw;
  std::memset(static_cast<void*>(&raw), 0, sizeof raw);
  const Sample& sample = slot.journal->sample;
  std::memcpy(&kept->sample, &sample, offsetof(Sample, stack) + 8 * sample.words);
  raw.sequence = sample.sequence;
  const uint64_t time_ns = sample.time_ns != 0 ? sample.time_ns : MonotonicNs();
  raw.time_ms = (time_ns - state_.start_ns) / 1000000;
  raw.request = slot.request;
  raw.site = static_cast<uint32_t>(site);
  raw.presented = sample.registers;
  FillFinding(seen, oracle, outcome, detail, raw);
  kept->state.store(2, std::memory_order_release);
}

}  // namespace walkhammer::stress
