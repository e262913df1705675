// SPDX-License-Identifier: Apache-2.0
// reference_bench: walks of parked scenes by AsyncGetCallTrace and by the reference provider, side
// by side in one run: 10 and 30 compiled frames, 100 of one recursive method, 12 of which 11 are
// inlined, and interpreted frames. `enqueue` puts the newest eight into a queue that nobody
// handles, and empties it. `call-sites-10000` is one walk of 10,000 compiled frames, each of which
// has another return address. `uncached` uses nothing that earlier walks have found, as where each
// call site is met for the first time. With --before, another libasgst.so walks the same. With
// --asprof, async-profiler's walkVM does, and the reference once more, both behind walkhammer's
// interface for walkers, which paints and copies the frames.
// The counter `instructions` is how many instructions one such walk executes, counted by single
// steps (x86_64 only): unlike the time, it is nearly the same on each machine and under each load.
//   reference_bench [--jdk=DIR] [--before=libasgst.so] [--asprof=libasyncProfiler.so]
//                   [benchmark options]
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/include/asgst_iterator.h"
#include "harness/child/scenes_bench.h"
#include "harness/guard/arch.h"
#include "harness/request/walker_table.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/provider_library.h"

namespace walkhammer {
namespace {

constexpr int kMostFrames = 10000;

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

// Walk the thread of `env` and return how many frames there are.
int WalkByAgct(JNIEnv* env, ucontext_t* context, int depth) {
  static AgctFrame frames[kMostFrames];
  AgctTrace trace{env, 0, frames};
  agct(&trace, depth, context);
  return trace.num_frames;
}

int WalkByReference(Reference reference, ucontext_t* context, int depth, uint32_t options) {
  static ASGST_CallFrame frames[kMostFrames];
  ASGST_CallTrace trace{0, frames, nullptr};
  reference(&trace, depth, context, options);
  return trace.num_frames;
}

struct Queues {
  decltype(&ASGST_Enqueue) enqueue = nullptr;
  decltype(&asgst_clear_queue) clear = nullptr;
  ASGST_Queue* queue = nullptr;
};
Queues queues;

int Enqueue(JNIEnv* /*env*/, ucontext_t* context, int depth) {
  const int result = queues.enqueue(queues.queue, context, nullptr);
  queues.clear(queues.queue);
  return result > 0 ? depth : result;
}

// Binds a walker to `host`.
Result<std::shared_ptr<Walker>> Bound(const char* name, const WalkerHost& host) {
  std::shared_ptr<Walker> walker = MakeWalker(AllWalkers()[FindWalker(name).value()]);
  RETURN_IF_ERROR(walker->Bind(host));
  return walker;
}

int WalkBehindInterface(Walker& walker, JNIEnv* env, ucontext_t* context, int depth) {
  Trace trace{};
  walker.Walk({context, env, depth, 0}, trace);
  return trace.num_frames > 0 ? depth : trace.num_frames;
}

using WalkFunction = std::function<int(JNIEnv*, ucontext_t*, int)>;

volatile sig_atomic_t steps = 0;

// Counts the instructions of one walk by the SIGTRAP after each. 0: this machine cannot.
int CountInstructions(const WalkFunction& walk, JNIEnv* env, ucontext_t* context, int depth) {
  if (!kHasTrapFlag) return 0;
  struct sigaction before, counting{};
  counting.sa_handler = [](int) { steps = steps + 1; };
  sigaction(SIGTRAP, &counting, &before);
  steps = 0;
  StepFromHere(true);
  walk(env, context, depth);
  StepFromHere(false);
  sigaction(SIGTRAP, &before, nullptr);
  return steps;
}

void WalkAgainAndAgain(benchmark::State& state, const WalkFunction& walk, JNIEnv* env,
                       ucontext_t* context, int depth) {
  for (auto _ : state) {
    const int count = walk(env, context, depth);
    if (count != depth) {
      state.SkipWithError("another number of frames");
      break;
    }
  }
}

void WalkScene(benchmark::State& state, const Row& row, const WalkFunction& walk) {
  auto found = scenes.Find(row.scene);
  if (!found.ok()) return state.SkipWithError(found.failure().message.c_str());
  ParkedScene& scene = *found.value();
  scenes.environment.stage->Run(scene, [&] {
    Presented presented(scene);
    WalkAgainAndAgain(state, walk, scene.env, presented.context(), row.depth);
    state.counters["instructions"] =
        CountInstructions(walk, scene.env, presented.context(), row.depth);
  });
}

// What wh.CallSites is to call once its stack is there; the thread is in native code then.
const std::function<void(JNIEnv*)>* at_call_sites = nullptr;

void WalkCallSites(benchmark::State& state, const WalkFunction& walk) {
  JNIEnv* env = scenes.environment.jvm->env();
  jclass sites = env->FindClass("wh/CallSites");
  JNINativeMethod native{
      const_cast<char*>("walk"), const_cast<char*>("()V"),
      reinterpret_cast<void*>(+[](JNIEnv* here, jclass) { (*at_call_sites)(here); })};
  bool walked = false;
  const std::function<void(JNIEnv*)> there = [&](JNIEnv* here) {
    ucontext_t context;
    getcontext(&context);
    WalkAgainAndAgain(state, walk, here, &context, kMostFrames);
    walked = true;
  };
  at_call_sites = &there;
  if (sites == nullptr || env->RegisterNatives(sites, &native, 1) != 0)
    return state.SkipWithError("the jar lacks wh.CallSites");
  env->CallStaticVoidMethod(sites, env->GetStaticMethodID(sites, "play", "()V"));
  if (env->ExceptionCheck()) env->ExceptionDescribe();
  if (!walked) state.SkipWithError("the stack of wh.CallSites was not built");
}

void PrintRatios(const MedianTimes& times) {
  fmt::print("\ntime, as a share of AsyncGetCallTrace's (medians of this run), and instructions\n");
  for (const auto& [name, ns] : times.ns()) {
    const auto base = times.ns().find("agct" + name.substr(name.find('/')));
    if (base != times.ns().end())
      fmt::print("  {:<36} {:6.3f}   {:7.0f} ns   {:8.0f}\n", name, ns / base->second, ns,
                 times.instructions().at(name));
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

void RegisterScenes(const char* walker, const WalkFunction& walk) {
  for (const Row& row : kRows)
    benchmark::RegisterBenchmark(fmt::format("{}/{}-{}", walker, row.scene, row.depth).c_str(),
                                 [row, walk](benchmark::State& s) { WalkScene(s, row, walk); })
        ->UseRealTime();
}

void Register(const char* walker, const WalkFunction& walk) {
  RegisterScenes(walker, walk);
  benchmark::RegisterBenchmark(fmt::format("{}/call-sites-{}", walker, kMostFrames).c_str(),
                               [walk](benchmark::State& s) { WalkCallSites(s, walk); })
      ->UseRealTime();
}

void Register(const char* walker, Reference reference, uint32_t options) {
  Register(walker, [reference, options](JNIEnv* /*env*/, ucontext_t* context, int depth) {
    return WalkByReference(reference, context, depth, options);
  });
}

Status RegisterAsprof(const Jvm& jvm, const std::string& path) {
  WalkerHost host{jvm.library(), &jvm.layout(), jvm.vm(), path};
  ASSIGN_OR_RETURN(auto asprof, Bound("asprof-vm", host));
  host.provider.clear();
  ASSIGN_OR_RETURN(auto asgst, Bound("asgst@ref", host));
  for (const auto& [name, walker] : {std::pair{"asprof-vm", asprof}, {"asgst@ref", asgst}})
    RegisterScenes(name, [walker](JNIEnv* env, ucontext_t* context, int depth) {
      return WalkBehindInterface(*walker, env, context, depth);
    });
  return Ok();
}

Status SetUp(const Jdk& jdk, const std::string& before, const std::string& asprof) {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(row.scene);
  ASSIGN_OR_RETURN(scenes, BenchScenes::Open(jdk, names));
  const Jvm& jvm = *scenes.environment.jvm;
  agct = reinterpret_cast<AgctFunction>(dlsym(jvm.library(), "AsyncGetCallTrace"));
  if (agct == nullptr) return Unable("this libjvm exports no AsyncGetCallTrace");
  ASSIGN_OR_RETURN(auto library, OpenReference(jvm.vm()));
  Reference reference = nullptr;
  decltype(&asgst_unbound_queue) make_queue = nullptr;
  RETURN_IF_ERROR(FindIn(library, "AsyncGetStackTrace", reference, "ASGST_Enqueue", queues.enqueue,
                         "asgst_clear_queue", queues.clear, "asgst_unbound_queue", make_queue));
  queues.queue = make_queue(16);
  fmt::print("JDK {} ({})\n", jdk.home, jdk.version);
  Register("agct", WalkByAgct);
  Register("asgst", reference, 0);
  Register("uncached", reference, ASGST_WITHOUT_CACHES);
  RegisterScenes("enqueue", Enqueue);
  if (!asprof.empty()) RETURN_IF_ERROR(RegisterAsprof(jvm, asprof));
  if (before.empty()) return Ok();
  ASSIGN_OR_RETURN(auto other, OpenOther(before, jvm.vm()));
  Register("before", other, 0);
  return Ok();
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) {
  std::string before, asprof;
  const auto set_up = [&](const walkhammer::Jdk& jdk) {
    return walkhammer::SetUp(jdk, before, asprof);
  };
  return walkhammer::BenchMain{"reference_bench",
                               {{"--before=", &before}, {"--asprof=", &asprof}},
                               set_up,
                               walkhammer::PrintRatios}
      .Run(argc, argv);
}
