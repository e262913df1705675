// SPDX-License-Identifier: Apache-2.0
// MachineX86: registers and memory of simulated x86_64 code. Each value is known or marked unknown.
// Signal-safe: yes. Written values are kept in the object.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_MACHINE_X86_64_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_MACHINE_X86_64_H_

#include <cstdint>

#include "harness/asgst/walk/instruction_x86_64.h"
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {

class MachineX86 {
 protected:
  static constexpr int kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6,
                       kRdi = 7, kR11 = 11, kR13 = 13;

  struct Value {
    uint64_t bits = 0;
    bool known = false;
  };

  MachineX86(const MemoryReader& memory, const StubStart& start) : memory_(memory), pc_(start.pc) {
    for (int i = 0; i < 16; i++) r_[i] = {start.general[i], (start.known >> i & 1) != 0};
  }

  // --- operands --------------------------------------------------------------------------------

  Value Address() const {
    if (i_.by_thread) return {};
    Value at{static_cast<uint64_t>(i_.displacement), true};
    if (i_.by_pc) at.bits += pc_;
    if (i_.base >= 0) at = {at.bits + r_[i_.base].bits, r_[i_.base].known};
    if (i_.index >= 0)
      at = {at.bits + r_[i_.index].bits * static_cast<uint64_t>(i_.scale),
            at.known && r_[i_.index].known};
    return at;
  }

  // The word at `at`. Far from the stack only kMostFarLoads words are read: code that copies or
  // compares arrays loads many words that do not decide where it goes, and each word may need a
  // system call.
  Value Load(Value at) {
    constexpr uint64_t kNear = 64 << 10;  // bytes above rsp
    if (!at.known || (at.bits & 7) != 0) return {};
    for (int i = stores_ - 1; i >= 0; i--)
      if (stored_[i].at == at.bits) return stored_[i].value.known ? stored_[i].value : Value{};
    if (at.bits - r_[kRsp].bits >= kNear && far_loads_++ >= kMostFarLoads) return {};
    Value value;
    value.known = memory_.ReadWord(at.bits, value.bits);
    return value.known ? value : Value{};
  }

  // The `bytes` bytes at `at`, if they are in one word; otherwise unknown.
  Value LoadSome(Value at, int bytes) {
    const uint64_t in_word = at.bits & 7;
    if (in_word + static_cast<uint64_t>(bytes) > 8) return {};
    const Value word = Load({at.bits - in_word, at.known});
    return {word.bits >> 8 * in_word, word.known};
  }

  // Writes a word. A store to an unknown address is taken to be outside of the stack. False if
  // there is no room for another store.
  bool Store(Value at, Value value) {
    if (!at.known) return true;
    if ((at.bits & 7) != 0)  // both words become unknown
      return Store({at.bits & ~7ULL, true}, {}) && Store({(at.bits | 7) + 1, true}, {});
    if (stores_ == kMostStores) {
      r_[kRsp].known = false;  // the stack is no longer known
      return false;
    }
    stored_[stores_++] = {at.bits, value};
    return true;
  }

  Value Rm() { return i_.in_memory ? Load(Address()) : r_[i_.rm]; }

  void Forget(int number) {
    if (number >= 0) r_[number].known = false;
  }
  void ForgetRm() {
    if (i_.in_memory)
      Store(Address(), {});
    else
      Forget(i_.rm);
  }
  void ForgetAll(uint32_t which) {
    for (int i = 0; i < 16; i++)
      if ((which >> i & 1) != 0) Forget(i);
  }

  // --- the stack -------------------------------------------------------------------------------

  bool Push(Value value) {
    r_[kRsp].bits -= 8;
    return Store(r_[kRsp], value);
  }

  Value Pop() {
    const Value top = Load(r_[kRsp]);
    r_[kRsp].bits += 8;
    return top;
  }

  // Sets the zero flag that je and jne test, after cmp and test; other arithmetic makes it unknown.
  void Compare(Value a, Value b, bool tests) {
    zero_ = {tests ? (a.bits & b.bits) == 0 : a.bits == b.bits, a.known && b.known};
  }
  void CompareWithImmediate(bool tests) {
    if (i_.half) return;
    const int bytes = i_.opcode == 0x80 || i_.opcode == 0xf6 ? 1 : i_.wide ? 8 : 4;
    const uint64_t mask = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
    const Value rm = i_.in_memory ? LoadSome(Address(), bytes) : r_[i_.rm];
    if (!i_.in_memory && bytes == 1) return;  // may be ah to bh
    Compare({rm.bits & mask, rm.known}, {static_cast<uint64_t>(i_.immediate) & mask, true}, tests);
  }
  void CompareRegisters(bool tests) {
    if (i_.half) return;
    const uint64_t mask = i_.wide ? ~uint64_t{0} : 0xffffffff;
    const Value rm = i_.in_memory ? LoadSome(Address(), i_.wide ? 8 : 4) : r_[i_.rm];
    Compare({rm.bits & mask, rm.known}, {r_[i_.reg].bits & mask, r_[i_.reg].known}, tests);
  }

  void SetRegister(int number, Value value) {
    if (!i_.wide) value = {value.bits & 0xffffffff, value.known && !i_.half};
    r_[number] = value;
  }

  const MemoryReader& memory_;
  uint64_t pc_;  // of the next instruction
  InstructionX86 i_;
  Value r_[16];
  Value zero_;  // zero flag: 1 if the last cmp found equality, or test no common bit

 private:
  static constexpr int kMostStores = 96, kMostFarLoads = 24;
  int far_loads_ = 0;
  struct {
    uint64_t at;
    Value value;
  } stored_[kMostStores];
  int stores_ = 0;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_MACHINE_X86_64_H_
