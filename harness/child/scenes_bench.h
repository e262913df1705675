// SPDX-License-Identifier: Apache-2.0
// What benchmarks of walkers share: their main function, a JVM with parked scenes in the process,
// and one of its scenes presented for bare calls of a walker. Signal-safe: no.
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

// Also keeps the time of each benchmark that ran, in nanoseconds: the median of its repetitions.
class MedianTimes : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;
  const std::map<std::string, double>& ns() const { return ns_; }

 private:
  std::map<std::string, double> ns_;
};

struct BenchMain {
  const char* program;                          // for its messages
  std::map<std::string, std::string*> options;  // "--name=", and where the value goes
  FunctionRef<Status(const Jdk&)> set_up;       // boots the JVM, registers the benchmarks
  void (*compare)(const MedianTimes&);          // prints what follows from the times

  // Reads the arguments: `options`, --jdk=DIR (else the default JDK), and those of the benchmark
  // library. Where the JDK has a C library of its own, which the whole process must use, starts
  // this process anew. Ends the process after `compare`, since the JVM stays up with threads
  // parked. Returns the exit code of what fails before.
  int Run(int argc, char** argv) const;
};

struct BenchScenes {
  SharedState* shared = nullptr;
  ChildEnvironment environment;

  // Boots the JVM of `jdk` and parks the scenes of these names.
  static Result<BenchScenes> Open(const Jdk& jdk, const std::vector<std::string>& names);
  // Fails with the reason if the scene is not there.
  Result<ParkedScene*> Find(const std::string& name);
};

// Presents the scene's thread as in_Java with its anchor cleared, for bare calls, while it exists.
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
