// SPDX-License-Identifier: Apache-2.0
// Engine: who makes the requests of a campaign. An engine is one row: how its workers are run, and
// what it needs before and leaves behind in the run's folder. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_ENGINE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_ENGINE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

struct EnginePlan {
  std::string run_dir;                // the run's folder
  Platform platform = OwnPlatform();  // that the targets run on
  std::vector<std::string> corpus;    // the user's folders; the first takes what is worth keeping
  uint64_t seed = 1;
  int workers = 1;
};

struct Engine {
  const char* name;  // as in --engine
  const char* what;  // one line for `list engines`
  ChildMode mode;
  bool guided;  // keeps a corpus, wants coverage
  // Before the first worker: folders, seeds, what must be installed.
  Status (*prepare)(const EnginePlan& plan);
  // How worker `index` is run.
  void (*set_up)(const EnginePlan& plan, int index, ChildSetup& setup);
  // The folder, below the run's, in which worker `index` keeps what it found worth keeping; null
  // for engines that keep nothing.
  std::string (*corpus_of)(int index);
};

std::span<const Engine> AllEngines();
Result<int> EngineNamed(const std::string& name);

// Brings what the run's workers kept into the user's first corpus folder, as far as it adds
// coverage there: libFuzzer's -merge=1. `setup` and `job` are those of a worker. Stops when `stop`
// says so.
Status MergeCorpus(const Engine& engine, const EnginePlan& plan, const ChildSetup& setup,
                   const Job& job, const std::function<bool()>& stop);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_ENGINE_H_
