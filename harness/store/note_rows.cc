// SPDX-License-Identifier: Apache-2.0
#include "harness/store/note_rows.h"

namespace walkhammer {

const char* NoteKindWord(NoteKind kind) {
  switch (kind) {
    case NoteKind::kInForce:
      return "in-force";
    case NoteKind::kNotInForce:
      return "not-in-force";
    case NoteKind::kDropped:
      return "dropped";
    case NoteKind::kIncident:
    case NoteKind::kCount:
      break;
  }
  return "incident";
}

NoteKind NoteKindFromWord(const std::string& word) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(NoteKind::kCount); i++)
    if (word == NoteKindWord(static_cast<NoteKind>(i))) return static_cast<NoteKind>(i);
  return NoteKind::kIncident;
}

}  // namespace walkhammer
