// SPDX-License-Identifier: Apache-2.0
// FrameRows: for each instruction of a piece of generated code, where the return address of the
// frame is when the instruction is about to run. From the instructions alone: effects on the stack
// are followed from the code's entries over branches, until nothing changes. Where paths disagree,
// the row is unknown and says why. Pure. Signal-safe: RowAt yes; the rest no.
#ifndef WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_ROWS_H_
#define WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_ROWS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/frame_rows/frame_instruction.h"

namespace walkhammer {

enum class FramePlace : uint8_t {
  kUnknown,
  kInMemory,       // in the word at register + distance
  kInRegister,     // in the register
  kThroughMemory,  // in the word at the word at register + distance, + beyond
  kInThread        // in a field of the thread, where the handler of a fault has put it
};

enum class WhyUnknown : uint8_t {
  kKnown,
  kPathsDisagree,  // at another place on each of the paths that lead here
  kLost,           // the code loses it, or moves the stack by an amount that is not known
  kNotReached,     // no entry leads here
  kBehindIndirect  // as kNotReached, and some jump of the code leads nobody knows where
};

// The caller's stack pointer: what it was before the caller pushed a return address.
struct FrameSender {
  FramePlace place = FramePlace::kUnknown;
  FrameRegister reg = kNoFrameRegister;
  int32_t distance = 0;  // kInRegister: the register + distance
  int32_t beyond = 0;    // kInMemory: the word at the register + distance, + beyond
  bool operator==(const FrameSender&) const = default;
};

struct FrameRow {
  uint32_t offset = 0;      // of the instruction, from the code's begin
  int32_t distance = 0;     // kInMemory, kThroughMemory
  int32_t beyond = 0;       // kThroughMemory
  int32_t fp_distance = 0;  // fp_place kInMemory
  uint8_t size = 0;         // bytes of the instruction
  FramePlace place = FramePlace::kUnknown;
  FrameRegister reg = kNoFrameRegister;
  WhyUnknown why = WhyUnknown::kKnown;
  FrameSender sender = {};
  // The caller's frame pointer. kInRegister: it is still in the frame pointer.
  FramePlace fp_place = FramePlace::kUnknown;
  FrameRegister fp_reg = kNoFrameRegister;
  // Bytes from the frame pointer up to the return address, if known.
  std::optional<int32_t> from_fp = std::nullopt;
  bool had_frame = false;  // something was pushed, on some path that leads here
  bool calls = false;      // the instruction is a call
  bool replaced = false;   // the return address may be another than the caller has pushed
  bool operator==(const FrameRow&) const = default;
};

// What is where when code is entered.
enum class FrameEntry : uint8_t {
  kNone,
  kCalled,       // the return address is on top of the stack
  kCalledBelow,  // so, with the caller's stack pointer in FrameRules::sender: arguments or locals
                 // may lie between
  kFramed,       // the code's frame of `frame_words` is complete
  kInterpreted,  // fp is that of an interpreted frame
  kFramedByFp,   // so, and fp is that of the frame, [fp + 8] the return address
  kThrown,       // the return address is in FrameRules::thrower, and the frame of its code above sp
  kPolled,       // so, but in a field of the thread
  kReturned      // by a return: there is no return address
};

struct FrameCode {
  struct Entry {
    uint32_t offset;
    FrameEntry how;
  };
  uint64_t begin = 0;
  std::span<const uint8_t> bytes;
  int frame_words = 0;    // of kFramed and kFramedByFp, with the return address; 0: not known
  uint32_t complete = 0;  // offset from which that frame is complete; 0: not known
  std::vector<Entry> entries;
  // Where instructions are known to begin, ascending: code lies between data, as where C1 has put a
  // jump over a longer instruction.
  std::vector<uint32_t> starts;
  // How code is entered that no entry leads to: exception handlers of a method, for instance. With
  // kFramed, what is before `complete` is entered as kCalled: a jump was put over what led there.
  FrameEntry elsewhere = FrameEntry::kNone;
  // A register that the code stores over its return address holds another one, as the stubs of
  // exceptions put that of a handler there.
  bool replaces_return = false;
  // The first move of the stack pointer by an unknown amount removes the frame of the caller. From
  // then on, a word pushed from memory is the return address of a frame that is laid out anew.
  bool replaces_frames = false;
  std::vector<uint64_t> no_return;  // addresses of code that does not return to its caller; sorted
};

// True if what HotSpot names so never returns to its caller.
bool NeverReturns(std::string_view name);
// True if what HotSpot names so is a buffer whose code changes all the time, or is never executed.
bool IsScratch(std::string_view name);

// The entries of code by its name, as HotSpot gives it: `kind` nmethod, stub, adapter or codelet.
FrameCode FrameCodeOf(std::string_view kind, std::string_view name, uint64_t begin,
                      std::span<const uint8_t> bytes, int frame_words);

// A row for each instruction, by offset. Data between the code has rows, too, or none.
std::vector<FrameRow> FrameRowsOf(const FrameDecoder& decoder, const FrameCode& code);

// The row of the instruction at `offset`; null: none begins there.
const FrameRow* RowAt(std::span<const FrameRow> rows, uint32_t offset);

// "sp+8", "in rdx", "in the thread", "unknown: paths disagree".
std::string PlaceText(const FrameRow& row);
// The caller's stack pointer: "sp+16", "r13+0", "[fp-8]+0", "unknown".
std::string SenderText(const FrameSender& sender);
// As PlaceText, with fewer values: "sp+0", "sp+0, frame popped", "sp+8", "sp+n", "fp+n",
// "in a register", "by a register", "by a saved address".
std::string PlaceGroup(const FrameRow& row);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_ROWS_H_
