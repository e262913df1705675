// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/run_notes.h"

#include <fmt/format.h>

#include "harness/supervise/confirmer.h"

namespace walkhammer {

std::vector<NoteRow> NotesOf(const WorkerFacts& facts) {
  std::vector<NoteRow> notes;
  const auto note = [&](NoteKind kind, const char* name, uint64_t count, std::string detail) {
    notes.push_back({kNoCell, kind, name, count, std::move(detail)});
  };
  if (facts.killed > 0)
    note(
        NoteKind::kIncident, "killed from outside", facts.killed,
        facts.oom_kills > 0
            ? fmt::format("the memory was full: the kernel's OOM killer ended {} processes of this "
                          "control group meanwhile",
                          facts.oom_kills)
            : "somebody ended a child by SIGKILL; what it walked is not to blame");
  if (facts.failed_starts > 0)
    note(NoteKind::kIncident, "child not started", facts.failed_starts, facts.why_not_started);
  if (facts.unwalked > 0) notes.push_back(UnwalkedNote(facts.unwalked, facts.why_unwalked));
  if (facts.wants_aslr_off && facts.aslr_off.has_value())
    note(*facts.aslr_off ? NoteKind::kInForce : NoteKind::kNotInForce, "fixed addresses", 0,
         *facts.aslr_off ? ""
                         : "address randomisation cannot be switched off here, so another run with "
                           "this seed meets other addresses");
  return notes;
}

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
