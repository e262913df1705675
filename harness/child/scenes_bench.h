// SPDX-License-Identifier: Apache-2.0
// Code that benchmarks of walkers share: their main function, a JVM in this process with parked
// scenes, and the presentation of a scene. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_SCENES_BENCH_H_
#define WALKHAMMER_HARNESS_CHILD_SCENES_BENCH_H_

#include <benchmark/benchmark.h>
#include <ucontext.h>

#include <map>
#include <string>
#include <vector>

#include "harness/base/function_ref.h"
#include "harness/child/campaign.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// A console reporter that also keeps the median time of each benchmark's repetitions.
class MedianTimes : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;
  // Elapsed time of an iteration, by benchmark function. Requires the default unit, nanoseconds.
  const std::map<std::string, double>& ns() const { return ns_; }
  // The counter `instructions` of each benchmark function; 0 where it has none.
  const std::map<std::string, double>& instructions() const { return instructions_; }

 private:
  std::map<std::string, double> ns_, instructions_;
};

struct BenchMain {
  const char* program;                          // name for error messages
  std::map<std::string, std::string*> options;  // "--name=", and where to store the value
  FunctionRef<Status(const Jdk&)> set_up;       // boots the JVM and registers the benchmarks
  void (*compare)(const MedianTimes&);          // prints conclusions from the times

  // Reads the arguments: `options`, --jdk=DIR (else the default JDK), and those of the benchmark
  // library. If the JDK comes with its own C library, restarts this process with that one. After
  // `compare`, ends the process with exit code 0, because the JVM's threads stay parked. Returns
  // only on failure, with an exit code.
  int Run(int argc, char** argv) const;
};

struct BenchScenes {
  SharedState* shared = nullptr;
  ChildEnvironment environment;

  // Boots the JVM of `jdk` and parks the scenes `names`, which must be in the scene table.
  static Result<BenchScenes> Open(const Jdk& jdk, const std::vector<std::string>& names);
  // Fails with kUnable and the reason if the scene is unavailable. `name` must be in the scene
  // table. The environment owns the scene.
  Result<ParkedScene*> Find(const std::string& name);
};

// Presents the scene's thread as in_Java with its anchor cleared, for direct calls of a walker, as
// long as this object lives.
class Presented {
 public:
  explicit Presented(ParkedScene& scene);
  ~Presented();
  ucontext_t* context() { return &context_; }

 private:
  ParkedScene& scene_;
  ucontext_t context_;
  uint64_t sp_, pc_, fp_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_SCENES_BENCH_H_
