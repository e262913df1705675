// SPDX-License-Identifier: Apache-2.0
// Replays of requests on the JDK that a run walked, from the run's folder. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_RUN_JDK_H_
#define WALKHAMMER_HARNESS_CLI_RUN_JDK_H_

#include <optional>
#include <string>

#include "harness/jvm/images/jdk.h"
#include "harness/request/text_form.h"
#include "harness/store/run_rows.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

// How to start children as the run did: on `jdk`, its JDK, with its library. `flags`: of the JVM,
// separated by blanks. `scratch`: see ChildSetup.
ChildSetup SetupOfRun(const RunIdentity& run, const Jdk& jdk, const std::string& flags,
                      const std::string& scratch);

// How many of `times` fresh processes, `jobs` at a time, show what the request expects. nullopt: it
// could not be walked in each. `name`: of the request, for messages. An interrupt ends it.
std::optional<int> TimesShown(const LoadedWalk& walk, const std::string& name,
                              const ChildSetup& setup, int times, int jobs);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_RUN_JDK_H_
