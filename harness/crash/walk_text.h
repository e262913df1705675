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

// The symbolic value KIND "NAME"+OFFSET; `name` is cleaned as .walk files need it.
std::string NamedValue(std::string_view kind, std::string_view name, uint64_t offset = 0);
std::string StackValue(int32_t slot);  // "stack+0x8000"

// What follows writes frames as HotSpot lays them out onto the empty stack of the scene `sampled`:
// what a crash report does not show of a stack has to be invented.

// The youngest frame begins here: where a snapshot puts a sample's sp.
inline constexpr int32_t kForgedSp = 0x8000;

// An interpreted frame. Offsets: frame_x86.hpp and frame_aarch64.hpp, interpreter_frame_*_offset,
// JDK 8 to 28.
struct InterpretedFrame {
  int32_t fp = 0;      // slot to which fp points
  int32_t caller = 0;  // slot to which the caller's fp points
  std::string method, bcp;
  std::string link, sender_sp;  // empty: as a sound frame has them
  std::string return_pc;
  std::string cache = "metaspace+0x1000";
};

// Writes the frame. `feature`: of the JDK, 8 and later: JDK 8 keeps no mirror.
void WriteInterpreted(const InterpretedFrame& frame, int feature, WalkText& walk);
// Slot of the word with the frame's Method.
inline int32_t MethodSlot(int32_t fp) { return fp - 0x18; }
// Lowest slot that the frame uses: its sp may be here.
inline int32_t LowestSlot(int32_t fp) { return fp - 0x60; }

// A codelet that is the return address of a call from interpreted code in each JDK. Its exact
// return point differs by build.
std::string CallCodelet();
// A method that each JVM of walkhammer has, and its bytecodes.
std::string KnownMethod(int64_t addend = 0);
std::string KnownBytecodes();
std::string KnownCode(uint64_t offset);  // compiled by C2

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_WALK_TEXT_H_
