// SPDX-License-Identifier: Apache-2.0
// Answers of two builds to the same requests: makes requests of a campaign again by their numbers,
// and finds the requests that the builds answer differently each time. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_ANSWER_REPLAY_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_ANSWER_REPLAY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {

// A campaign of the random engine with one walker.
struct CampaignSource {
  uint8_t walker = 0;  // index into AllWalkers()
  uint64_t seed = 0;
  uint32_t scene_mask = 0;  // bit i: scene i of AllScenes() was wanted
};

struct NumberedRequest {
  uint64_t number = 0;  // in the campaign, from 0
  uint32_t hash = 0;    // Answer::request
};

// The requests in .walk form, by their place in `requests`. Empty where the JVM of `setup` makes
// another request of that number. Boots one JVM. kUnable, kToolFailed: why it could not be booted.
Result<std::vector<std::string>> RequestTexts(const CampaignSource& source,
                                              const std::vector<NumberedRequest>& requests,
                                              const ChildSetup& setup);

// What a build answered: "12 frames" and a line for each frame, newest first; "code -5"; the title
// of a crash. Empty: not walked.
struct BuildAnswer {
  std::string text;
  Grade grade = Grade::kAcceptable;  // of the most severe finding
  bool operator==(const BuildAnswer&) const = default;
};

struct BothAnswers {
  BuildAnswer baseline, candidate;
  bool Both() const { return !baseline.text.empty() && !candidate.text.empty(); }
  bool Differ() const { return Both() && baseline != candidate; }
};

// Answers of a new process of each build to the requests at the places `open`, by their place in
// it. The process that boots first and is asked first meets another load of the machine.
using AskBoth =
    std::function<std::vector<BothAnswers>(const std::vector<size_t>& open, bool candidate_first)>;

// Asks up to `times` times; every second time, the candidate goes first. Gives the last answers to
// those that one build answers the same each time, and the other build never so; else empty ones.
// The other's answers may vary, as a frame does that the walker never wrote.
// Adds to `compared` how many requests both builds have answered.
std::vector<BothAnswers> DifferentEachTime(size_t requests, int times, const AskBoth& ask,
                                           uint64_t& compared);

// Walks each request on both builds, each time in other processes, which all requests share; see
// DifferentEachTime(). `stop`: polled; true ends it, and nothing is known.
std::vector<BothAnswers> DifferentAnswers(const std::vector<ReplayInput>& requests,
                                          const ChildSetup& baseline, const ChildSetup& candidate,
                                          int times, const std::function<bool()>& stop,
                                          uint64_t& compared);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_ANSWER_REPLAY_H_
