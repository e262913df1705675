// SPDX-License-Identifier: Apache-2.0
// reference_bench: walks of parked scenes by AsyncGetCallTrace and by the reference provider, side
// by side in one run: 10 and 30 compiled frames, 100 of one recursive method, 12 of which 11 are
// inlined, and interpreted frames. With --before, another libasgst.so walks the same.
//   reference_bench [--jdk=DIR] [--before=libasgst.so] [benchmark options]
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/asgst/include/asgst.h"
#include "harness/child/scenes_bench.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/provider_library.h"

namespace walkhammer {
namespace {

constexpr int kMostFrames = 128;

struct Row {
  const char* scene;
  int depth;
};
constexpr Row kRows[] = {{"c2", 10},
                         {"c2", 30},
                         {"deep-recursion", 100},
                         {"c2-inlined-chain", 12},
                         {"mixed-tiers", 30},
                         {"interpreted-recursion", 10},
                         {"interpreted-recursion", 24}};

using Reference = decltype(&AsyncGetStackTrace);

BenchScenes scenes;
AgctFunction agct = nullptr;

// Returns how many frames there are.
int WalkByAgct(ParkedScene& scene, Presented& presented, int depth) {
  AgctFrame frames[kMostFrames];
  AgctTrace trace{scene.env, 0, frames};
  agct(&trace, depth, presented.context());
  return trace.num_frames;
}

int WalkByReference(Reference reference, Presented& presented, int depth) {
  ASGST_CallFrame frames[kMostFrames];
  ASGST_CallTrace trace{0, frames, nullptr};
  reference(&trace, depth, presented.context(), 0);
  return trace.num_frames;
}

// `reference`: null for AsyncGetCallTrace.
void Walk(benchmark::State& state, const Row& row, Reference reference) {
  auto found = scenes.Find(row.scene);
  if (!found.ok()) return state.SkipWithError(found.failure().message.c_str());
  ParkedScene& scene = *found.value();
  scenes.environment.stage->Run(scene, [&] {
    Presented presented(scene);
    for (auto _ : state) {
      const int count = reference == nullptr ? WalkByAgct(scene, presented, row.depth)
                                             : WalkByReference(reference, presented, row.depth);
      if (count != row.depth) {
        state.SkipWithError("another number of frames");
        break;
      }
    }
  });
}

void PrintRatios(const MedianTimes& times) {
  fmt::print("\ntime, as a share of AsyncGetCallTrace's (medians of this run)\n");
  for (const auto& [name, ns] : times.ns()) {
    const auto base = times.ns().find("agct" + name.substr(name.find('/')));
    if (base != times.ns().end())
      fmt::print("  {:<36} {:6.3f}   {:7.0f} ns\n", name, ns / base->second, ns);
  }
}

// Attaches the library `path`, a build of libasgst.so.
Result<Reference> OpenOther(const std::string& path, JavaVM* vm) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return BadInput(std::string("cannot load the library: ") + dlerror());
  decltype(&asgst_attach) attach = nullptr;
  Reference reference = nullptr;
  RETURN_IF_ERROR(FindIn(library, "asgst_attach", attach, "AsyncGetStackTrace", reference));
  if (attach(vm) != 0) return Unable(path + " cannot attach to this JVM");
  return reference;
}

void Register(const char* walker, Reference reference) {
  for (const Row& row : kRows)
    benchmark::RegisterBenchmark(fmt::format("{}/{}-{}", walker, row.scene, row.depth).c_str(),
                                 [row, reference](benchmark::State& s) { Walk(s, row, reference); })
        ->UseRealTime();
}

Status SetUp(const Jdk& jdk, const std::string& before) {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(row.scene);
  ASSIGN_OR_RETURN(scenes, BenchScenes::Open(jdk, names));
  const Jvm& jvm = *scenes.environment.jvm;
  agct = reinterpret_cast<AgctFunction>(dlsym(jvm.library(), "AsyncGetCallTrace"));
  if (agct == nullptr) return Unable("this libjvm exports no AsyncGetCallTrace");
  ASSIGN_OR_RETURN(auto library, OpenReference(jvm.vm()));
  Reference reference = nullptr;
  RETURN_IF_ERROR(FindIn(library, "AsyncGetStackTrace", reference));
  fmt::print("JDK {} ({})\n", jdk.home, jdk.version);
  Register("agct", nullptr);
  Register("asgst", reference);
  if (before.empty()) return Ok();
  ASSIGN_OR_RETURN(auto other, OpenOther(before, jvm.vm()));
  Register("before", other);
  return Ok();
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) {
  std::string before;
  const auto set_up = [&](const walkhammer::Jdk& jdk) { return walkhammer::SetUp(jdk, before); };
  return walkhammer::BenchMain{
      "reference_bench", {{"--before=", &before}}, set_up, walkhammer::PrintRatios}
      .Run(argc, argv);
}
