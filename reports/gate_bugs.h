// SPDX-License-Identifier: Apache-2.0
// What a team's store of bugs says of the buckets of a side. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_BUGS_H_
#define WALKHAMMER_REPORTS_GATE_BUGS_H_

#include <string>

#include "harness/base/result.h"
#include "harness/bugs/bug_store.h"
#include "reports/gate_side.h"

namespace walkhammer {

// Sets GateBucket::word of each bucket. Of a bucket that is of several bugs, as those of two
// walkers, the word that wants a person first counts. `build`: the version of the side's builds,
// for JDKs that do not tell their versions apart; empty: what the runs say.
Status ReadBugWords(const BugStore& store, const Day& today, const std::string& build,
                    GateSide& side);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_BUGS_H_
