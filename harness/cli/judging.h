// SPDX-License-Identifier: Apache-2.0
// Options of the verbs that judge runs: which bugs are known. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_JUDGING_H_
#define WALKHAMMER_HARNESS_CLI_JUDGING_H_

#include <string>

#include "harness/base/result.h"
#include "harness/cli/options.h"
#include "reports/run_summary.h"

namespace walkhammer {

struct JudgingOptions {
  std::string known;  // folder of known issues; empty: those beside the command
  std::string bugs;   // a team's store; empty: none
  bool strict = false;
};

// --known and --bugs
void AddStores(Verb& verb, JudgingOptions& options);
// These, and --strict.
void AddJudging(Verb& verb, JudgingOptions& options);

// Reads the stores. kBadInput for a store that cannot be read. Known issues that are not beside the
// command are none.
Result<Judging> ReadJudging(const JudgingOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_JUDGING_H_
