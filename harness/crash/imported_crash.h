// SPDX-License-Identifier: Apache-2.0
// ImportedCrash: a crash report, judged: who is to blame, what it resembles, and which requests may
// show it again. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_IMPORTED_CRASH_H_
#define WALKHAMMER_HARNESS_CRASH_IMPORTED_CRASH_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/crash/candidates.h"
#include "harness/crash/resemblance.h"

namespace walkhammer {

struct ImportedCrash {
  std::string name;  // of the file, for people
  CrashReport report;
  CrashedChain chain;
  GuiltVerdict guilt;
  CrashTarget target;
  std::vector<Resemblance> resemblances;
  int walker = 0;                          // that the candidates walk: see WalkerFor
  std::vector<CrashCandidate> candidates;  // the best first
  std::string which;                       // "crash 2 of 3"; empty: the text has one
};

inline constexpr size_t kMostCandidates = 400;  // what a search may try
inline constexpr size_t kMostOffered = 8;       // what people get of them, the likeliest

// What a crash is compared with.
struct Corpora {
  std::vector<BugRequest> inputs;     // see CandidatesOf
  std::map<std::string, Bug> issues;  // see ResemblancesOf
  std::string library = {};           // of a profiler, see WalkerFor; empty: none was given
};

// Judges a report.
ImportedCrash Judge(CrashReport report, const std::string& name, const Corpora& corpora);

// Reads a log or another text, and judges each of its crashes. kBadInput: nothing of a crash is in
// it.
Result<std::vector<ImportedCrash>> ImportTexts(std::string_view text, const std::string& name,
                                               const Corpora& corpora);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_IMPORTED_CRASH_H_
