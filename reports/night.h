// SPDX-License-Identifier: Apache-2.0
// The judgement on a night of runs: what is new, what is to be watched, what came back. It is
// compared with the last green night, so that what is worse stays so until it is known or gone.
// Called by the verb night. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_NIGHT_H_
#define WALKHAMMER_REPORTS_NIGHT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/runs/known_bugs.h"
#include "harness/bugs/runs/sighting.h"
#include "reports/gate.h"
#include "reports/night_folder.h"
#include "reports/series.h"

namespace walkhammer {

// How often fresh processes showed a bug: on the night's JDK, and on that of the baseline.
struct NightReplay {
  int shown = 0, of = 0;
  // 0 of 0: that JDK is no longer there, or cannot walk the request.
  int shown_before = 0, of_before = 0;
};
// Replays a sighting of the merged run `now`. `before`: that of the baseline, empty: there is none.
// A tally that the run has already is in the sighting.
using NightReplays = std::function<NightReplay(const Sighting& sighting, const std::string& now,
                                               const std::string& before)>;

enum class NightSays : uint8_t {
  kNew,    // nobody knows it, and it was confirmed
  kWatch,  // nobody knows it, and it was not confirmed
  kFound,  // confirmed, but the baseline's build shows it, too
  kKnown,  // a known issue, or a bug of the store, that the baseline lacks
  kOld,    // of the baseline
};

struct NightBug {
  NightSays says{};
  std::string group, signature;
  std::string id;       // of the known issue that it is or looks like; may be empty
  std::string why;      // one sentence: what the word rests on
  std::string build;    // version of the JDK
  std::string folder;   // with its input and its explanation
  std::string command;  // shows it again
};

// A known issue that replays show on one of the two JDKs, and not on the other.
struct NightIssue {
  bool back = false;  // else: gone
  std::string id, title, why;
};

struct NightGate {
  std::string group;
  std::string against;  // the night that the group was compared with; empty: none has it
  std::string text;     // GateText
  std::vector<GateChange> worse;
  bool judged = true;  // false: the gate has no verdict
  std::string why;     // of that
};

struct NightVerdict {
  std::string word;  // "GREEN", "RED" or "UNSURE"
  ExitCode exit = ExitCode::kClean;
  std::vector<NightBug> bugs;  // in the order of NightSays; what is old is left out
  std::vector<NightIssue> issues;
  std::vector<NightGate> gates;
  std::vector<SeriesChange> changes;  // of error codes and times over all nights
  std::vector<std::string> notes;     // a sentence each
  uint64_t failed = 0;                // NightInput::failed
  uint64_t known = 0;                 // signatures of known bugs, met before or not
  std::string shown;                  // ids of the known issues that replays show, by JDK
  NightRecord record;
};

struct NightInput {
  std::string dir;
  std::string nights;    // the folder of earlier nights
  std::string baseline;  // a night to compare with in any case; empty: the last green one
  GatePolicy policy;
  const KnownBugs* known = nullptr;
  Day today{};
  NightReplays replay;  // empty: nothing is replayed
  uint64_t failed = 0;  // runs that failed, or that prove nothing
};

// kBadInput: `dir` or `baseline` is not a night's folder, or a run cannot be read.
Result<NightVerdict> JudgeNight(const NightInput& input);

std::string NightText(const NightVerdict& verdict);
std::string NightJsonText(const NightVerdict& verdict);  // indented, without a newline at its end

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_NIGHT_H_
