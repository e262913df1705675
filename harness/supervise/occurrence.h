// SPDX-License-Identifier: Apache-2.0
// Occurrence: one finding as a supervisor holds it. Shared by campaigns and by runs of real
// programs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_

#include <string>
#include <vector>

#include "harness/findings/finding_record.h"
#include "harness/ipc/line_state.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// One occurrence of a finding, with everything that its crash folder says.
struct Occurrence {
  FindingRecord record;
  RawFinding raw;  // for a death only raw.request is set, and without a request nothing
  bool is_death = false;
  bool has_request = true;               // false: it is of no walk, or not known of which
  const SymbolTable* symbols = nullptr;  // of the request; not owned
  std::string hs_err;
};

// The words that say where a finding happened and how to replay it.
struct ReplayWords {
  std::string jdk;      // "JDK-PATH (version)"
  std::string command;  // how to call walkhammer
  std::string options;  // what a replay needs besides the file: " --jdk DIR -- FLAGS"
};

// How to replay a finding under this JDK and with these JVM flags. `library`: the provider that
// stands in for libjvm, as --provider takes it; empty: none.
ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_OCCURRENCE_H_
