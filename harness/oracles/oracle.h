// SPDX-License-Identifier: Apache-2.0
// Oracles: take a request and its trace and say whether there is a bug. One file per oracle,
// one row per oracle in rows.h. Grades are data: a run stores outcomes, so that a stricter
// grading can be applied to old runs.
// Signal-safe: yes (judging allocates nothing; it runs on the walking thread).
#ifndef WALKHAMMER_HARNESS_ORACLES_ORACLE_H_
#define WALKHAMMER_HARNESS_ORACLES_ORACLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace walkhammer {

enum class Grade : uint8_t { kAcceptable, kInteresting, kForbidden };
std::string_view GradeWord(Grade grade);  // "Acceptable", ...

// A possible verdict of an oracle. Outcome 0 of every oracle means "nothing to report".
struct OutcomeInfo {
  const char* name;  // stable, kebab-case: stored in runs
  Grade grade;
  const char* reason;  // why it is graded so
};

// Outcome of the oracle "crash": a check of the JVM's own failed; Fault::failed_check says which.
inline constexpr char kFailedCheckOutcomeName[] = "failed-check";

struct Observation;  // what oracles judge a walk by: observation.h

// Returns an index into `outcomes`. If the index is not 0, writes one sentence into `detail` (at
// most `size` bytes, NUL-terminated).
using JudgeFn = uint8_t (*)(const Observation& seen, char* detail, size_t size);

struct Oracle {
  const char* name;  // stable, kebab-case
  const char* what;  // one line for `show oracles`
  std::span<const OutcomeInfo> outcomes;
  JudgeFn judge;
  // Its findings have the place in the walker's code where the first fault was that the walker's
  // own protection ended the walk for.
  bool at_own_fault = false;
};

std::span<const Oracle> AllOracles();
const Oracle* FindOracle(std::string_view name);  // null if there is none

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_ORACLE_H_
