// SPDX-License-Identifier: Apache-2.0
// Finds out which scenes a JDK can set up: a child tries them all. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_SCENE_PROBE_H_
#define WALKHAMMER_HARNESS_CLI_SCENE_PROBE_H_

#include <nlohmann/json.hpp>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// See SceneProbe in verb.h.
Result<nlohmann::json> ProbeScenes(const Jdk& jdk);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_SCENE_PROBE_H_
