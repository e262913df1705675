// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/fuzz_target.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/child/jvm_thread.h"
#include "harness/findings/finding_record.h"
#include "harness/guard/arch.h"
#include "harness/ipc/launch.h"
#include "harness/ipc/shared_mapping.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/oracles/oracle.h"
#include "harness/request/lookup.h"

namespace walkhammer {
namespace {

constexpr uint32_t kAloneHangLimitMs = 1000;

[[noreturn]] void Give(const Failure& failure) { _exit(PrintFailure(failure)); }

// The JDK to fuzz: WALKHAMMER_JDK, else the JDK that is laid out beside the target, else the newest
// installed. Empty for the first and the last choice, which OpenJdks makes.
std::vector<std::string> JdkToFuzz() {
  const std::string beside = BesideExecutable("jdk");
  if (std::getenv("WALKHAMMER_JDK") != nullptr || access(beside.c_str(), R_OK) != 0) return {};
  return {beside};
}

// Sets the job of a process without a supervisor: every scene.
void SetOwnJob(const std::string& walker, SharedState& state) {
  auto index = WalkerNamed(walker);
  if (!index.ok()) Give(index.failure());
  auto jdks = OpenJdks(JdkToFuzz());
  if (!jdks.ok()) Give(jdks.failure());
  auto flags = BaseFlags(jdks.value().front().feature);
  if (!flags.ok()) Give(flags.failure());
  // Leaves SIGINT and SIGTERM to the engine: at a safepoint, the JVM would not react to them.
  flags.value().push_back("-Xrs");
  Status launch = SetLaunch(state, jdks.value().front().libjvm, flags.value());
  if (!launch.ok()) Give(launch.failure());
  state.job.mode = ChildMode::kEngine;
  state.job.walker = static_cast<uint8_t>(index.value());
  state.job.scene_mask = UINT32_MAX;
  state.job.hang_limit_ms = kAloneHangLimitMs;
  state.job.coverage = 1;
  state.job.alone = 1;
}

}  // namespace

// Becomes the JVM's main thread.
void* FuzzTarget::JvmThread(void* self) {
  auto& target = *static_cast<FuzzTarget*>(self);
  SharedState& state = *target.state_;
  auto environment = ChildEnvironment::SetUp(state, target.feedback_->blocks());
  if (!environment.ok()) {
    if (state.job.alone != 0) Give(environment.failure());
    EndWith(state, environment.failure());
    _exit(0);
  }
  target.environment_ = std::move(environment.value());
  target.engine_ = std::make_unique<EngineThread>(target.environment_);
  state.phase.store(ChildPhase::kRunning);
  sem_post(&target.ready_);
  target.engine_->Serve();
}

SharedState& FuzzTarget::FindState(const std::string& walker) {
  auto found = OpenState();
  if (!found.ok()) Give(found.failure());
  SharedState* state = found.value();
  if (state == nullptr) {
    auto mapping = SharedMapping::Create();
    if (!mapping.ok()) Give(mapping.failure());
    state = &mapping.value().release()->state();  // lives as long as the process
  }
  // No libjvm: no parent has set a job; AFL++'s mutator library may have made the state.
  if (state->launch.libjvm[0] == 0) SetOwnJob(walker, *state);
  return *state;
}

FuzzTarget& FuzzTarget::Start(const Options& options) {
  auto* target = new FuzzTarget;  // lives as long as the process
  target->options_ = options;
  target->state_ = options.state != nullptr ? options.state : &FindState(options.walker);
  target->sequence_ = target->state_->journal.sequence.load() + 1;  // after the last child's walks
  target->feedback_ = std::make_unique<Feedback>(options.counters);
  sem_init(&target->ready_, 0, 0);
  pthread_t thread;
  if (!StartJvmThread(JvmThread, target, thread)) Give(ToolFailed("cannot start the JVM's thread"));
  pthread_detach(thread);
  while (sem_wait(&target->ready_) != 0) {
  }
  target->engine_->Enter();
  target->mutator_ = std::make_unique<InputMutator>(InputMutator{
      Mutator(target->state_->vocabulary, target->state_->job.walker), target->state_->symbols});
  return *target;
}

bool FuzzTarget::IsKiller(uint64_t hash) const {
  const CrashingInputs& crashing = state_->crashing;
  const uint32_t count = std::min(crashing.count.load(), CrashingInputs::kMost);
  for (uint32_t i = 0; i < count; i++)
    if (crashing.hashes[i] == hash) return true;
  return false;
}

void FuzzTarget::End(ChildPhase phase) {
  engine_->CloseWindow();
  state_->phase.store(phase);
  _exit(state_->job.merging);
}

void FuzzTarget::Walk(std::span<const uint8_t> input) {
  if (state_->stop.load(std::memory_order_relaxed) != 0) End(ChildPhase::kDone);
  const uint64_t hash = InputHash(input);
  if (IsKiller(hash)) return;
  WalkRequest request = DecodeInput(input, state_->symbols);
  request.walker = state_->job.walker;
  request.options &= SharedOptions(state_->job);
  ParkedScene* scene = environment_.stage->Find(request.scene);
  if (scene == nullptr) return;
  if (options_.forget && environment_.coverage != nullptr) {
    engine_->CloseWindow();  // so that the next window arms all traps
    environment_.coverage->Forget();
  }
  bool go_on = true;
  state_->crashing.current.store(hash, std::memory_order_relaxed);
  engine_->Run(*scene, [&] { go_on = environment_.line->Walk(*scene, request, sequence_++); });
  if (go_on) state_->crashing.current.store(0, std::memory_order_relaxed);
  feedback_->NoteShape(request, environment_.line->walked(), environment_.line->fault(),
                       environment_.line->differed());
  if (state_->job.alone != 0) AbortOnFinding();
  if (go_on) return;
  if (state_->job.alone != 0) {
    std::fprintf(stderr, "walkhammer: after this walk the walker no longer walks truly\n");
    std::abort();
  }
  End(ChildPhase::kRetired);
}

// Prints a finding in the form of a sanitizer's report, so that fuzzing services can group findings
// by stack.
void FuzzTarget::AbortOnFinding() {
  FindingRing& ring = state_->ring;
  for (uint32_t at = ring.tail.load(); at != ring.head.load(); ring.tail.store(++at)) {
    const RawFinding& raw = ring.slots[at % kRingSize];
    Symbolizer symbolizer(std::span<const Module>(state_->modules, ModuleCount(*state_)));
    const FindingRecord record = MakeFindingRecord(raw, symbolizer, state_->symbols, kArchName);
    // An answer to an undisturbed scene does not depend on the input.
    if (record.grade != Grade::kForbidden || AllOracles()[raw.oracle].by_scene) continue;
    engine_->CloseWindow();
    ring.tail.store(ring.head.load());  // else a successor would blame its first input for these
    std::fprintf(stderr, "==%d==ERROR: walkhammer: %s (%s)\n", getpid(),
                 record.signature.title.c_str(), record.detail.c_str());
    std::istringstream chain(record.native);
    std::string line;
    for (int i = 0; i < raw.fault.native_count && std::getline(chain, line); i++)
      std::fprintf(stderr, "    #%d 0x%" PRIx64 " in %s\n", i, raw.fault.native[i], line.c_str());
    std::fprintf(stderr, "SUMMARY: walkhammer: %s\n", record.signature.title.c_str());
    std::abort();
  }
}

}  // namespace walkhammer
