// SPDX-License-Identifier: Apache-2.0
// The gate: compares the runs of two builds, and says what of the candidate is worse. It tells a
// regression from chance: docs/explanation/gate-statistics.md says how. Needs only run folders.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_H_
#define WALKHAMMER_REPORTS_GATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "reports/gate_answers.h"
#include "reports/gate_policy.h"
#include "reports/gate_side.h"

namespace walkhammer {

// Something of the candidate that is worse.
struct GateChange {
  GateKind kind{};
  std::string what;        // "crash in f", "agct, torture:mixed default, in_Java, nmethod: -5"
  std::string details;     // one sentence with the figures
  double p = 0;            // adjusted; 0 where nothing was tested
  std::string input{};     // of a bucket: path of its .walk file; else empty
  std::string bug{};       // id of a bug of the store that it is of; else empty
  std::string evidence{};  // of a bucket, for GateLine: replays and realism
  GateEffect effect{};     // see AddChange
};

// How many comparisons of one family were made, and how many lacked data.
struct GateFamily {
  uint64_t compared = 0, not_enough = 0;
};

// What was compared of one side.
struct GateTotals {
  std::string build;
  size_t runs = 0;
  uint64_t walks = 0;
};

struct GateVerdict {
  std::string word;  // "PASS", "REGRESSION", "NOT ENOUGH DATA" or "VACUOUS"
  std::string why;   // of the last two: one sentence; else empty
  ExitCode exit = ExitCode::kClean;
  std::vector<GateChange> changes;   // those that fail first
  std::vector<std::string> better;   // what of the candidate is better: a sentence each
  std::vector<std::string> notes;    // what limits the verdict: a sentence each
  GateFamily codes, times, buckets;  // buckets: Forbidden ones of the candidate
  // Requests that both builds were shown; not_enough: those that runs of one build answer
  // differently.
  GateFamily answers;
  std::string unmade;  // too many of those that differ could not be made again: a sentence
  // Share of the data that a comparison needs and has (from 1 on: enough), by walker and by
  // workload; scenes are one, kAllScenes. Only what both sides walked, without guided runs.
  using Data = std::map<std::pair<std::string, std::string>, double>;
  Data data;
  GateTotals baseline, candidate;
  std::string walkers;
  // Per million walks: highest rate of a crash that the candidate has and that was not met.
  double bound = 0;
};

// How often an input was reproduced, of `times` fresh processes on the JDK of each side.
struct ReplayCounts {
  int times = 0, baseline = 0, candidate = 0;
};
// Replays the .walk file `input`. nullopt: it cannot be replayed on both.
using GateReplay = std::function<std::optional<ReplayCounts>(const std::string& input)>;

// `replay`: asked of buckets that only the candidate has; empty: nothing is replayed.
// `answers`: asked of requests that both sides walked.
GateVerdict JudgeGate(const GateSide& baseline, const GateSide& candidate, const GatePolicy& policy,
                      const GateReplay& replay = {}, const GateAnswers& answers = {});

// Without runs: by the corpora and vmStructs alone. Each side has one RunRow with what was walked.
// `compared`: requests that both JDKs have answered; without one, there is no PASS.
GateVerdict JudgeJdkImages(const GateSide& baseline, const GateSide& candidate,
                           const GatePolicy& policy, const GateAnswers& answers, uint64_t compared);

std::string GateText(const GateVerdict& verdict);
// The last line of the text, without a newline: made for the body of a pull request.
std::string GateLine(const GateVerdict& verdict);
std::string GateMarkdown(const GateVerdict& verdict);
std::string GateJsonText(const GateVerdict& verdict);  // indented, without a newline at its end

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_H_
