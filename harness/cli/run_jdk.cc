// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_jdk.h"

#include "harness/base/text.h"
#include "harness/process/interrupt.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {

ChildSetup SetupOfRun(const RunIdentity& run, const Jdk& jdk, const std::string& flags,
                      const std::string& scratch) {
  ChildSetup setup{jdk.libjvm, jdk.platform, Words(flags), true, scratch};
  if (run.provider.find('/') != std::string::npos) setup.provider = run.provider;
  return setup;
}

std::optional<int> TimesShown(const LoadedWalk& walk, const std::string& name,
                              const ChildSetup& setup, int times, int jobs) {
  ReplayPlan plan{walk.file.expect, times, jobs};
  plan.most_unable = 1;
  plan.stop = [] { return Interrupted().load(); };
  const ReplayTally tally = ReplayTimes({walk.text, name}, setup, plan);
  if (tally.walked() < times) return std::nullopt;
  return tally.reproduced;
}

}  // namespace walkhammer
