// SPDX-License-Identifier: Apache-2.0
// An oracle takes a request and its trace, and says whether there is a bug. One file per oracle,
// one row per oracle in rows.h. Grades are data: a run stores outcomes, so that a stricter
// grading can be applied to old runs.
// Signal-safe: yes (judging allocates nothing; it runs on the walking thread), but not OracleNames,
// HoldsOracle and the first call of OraclesFor, which allocate.
#ifndef WALKHAMMER_HARNESS_ORACLES_ORACLE_H_
#define WALKHAMMER_HARNESS_ORACLES_ORACLE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

// The oracle of loads that are made to fail, and its outcome that a walk line reports itself: the
// walk after the one that is judged was not true.
inline constexpr char kFailingLoadOracleName[] = "failing-load";
inline constexpr uint8_t kWrongNextWalk = 2;

// What is true of a walk, in bits. Most walks give most oracles nothing to judge.
enum Facts : uint16_t {
  kFailed = 1 << 0,         // a crash or a hang ended it
  kNoFrames = 1 << 1,       // it returned no frame
  kOtherFrames = 1 << 2,    // it returned frames beyond Observation::true_frames
  kTooManyFrames = 1 << 3,  // it returned more frames than were asked for
  kPristine = 1 << 4,       // Observation::pristine: the stack was not edited
  kSampled = 1 << 5,        // it is of a sample
  kCompared = 1 << 6,       // another walker was given the same context before
  kProtected = 1 << 7,      // the walker's own protection ended it
  kUnsafe = 1 << 8,         // it made a call that no signal handler may make
  kOverwrote = 1 << 9,      // it wrote outside of its frames, or into the walked stack
  kChanged = 1 << 10,       // the Surroundings before and after it differ
  kSaysMore = 1 << 11,      // it describes methods, or contradicts itself
  kLoadFailed = 1 << 12,    // one of its loads was made to fail
  kByParent = 1 << 13,      // true of no walk: the parent judges, not the walking process
};

struct Observation;  // what oracles judge a walk by: observation.h

// Returns an index into `outcomes`. If the index is not 0, writes one sentence into `detail` (at
// most `size` bytes, NUL-terminated).
using JudgeFn = uint8_t (*)(const Observation& seen, char* detail, size_t size);

struct Oracle {
  const char* name;  // stable, kebab-case
  const char* what;  // one line for `show oracles`
  std::span<const OutcomeInfo> outcomes;
  JudgeFn judge;
  // The oracle accepts each walk that lacks one of these Facts, and need not be asked about it.
  uint16_t judged = 0;
  // Its findings name a place in the walker's code: that of the first fault at which the
  // walker's own protection ended the walk.
  bool at_own_fault = false;
  // The same outcome in another scene counts as another bug.
  bool by_scene = false;
  // Why --without-oracle refuses it; null: it does not.
  const char* kept = nullptr;
};

std::span<const Oracle> AllOracles();
// The oracles that may report something of a walk with these Facts: bit i stands for
// AllOracles()[i]. The first call allocates, so make it before the first signal.
uint32_t OraclesFor(uint16_t facts);
// The names of the oracles of `set`, in which bit i stands for AllOracles()[i].
std::vector<std::string_view> OracleNames(uint32_t set);
bool HoldsOracle(uint32_t set, std::string_view name);  // false also if there is no such oracle
const Oracle* FindOracle(std::string_view name);        // null if there is none

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_ORACLE_H_
