// SPDX-License-Identifier: Apache-2.0
#include "stress/agent.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

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

}  // namespace walkhammer::stress
