// SPDX-License-Identifier: Apache-2.0
// NoteRow: what a run says of itself beside its findings: which protections and oracles were in
// force, what was dropped for want of room, and which accidents from outside were survived. A
// verdict is worth no more than its notes. See docs/run-folder.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_NOTE_ROWS_H_
#define WALKHAMMER_HARNESS_STORE_NOTE_ROWS_H_

#include <cstdint>
#include <string>

#include "harness/store/stress_rows.h"

namespace walkhammer {

enum class NoteKind : uint8_t {
  kInForce,     // a protection, a control or an oracle worked
  kNotInForce,  // it did not: whatever it would have found is not in this run
  kDropped,     // something was lost for want of room or time; `count` says how much
  kIncident,    // something from outside that is nobody's finding; `count` says how often
  kCount
};
const char* NoteKindWord(NoteKind kind);             // "in-force", "not-in-force", ...
NoteKind NoteKindFromWord(const std::string& word);  // kIncident for unknown words

// One note. `name` is unique within a cell and kind.
struct NoteRow {
  int64_t cell = kNoCell;  // CellRow::position; kNoCell: of the run as a whole
  NoteKind kind = NoteKind::kIncident;
  std::string name;    // what: "interposition", "findings", "killed from outside"
  uint64_t count = 0;  // of kDropped and kIncident; else 0
  std::string detail;  // one sentence, or empty

  bool operator==(const NoteRow&) const = default;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_NOTE_ROWS_H_
