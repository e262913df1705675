// SPDX-License-Identifier: Apache-2.0
// Candidates: portable requests that may show the crash of a report again. What the report does not
// tell is assumed; several assumptions give several candidates. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CANDIDATES_H_
#define WALKHAMMER_HARNESS_CRASH_CANDIDATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/bugs/bug.h"
#include "harness/crash/crashed_chain.h"
#include "harness/crash/guilt.h"
#include "harness/crash/target.h"
#include "harness/crash/walk_text.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// Where a candidate comes from, in the order of what it says of the report if it shows the crash.
enum class CandidateSource : uint8_t {
  kReport,      // what the report tells of the walked stack
  kKnownInput,  // a request that walkhammer keeps, which shows the same function
  kShape        // synthetic: a shape that leads walkers astray in this function
};
const char* CandidateSourceText(CandidateSource source);  // "the report's own input"

struct CrashCandidate {
  std::string what;               // one line
  int rank = 0;                   // percent; the highest is tried first
  std::vector<FieldNote> fields;  // what is sure, and what was assumed
  std::string text;               // in .walk form, with comments and the expect line
  CandidateSource source = CandidateSource::kReport;
};

// Candidates, the best first: known inputs with the same signature, the walked context as far as
// the report shows it, and shapes that go with the function. At most `most`. None of a text that
// has neither a pc nor frames, and of a JVM that is not HotSpot. `known`: in .walk form.
// `walker`: a name of AllWalkers().
std::vector<CrashCandidate> CandidatesOf(const CrashReport& report, const CrashedChain& chain,
                                         const GuiltVerdict& guilt, const CrashTarget& target,
                                         const std::vector<BugRequest>& known,
                                         const std::string& walker, size_t most);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CANDIDATES_H_
