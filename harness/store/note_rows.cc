// SPDX-License-Identifier: Apache-2.0
#include "harness/store/note_rows.h"

#include "harness/base/text.h"

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
  return FromWord(word, NoteKindWord, NoteKind::kIncident, NoteKind::kIncident);
}

}  // namespace walkhammer
