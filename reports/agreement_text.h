// SPDX-License-Identifier: Apache-2.0
// AgreementText: how often walkers gave the same answer to the same sample or request, for a cell
// of a stress run and for a fuzz run. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_
#define WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_

#include <string>
#include <vector>

#include "harness/store/stress_rows.h"

namespace walkhammer {

// A table for each pair of walkers, by where the pc was; in a fuzz run, a table for each realism of
// the requests, too. Each line begins with `indent`. Empty if there are no rows.
std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_
