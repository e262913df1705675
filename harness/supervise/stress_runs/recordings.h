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

// True once a chunk is in the repository: a recording that has begun writes them there.
bool RecordingBegan(const BackendPlan& plan);

// Adds the recordings of the programs that were not collected yet, and after each calls
// `read(samples)`, if that is not empty. Only the last program of several may have ended too early
// for a recording. kUnable: one is missing, or the JDK cannot read it.
using AfterRecording = std::function<void(BackendSamples&)>;
Status ReadNewRecordings(const BackendPlan& plan, bool last_may_lack, BackendSamples& samples,
                         const AfterRecording& read);

// Reads them into plan.samples, and deletes them: a recording takes up to 1 GiB.
Status CollectRecordings(const BackendPlan& plan, const AfterRecording& read);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDINGS_H_
