// SPDX-License-Identifier: Apache-2.0
#include "stress/agent.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/mappings.h"
#include "harness/elf/modules.h"
#include "harness/guard/interposition.h"
#include "harness/jvm/live/failed_checks.h"
#include "harness/jvm/live/safefetch.h"
#include "harness/jvm/structs/flags.h"
#include "harness/proof/layout_proof.h"
#include "harness/scenes/scenes.h"
#include "harness/shared/line_state.h"
#include "stress/jvm_events.h"

namespace walkhammer::stress {
namespace {

constexpr int kManagerPauseUs = 20000;
constexpr int kLearnedThreads = 64;  // threads whose starts are asked for each time, at most

Agent* the_agent = nullptr;

void Copy(char* to, size_t size, const std::string& from) {
  std::snprintf(to, size, "%s", from.c_str());
}

// For reading byte code, through the structures that vmStructs describes.
JvmLayout layout;
int const_method_bytes = 0;

// Runs `read` with the id, in a handler, after a walk. Does not run it for an id that the registry
// does not know: a walker may answer anything. What a known id leads to goes with its class, maybe
// at this moment: `read` may fault.
template <typename Read>
void ReadMethod(void* method_id, Read read) {
  const MethodEntry* entry = the_agent->methods().Find(method_id);
  GuardSlot* slot = CurrentGuardSlot();
  if (entry == nullptr || entry->unloaded.load(std::memory_order_relaxed) || slot == nullptr)
    return;
  Contained(*slot, [&] { read(the_agent->jvm().MethodOf(static_cast<jmethodID>(method_id))); });
}

uint64_t MethodOf(void* method_id) {
  uint64_t method = 0;
  ReadMethod(method_id, [&](uint64_t found) { method = found; });
  return method;
}

std::atomic<bool> classes_are_missing{false};  // from the method registry

bool Keeps(void* method_id) {
  const Jvm& jvm = the_agent->jvm();
  if (!jvm.has_structs()) {  // its tables are not known: the id may be of a class loaded untold
    classes_are_missing.store(true, std::memory_order_relaxed);
    return true;
  }
  const bool keeps = jvm.Keeps(static_cast<jmethodID>(method_id));
  // Where ids are numbers, only the registry knows, after AddLoadedClasses.
  if (keeps || jvm.ids_are_numbers()) classes_are_missing.store(true, std::memory_order_relaxed);
  return keeps;
}

// The value at `offset` of the id's ConstMethod; -1: the id leads to no method any more.
template <typename Value>
int ConstMethodHas(void* method_id, int offset) {
  int value = -1;
  ReadMethod(method_id, [&](uint64_t method) {
    if (method < 4096) return;
    const auto constant =
        *reinterpret_cast<uint64_t*>(method + static_cast<uint64_t>(layout.method_const));
    value = *reinterpret_cast<Value*>(constant + static_cast<uint64_t>(offset));
  });
  return value;
}

bool IsNative(void* method_id) {
  const MethodEntry* entry = the_agent->methods().Find(method_id);
  return entry != nullptr && entry->is_native;
}

int CodeSizeOf(void* method_id) {
  return ConstMethodHas<uint16_t>(method_id, layout.const_code_size);
}

int ByteCodeAt(void* method_id, int bci) {
  return ConstMethodHas<uint8_t>(method_id, const_method_bytes + bci);
}

// Of a mapping, what the page cache holds: an upper bound of what this process has mapped of it.
uint64_t ResidentKib(uint64_t begin, uint64_t end) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((end - begin) / page);
  if (mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()) != 0) return 0;
  uint64_t resident = 0;
  for (const unsigned char state : pages) resident += state & 1;
  return resident * page / 1024;
}

// Compares what vmStructs say with what the JVM says of itself. A running program may compile and
// discard code meanwhile: a contradiction counts only if all of kTries checks find one.
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

std::string CommandOf(int tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

bool IsOurs(const std::string& thread_name) {
  return thread_name.starts_with("wh-") || thread_name.starts_with("walkhammer");
}

// Records the bounds of the calling thread's stack, as its C library knows them.
void TakeOwnStack(SampledThread& thread) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* limit = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &limit, &bytes);
  pthread_attr_destroy(&attributes);
  thread.stack_limit = reinterpret_cast<uint64_t>(limit);
  thread.stack_base = thread.stack_limit + bytes;
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
  Copy(state_.message, sizeof state_.message, status.failure().message);
  state_.lacking = status.failure().code == ExitCode::kToolFailed ? 0 : 1;
  state_.phase.store(AgentPhase::kUnable);
}

Status Agent::TryStart(JavaVM* vm, JNIEnv* env) {
  auto jvm =
      Jvm::Adopt(vm, {state_.names, StressState::kNamesBytes}, AgentCallbacks(), AgentEvents());
  if (!jvm.ok()) return jvm.failure();
  jvm_ = jvm.value();
  state_.undescribed = jvm_->has_structs() ? 0 : 1;
  if (jvm_->has_structs())
    RETURN_IF_ERROR(ReadStructs(env));
  else if (state_.job.step != 0 || state_.job.rehearsal != 0)
    return Unable("this JVM has no vmStructs, which steps and scenes need");
  if (jvm_->is_openj9() && state_.job.mode == WalkMode::kRunning)
    return Unable("OpenJ9's walker writes into the thread that it walks, which must not run on");
  Copy(state_.vm_version, sizeof state_.vm_version,
       jvm_->Property("java.vm.vendor") + ", " + jvm_->Property("java.vm.name") + ", " +
           jvm_->Property("java.vm.version"));
  Copy(state_.vm_gc, sizeof state_.vm_gc, CollectorName(jvm_->structs()));
  recorder_ = std::make_unique<CodeRecorder>(state_, jvm_->methods());
  jvm_->on_stub = [](const char* name, uint64_t begin, uint64_t end) {
    the_agent->recorder_->Add(SymbolKind::kStub, name, begin, end, -1);
  };
  RecordPlaces();
  RecordCode();

  line_ = std::make_unique<SampleLine>(state_, jvm_->methods(), code_, described_);
  auto cache = CodeCache::Open(jvm_->structs());
  Status status = line_->SetUp(
      {jvm_->library(), &jvm_->layout(), jvm_->vm(), FieldText(state_.job.provider), IsNative},
      FactsOfSamples(), cache.ok() ? cache.value().Codelets() : std::vector<Codelet>());
  state_.module_count.store(ListModules(state_.modules));  // with what walkers have loaded
  if (status.ok()) status = InstallHandlers();
  if (!status.ok()) return status;
  CheckInterposition();
  if (state_.job.mode == WalkMode::kParked || state_.job.mode == WalkMode::kRunning) {
    service_ = std::make_unique<WalkService>(state_, threads_, *line_);
    status = service_->Start([] { AttachAsDaemon(the_agent->jvm_->vm(), "walkhammer-walker"); },
                             [] { the_agent->jvm_->vm()->DetachCurrentThread(); },
                             state_.job.truth != 0 ? AskJvm : nullptr);
    if (!status.ok()) return status;
  }
  if (state_.job.rehearsal != 0) status = BindSceneNatives(*jvm_, env);
  if (status.ok()) status = ChooseAndStartSampler();
  if (!status.ok()) return status;
  AddExistingThreads(env);
  if (!StartManager(env)) return ToolFailed("cannot start the agent's own thread");
  return Ok();
}

Status Agent::ReadStructs(JNIEnv* env) {
  RETURN_IF_ERROR(CheckLayoutOf(*jvm_));
  const VmStructs& structs = jvm_->structs();
  ASSIGN_OR_RETURN(code_, CodeFinder::Open(structs));
  StructReader read(structs);
  os_thread_ = read.Need("JavaThread", "_osthread", "Thread");
  os_thread_id_ = read.Need("OSThread", "_thread_id");
  RETURN_IF_ERROR(read.Complete());
  layout = jvm_->layout();
  const_method_bytes = static_cast<int>(structs.SizeOf("ConstMethod").value_or(0));
  eetop_ = env->GetFieldID(env->FindClass("java/lang/Thread"), "eetop", "J");
  return Ok();
}

SampleFacts Agent::FactsOfSamples() const {
  SampleFacts facts{};
  facts.keeps = Keeps;
  if (!jvm_->has_structs()) return facts;
  facts.method_of = MethodOf;
  if (const auto* back = static_cast<const uint64_t*>(
          jvm_->structs().Static("StubRoutines", "_call_stub_return_address")))
    facts.call_stub_return = *back;
  if (const_method_bytes > 0) {
    facts.byte_code = ByteCodeAt;
    facts.code_size = CodeSizeOf;
  }
  return facts;
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
  Status status = InstallGuard(options);
  if (!status.ok()) return status;
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

// Whether walkers' calls of malloc and locks are seen. Attached to a running JVM, or if
// LD_PRELOAD was not obeyed, the agent is loaded but not in front of libc.
void Agent::CheckInterposition() {
  Copy(state_.not_interposed, sizeof state_.not_interposed, WhatIsNotInterposed());
}

Status Agent::ChooseAndStartSampler() {
  std::string reason;
  ASSIGN_OR_RETURN(auto chosen, ChooseSampler(state_.job, reason));
  state_.sampler = chosen->kind;
  Copy(state_.sampler_reason, sizeof state_.sampler_reason, reason);
  sampler_ = chosen->make(state_.job);
  sampling_.store(true);
  state_.phase.store(AgentPhase::kSampling);
  return sampler_->Start(threads_);
}

// Records what is in the code cache before the events report changes.
void Agent::RecordCode() {
  if (auto cache = CodeCache::Open(jvm_->structs()); cache.ok()) {
    for (const Codelet& codelet : cache.value().Codelets())
      recorder_->Add(SymbolKind::kCodelet, codelet.description, codelet.begin, codelet.end, -1);
    for (const CodeBlob& blob : cache.value().Blobs())
      if (!blob.is_nmethod && blob.name != "Interpreter")
        recorder_->Add(SymbolKind::kStub, blob.name, blob.begin, blob.end, -1);
  }
  for (const NamedCode& stub : jvm_->Stubs())
    recorder_->Add(SymbolKind::kStub, stub.name, stub.begin, stub.end, -1);
  jvm_->jvmti()->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
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
  recorder_->Add(SymbolKind::kNmethod, entry == nullptr ? "?" : entry->name, begin,
                 begin + static_cast<uint64_t>(size), found.level,
                 found.kind == CodeKind::kNmethod ? found.frame_complete : 0);
}

void Agent::CodeUnloaded(const void* code) {
  if (recorder_ != nullptr) recorder_->Remove(reinterpret_cast<uint64_t>(code));
}

void Agent::Stop(AgentPhase phase) {
  if (sampling_.exchange(false)) {
    if (stepper_ != nullptr) stepper_->Stop();
    sampler_->Stop();
    threads_.ForEach([&](SampledThread& thread) { Disarm(thread); });
    if (service_ != nullptr) service_->Stop();
    threads_.ForEach([&](SampledThread& thread) { threads_.UpdateClocks(thread); });
  }
  if (state_.phase.load() < phase) state_.phase.store(phase);
}

// Learns the outermost methods of threads from JVMTI, for the oracle thread-start.
void Agent::LearnThreadStarts(JNIEnv* env) {
  int asked = 0;
  threads_.ForEach([&](SampledThread& thread) {
    if (thread.env == nullptr || thread.object == nullptr || asked++ >= kLearnedThreads) return;
    jobject object = LocalRef(env, thread);
    if (object == nullptr) return;
    jvmtiFrameInfo last{};
    jint count = 0;
    if (jvm_->jvmti()->GetStackTrace(object, -1, 1, &last, &count) == JVMTI_ERROR_NONE &&
        count == 1)
      methods().MarkStartsThreads(last.method);
    env->DeleteLocalRef(object);
  });
}

// New local reference to the java.lang.Thread; null if the thread has ended.
jobject Agent::LocalRef(JNIEnv* env, SampledThread& thread) {
  std::lock_guard<std::mutex> lock(objects_);
  return thread.object == nullptr ? nullptr : env->NewLocalRef(thread.object);
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
  kib += static_cast<uint64_t>(kWalkSlots) * state_.job.walker_count *
         (state_.job.depth * sizeof(Frame) / 1024 + 8);
  for (const Mapping& mapping : ReadMappings())
    if (mapping.path.find("walkhammer") != std::string::npos)
      kib += ResidentKib(mapping.begin, mapping.end);
  threads_.ForEach([&](SampledThread&) { kib += 16; });
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
    if (round % 3 == 0 && state_.job.native_threads != 0) AddNativeThreads();
    if (stepper_ != nullptr) stepper_->Manage(threads_);
    if (round % 10 == 0) {
      threads_.ForEach([&](SampledThread& thread) { threads_.UpdateClocks(thread); });
      CheckHandlers();
    }
    if (round % 50 == 25 && classes_are_missing.exchange(false)) jvm_->AddLoadedClasses(env);
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

// --- How the agent learns which threads there are, and arms and disarms them.

std::string Agent::NameOf(JNIEnv* env, jthread object) const {
  jvmtiThreadInfo info{};
  if (jvm_->jvmti()->GetThreadInfo(object, &info) != JVMTI_ERROR_NONE) return "?";
  std::string name = info.name;
  jvm_->jvmti()->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  env->DeleteLocalRef(info.thread_group);
  env->DeleteLocalRef(info.context_class_loader);
  return name;
}

void Agent::ThreadStarted(JNIEnv* env, jthread object) {
  if (jvm_ == nullptr || !sampling()) return;
  const int tid = static_cast<int>(syscall(SYS_gettid));
  const std::string name = NameOf(env, object);
  if (IsOurs(name)) return;
  // The thread may be known: a JVM's main thread is, and a native one that attaches itself now.
  SampledThread* thread = threads_.Find(tid);
  const bool is_new = thread == nullptr;
  if (is_new) thread = threads_.Add(tid, name.c_str(), true);
  if (thread == nullptr) return;
  thread->view = jvm_->ThreadOf(env);
  thread->object = env->NewWeakGlobalRef(object);
  if (jvm_->has_structs()) {
    thread->stack_base = thread->view.stack_base();
    thread->stack_limit = thread->view.stack_limit();
  } else {
    TakeOwnStack(*thread);
  }
  thread->counts->java = 1;
  GiveSignalStack(kDisarmedInHandlers);
  thread->has_signal_stack = true;
  threads_.Enter(*thread);
  thread->env = env;
  // A known entry may be that of an older thread with this tid.
  if (!is_new) Disarm(*thread);
  Arm(*thread);
}

void Agent::ThreadEnded() {
  SampledThread* thread = CurrentSampledThread();
  if (thread == nullptr || jvm_ == nullptr) return;
  sigset_t ours, before;  // signals on their way must not find the thread half removed
  sigemptyset(&ours);
  sigaddset(&ours, kSampleSignal);
  sigaddset(&ours, NestedSignal());
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  Disarm(*thread);
  thread->shadow.store(nullptr);
  // A walk under way still uses this thread's thread pointer; a walk not begun never will.
  Park waiting = Park::kWaiting;
  thread->park.compare_exchange_strong(waiting, Park::kNone);
  while (thread->park.load() != Park::kNone) usleep(100);
  JNIEnv* env = thread->env;
  {
    std::lock_guard<std::mutex> lock(objects_);
    thread->env = nullptr;
    if (env != nullptr && thread->object != nullptr) env->DeleteWeakGlobalRef(thread->object);
    thread->object = nullptr;
  }
  threads_.Remove(*thread, true);
  LeaveGuardedThread();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Reads what the agent must know of a thread that was there before the agent. The thread may end
// meanwhile, and its JavaThread is then freed: java.lang.Thread forgets it before that, so that
// what was read counts only if java.lang.Thread still has it afterwards. False: it does not, or the
// thread has not begun.
bool Agent::Read(JNIEnv* env, jthread object, ExistingThread& there) const {
  static GuardSlot slot;  // one thread comes here
  const jlong java_thread = env->GetLongField(object, eetop_);
  if (java_thread == 0) return false;
  there.view = JavaThreadView(reinterpret_cast<void*>(java_thread), jvm_->layout());
  GuardSlot* before = SetCurrentGuardSlot(&slot);
  const bool readable = Contained(slot, [&] {
    const auto os_thread = *reinterpret_cast<uint64_t*>(java_thread + os_thread_);
    if (os_thread == 0) return;
    there.tid = *reinterpret_cast<int*>(os_thread + static_cast<uint64_t>(os_thread_id_));
    there.stack_base = there.view.stack_base();
    there.stack_limit = there.view.stack_limit();
  });
  SetCurrentGuardSlot(before);
  return readable && there.tid > 0 && env->GetLongField(object, eetop_) == java_thread;
}

// Adds a Java thread that was there before the agent, with a signal stack to take.
void Agent::AddExistingThread(JNIEnv* env, jthread object) {
  ExistingThread there;
  if (!Read(env, object, there) || threads_.Find(there.tid) != nullptr) return;
  const std::string name = NameOf(env, object);
  if (IsOurs(name)) return;
  SampledThread* thread = threads_.Add(there.tid, name.c_str(), true);
  if (thread == nullptr) return;
  ExistingThread still;
  if (!Read(env, object, still) || still.tid != there.tid) {  // the thread has ended meanwhile
    threads_.Remove(*thread, false);
    return;
  }
  thread->view = there.view;
  thread->env = jvm_->EnvOf(there.view);
  thread->object = env->NewWeakGlobalRef(object);
  thread->stack_base = there.stack_base;
  thread->stack_limit = there.stack_limit;
  thread->signal_stack = NewSignalStack(kDisarmedInHandlers);
  thread->has_signal_stack = (thread->signal_stack.ss_flags & SS_DISABLE) != 0;
  Arm(*thread);
}

// Of a JVM without vmStructs, the calling thread alone: no thread says its tid but itself. The
// calling thread is added last: once it is sampled, a walk of it in mode running uses its guard
// slot, which Read would replace.
void Agent::AddExistingThreads(JNIEnv* env) {
  jint count = 0;
  jthread* objects = nullptr;
  jthread caller = nullptr;
  if (jvm_->jvmti()->GetCurrentThread(&caller) != JVMTI_ERROR_NONE) return;
  if (!jvm_->has_structs()) {
    ThreadStarted(env, caller);
    return;
  }
  if (jvm_->jvmti()->GetAllThreads(&count, &objects) != JVMTI_ERROR_NONE) return;
  std::partition(objects, objects + count,
                 [&](jthread object) { return !env->IsSameObject(object, caller); });
  env->DeleteLocalRef(caller);
  for (jint i = 0; i < count; i++) {
    AddExistingThread(env, objects[i]);
    env->DeleteLocalRef(objects[i]);
  }
  jvm_->jvmti()->Deallocate(reinterpret_cast<unsigned char*>(objects));
}

// Adds threads of the JVM and of libraries, but not our own; removes those that have ended.
void Agent::AddNativeThreads() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return;
  while (const dirent* task = readdir(tasks)) {
    const int tid = std::atoi(task->d_name);
    if (tid <= 0 || threads_.Find(tid) != nullptr) continue;
    const std::string name = CommandOf(tid);
    if (name.empty() || IsOurs(name)) continue;
    SampledThread* thread = threads_.Add(tid, name.c_str(), false);
    if (thread != nullptr) Arm(*thread);
  }
  closedir(tasks);
  threads_.ForEach([&](SampledThread& thread) {
    if (thread.counts->java != 0) return;
    if (syscall(SYS_tgkill, getpid(), thread.tid.load(), 0) == 0) return;
    Disarm(thread);
    threads_.Remove(thread, false);
  });
}

void Agent::Arm(SampledThread& thread) {
  if (state_.job.step != 0) return;  // the stepper chooses its thread
  std::lock_guard<std::mutex> lock(arming_);
  if (!sampling()) return;
  if (state_.job.mode == WalkMode::kNested) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = NestedSignal();
    event._sigev_un._tid = thread.tid.load();
    thread.has_nested_timer = timer_create(CLOCK_MONOTONIC, &event, &thread.nested_timer) == 0;
  }
  thread.rearming.Allow();
  if (!sampler_->Arm(thread)) state_.unarmed.fetch_add(1);
}

void Agent::Disarm(SampledThread& thread) {
  std::lock_guard<std::mutex> lock(arming_);
  // Else something has stopped the thread in its handler, where it may use the descriptor or timer
  // yet: both stay open.
  if (!thread.rearming.Withdraw()) return;
  if (sampler_ != nullptr) sampler_->Disarm(thread);
  if (thread.has_nested_timer) timer_delete(thread.nested_timer);
  thread.has_nested_timer = false;
}

}  // namespace walkhammer::stress
