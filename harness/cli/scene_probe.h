// SPDX-License-Identifier: Apache-2.0
// Finds out which scenes a JDK can set up: a child tries them all. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_SCENE_PROBE_H_
#define WALKHAMMER_HARNESS_CLI_SCENE_PROBE_H_

#include <nlohmann/json.hpp>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// Sets up every scene in a child of this JDK. Returns
//   {"scenes": [
//      {"name": "c2", "available": true, "pristine_true": true, "frames": 33, "reason": ""}, ...],
//    "layout": [{"name": "...", "present": true, "proof": "proven"}, ...],
//    "safefetch": "symbols"}
// with a ProofWord and a SafeFetchSourceWord. A failure says why no scene could be set up.
Result<nlohmann::json> ProbeScenes(const Jdk& jdk);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_SCENE_PROBE_H_
