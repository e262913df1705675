// SPDX-License-Identifier: Apache-2.0
// walk_bench: the cost of the harness around a walk, measured side by side in one run: the bare
// AsyncGetCallTrace on a 30-frame scene, the reference provider on that scene, the bare call
// through the guard, the call through adapter + guard + oracles, and the whole random-engine line,
// without and with coverage.
//   walk_bench [--jdk=DIR] [benchmark options]
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "harness/asgst/include/asgst.h"
#include "harness/child/scenes_bench.h"
#include "harness/generate/random_requests.h"
#include "harness/request/scene_table.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/provider_library.h"

namespace walkhammer {
namespace {

constexpr char kScene[] = "c2";
constexpr uint16_t kDepth = 128;

SharedState* shared = nullptr;
ChildEnvironment environment;
ParkedScene* scene = nullptr;
AgctFunction bare = nullptr;
AgctFrame frames[kDepth];
decltype(&AsyncGetStackTrace) reference = nullptr;
ASGST_CallFrame reference_frames[kDepth];
ucontext_t* context = nullptr;  // what is presented

WalkRequest Pristine() {
  WalkRequest request;
  request.scene = static_cast<uint8_t>(scene->index);
  request.depth = kDepth;
  return request;
}

void OnSceneThread(benchmark::State& state, void (*body)(benchmark::State&)) {
  environment.stage->Run(*scene, [&] { body(state); });
  state.SetItemsProcessed(state.iterations());
}

void CallBare() {
  AgctTrace trace{scene->env, 0, frames};
  bare(&trace, kDepth, context);
  if (trace.num_frames != static_cast<jint>(scene->truth.size())) std::abort();
}

void BareCall(benchmark::State& state) {
  OnSceneThread(state, [](benchmark::State& s) {
    Presented presented(*scene);
    context = presented.context();
    for (auto _ : s) CallBare();
  });
}

void CallReference() {
  ASGST_CallTrace trace{0, reference_frames, nullptr};
  reference(&trace, kDepth, context, 0);
  if (trace.num_frames != static_cast<jint>(scene->truth.size())) std::abort();
}

void ReferenceCall(benchmark::State& state) {
  OnSceneThread(state, [](benchmark::State& s) {
    Presented presented(*scene);
    context = presented.context();
    for (auto _ : s) CallReference();
  });
}

void GuardedBareCall(benchmark::State& state) {
  OnSceneThread(state, [](benchmark::State& s) {
    Presented presented(*scene);
    context = presented.context();
    for (auto _ : s) GuardedCall(scene->guard, [] { CallBare(); });
  });
}

void AdapterGuardOracles(benchmark::State& state) {
  OnSceneThread(state, [](benchmark::State& s) {
    const WalkRequest request = Pristine();
    uint64_t sequence = 0;
    for (auto _ : s) environment.line->Walk(*scene, request, sequence++);
  });
}

// Windows are as long as a campaign's.
template <bool covered>
void RandomLine(benchmark::State& s) {
  RandomRequests requests(shared->vocabulary, 0, static_cast<uint8_t>(scene->index));
  Random random(1);
  WalkRequest request;
  uint64_t sequence = 0;
  for (auto _ : s) {
    if (covered && sequence % kWalksPerWindow == 0) {
      environment.coverage->Disarm();
      environment.coverage->Arm();
    }
    requests.Next(random, request);
    environment.line->Walk(*scene, request, sequence++);
    shared->ring.tail.store(shared->ring.head.load());  // no code reads findings here
  }
  if (covered) environment.coverage->Disarm();
}

void WholeRandomLine(benchmark::State& state) { OnSceneThread(state, RandomLine<false>); }

// With a trap on each block that no walk of this process has entered yet.
void CoveredRandomLine(benchmark::State& state) {
  if (environment.coverage == nullptr) return state.SkipWithError(shared->covered.reason);
  OnSceneThread(state, RandomLine<true>);
}

void PrintRatios(const MedianTimes& times) {
  const auto base = times.ns().find("BareCall");
  if (base == times.ns().end()) return;
  fmt::print("\nrate, as a share of the bare call's (medians of this run)\n");
  for (const auto& [name, ns] : times.ns())
    fmt::print("  {:<20} {:6.3f}   {:9.0f} walks/s\n", name, base->second / ns, 1e9 / ns);
}

Status SetUp(const Jdk& jdk) {
  ASSIGN_OR_RETURN(auto scenes, BenchScenes::Open(jdk, {kScene}));
  shared = scenes.shared;
  environment = std::move(scenes.environment);
  scene = environment.stage->Find(*FindScene(kScene));
  if (scene == nullptr) return Unable(shared->scenes[*FindScene(kScene)].reason);
  bare = reinterpret_cast<AgctFunction>(dlsym(environment.jvm->library(), "AsyncGetCallTrace"));
  ASSIGN_OR_RETURN(auto library, OpenReference(environment.jvm->vm()));
  RETURN_IF_ERROR(FindIn(library, "AsyncGetStackTrace", reference));
  fmt::print("JDK {} ({}), scene {}: {} frames\n", jdk.home, jdk.version, kScene,
             scene->truth.size());
  for (auto* benchmark : {benchmark::RegisterBenchmark("BareCall", BareCall),
                          benchmark::RegisterBenchmark("ReferenceCall", ReferenceCall),
                          benchmark::RegisterBenchmark("GuardedBareCall", GuardedBareCall),
                          benchmark::RegisterBenchmark("AdapterGuardOracles", AdapterGuardOracles),
                          benchmark::RegisterBenchmark("WholeRandomLine", WholeRandomLine),
                          benchmark::RegisterBenchmark("CoveredRandomLine", CoveredRandomLine)})
    benchmark->UseRealTime();
  return Ok();
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) {
  const auto set_up = [](const walkhammer::Jdk& jdk) { return walkhammer::SetUp(jdk); };
  return walkhammer::BenchMain{"walk_bench", {}, set_up, walkhammer::PrintRatios}.Run(argc, argv);
}
