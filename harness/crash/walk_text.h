// SPDX-License-Identifier: Apache-2.0
// WalkText: builds a .walk text field by field, and keeps for each field how sure it is and why.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_WALK_TEXT_H_
#define WALKHAMMER_HARNESS_CRASH_WALK_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walkhammer {

enum class Confidence : uint8_t {
  kExact,   // as the report has it
  kLikely,  // follows from the report and from how HotSpot works
  kGuess    // one assumption of several
};

std::string_view ConfidenceWord(Confidence confidence);  // "exact", "likely", "guess"

struct FieldNote {
  std::string field;  // "pc", "state", "stack+0x8040"
  Confidence confidence;
  std::string why;  // "line 34: J 12 c2 a.B.run()V"
};

class WalkText {
 public:
  // A request for `scene`, walked by `walker`.
  WalkText(std::string_view walker, std::string_view scene);

  // Sets a field that is not an edit; the last value counts. `value`: in the form of .walk files.
  void Set(std::string_view field, std::string_view value);
  // Sets a word of the stack. `slot`: bytes above stack+0, a multiple of 8; the last value counts.
  void Word(int32_t slot, std::string_view value);
  void Note(std::string_view field, Confidence confidence, std::string_view why);

  // The text; `version`: of the format, the oldest that has all fields and values.
  std::string Text() const;
  const std::vector<FieldNote>& notes() const { return notes_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  std::vector<std::pair<int32_t, std::string>> words_;  // in the order of their first setting
  std::vector<FieldNote> notes_;
};

// The symbolic value KIND "NAME"+OFFSET; `name` is cleaned as .walk files want it.
std::string NamedValue(std::string_view kind, std::string_view name, uint64_t offset = 0);
std::string StackValue(int32_t slot);  // "stack+0x8000"

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_WALK_TEXT_H_
