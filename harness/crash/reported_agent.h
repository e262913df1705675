// SPDX-License-Identifier: Apache-2.0
// ReportedAgent: how a crashed JVM ran async-profiler, by the options of its agent. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_CRASH_REPORTED_AGENT_H_
#define WALKHAMMER_HARNESS_CRASH_REPORTED_AGENT_H_

#include <string>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// The options that decide what is sampled, how often, and how stacks are walked, as the report's
// command line has them: "start,event=cpu,interval=1ms,cstack=vm". Files, formats, filters and
// whatever is unknown are left out. "start" alone: the report names no such agent, or it was
// attached later.
std::string ReportedAgentOptions(const CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_REPORTED_AGENT_H_
