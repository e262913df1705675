// SPDX-License-Identifier: Apache-2.0
// How often the kernel has killed for want of memory. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_OOM_KILLS_H_
#define WALKHAMMER_HARNESS_PROCESS_OOM_KILLS_H_

#include <cstdint>
#include <string>

namespace walkhammer {

// The number of processes in this process's memory control group that the kernel's OOM killer has
// killed so far: `oom_kill` of memory.events (cgroup v2) or memory.oom_control (v1). 0 if neither
// file tells. `root` stands before /proc and /sys; a test has its own.
uint64_t OomKills(const std::string& root = "");
// How many more they are than `before`, an earlier OomKills; 0 if they are fewer, as after this
// process was moved to another group.
uint64_t OomKillsSince(uint64_t before, const std::string& root = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_OOM_KILLS_H_
