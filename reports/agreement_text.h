// SPDX-License-Identifier: Apache-2.0
// How often walkers that were shown the same answered the same: for a cell of a stress run, and for
// a fuzz run. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_
#define WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_

#include <string>
#include <vector>

#include "harness/store/stress_rows.h"

namespace walkhammer {

// Of each pair of walkers, by where pc was; of a fuzz run by how real the requests were, too.
// `indent` stands before each line. Empty if there are no rows.
std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_
