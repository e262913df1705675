// SPDX-License-Identifier: Apache-2.0
// What the walk lines of a campaign had to leave out, as notes. Pure. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_LINE_NOTES_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_LINE_NOTES_H_

#include <vector>

#include "harness/shared/shared_state.h"
#include "harness/store/note_rows.h"

namespace walkhammer {

// `sum`: of all workers, see SumStates. Empty if nothing was left out.
std::vector<NoteRow> LineNotes(const SharedState& sum);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_LINE_NOTES_H_
