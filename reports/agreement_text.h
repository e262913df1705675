// SPDX-License-Identifier: Apache-2.0
// Tables of text for a cell of a stress run and for a fuzz run: how often walkers gave the same
// answer, and whom witnesses contradict. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_
#define WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_

#include <string>
#include <vector>

#include "harness/store/stress_rows.h"

namespace walkhammer {

// A table for each pair of walkers, by where the pc was; in a fuzz run, a table for each realism of
// the requests, too. Each line begins with `indent`. Empty if there are no rows.
std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent);

// A table for each pair of walkers and witness, by how the answers differ. Each line begins with
// `indent`. Empty if there are no rows.
std::string EvidenceText(const std::vector<EvidenceRow>& rows, const std::string& indent);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_AGREEMENT_TEXT_H_
