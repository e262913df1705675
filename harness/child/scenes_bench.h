// SPDX-License-Identifier: Apache-2.0
// A JVM with parked scenes in the benchmark's own process, and one of its scenes presented for bare
// calls of a walker. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_SCENES_BENCH_H_
#define WALKHAMMER_HARNESS_CHILD_SCENES_BENCH_H_

#include <ucontext.h>

#include <string>
#include <vector>

#include "harness/child/campaign.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// Opens the JDK at `path`, or the default one if `path` is empty. Where that JDK has a C library of
// its own, which the whole process must use, starts this process anew with `words`.
Result<Jdk> OpenBenchJdk(const std::string& path, std::vector<std::string> words);

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
