// SPDX-License-Identifier: Apache-2.0
// FindingRecord: a finding in the form in which runs store it: names and text instead of indexes
// and addresses, readable without the child, the JDK or this build of the tool. The parent makes
// records from a child's findings and deaths. Signal-safe: no.
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
  std::string detail;   // one sentence
  std::string request;  // .walk text with `expect`
  std::string frames;   // what the walker returned, one frame a line; may be empty
  std::string native;   // NativeChainText
  std::string fault;    // FaultJson
  uint64_t sequence = 0;
  uint64_t time_ms = 0;         // since the run's start
  std::optional<int64_t> cell;  // CellRow::position; nullopt: not of a stress or step run
  bool operator==(const FindingRecord&) const = default;
};

// The record of a finding. `arch`: the JVM's architecture, in the words of `uname -m`; the record's
// request is for that architecture only.
FindingRecord MakeFindingRecord(const RawFinding& finding, const Symbolizer& symbolizer,
                                const SymbolTable& symbols, std::string_view arch);

// The record of a child's death. `request`: the walk that the journal blames; null if the child
// died between walks.
FindingRecord MakeDeathRecord(const DeathInfo& death, const WalkRequest* request,
                              const SymbolTable& symbols, uint64_t sequence, uint64_t time_ms,
                              std::string_view arch);

// The record of a finding that is of a sampled program as a whole, without a request. `words`: what
// distinguishes it from others of the oracle's outcome, as part of its title; may be empty.
FindingRecord MakeProgramRecord(const std::string& oracle, const std::string& outcome,
                                const std::string& words, std::string detail);

// Appends walker names to the signature's key and title: ": W against V" if the request compares W
// with V; else ", by W" if W is not `first_walker`, the run's first walker. `expect` stays as it
// is: a replay runs that walker or that pair only.
void NameWalkers(const WalkRequest& request, uint8_t first_walker, FindingRecord& record);

// JSON of ending, signal, registers and raw call chain; addresses are "0x..." strings.
std::string FaultJson(const RawFinding& finding);

// Grade of an outcome in this build's oracle table, by which old runs are regraded; `otherwise` if
// the table does not have the names.
Grade GradeOf(std::string_view oracle, std::string_view outcome, Grade otherwise);
Grade GradeFromWord(std::string_view word);      // kForbidden for unknown words
Realism RealismFromWord(std::string_view word);  // kEditedStack for unknown words

// Copy of `request` with counts and enumerations brought into range: safe to read even if a dying
// child has written over `request`.
WalkRequest SaneRequest(const WalkRequest& request);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_
