// SPDX-License-Identifier: Apache-2.0
// Counts processes that the kernel's out-of-memory (OOM) killer has killed. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_OOM_KILLS_H_
#define WALKHAMMER_HARNESS_PROCESS_OOM_KILLS_H_

#include <cstdint>
#include <string>

namespace walkhammer {

// Returns how many processes of this process's memory control group the OOM killer has killed since
// the group exists: `oom_kill` of memory.events (cgroup v2) or memory.oom_control (v1). 0 if
// neither file has that count. Tests set `root`, a prefix of the paths /proc and /sys.
uint64_t OomKills(const std::string& root = "");
// Returns how far OomKills has risen since it returned `before`; 0 if it has fallen, as when this
// process was moved to another group.
uint64_t OomKillsSince(uint64_t before, const std::string& root = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_OOM_KILLS_H_
