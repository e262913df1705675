// SPDX-License-Identifier: Apache-2.0
// FindingRecord: a finding in the form that runs store it: names and text instead of indexes and
// addresses, so that it can be read without the child, the JDK or this build of the tool.
// Made by the parent from what the child hands over. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_
#define WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/elf/symbolizer.h"
#include "harness/findings/signature.h"
#include "harness/oracles/oracle.h"
#include "harness/request/walk_request.h"
#include "harness/shared/line_state.h"

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
  std::optional<int64_t> cell;  // CellRow::position; none: not of a stress or step run
};

// `arch`: of the JVM, as `uname -m` says it; the request is then for that one alone.
FindingRecord MakeFindingRecord(const RawFinding& finding, const Symbolizer& symbolizer,
                                const SymbolTable& symbols, std::string_view arch);

// `request` is what the journal names as the killer; null if the child died between walks.
FindingRecord MakeDeathRecord(const DeathInfo& death, const WalkRequest* request,
                              const SymbolTable& symbols, uint64_t sequence, uint64_t time_ms,
                              std::string_view arch);

// In a run of several walkers, of which `first_walker` is the first: whose finding it is goes into
// key and title, unless it is the first's, and so does against whom. Replays, which `expect` is
// for, are of that walker alone, or of that pair.
void NameWalkers(const WalkRequest& request, uint8_t first_walker, FindingRecord& record);

// Ending, signal, registers and raw chain; addresses are "0x..." strings.
std::string FaultJson(const RawFinding& finding);

// What the oracle table of this build says; `otherwise` where it does not know the names. This is
// how an old run is regraded.
Grade GradeOf(std::string_view oracle, std::string_view outcome, Grade otherwise);
Grade GradeFromWord(std::string_view word);      // kForbidden for unknown words
Realism RealismFromWord(std::string_view word);  // kEditedStack for unknown words

// A copy that is safe to read even if a dying child scribbled over it: counts brought into range.
WalkRequest SaneRequest(const WalkRequest& request);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_FINDING_RECORD_H_
