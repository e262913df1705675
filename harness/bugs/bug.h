// SPDX-License-Identifier: Apache-2.0
// Bug: what is known of one bug of a stack walker: an issue that ships with the tool, or what a
// team knows over many runs. A bug is a file of a store: bug_text.h, bug_store.h. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BUGS_BUG_H_
#define WALKHAMMER_HARNESS_BUGS_BUG_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk_version.h"

namespace walkhammer {

enum class BugState : uint8_t { kOpen, kDuplicate, kAccepted, kFixed };
inline constexpr BugState kLastBugState = BugState::kFixed;
const char* BugStateWord(BugState state);  // "open", "duplicate", "accepted", "fixed"
std::optional<BugState> BugStateFromWord(std::string_view word);

using Day = std::chrono::year_month_day;
std::string DayText(const Day& day);  // "2026-12-31"
std::optional<Day> ParseDay(
    std::string_view);                   // of that form alone; empty: not a day of the calendar
bool IsTimeText(std::string_view text);  // true for "2026-12-31T23:59:59Z" and the like
inline constexpr size_t kDayLength = sizeof "2026-12-31" - 1;

// When and where a bug was seen.
struct Seen {
  std::string build;     // version of the JDK: "17.0.15+6-Debian-1deb12u1"
  std::string build_id;  // of its libjvm, hex; empty if not known
  std::string run;       // the run's folder, without its parents; kReplayed: replays of the bug
  std::string date;      // UTC, "2026-11-24T17:05:00Z"; empty if not known

  bool operator==(const Seen&) const = default;
};
inline constexpr char kReplayed[] = "replay";

// The latest replays of the bug's request that showed the bug, `shown` of `of`.
struct Reproduced {
  std::string build;
  int shown = 0, of = 0;  // both 0: there were none

  bool operator==(const Reproduced&) const = default;
};

// What a crash report of the bug contains. Without function and check, no report resembles it.
struct CrashSigns {
  std::vector<std::string> functions;  // one is blamed, or called the blamed one; beginnings
  std::string check;                   // part of the failed check
  std::string whose;                   // GuiltVerdict's walker begins with it; "": any
  bool aarch64_only = false;
  bool debug_only = false;  // an assert: release builds do not have it
  bool no_walker = false;   // it explains crashes in which no walker is, too: any call may match

  bool operator==(const CrashSigns&) const = default;
};

// How ci/test/known_bugs.sh shows that the tool finds the bug, and finds it on builds with it
// alone.
struct BugProof {
  std::string with, without;  // versions: one of `affected`, one of `fixed_in`
  int budget = 0;             // seconds of a run on one build
  std::string silent;         // what the request answers on the build `without`: "32 frames"
  std::string fuzz, stress;   // options of that verb
  std::string bucket, scene;  // title of the bucket, with '%' for any text; what must be walked
  std::string not_found;      // why the tool does not find it

  bool operator==(const BugProof&) const = default;
};

struct Bug {
  std::string id;  // its file's name without ".toml", see IsBugId
  std::string title;
  std::vector<std::string> signatures;  // patterns, see MatchesSignature; at least one
  BugState state = BugState::kOpen;
  std::string duplicate_of;  // kDuplicate: the id of the other bug
  std::string reason;        // kAccepted: why; one line
  std::optional<Day> until;  // kAccepted: the last day, UTC, on which it is accepted
  std::string fixed_in;      // kFixed: see FixedVersions
  std::string affected;      // ranges of JDKs that have it; of others nobody knows
  std::vector<std::string> affected_libraries;  // "async-profiler [4.2,4.7)"
  std::string cause, trigger;                   // one sentence each
  std::vector<std::string> upstream;            // ids of public trackers
  std::string upstream_status;                  // one sentence
  std::vector<std::string> walkers;             // names of AllWalkers()
  int bug_class = 0;                            // of corpora/README.md; 0: none
  std::vector<std::string> requests;            // further files, relative to the store
  CrashSigns crash;
  BugProof proof;
  std::string like;  // id of the fixed bug that this one looks like; may be empty
  Seen first_seen, last_seen;
  std::vector<std::string> builds;  // versions on which it was seen, distinct
  Reproduced reproduced;
  std::string flags;                  // JVM flags of its replay, space-separated
  std::string provider;               // file name of the library that its walker comes from; or ""
  std::vector<std::string> evidence;  // one line each, oldest first
  std::string notes;                  // the team's; the tool never writes it
  std::string walk;                   // text of its request, in .walk form; empty: none
  std::vector<std::string> texts;     // of `requests`, in their order

  bool operator==(const Bug&) const = default;
};

// A request of a bug: its file as the bug names it, and what that file holds.
struct BugRequest {
  std::string file, text;
};
// All of a bug: its own, then `requests`.
std::vector<BugRequest> RequestsOf(const Bug& bug);

// Bounds of what a store keeps of an untrusted run.
inline constexpr size_t kMostText = 300;      // bytes of a title, a signature, a reason
inline constexpr size_t kMostBuilds = 100;    // the oldest are dropped
inline constexpr size_t kMostEvidence = 100;  // lines; the oldest are dropped
// `text` on one line, printable, cut to `most` bytes.
std::string Tame(std::string_view text, size_t most = kMostText);

// True for a name that is safe as a file's: letters, digits, '-', '_' and '.', of which the first
// is no '.' and no '-'; at most 100.
bool IsBugId(std::string_view id);

// The versions that have a fix, by Bug::fixed_in: "17.0.9" stands for it and all later ones,
// "[17.0.9,18) [19,)" for ranges. kBadInput, one sentence, for anything else.
Result<std::vector<VersionRange>> FixedVersions(const std::string& fixed_in);

// True if the bug is kFixed, and the fix is in the build of this version. A version that nobody can
// read counts as one with the fix: a bug that is shown again should not pass unseen.
bool IsFixedIn(const Bug& bug, const std::string& version);

enum class Affected : uint8_t { kNo, kYes, kUnknown };
// Whether the JDK of this version has the bug, by `affected` and `fixed_in`. kUnknown for text that
// is not a version, too.
Affected AffectedByVersion(const Bug& bug, const std::string& version);

// True if the bug is kAccepted, and the day it was accepted for has passed: it counts as open.
bool IsExpired(const Bug& bug, const Day& today);

// The version to compare with: the one recorded for the same build id; else, for a version without
// a build number, the newest of `builds` that differs in nothing else, since a JDK's `release` file
// may say "17.0.9" where its JVM says "17.0.9+9"; else `version`.
std::string VersionIn(const Bug& bug, const std::string& build_id, const std::string& version);

// What the state rests on: "of JDK-1", "until 2026-12-31: reason", "in 17.0.9"; "looks like JDK-1"
// of an open bug, or "".
std::string StateWords(const Bug& bug);

// Notes that the bug was seen: first, last, builds. The order in which runs are noted, and how
// often, makes no difference.
void NoteSeen(const Seen& seen, Bug& bug);

// Adds "DAY: TEXT", unless that text is the latest line already.
void AddEvidence(const Day& today, std::string_view text, Bug& bug);

// A new state, set by a user. What belongs to other states must be empty.
struct StateChange {
  BugState state = BugState::kOpen;
  std::string duplicate_of, reason, until, fixed_in;
};
// Sets the state, and adds a line of evidence. kBadInput, one sentence, if something is missing, is
// for another state, or cannot be, such as a day that has passed.
Status SetState(const StateChange& change, const Day& today, Bug& bug);

// A signature is one line that names walker and finding without anything of one build, such as
// "agct: crash in frame::safe_for_sender". A bug has patterns of them: '*' stands for any text,
// "\*" for a star and "\\" for a backslash.

// True if the pattern matches all of `signature`. Takes time linear in their product at most.
bool MatchesSignature(std::string_view pattern, std::string_view signature);

// How much of a signature the pattern names: its bytes besides stars. If several patterns
// match a signature, the one that names most is meant.
size_t NamedBytes(std::string_view pattern);

// The pattern that matches `signature`, and the same with other line numbers: those of failed
// checks, as "(codeCache.cpp:654)", differ from build to build.
std::string PatternOf(std::string_view signature);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_BUG_H_
