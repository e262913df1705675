// SPDX-License-Identifier: Apache-2.0
#include "stress/agent.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/mappings.h"
#include "harness/elf/modules.h"
#include "harness/guard/interposition.h"
#include "harness/ipc/line_state.h"
#include "harness/jvm/live/failed_checks.h"
#include "harness/jvm/live/safefetch.h"
#include "harness/jvm/structs/flags.h"
#include "harness/layout_check/layout_check.h"
#include "harness/scenes/scenes.h"
#include "stress/jvm_events.h"
#include "stress/jvm_facts.h"

namespace walkhammer::stress {
namespace {

constexpr int kManagerPauseUs = 20000;
constexpr int kLearnedThreads = 64;  // threads whose starts are asked for each time, at most

Agent* the_agent = nullptr;

// What the page cache holds of a mapping: an upper bound of what this process has mapped of it.
uint64_t ResidentKib(uint64_t begin, uint64_t end) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((end - begin) / page);
  if (mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()) != 0) return 0;
  uint64_t resident = 0;
  for (const unsigned char state : pages) resident += state & 1;
  return resident * page / 1024;
}

// Compares what vmStructs say with what the JVM says of itself. A running program may compile and
// discard code in between: a contradiction counts only if all of kTries checks find one.
Status CheckLayoutOf(Jvm& jvm) {
  constexpr int kTries = 3;
  Status status = Ok();
  for (int i = 0; i < kTries; i++) {
    status = CheckLayout(ProveLayout(jvm, jvm.structs()));
    if (status.ok()) break;
  }
  return status;
}

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

Agent* Agent::Create(StressState& state) {
  if (the_agent == nullptr) the_agent = new Agent(state);
  return the_agent;
}

Agent* Agent::Get() { return the_agent; }

void Agent::Start(JavaVM* vm, JNIEnv* env) {
  Status status = TryStart(vm, env);
  if (status.ok()) return;
  Stop(AgentPhase::kUnable);
  CopyText(status.failure().message, state_.message);
  state_.lacking = status.failure().code == ExitCode::kToolFailed ? 0 : 1;
  state_.phase.store(AgentPhase::kUnable);
}

Status Agent::TryStart(JavaVM* vm, JNIEnv* env) {
  ASSIGN_OR_RETURN(jvm_, Jvm::Adopt(vm, {state_.names, StressState::kNamesBytes}, AgentCallbacks(),
                                    AgentEvents()));
  state_.undescribed = jvm_->has_structs() ? 0 : 1;
  if (jvm_->has_structs()) {
    RETURN_IF_ERROR(CheckLayoutOf(*jvm_));
    ASSIGN_OR_RETURN(code_, CodeFinder::Open(jvm_->structs()));
  } else if (state_.job.step != 0 || state_.job.rehearsal != 0) {
    return Unable("this JVM has no vmStructs, which steps and scenes need");
  }
  RETURN_IF_ERROR(threads_.SetUp(*jvm_, env));
  if (jvm_->is_openj9() && state_.job.mode == WalkMode::kRunning)
    return Unable("OpenJ9's walker writes into the thread that it walks, which must not run on");
  CopyText(jvm_->Property("java.vm.vendor") + ", " + jvm_->Property("java.vm.name") + ", " +
               jvm_->Property("java.vm.version"),
           state_.vm_version);
  CopyText(CollectorName(jvm_->structs()), state_.vm_gc);
  recorder_ = std::make_unique<CodeRecorder>(state_, jvm_->methods());
  jvm_->on_stub = [](const char* name, uint64_t begin, uint64_t end) {
    the_agent->RecordStub(name, begin, end);
  };
  RecordPlaces();
  RecordCode();

  line_ = std::make_unique<SampleLine>(state_, jvm_->methods(), code_, described_);
  auto cache = CodeCache::Open(jvm_->structs());
  Status status = line_->SetUp({jvm_->library(), &jvm_->layout(), jvm_->vm(),
                                FieldText(state_.job.provider), IsNativeMethod},
                               FactsOfSamples(*jvm_),
                               cache.ok() ? cache.value().Codelets() : std::vector<Codelet>());
  state_.module_count.store(ListModules(state_.modules));  // with what walkers have loaded
  RETURN_IF_ERROR(std::move(status));
  RETURN_IF_ERROR(InstallHandlers());
  // Attached to a running JVM, or if LD_PRELOAD was not obeyed, the agent is loaded but not in
  // front of libc, and walkers' calls of malloc and locks are not seen.
  CopyText(WhatIsNotInterposed(), state_.not_interposed);
  if (state_.job.mode == WalkMode::kParked || state_.job.mode == WalkMode::kRunning) {
    service_ = std::make_unique<WalkService>(state_, threads_.table(), *line_);
    RETURN_IF_ERROR(
        service_->Start([] { AttachAsDaemon(the_agent->jvm_->vm(), "walkhammer-walker"); },
                        [] { the_agent->jvm_->vm()->DetachCurrentThread(); },
                        state_.job.truth != 0 ? AskJvm : nullptr));
  }
  if (state_.job.rehearsal != 0) RETURN_IF_ERROR(BindSceneNatives(*jvm_, env));
  RETURN_IF_ERROR(ChooseAndStartSampler());
  threads_.AddExisting(env);
  if (!StartManager(env)) return ToolFailed("cannot start the agent's own thread");
  return Ok();
}

Status Agent::InstallHandlers() {
  GuardOptions options{};
  options.hang_limit_ms = static_cast<int>(state_.job.hang_limit_ms);
  options.jvm_ends_walks = jvm_->is_openj9();
  options.jvm_handler = reinterpret_cast<decltype(options.jvm_handler)>(
      dlsym(jvm_->library(), "JVM_handle_linux_signal"));
  Dl_info info{};
  if (!jvm_->is_openj9() && dladdr(dlsym(jvm_->library(), "JNI_CreateJavaVM"), &info) != 0) {
    FindSafeFetch(*jvm_, info.dli_fname, options);
    TrapFailedChecks(jvm_->library(), info.dli_fname, options);
  }
  if (state_.job.step != 0) {
    stepper_ = std::make_unique<Stepper>(state_, jvm_->methods(), code_, *line_);
    stepper_->Prepare(options);
  }
  RETURN_IF_ERROR(InstallGuard(options));
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_RESTART | HandlerStackFlag();
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = OnSample;
  if (sigaction(kSampleSignal, &action, nullptr) != 0)
    return ToolFailed("cannot install the sampling signal's handler");
  action.sa_sigaction = OnNested;
  if (sigaction(NestedSignal(), &action, nullptr) != 0)
    return ToolFailed("cannot install the nested signal's handler");
  return Ok();
}

Status Agent::ChooseAndStartSampler() {
  std::string reason;
  ASSIGN_OR_RETURN(auto chosen, ChooseSampler(state_.job, reason));
  state_.sampler = chosen->kind;
  CopyText(reason, state_.sampler_reason);
  sampler_ = chosen->make(state_.job);
  threads_.Begin(*sampler_);
  state_.phase.store(AgentPhase::kSampling);
  return sampler_->Start(threads_.table());
}

// Records what is in the code cache before the events report changes.
void Agent::RecordCode() {
  if (auto cache = CodeCache::Open(jvm_->structs()); cache.ok()) {
    for (const Codelet& codelet : cache.value().Codelets())
      recorder_->Add(SymbolKind::kCodelet, codelet.description, codelet.begin, codelet.end, -1);
    for (const CodeBlob& blob : cache.value().Blobs())
      if (!blob.is_nmethod && blob.name != "Interpreter")
        RecordStub(blob.name, blob.begin, blob.end);
  }
  for (const NamedCode& stub : jvm_->Stubs()) RecordStub(stub.name, stub.begin, stub.end);
  jvm_->jvmti()->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

// With what the CodeBlob that the stub is in, or is, says of its frame.
void Agent::RecordStub(std::string_view name, uint64_t begin, uint64_t end) {
  const FoundCode found = code_.Find(begin);
  CodeFacts facts{.frame_complete = -1};
  if (found.kind == CodeKind::kStub) {
    facts.frame_words = std::max(found.frame_words, 0);
    if (found.frame_complete >= 0)
      facts.frame_complete =
          static_cast<int>(static_cast<int64_t>(found.begin - begin) + found.frame_complete);
    facts.frame_complete = std::max(facts.frame_complete, -1);
  }
  recorder_->Add(SymbolKind::kStub, name, begin, end, -1, facts);
}

// Bytes from the begin of `nmethod` to its verified entry, where callers enter it that know the
// receiver's class.
int Agent::EntryOf(const FoundCode& nmethod) const {
  uint64_t entry = 0;
  const VmStructs& structs = jvm_->structs();
  if (const auto address = structs.Offset("nmethod", "_verified_entry_point")) {
    entry = *reinterpret_cast<const uint64_t*>(nmethod.blob + static_cast<uint64_t>(*address));
    return static_cast<int>(entry - nmethod.begin);
  }
  const auto offset = structs.Offset("nmethod", "_verified_entry_offset");
  if (!offset) return 0;
  return *reinterpret_cast<const uint16_t*>(nmethod.blob + static_cast<uint64_t>(*offset));
}

void Agent::RecordPlaces() {
  places_ = std::make_unique<PlaceRecorder>(state_, *jvm_);
  methods().on_add = [](const MethodEntry& entry) { the_agent->places_->AddMethod(entry); };
  methods().ForEach([this](const MethodEntry& entry) { places_->AddMethod(entry); });
  places_->RecordAreas();
}

void Agent::CodeLoaded(jmethodID method, const void* code, jint size, const void* record) {
  if (recorder_ == nullptr) return;
  const auto begin = reinterpret_cast<uint64_t>(code);
  described_.Add(begin, record);
  const MethodEntry* entry = methods().Find(method);
  const FoundCode found = code_.Find(begin);
  const bool is_found = found.kind == CodeKind::kNmethod && found.begin == begin;
  const std::optional<int> id = jvm_->structs().Offset("nmethod", "_compile_id");
  // The stubs behind a method's code belong to it, too.
  const uint64_t end = begin + static_cast<uint64_t>(size);
  CodeFacts facts;
  if (is_found)
    facts = {found.frame_complete, found.frame_words, EntryOf(found),
             id ? found.blob + static_cast<uint64_t>(*id) : 0};
  recorder_->Add(SymbolKind::kNmethod, entry == nullptr ? "?" : entry->name, begin,
                 is_found ? std::max(end, found.end) : end, found.level, facts);
}

void Agent::CodeUnloaded(const void* code) {
  if (recorder_ != nullptr) recorder_->Remove(reinterpret_cast<uint64_t>(code));
}

void Agent::Stop(AgentPhase phase) {
  if (threads_.End()) {
    if (stepper_ != nullptr) stepper_->Stop();
    sampler_->Stop();
    threads_.DisarmAll();
    if (service_ != nullptr) service_->Stop();
    threads_.UpdateClocks();
  }
  if (state_.phase.load() < phase) state_.phase.store(phase);
}

// Learns the outermost methods of threads from JVMTI, for the oracle thread-start.
void Agent::LearnThreadStarts(JNIEnv* env) {
  int asked = 0;
  threads_.table().ForEach([&](SampledThread& thread) {
    if (thread.env == nullptr || thread.object == nullptr || asked++ >= kLearnedThreads) return;
    jobject object = threads_.LocalRef(env, thread);
    if (object == nullptr) return;
    jvmtiFrameInfo last{};
    jint count = 0;
    if (jvm_->jvmti()->GetStackTrace(object, -1, 1, &last, &count) == JVMTI_ERROR_NONE &&
        count == 1)
      methods().MarkStartsThreads(last.method);
    env->DeleteLocalRef(object);
  });
}

void Agent::CheckHandlers() {
  struct sigaction now {};
  if (sigaction(kSampleSignal, nullptr, &now) == 0 && now.sa_sigaction != OnSample)
    state_.handlers_changed.store(kSampleSignal);
  if (!GuardInPlace()) state_.handlers_changed.store(SIGSEGV);
}

// Measures the memory of the shared mapping and our code that has pages, our tables and signal
// stacks. The kernel is asked about our mappings alone: smaps would keep the program's other
// threads from mapping memory while the page tables of its whole heap are counted.
void Agent::MeasureMemory() {
  // Tables in our heap, walk slots, and what their walkers have touched of their buffers.
  uint64_t kib = sizeof(MethodEntry) * MethodRegistry::kCapacity / 1024;
  kib += (sizeof(SampleLine) + methods().HeapBytes() + recorder_->HeapBytes() +
          described_.HeapBytes()) /
         1024;
  kib += static_cast<uint64_t>(kWalkSlots) * (2U * state_.job.walker_count + 1) *
         (state_.job.depth * sizeof(Frame) / 1024 + 8);
  for (const Mapping& mapping : ReadMappings())
    if (mapping.path.find("walkhammer") != std::string::npos)
      kib += ResidentKib(mapping.begin, mapping.end);
  threads_.table().ForEach([&](SampledThread&) { kib += 16; });
  if (kib > state_.agent_kib.load()) state_.agent_kib.store(kib);
}

void Agent::Manage(JNIEnv* env) {
  for (uint64_t round = 0; state_.phase.load() == AgentPhase::kSampling; round++) {
    usleep(kManagerPauseUs);
    const int32_t supervisor = state_.supervisor.load();
    if (state_.stop.load() != 0 || (kill(supervisor, 0) != 0 && errno == ESRCH)) {
      Stop(AgentPhase::kStopped);
      break;
    }
    if (round % 3 == 0 && state_.job.native_threads != 0) threads_.AddNative();
    if (stepper_ != nullptr) stepper_->Manage(threads_.table());
    if (round % 10 == 0) {
      threads_.UpdateClocks();
      CheckHandlers();
    }
    if (round % 50 == 25 && TakeClassesAreMissing()) jvm_->AddLoadedClasses(env);
    if (round % 50 == 5 && state_.job.no_walk == 0) LearnThreadStarts(env);
    if (round % 250 == 50) {
      if (!jvm_->is_openj9())
        methods().SweepUnloaded(jvm_->ids_are_numbers() ? jvm_->jvmti() : nullptr);
      places_->RecordAreas();
      UpdateModules();
      MeasureMemory();
    }
  }
}

// Writes the modules only if something has changed: others read them at any time.
void Agent::UpdateModules() {
  static Module now[kMaxModules];  // only the manager comes here
  const uint32_t count = ListModules(now);
  if (count == state_.module_count.load() &&
      std::memcmp(now, state_.modules, count * sizeof(Module)) == 0)
    return;
  std::memcpy(state_.modules, now, count * sizeof(Module));
  state_.module_count.store(count);
}

bool Agent::StartManager(JNIEnv* env) {
  jclass type = env->FindClass("java/lang/Thread");
  jmethodID make = env->GetMethodID(type, "<init>", "(Ljava/lang/String;)V");
  jobject thread = env->NewObject(type, make, env->NewStringUTF("walkhammer-manager"));
  if (thread == nullptr) return false;
  return jvm_->jvmti()->RunAgentThread(
             thread,
             [](jvmtiEnv*, JNIEnv* env, void* agent) { static_cast<Agent*>(agent)->Manage(env); },
             this, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
}

// --- What the agent does in signal handlers, and what it asks the JVM about a parked thread.
// Signal-safe: yes, but for AskJvm.

void Agent::TakeSample(SampledThread& thread, ucontext_t& context) {
  switch (state_.job.mode) {
    case WalkMode::kParked:
      service_->ParkUntilWalked(thread, context);
      break;
    case WalkMode::kRunning:
      service_->Post(thread, context);
      break;
    case WalkMode::kNested:
      UseFaultStack(thread, WalkingHandler::kSample, state_);
      ArmNested(thread);
      line_->Take(thread, context, {});
      break;
    default:
      UseFaultStack(thread, WalkingHandler::kSample, state_);
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
    UseFaultStack(*thread, WalkingHandler::kSample, agent->state_);
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
  if (agent->threads_.sampling()) {
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
  if (thread != nullptr && agent->threads_.sampling()) {
    UseFaultStack(*thread, WalkingHandler::kNested, agent->state_);
    agent->line_->Take(*thread, *static_cast<ucontext_t*>(raw_context), {.nested = nested});
  }
  errno = error_number;
}

// Asks only about a thread that the JVM need not stop: one that is parked in its handler could not
// stop.
std::span<const Frame> Agent::AskJvm(SampledThread& thread) {
  constexpr int kMost = 256;
  static jvmtiFrameInfo asked[kMost], again[kMost];  // there is one walking thread
  static Frame frames[kMost];
  if (thread.env == nullptr || thread.object == nullptr) return {};
  const uint8_t state = thread.view.State();
  if (state != kStateInNative && state != kStateBlocked) return {};
  Agent* agent = Get();
  JNIEnv* env = agent->jvm_->env();
  if (env == nullptr) return {};
  jobject object = agent->threads_.LocalRef(env, thread);
  if (object == nullptr) return {};
  jvmtiEnv* jvmti = agent->jvm_->jvmti();
  jint count = 0, count_again = 0;
  const jvmtiError error = jvmti->GetStackTrace(object, 0, kMost, asked, &count);
  // A safepoint that waited for this call comes as it returns. There, the thread's methods may be
  // redefined.
  const jvmtiError error_again = jvmti->GetStackTrace(object, 0, kMost, again, &count_again);
  env->DeleteLocalRef(object);
  if (error != JVMTI_ERROR_NONE || count <= 0 || count == kMost) return {};
  const auto is_same = [](const jvmtiFrameInfo& a, const jvmtiFrameInfo& b) {
    return a.method == b.method && a.location == b.location;
  };
  if (error_again != JVMTI_ERROR_NONE ||
      !std::equal(asked, asked + count, again, again + count_again, is_same))
    return {};
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
