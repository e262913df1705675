// SPDX-License-Identifier: Apache-2.0
// Occurrence: one finding as a supervisor holds it. Shared by campaigns and by runs of real
// programs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_

#include <string>

#include "harness/findings/finding_record.h"
#include "harness/shared/line_state.h"

namespace walkhammer {

// One occurrence of a finding, with all that its folder would tell about it.
struct Occurrence {
  FindingRecord record;
  RawFinding raw;  // of a death: only the request
  bool is_death = false;
  bool has_request = true;               // false: the child died between walks
  const SymbolTable* symbols = nullptr;  // of the request; lives elsewhere
  std::string hs_err;
};

// Where it happened, and how it is replayed.
struct ReplayWords {
  std::string jdk;      // "JDK-PATH (version)"
  std::string command;  // how to call walkhammer
  std::string options;  // what a replay needs besides the file: " --jdk DIR -- FLAGS"
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_
