// What a child does: boot, set scenes up, and walk as its job says. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_CAMPAIGN_H_
#define WALKHAMMER_HARNESS_CHILD_CAMPAIGN_H_

#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/child/walk_line.h"
#include "harness/jvm/boot.h"
#include "harness/record/shared_state.h"
#include "harness/scenes/landscape.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

// The JVM, its scenes and the line, ready to walk.
struct Workshop {
  Jvm* jvm = nullptr;
  SceneStage* stage = nullptr;
  std::unique_ptr<Landscape> landscape;
  std::unique_ptr<Walker> walker;
  std::unique_ptr<WalkLine> line;

  // Does everything up to the first walk and reports it in `shared`.
  static Result<Workshop> SetUp(SharedState& shared, const std::string& libjvm,
                                const std::vector<std::string>& flags);
};

// Runs shared.job to its end; leaves phase and message there.
void RunCampaign(SharedState& shared, const std::string& libjvm,
                 const std::vector<std::string>& flags);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_CAMPAIGN_H_
