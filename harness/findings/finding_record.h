// SPDX-License-Identifier: Apache-2.0
// FindingRecord: a finding as a run stores it, with names and text instead of indexes and raw
// addresses. It is readable without the child, the JDK or this build of walkhammer. The parent
// makes records from the findings and deaths of a child. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_
#define WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/elf/symbolizer.h"
#include "harness/findings/signature.h"
#include "harness/ipc/line_state.h"
#include "harness/oracles/oracle.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

struct FindingRecord {
  Signature signature;
  std::string oracle;   // stable name
  std::string outcome;  // stable name
  Grade grade = Grade::kForbidden;
  Realism realism = Realism::kEditedStack;
  std::string detail;     // one sentence
  std::string request;    // .walk text with `expect`; empty: no walk is known to have caused it
  std::string frames;     // what the walker returned, one frame a line; may be empty
  std::string native;     // NativeChainText; may be empty
  std::string fault;      // JSON: FaultJson, or how a child died; may be empty
  uint64_t sequence = 0;  // of the walk
  uint64_t time_ms = 0;   // since the run's start
  std::optional<int64_t> cell;  // CellRow::position; nullopt: not of a stress or step run
  bool operator==(const FindingRecord&) const = default;
};

// Makes the record of a finding. `arch`: the JVM's architecture as `uname -m` names it; the
// record's request is valid on that architecture only.
FindingRecord MakeFindingRecord(const RawFinding& finding, const Symbolizer& symbolizer,
                                const SymbolTable& symbols, std::string_view arch);

// Makes the record of a child's death. `request`: the request of the walk that the journal blames;
// null if the child died between walks.
FindingRecord MakeDeathRecord(const DeathInfo& death, const WalkRequest* request,
                              const SymbolTable& symbols, uint64_t sequence, uint64_t time_ms,
                              std::string_view arch);

// Makes the record of a finding about a sampled program as a whole, without a request. `words`
// distinguish it, in key and title, from other findings with this outcome; may be empty.
FindingRecord MakeProgramRecord(const std::string& oracle, const std::string& outcome,
                                const std::string& words, std::string detail);

// Appends walker names to the signature's key and title: ": W against V" if the request compares W
// with V; else ", by W" if W is not `first_walker`, the run's first walker. Leaves `expect`
// unchanged, because a replay runs only this walker or this pair.
void NameWalkers(const WalkRequest& request, uint8_t first_walker, FindingRecord& record);

// Returns JSON of how the walk ended, the presented registers and, after a crash or hang, signal,
// registers and raw call chain. Addresses are strings: "0x...".
std::string FaultJson(const RawFinding& finding);

// Returns the grade of an outcome in the oracle table of this build, so that old runs get today's
// grades. Returns `otherwise` if the table lacks the oracle or the outcome.
Grade GradeOf(std::string_view oracle, std::string_view outcome, Grade otherwise);
Grade GradeFromWord(std::string_view word);      // kForbidden for unknown words
Realism RealismFromWord(std::string_view word);  // kEditedStack for unknown words

// Returns a copy of `request` whose counts and enumerations are in range, even if a dying child has
// overwritten `request`. The walker and the scene may still be unknown indexes.
WalkRequest SaneRequest(const WalkRequest& request);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_
