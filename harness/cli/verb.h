// SPDX-License-Identifier: Apache-2.0
// The verbs of the command. Each adds one CLI11 subcommand; parsing it stores in `chosen` what to
// run. One file per verb; main holds the table.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_VERB_H_
#define WALKHAMMER_HARNESS_CLI_VERB_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"

namespace CLI {
class App;
}

namespace walkhammer {

// Sets up every scene in a child of this JDK. Returns
//   {"scenes": [
//      {"name": "c2", "available": true, "pristine_true": true, "frames": 33, "reason": ""}, ...],
//    "layout": [{"name": "...", "present": true, "proof": "proven"}, ...],
//    "safefetch": "symbols"}
// with a ProofWord and a SafeFetchSourceWord. A failure says why no scene could be set up.
using SceneProbe = std::function<Result<nlohmann::json>(const Jdk&)>;

struct Invocation {
  // Does the work of the parsed verb; returns the exit code. Set by the verb's callback.
  std::function<int()> run;
  // True for verbs that start JVMs; others refuse flags after "--".
  bool takes_jvm_flags = false;
  // The arguments after "--". Set before `run` is called.
  std::vector<std::string> jvm_flags;
  // Set by main before parsing. If it is empty, doctor leaves the scenes out.
  SceneProbe probe_scenes;
};

class Verb;

// `chosen` must outlive `app`.
using AddVerb = void (*)(CLI::App& app, Invocation& chosen);

void AddBisect(CLI::App& app, Invocation& chosen);
void AddBugs(CLI::App& app, Invocation& chosen);
void AddBundle(CLI::App& app, Invocation& chosen);
void AddDoctor(CLI::App& app, Invocation& chosen);
void AddFuzz(CLI::App& app, Invocation& chosen);
void AddGate(CLI::App& app, Invocation& chosen);
void AddImport(CLI::App& app, Invocation& chosen);
void AddMerge(CLI::App& app, Invocation& chosen);
void AddMinimize(CLI::App& app, Invocation& chosen);
void AddReplay(CLI::App& app, Invocation& chosen);
void AddReport(CLI::App& app, Invocation& chosen);
void AddShow(CLI::App& app, Invocation& chosen);
void AddStep(CLI::App& app, Invocation& chosen);
void AddStress(CLI::App& app, Invocation& chosen);

// The verb `check` of bugs, in a file of its own.
void AddBugsCheck(const Verb& bugs, Invocation& chosen);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_VERB_H_
