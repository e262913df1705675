// SPDX-License-Identifier: Apache-2.0
#include "harness/child/campaign.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sstream>

#include "harness/base/mappings.h"
#include "harness/child/fault_engine.h"
#include "harness/coverage/walker_code.h"
#include "harness/elf/elf_functions.h"
#include "harness/elf/modules.h"
#include "harness/generate/request_window.h"
#include "harness/jvm/live/failed_checks.h"
#include "harness/jvm/live/safefetch.h"
#include "harness/jvm/live/walked_statics.h"
#include "harness/jvm/structs/flags.h"
#include "harness/request/scene_table.h"
#include "harness/scenes/make_vocabulary.h"
#include "harness/walkers/makers.h"

namespace walkhammer {
namespace {

TrapCoverage* armed_coverage = nullptr;
FailingLoads* armed_loads = nullptr;
const WalkLine* armed_line = nullptr;
GuardOptions guarded{};
const MethodRegistry* walked_methods = nullptr;

bool IsNative(void* method_id) {
  const MethodEntry* entry = walked_methods->Find(method_id);
  return entry != nullptr && entry->is_native;
}

bool OnStep(siginfo_t*, ucontext_t* context) {
  return armed_loads != nullptr && armed_loads->OnStep(*context);
}

void OnFault(siginfo_t* info, ucontext_t* context) {
  if (armed_loads != nullptr) armed_loads->OnFault(*info, *context);
}

bool OnTrap(ucontext_t* context, bool walking) {
  if (armed_loads != nullptr && armed_loads->OnTrap(*context, walking)) return true;
  if (armed_coverage == nullptr) return false;
  // Coverage counts only what the first walker enters.
  const bool counts = walking && (armed_line == nullptr || armed_line->is_firsts_turn());
  return armed_coverage->OnTrap(*context, counts);
}

// An address in the module that holds the walker's code.
const void* InsideOf(const std::string& library, const WalkerInfo& info) {
  if (info.covered_function != nullptr) return reinterpret_cast<void*>(OnTrap);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (info.symbol != nullptr) return dlsym(handle, info.symbol);
  link_map* map = nullptr;
  return handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_ld : nullptr;
}

// Coverage is guidance and a figure of the report; a run without it is still useful.
void SetUpCoverage(SharedState& shared, ChildEnvironment& environment, const WalkerInfo& info,
                   std::span<uint8_t> run_counters) {
  auto lacking = [&](const std::string& reason) { CopyText(reason, shared.covered.reason); };
  const std::string libjvm = FieldText(shared.launch.libjvm);
  const std::string provider = FieldText(shared.launch.provider);
  const std::string& library = LibraryOf(info, libjvm, provider);
  auto code = FindWalkerCode(info, library, OwnProgram());
  if (!code.ok()) return lacking(code.failure().message);
  const BlockMap& map = code.value().map;
  auto coverage = TrapCoverage::Prepare(
      map, LoadBias(InsideOf(library, info)),
      {run_counters.data(), static_cast<uint32_t>(run_counters.size()), shared.covered.hit});
  if (!coverage.ok()) return lacking(coverage.failure().message);
  shared.covered.blocks.store(static_cast<uint32_t>(map.blocks.size()));
  environment.coverage = std::move(coverage.value());
  armed_coverage = environment.coverage.get();
}

Status Guarded(SharedState& shared, const Jvm& jvm, const std::string& libjvm) {
  GuardOptions options{};
  options.hang_limit_ms = static_cast<int>(shared.job.hang_limit_ms);
  options.jvm_handler = reinterpret_cast<decltype(options.jvm_handler)>(
      dlsym(jvm.library(), "JVM_handle_linux_signal"));
  shared.safefetch = FindSafeFetch(jvm, libjvm, options);
  options.on_trap = OnTrap;
  options.on_step = OnStep;
  options.on_fault = OnFault;
  TrapFailedChecks(jvm.library(), libjvm, options);
  guarded = options;
  return InstallGuard(options);
}

void ReportLayout(SharedState& shared, const std::vector<LayoutFact>& facts) {
  uint32_t count = 0;
  for (const LayoutFact& fact : facts) {
    if (count == kMaxLayoutRows) break;
    LayoutRow& row = shared.layout[count++];
    CopyText(fact.name, row.name);
    row.present = fact.present ? 1 : 0;
    row.proof = static_cast<uint8_t>(fact.proof);
  }
  shared.layout_count.store(count);
}

void SetUpScenes(SharedState& shared, SceneStage& stage, uint32_t mask) {
  for (size_t i = 0; i < AllScenes().size(); i++) {
    if ((mask >> i & 1) == 0 || shared.scenes[i].tried_by == getpid()) continue;
    SceneReport& report = shared.scenes[i];
    report.tried = 1;
    report.tried_by = getpid();
    report.reason[0] = 0;
    Status status = stage.SetUp(static_cast<int>(i));
    report.available = status.ok();
    if (status.ok())
      report.truth_frames = static_cast<int32_t>(stage.Find(static_cast<int>(i))->truth.size());
    else
      CopyText(status.failure().message, report.reason);
  }
}

void MakeLine(SharedState& shared, ChildEnvironment& environment, const std::string& libjvm) {
  environment.line =
      std::make_unique<WalkLine>(shared, *environment.address_map, environment.jvm->methods(),
                                 std::span<const std::unique_ptr<Walker>>(environment.walkers));
  environment.line->GiveUpAfterCrashes(WalkedStatics::Find(environment.jvm->library(), libjvm));
  armed_line = environment.line.get();
}

// Proves that the job's walkers work in this JVM: walks each scene as it is.
void WalkPristineScenes(SharedState& shared, ChildEnvironment& environment) {
  for (ParkedScene* scene : environment.stage->All()) {
    SceneReport& report = shared.scenes[scene->index];
    environment.stage->Run(*scene, [&] {
      report.pristine_true =
          environment.line->WalkPristine(*scene, report.reason, sizeof report.reason);
    });
  }
}

// CPU time of this thread.
uint64_t OwnCpuNs() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return static_cast<uint64_t>(cpu.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(cpu.tv_nsec);
}

// Each window has a hash of its own, which depends on its number and on the order of its requests.
// SharedState::request_hash is the exclusive or of these: the same, whoever walks which window.
// False: no further window is to be walked.
bool WalkWindow(SharedState& shared, ChildEnvironment& environment, ParkedScene& scene,
                const WindowSource& source, uint64_t number) {
  const Job& job = shared.job;
  WalkLine& line = *environment.line;
  RequestWindow window(source, static_cast<uint8_t>(scene.index), number);
  uint64_t counted = 0;  // what request_hash has of this window
  for (uint64_t i = 0; i < kWalksPerWindow; i++) {
    const uint64_t sequence = number * kWalksPerWindow + i;
    if ((job.max_walks != 0 && sequence >= job.max_walks) || shared.stop.load() != 0) return false;
    const WalkRequest& request = window.Next();
    const uint64_t hash = window.hash();
    if (sequence < job.first_walk) {  // walked by an earlier child
      counted = hash;
      continue;
    }
    // Stored ahead of the walk: no successor adds the hash of a request that kills this child.
    shared.request_hash.store(shared.request_hash.load(std::memory_order_relaxed) ^ counted ^ hash,
                              std::memory_order_relaxed);
    counted = hash;
    environment.answers.Begin(sequence, hash);
    const bool goes_on = line.Walk(scene, request, sequence);
    environment.answers.End(sequence, hash, line.digest());
    if (!goes_on) {
      shared.phase.store(ChildPhase::kRetired);
      return false;
    }
  }
  return true;
}

Status Fuzz(SharedState& shared, ChildEnvironment& environment) {
  const std::vector<ParkedScene*> scenes = environment.stage->All();
  if (scenes.empty()) return Unable("none of the scenes asked for is available in this JVM");
  ASSIGN_OR_RETURN(environment.answers, Answers::OpenFromEnvironment());
  if (environment.answers.wanted()) environment.line->KeepDigests();
  const std::vector<uint64_t> names = NameHashes(shared.symbols);
  const WindowSource source{shared.vocabulary, names, shared.job.seed, shared.job.walker,
                            SharedOptions(shared.job)};
  // Workers take windows in turn, so that together they walk what one worker alone would walk.
  const uint64_t workers = std::max<uint64_t>(shared.job.workers, 1);
  uint64_t number = shared.job.first_walk / kWalksPerWindow;
  while (number % workers != shared.job.worker % workers) number++;
  for (;; number += workers) {
    ParkedScene& scene = *scenes[number % scenes.size()];
    bool go_on = true;
    environment.LetJvmRun();
    const bool ran = environment.stage->Run(scene, [&] {
      if (environment.coverage != nullptr) environment.coverage->Arm();
      const uint64_t began = OwnCpuNs();
      go_on = WalkWindow(shared, environment, scene, source, number);
      shared.walking_cpu_ns.fetch_add(OwnCpuNs() - began, std::memory_order_relaxed);
      if (environment.coverage != nullptr) environment.coverage->Disarm();
    });
    if (!ran) return ToolFailed("the JVM refused to stop at a safepoint");
    if (!go_on) return Ok();
    // Damage done by walks must show here, not in a user's JVM.
    if (number / workers % kWindowsPerCollection == kWindowsPerCollection - 1)
      environment.jvm->jvmti()->ForceGarbageCollection();
  }
}

template <typename Visit>
void ForEachValue(const WalkRequest& request, Visit visit) {
  for (const Value& value : {request.pc, request.sp, request.fp, request.lr, request.anchor_sp,
                             request.anchor_pc, request.anchor_fp})
    visit(value);
  for (const Edit& edit : std::span(request.edits, request.edit_count)) visit(edit.value);
}

// The name of a symbol in `request` that this JVM lacks; empty if this JVM has all symbols.
std::string MissingSymbol(const SharedState& shared, const AddressMap& address_map,
                          const WalkRequest& request) {
  std::string missing;
  ForEachValue(request, [&](const Value& value) {
    if (value.symbol < kSymbolKinds || address_map.IsKnown(value.symbol)) return;
    const Symbol& symbol = shared.symbols.at(value.symbol);
    missing = std::string(KindWord(symbol.kind)) + " \"" + symbol.name + "\"";
  });
  return missing;
}

// True if the request names code of walkhammer's own classes that this JVM lacks.
bool LacksOwnCode(const SharedState& shared, const AddressMap& address_map,
                  const WalkRequest& request) {
  bool lacks = false;
  ForEachValue(request, [&](const Value& value) {
    if (value.symbol < kSymbolKinds || address_map.IsKnown(value.symbol)) return;
    lacks |= std::string_view(shared.symbols.at(value.symbol).name).starts_with("wh.");
  });
  return lacks;
}

// Loads the classes of the methods that the request names, mostly classes of the JDK.
void LoadNamedClasses(const SharedState& shared, JNIEnv* env) {
  ForEachValue(shared.job.request, [&](const Value& value) {
    const Symbol& symbol = shared.symbols.at(value.symbol);
    if (symbol.kind != SymbolKind::kMethod && symbol.kind != SymbolKind::kBytecodes &&
        symbol.kind != SymbolKind::kNmethod)
      return;
    std::string name(symbol.name);
    name = name.substr(0, name.find('('));
    name = name.substr(0, name.rfind('.'));
    std::replace(name.begin(), name.end(), '.', '/');
    if (env->FindClass(name.c_str()) == nullptr) env->ExceptionClear();
  });
}

// Sets up what the request names and `environment` lacks, as far as possible.
void SetUpMissing(SharedState& shared, ChildEnvironment& environment) {
  const WalkRequest& request = shared.job.request;
  const auto missing = [&] { return MissingSymbol(shared, *environment.address_map, request); };
  const auto look_again = [&] {
    environment.address_map =
        AddressMap::Build(*environment.jvm, *environment.stage, shared.symbols);
  };
  if (missing().empty()) return;
  LoadNamedClasses(shared, environment.jvm->env());
  look_again();
  if (missing().empty()) return;
  const bool is_sample = std::string_view(AllScenes()[request.scene].name) == kSampledScene;
  // Perhaps it is another scene's code.
  if (!is_sample || LacksOwnCode(shared, *environment.address_map, request)) {
    SetUpScenes(shared, *environment.stage, UINT32_MAX);
    look_again();
  }
  if (!is_sample || missing().empty()) return;
  // The request is of a program that is not here: only the shape of its stack matters.
  CopyText(missing(), shared.replay.stand_in);
  uint32_t count = 0;
  ForEachValue(request, [&](const Value& value) {
    if (value.symbol >= kSymbolKinds && !environment.address_map->IsKnown(value.symbol) &&
        environment.address_map->AddStandIn(value.symbol))
      count++;
  });
  shared.replay.stand_ins = count;
}

// A zombie that the request names and the sweeper has freed; empty if there is none. To be called
// after the walk: the sweeper may run at any time except while the JVM stands still.
std::string FreedZombie(const SharedState& shared, const ChildEnvironment& environment) {
  std::string freed;
  ForEachValue(shared.job.request, [&](const Value& value) {
    if (environment.address_map->IsFreedZombie(*environment.jvm, value.symbol))
      freed = std::string("nmethod \"") + shared.symbols.at(value.symbol).name + "\"";
  });
  return freed;
}

// Before a walk of a request with a `fault`.
Status TakeLoads(ChildEnvironment& environment, ParkedScene& scene, const WalkRequest& request) {
  if (request.fault == 0) return Ok();
  if (environment.walkers.size() > 1)
    return Unable("a request with 'fault' is walked by one walker, without 'against'");
  ASSIGN_OR_RETURN(const uint32_t loads, environment.line->CountLoads(scene, request, 0));
  if (request.fault <= loads) return Ok();
  return Unable("the walk makes " + std::to_string(loads) + " loads that can fail, so load " +
                std::to_string(request.fault) + " does not exist");
}

Status ReplayOne(SharedState& shared, ChildEnvironment& environment) {
  const WalkRequest& request = shared.job.request;
  ParkedScene* scene = environment.stage->Find(request.scene);
  if (scene == nullptr)
    return Unable(std::string("scene ") + AllScenes()[request.scene].name +
                  " is not available in this JVM: " + shared.scenes[request.scene].reason);
  std::string missing = MissingSymbol(shared, *environment.address_map, request);
  if (!missing.empty()) return Unable("this JVM has no " + missing + ", which the request names");
  if (request.fault != 0) RETURN_IF_ERROR(environment.PrepareLoads());
  Status able = Ok();
  const bool ran = environment.stage->Run(*scene, [&] {
    able = TakeLoads(environment, *scene, request);
    if (able.ok() && !environment.line->Walk(*scene, request, 0))
      shared.phase.store(ChildPhase::kRetired);
  });
  if (!ran) return ToolFailed("the JVM refused to stop at a safepoint");
  RETURN_IF_ERROR(able);
  std::string freed = FreedZombie(shared, environment);
  return freed.empty() ? Ok() : Unable(freed + " was freed before the walk");
}

Status Replay(SharedState& shared, ChildEnvironment& environment) {
  for (;;) {
    const Status walked = ReplayOne(shared, environment);
    if (!walked.ok()) {
      if (shared.job.keep == 0 || walked.failure().code != ExitCode::kUnable) return walked;
      CopyText(walked.failure().message, shared.message);
      shared.replay.unable = 1;
    }
    const uint32_t answered = shared.answered.fetch_add(1) + 1;
    if (shared.job.keep == 0 || shared.phase.load() != ChildPhase::kRunning) return Ok();
    while (shared.asked.load() == answered) {
      const timespec pause{0, 50000};
      nanosleep(&pause, nullptr);
    }
  }
}

}  // namespace

uint32_t SharedOptions(const Job& job) {
  uint32_t options = UINT32_MAX;
  for (int i = 0; i < WalkerCount(job) && job.other_count > 0; i++)
    options &= AllWalkers()[WalkerAt(job, i)].options;
  return options;
}

Result<ChildEnvironment> ChildEnvironment::SetUp(SharedState& shared,
                                                 std::span<uint8_t> run_counters) {
  ChildEnvironment environment;
  const std::string libjvm = FieldText(shared.launch.libjvm);
  std::vector<std::string> flags;
  std::istringstream lines(FieldText(shared.launch.flags));
  for (std::string line; std::getline(lines, line);) flags.push_back(line);
  shared.phase.store(ChildPhase::kBooting);
  shared.vocabulary_ready.store(0);
  ASSIGN_OR_RETURN(environment.jvm, Jvm::Boot(libjvm, flags));
  CopyText(environment.jvm->Property("java.vm.vendor") + " " +
               environment.jvm->Property("java.vm.name") + " " +
               environment.jvm->Property("java.vm.version"),
           shared.vm_version);
  CopyText(CollectorName(environment.jvm->structs()), shared.vm_gc);

  environment.layout = ProveLayout(*environment.jvm, environment.jvm->structs());
  ReportLayout(shared, environment.layout);
  RETURN_IF_ERROR(CheckLayout(environment.layout));
  RETURN_IF_ERROR(Guarded(shared, *environment.jvm, libjvm));
  walked_methods = &environment.jvm->methods();
  const char* option = shared.job.mode == ChildMode::kReplay ? "--library" : "--provider";
  for (int i = 0; i < WalkerCount(shared.job); i++) {
    environment.walkers.push_back(MakeWalker(AllWalkers()[WalkerAt(shared.job, i)]));
    RETURN_IF_ERROR(environment.walkers.back()->Bind(
        {environment.jvm->library(), &environment.jvm->layout(), environment.jvm->vm(),
         FieldText(shared.launch.provider), IsNative, option}));
  }

  shared.phase.store(ChildPhase::kScenes);
  ASSIGN_OR_RETURN(environment.stage, SceneStage::Open(*environment.jvm));
  SetUpScenes(shared, *environment.stage, shared.job.scene_mask);
  environment.address_map = AddressMap::Build(*environment.jvm, *environment.stage, shared.symbols);
  if (shared.job.mode == ChildMode::kReplay) SetUpMissing(shared, environment);
  shared.module_count.store(ListModules(shared.modules));
  if (shared.job.coverage != 0)
    SetUpCoverage(shared, environment, AllWalkers()[shared.job.walker], run_counters);
  // Replays, of which there are hundreds, need no vocabulary: they walk given requests.
  if (shared.job.mode == ChildMode::kFuzz || shared.job.mode == ChildMode::kEngine) {
    MakeVocabulary(*environment.address_map, *environment.stage, *environment.jvm, shared.symbols,
                   shared.vocabulary);
    shared.vocabulary_ready.store(1);
  }
  MakeLine(shared, environment, libjvm);
  environment.methods = std::make_unique<MethodKeeper>(
      environment.jvm->methods(),
      environment.jvm->ids_are_numbers() ? environment.jvm->jvmti() : nullptr, shared,
      MethodKeeper::Clock::now());
  WalkPristineScenes(shared, environment);
  if (std::any_of(std::begin(shared.scenes), std::end(shared.scenes),
                  [](const SceneReport& scene) { return scene.available; })) {
    MarkAnchorProven(environment.layout);
    ReportLayout(shared, environment.layout);
  }
  if (shared.job.churn != 0) {
    ASSIGN_OR_RETURN(auto churn, Churn::Start(*environment.jvm, shared));
    environment.churn = std::move(churn);
  }
  return environment;
}

Status ChildEnvironment::PrepareLoads() {
  if (loads != nullptr) return Ok();
  ASSIGN_OR_RETURN(loads, FailingLoads::Prepare(guarded.safefetch));
  armed_loads = loads.get();
  line->FailLoads(*loads);
  return Ok();
}

void ChildEnvironment::LetJvmRun() {
  if (churn != nullptr) churn->LetJavaRun();
  methods->Step(MethodKeeper::Clock::now());
}

void EndWith(SharedState& shared, const Failure& failure) {
  CopyText(failure.message, shared.message);
  shared.phase.store(failure.code == ExitCode::kToolFailed ? ChildPhase::kFailed
                                                           : ChildPhase::kUnable);
}

void RunCampaign(SharedState& shared) {
  auto environment = ChildEnvironment::SetUp(shared);
  if (!environment.ok()) return EndWith(shared, environment.failure());
  shared.phase.store(ChildPhase::kRunning);
  Status status = Ok();
  if (shared.job.mode == ChildMode::kFuzz) status = Fuzz(shared, environment.value());
  if (shared.job.mode == ChildMode::kFaults) status = FailEachLoad(shared, environment.value());
  if (shared.job.mode == ChildMode::kReplay) status = Replay(shared, environment.value());
  if (!status.ok()) return EndWith(shared, status.failure());
  if (shared.phase.load() == ChildPhase::kRunning) shared.phase.store(ChildPhase::kDone);
}

}  // namespace walkhammer
