// SPDX-License-Identifier: Apache-2.0
// GateJdks: the JDKs of both sides of a gate, on which requests are walked. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_GATE_JDKS_H_
#define WALKHAMMER_HARNESS_CLI_GATE_JDKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/process/scratch.h"
#include "harness/supervise/builds/answer_replay.h"
#include "reports/gate.h"

namespace walkhammer {

struct GateJdkOptions {
  int times = 10;    // replays of an input on each JDK
  std::string bugs;  // folder of the team's store; empty: none
  std::string keep;  // folder for requests that are answered differently; empty: none is kept
};

class GateJdks {
 public:
  // Those of the first run of each side. kBadInput, kUnable: a JDK is not there, or cannot be run
  // here.
  static Result<std::shared_ptr<GateJdks>> Open(const GateSide& baseline, const GateSide& candidate,
                                                const GateJdkOptions& options);

  // nullopt: the .walk file `path` cannot be replayed on both.
  std::optional<ReplayCounts> Replayed(const std::string& path) const;
  // See GateAnswers.
  std::vector<AnsweredAgain> Again(const std::vector<DifferentAnswer>& requests) const;
  std::vector<AnsweredAgain> Corpora(uint64_t& compared) const;
  std::vector<LostStruct> Structs() const;
  std::string Keep(const AnsweredAgain& answers) const;

 private:
  // Requests of one walker, which one process can walk, and their places among all that are asked.
  struct Asked {
    std::vector<ReplayInput> inputs;
    std::vector<size_t> places;
  };
  using AskedByWalker = std::map<std::string, Asked>;

  void Add(const std::string& walker, std::string text, std::string name, size_t place,
           AskedByWalker& asked) const;
  // The answers that differ, by place of `count`.
  std::vector<AnsweredAgain> Answers(const AskedByWalker& asked, size_t count,
                                     uint64_t& compared) const;

  GateJdkOptions options_;
  ScratchFolder scratch_;
  std::string homes_[2];           // of the JDKs: baseline, candidate
  std::set<std::string> walkers_;  // of the baseline's runs
  uint32_t scene_mask_ = 0;        // of the baseline's runs
  std::vector<ChildSetup> sides_;  // baseline, candidate
  std::vector<ChildSetup> fixed_;  // the same, with fixed addresses, as fuzz runs have them
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_GATE_JDKS_H_
