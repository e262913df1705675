// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/line_notes.h"

#include <fmt/format.h>

namespace walkhammer {

std::vector<NoteRow> LineNotes(const SharedState& sum) {
  std::vector<NoteRow> notes;
  if (const uint64_t dropped = sum.dropped_findings.load(); dropped > 0)
    notes.push_back(
        {kNoCell, NoteKind::kDropped, "findings", dropped,
         "a child had no room for them, the parent took them too slowly, or a dying child "
         "overwrote the list of them, which has up to 64"});
  if (const uint64_t unknown = sum.unknown_methods.load(); unknown > 0)
    notes.push_back({kNoCell, NoteKind::kNotInForce, "oracle method-id", 0,
                     fmt::format("{} methods found no room in the table of methods, so a method id "
                                 "that it does not hold proves nothing",
                                 unknown)});
  return notes;
}

}  // namespace walkhammer
