// SPDX-License-Identifier: Apache-2.0
// What the JDKs of both sides of a gate answer to the requests of the corpora, and what of their
// vmStructs differs, in a file: found once, before any run, and judged again with the runs.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_GATE_CORPORA_H_
#define WALKHAMMER_HARNESS_CLI_GATE_CORPORA_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "reports/gate_answers.h"

namespace walkhammer {

struct GateCorpora {
  std::vector<AnsweredAgain> answers;  // those that differ
  std::vector<LostStruct> structs;
};

Status WriteGateCorpora(const std::string& path, const GateCorpora& corpora);
// kBadInput, one sentence: the file is something else.
Result<GateCorpora> ReadGateCorpora(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_GATE_CORPORA_H_
