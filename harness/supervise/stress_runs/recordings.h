// SPDX-License-Identifier: Apache-2.0
// Recordings: JFR recordings that the programs of a cell write, one each, into the cell's scratch
// folder. Shared by backends. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDINGS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDINGS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/stress_runs/backend_samples.h"

namespace walkhammer {

// JVM flags that make the cell's next program record. `events`: its settings, the <event> elements
// of a .jfc file.
Result<std::vector<std::string>> RecordingFlags(const BackendPlan& plan, std::string_view events);

// True once JFR's repository has a chunk: a recording that has begun writes its chunks there.
bool RecordingBegan(const BackendPlan& plan);

// Adds each recording that was not collected yet to `samples`, and then calls `read(samples)`,
// unless `read` is empty. `last_may_lack`: the last program of several may have ended too early for
// a recording. kUnable: one is missing, or the JDK cannot read it.
using AfterRecording = std::function<void(BackendSamples&)>;
Status ReadNewRecordings(const BackendPlan& plan, bool last_may_lack, BackendSamples& samples,
                         const AfterRecording& read);

// Reads them into plan.samples, and deletes them: a recording takes up to 1 GiB.
Status CollectRecordings(const BackendPlan& plan, const AfterRecording& read);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDINGS_H_
