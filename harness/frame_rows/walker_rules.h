// SPDX-License-Identifier: Apache-2.0
// WalkerRules: what a walker makes of a thread that is interrupted at an instruction of generated
// code in Java, by the walker's own rules and by where the instruction's row says that the frame
// is. Only the newest frame's caller counts. x86_64. Pure. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_FRAME_ROWS_WALKER_RULES_H_
#define WALKHAMMER_HARNESS_FRAME_ROWS_WALKER_RULES_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "harness/frame_rows/frame_rows.h"

namespace walkhammer {

// A piece of generated code, as walkers know it.
struct RuledCode {
  enum class Kind : uint8_t {
    kNmethod,
    kRuntimeStub,  // a stub with a frame of a fixed size, which may be complete or not
    kStub,         // any other; without frame_words nothing is known of its frame
    kVtableStub,   // also of itables
    kAdapter,
    kInterpreter
  };
  Kind kind = Kind::kStub;
  std::string_view name;
  std::span<const uint8_t> bytes;  // from the code's begin
  int frame_words = 0;             // of its CodeBlob, with the return address; 0: none
  int32_t complete = -1;      // offset from which its CodeBlob calls the frame complete; -1: never
  uint32_t entry = 0;         // offset of an nmethod's verified entry
  uint32_t entry_return = 0;  // offset to which Java that C has called returns; 0: none
  int feature = 0;            // of the JDK; 0: not known
};

// The kind of code that HotSpot names so; `kind` as for FrameCodeOf.
RuledCode::Kind RuledKindOf(std::string_view kind, std::string_view name, int frame_words);

enum class Predicted : uint8_t {
  kRight,
  kWrong,     // reads a word that is not the return address: wrong callers, or no answer
  kNoAnswer,  // fails, or says that the walk ended early
  kDepends    // on data
};
const char* PredictedName(Predicted predicted);  // "right", "wrong", "no-answer", "depends"

struct Prediction {
  Predicted predicted;
  const char* rule;  // the walker's rule, and why it errs there; static
  bool operator==(const Prediction&) const = default;
};

struct WalkerRules {
  const char* walker;  // as in --walker
  bool is_puzzle;      // shown only if the run has that walker
  Prediction (*predict)(const RuledCode& code, const FrameRow& row);

  static std::span<const WalkerRules> All();
  // Null: nothing is predicted of that walker.
  static const WalkerRules* Of(std::string_view walker);
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FRAME_ROWS_WALKER_RULES_H_
