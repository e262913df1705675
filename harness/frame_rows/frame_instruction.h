// SPDX-License-Identifier: Apache-2.0
// FrameDecoder: decodes an instruction with Capstone, and reduces it to what it does to the stack
// pointer, the frame pointer, copies of the return address, and control flow. An architecture is
// one row in frame_decoder.cc. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_INSTRUCTION_H_
#define WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_INSTRUCTION_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/result.h"

namespace walkhammer {

// A general register, by its number in the encoding of instructions: x86_64 has rax 0, rcx 1, rdx
// 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 to r15.
using FrameRegister = uint8_t;
inline constexpr int kFrameRegisters = 16;
inline constexpr FrameRegister kNoFrameRegister = 0xff;

// One effect of an instruction. An instruction's effects happen in order.
struct FrameEffect {
  enum class Kind : uint8_t {
    kSet,    // to = from + offset
    kLoad,   // to = the word at from + offset
    kStore,  // the word at to + offset = from; kNoFrameRegister: = some word of memory
    kSpoil,  // `bytes` at to + offset become unknown
    kLose,   // to becomes unknown
    kAlign,  // the stack pointer is rounded down to a multiple of `offset`, a power of 2
    kSwap    // to and from change places
  };
  Kind kind;
  FrameRegister to = kNoFrameRegister, from = kNoFrameRegister;
  uint16_t bytes = 8;
  int32_t offset = 0;
};

struct FrameInstruction {
  enum class Flow : uint8_t {
    kNext,
    kJump,    // always taken
    kBranch,  // taken or not
    kCall,    // returns to the next instruction, with the stack pointer as before
    kReturn,
    kStop  // does not go on
  };
  static constexpr int kMostEffects = 8;

  uint64_t address = 0;
  uint8_t size = 0;
  Flow flow = Flow::kNext;
  bool padding = false;  // a nop, or a trap or zeros between pieces of code
  uint8_t count = 0;
  uint64_t target = 0;  // of a direct jump, branch or call; 0: indirect, or none
  FrameEffect effects[kMostEffects];

  uint64_t end() const { return address + size; }
  void Add(const FrameEffect& effect) {
    if (count < kMostEffects) effects[count++] = effect;
  }
};

// How an architecture, and HotSpot on it, uses its registers.
struct FrameRules {
  FrameRegister sp, fp;
  FrameRegister thrower;   // entry of the exception stub: its return address
  FrameRegister thread;    // JavaThread*
  FrameRegister sender;    // entry of an interpreted method, and of the adapter that leaves one
  int32_t sender_slot;     // bytes from an interpreted frame's fp to the word of its caller's sp
  uint64_t lost_in_calls;  // bit i: C code that is called may change register i
  bool (*is_called)(std::span<const uint8_t> code);  // `code` begins as a method or its call stub
  bool (*is_thrown)(std::span<const uint8_t> code);  // so, as an entry of FrameEntry::kThrown
  // The method's entry at the start of `code` was overwritten by a jump elsewhere (not entrant).
  // Returns the offset of the first instruction behind it that is whole, else 0. `has_frame`: the
  // overwritten part has made the frame.
  size_t (*behind_patch)(std::span<const uint8_t> code, bool& has_frame);
};

class FrameDecoder {
 public:
  // Fails with kUnable if the ELF e_machine is not x86_64, or Capstone lacks it.
  static Result<FrameDecoder> For(uint16_t machine);
  ~FrameDecoder();
  FrameDecoder(FrameDecoder&& other) noexcept;
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  FrameDecoder& operator=(FrameDecoder&&) = delete;

  // Decodes the first instruction of `code`, which is at `address`; false: there is none.
  bool Decode(std::span<const uint8_t> code, uint64_t address, FrameInstruction& out) const;
  const FrameRules& rules() const;

 private:
  struct Architecture;
  FrameDecoder() = default;
  const Architecture* architecture_ = nullptr;
  size_t handle_ = 0;            // csh
  void* instruction_ = nullptr;  // cs_insn*
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_INSTRUCTION_H_
