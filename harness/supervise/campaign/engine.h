// SPDX-License-Identifier: Apache-2.0
// Engine: what makes the requests of a campaign. An engine is one row of a table: how to run its
// workers, what to prepare for them, and where they keep their inputs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_ENGINE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_ENGINE_H_

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

struct EnginePlan {
  std::string run_dir;                // the run's folder
  Platform platform = OwnPlatform();  // the targets run on it
  std::vector<std::string> corpus;    // the user's folders; new inputs go into the first
  uint64_t seed = 1;
  int workers = 1;
};

struct Engine {
  const char* name;  // as in --engine
  const char* what;  // one line for `show engines`
  ChildMode mode;
  bool guided;  // keeps a corpus, and uses coverage
  // Makes folders and seeds and checks what must be installed. Called before the first worker
  // starts.
  Status (*prepare)(const EnginePlan& plan);
  // Fills `setup` with what worker `index` needs: command, environment, how to stop.
  void (*set_up)(const EnginePlan& plan, int index, ChildSetup& setup);
  // Folder, relative to the run's, in which worker `index` keeps its corpus; null for engines that
  // keep none.
  std::string (*corpus_of)(int index);
};

std::span<const Engine> AllEngines();
Result<int> EngineNamed(const std::string& name);

inline constexpr std::chrono::minutes kMostMerging{10};

// Merges the inputs that the workers kept into the user's first corpus folder, by libFuzzer's
// -merge=1: only inputs that add coverage there. `setup` and `job`: as for a worker. Stops once
// `stop` returns true. Does nothing for an engine that is not guided or without a user's folder.
// Fails with kUnable, and leaves the folder as it was, if the merge takes longer than `most` or is
// killed from outside.
Status MergeCorpus(const Engine& engine, const EnginePlan& plan, const ChildSetup& setup,
                   const Job& job, const std::function<bool()>& stop,
                   std::chrono::milliseconds most = kMostMerging);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_ENGINE_H_
