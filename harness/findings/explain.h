// SPDX-License-Identifier: Apache-2.0
// Explanations: a request, and a finding, in words for an engineer who has not seen the tool.
// Called when a crash folder is written, and by `show`. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_EXPLAIN_H_
#define WALKHAMMER_HARNESS_FINDINGS_EXPLAIN_H_

#include <string>

#include "harness/findings/finding_record.h"
#include "harness/ipc/line_state.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// One occurrence of a bug, with everything that the crash folder says about it.
struct CrashCase {
  FindingRecord record;
  const RawFinding* raw = nullptr;       // null for the death of a child
  const WalkRequest* request = nullptr;  // null if it is not known which walk did it
  const SymbolTable* symbols = nullptr;  // of `request`; not null unless `request` is
  std::string jdk;                       // path and version, one line
  std::string replay_command;            // exactly as typed in a shell
  int confirmed = 0;                     // of `tries` replays
  int tries = 0;                         // 0: not replayed yet
  std::string hs_err_text;               // the JVM's log; empty if there is none
};

// A value in words: "0x1c bytes after the first instruction of the compiled code of a.B.c()V".
std::string ExplainValue(const Value& value, const SymbolTable& symbols);

// What the request shows to the walker: one indented line per register, field and edit.
std::string ExplainRequest(const WalkRequest& request, const SymbolTable& symbols);

// What `realism` says of a request, in words: "exactly what a profiler's signal would have seen".
const char* RealismMeaning(Realism realism);

// The text of explain.txt.
std::string ExplainCase(const CrashCase& crash);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_EXPLAIN_H_
