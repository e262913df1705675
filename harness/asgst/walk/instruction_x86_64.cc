// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/instruction_x86_64.h"

#include <cstring>

namespace walkhammer::asgst {
namespace {

namespace follows {

// What follows an opcode.
enum Follows : uint8_t {
  N,  // nothing
  M,  // ModRM
  B,  // an immediate byte
  W,  // a word of 16 bits
  I,  // 32 bits, or 16 with prefix 66
  J,  // 32 bits, whatever the prefix
  C,  // ModRM and a byte
  D,  // ModRM and 32 bits, or 16 with prefix 66
  X,  // no instruction of 64-bit mode
  P,  // a prefix
};

constexpr Follows kOneByte[256] = {
    // 0 1 2 3 4 5 6 7 8 9 a b c d e f
    M, M, M, M, B, I, X, X, M, M, M, M, B, I, X, P,  // 00
    M, M, M, M, B, I, X, X, M, M, M, M, B, I, X, X,  // 10
    M, M, M, M, B, I, P, X, M, M, M, M, B, I, P, X,  // 20
    M, M, M, M, B, I, P, X, M, M, M, M, B, I, P, X,  // 30
    P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P,  // 40
    N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,  // 50
    X, X, P, M, P, P, P, P, I, D, B, C, N, N, N, N,  // 60
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,  // 70
    C, D, X, C, M, M, M, M, M, M, M, M, M, M, M, M,  // 80
    N, N, N, N, N, N, N, N, N, N, X, N, N, N, N, N,  // 90
    X, X, X, X, N, N, N, N, B, I, N, N, N, N, N, N,  // a0: compilers emit no moffs
    B, B, B, B, B, B, B, B, I, I, I, I, I, I, I, I,  // b0
    C, C, W, N, P, P, C, D, X, N, W, N, N, B, X, N,  // c0
    M, M, M, M, X, X, X, N, M, M, M, M, M, M, M, M,  // d0
    B, B, B, B, B, B, B, B, J, J, X, B, N, N, N, N,  // e0
    P, X, P, P, N, N, M, M, N, N, N, N, N, N, M, M,  // f0
};

constexpr Follows kBehind0f[256] = {
    M, M, M, M, X, N, N, N, N, N, X, N, X, M, N, X,  // 00
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // 10
    M, M, M, M, X, X, X, X, M, M, M, M, M, M, M, M,  // 20
    N, N, N, N, N, N, X, N, P, X, P, X, X, X, X, X,  // 30
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // 40
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // 50
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // 60
    C, C, C, C, M, M, M, N, M, M, X, X, M, M, M, M,  // 70
    J, J, J, J, J, J, J, J, J, J, J, J, J, J, J, J,  // 80
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // 90
    N, N, N, M, C, M, X, X, N, N, N, M, C, M, M, M,  // a0
    M, M, M, M, M, M, M, M, M, M, C, M, M, M, M, M,  // b0
    M, M, C, M, C, C, C, M, N, N, N, N, N, N, N, N,  // c0
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // d0
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // e0
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // f0
};

}  // namespace follows

using follows::Follows;

constexpr uint8_t kRexW = 8, kRexR = 4, kRexX = 2, kRexB = 1;

class Decoder {
 public:
  Decoder(const uint8_t* code, int size, InstructionX86& to)
      : code_(code),
        size_(size < InstructionX86::kMostBytes ? size : InstructionX86::kMostBytes),
        to_(to) {}

  bool Decode() {
    using namespace follows;  // NOLINT(google-build-using-namespace)
    to_ = {};
    if (!Prefixes()) return false;
    Follows what = M;  // 0f 38, and EVEX's half-precision maps
    if (to_.map == 0) what = kOneByte[to_.opcode];
    if (to_.map == 1) what = kBehind0f[to_.opcode];
    if (to_.map == 3) what = C;
    if (!Operands(what)) return false;
    to_.length = at_;
    return at_ <= size_;
  }

 private:
  // Byte, Number: 0 beyond the end.
  uint8_t Byte() {
    const int at = at_++;
    return at < size_ ? code_[at] : 0;
  }

  int64_t Number(int bytes) {
    uint64_t all = 0;
    at_ += bytes;
    if (at_ <= size_) std::memcpy(&all, code_ + at_ - bytes, static_cast<size_t>(bytes));
    const int unused = 64 - 8 * bytes;
    return static_cast<int64_t>(all << unused) >> unused;
  }

  bool Prefixes() {
    for (;;) {
      const uint8_t byte = Byte();
      if (byte == 0x66)
        short_ = true;
      else if (byte == 0x64 || byte == 0x65 || byte == 0x67)  // 67: a 32-bit address
        to_.by_thread = true;
      else if (byte != 0xf0 && byte != 0xf2 && byte != 0xf3 && byte != 0x2e && byte != 0x36 &&
               byte != 0x3e && byte != 0x26)
        return Opcode(byte);
    }
  }

  bool Opcode(uint8_t byte) {
    if ((byte & 0xf0) == 0x40) {
      rex_ = byte;
      byte = Byte();
    } else if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) {
      return VectorPrefix(byte);
    }
    to_.wide = (rex_ & kRexW) != 0;
    to_.half = short_ && !to_.wide;
    if (byte == 0x0f) {
      to_.map = 1;
      byte = Byte();
      if (byte == 0x38 || byte == 0x3a) {
        to_.map = byte == 0x38 ? 2 : 3;
        byte = Byte();
      }
    }
    to_.opcode = byte;
    to_.low = (byte & 7) | ((rex_ & kRexB) != 0 ? 8 : 0);
    return true;
  }

  // In VEX and EVEX prefixes the upper bits of register numbers are inverted.
  bool VectorPrefix(uint8_t first) {
    const uint8_t a = Byte();
    to_.vex = true;
    to_.map = 1;
    rex_ = (a & 0x80) == 0 ? kRexR : 0;
    if (first != 0xc5) {
      if ((a & 0x40) == 0) rex_ |= kRexX;
      if ((a & 0x20) == 0) rex_ |= kRexB;
      to_.map = a & (first == 0x62 ? 7 : 0x1f);
      to_.wide = (Byte() & 0x80) != 0;
      if (first == 0x62) Byte();
    }
    to_.opcode = Byte();
    return to_.map != 0;
  }

  bool Operands(Follows what) {
    using namespace follows;  // NOLINT(google-build-using-namespace)
    const int few = to_.half ? 2 : 4;
    int bytes = 0;  // of the immediate
    switch (what) {
      case N:
        break;
      case M:
        ModRm();
        // test is the only instruction of opcodes f6 and f7 that has an immediate.
        if (to_.map == 0 && (to_.opcode | 1) == 0xf7 && (to_.reg & 6) == 0)
          bytes = to_.opcode == 0xf6 ? 1 : few;
        break;
      case B:
        bytes = 1;
        break;
      case W:
        bytes = 2;
        break;
      case I:
        bytes = MovesImmediate() && to_.wide ? 8 : few;
        break;
      case J:
        bytes = 4;
        break;
      case C:
      case D:
        ModRm();
        bytes = what == C ? 1 : few;
        break;
      default:
        return false;
    }
    if (bytes > 0) to_.immediate = Number(bytes);
    return true;
  }

  bool MovesImmediate() const { return to_.map == 0 && (to_.opcode & 0xf8) == 0xb8; }

  void ModRm() {
    const uint8_t byte = Byte();
    const int mod = byte >> 6, low = byte & 7;
    const int high_b = (rex_ & kRexB) != 0 ? 8 : 0;
    to_.reg = (byte >> 3 & 7) | ((rex_ & kRexR) != 0 ? 8 : 0);
    if (mod == 3) {
      to_.rm = low | high_b;
      return;
    }
    to_.in_memory = true;
    const uint8_t sib = low == 4 ? Byte() : 0;
    const int base = low == 4 ? sib & 7 : low;
    const bool is_far = mod == 2 || (base == 5 && mod == 0);
    if (low == 4) {
      constexpr int kNoIndex = 4;
      const int index = (sib >> 3 & 7) | ((rex_ & kRexX) != 0 ? 8 : 0);
      if (index != kNoIndex) to_.index = index;
      to_.scale = 1 << (sib >> 6);
    }
    if (base != 5 || mod != 0)
      to_.base = base | high_b;
    else
      to_.by_pc = low == 5;
    if (is_far)
      to_.displacement = Number(4);
    else if (mod == 1)
      to_.displacement = Number(1);
  }

  const uint8_t* code_;
  const int size_;
  InstructionX86& to_;
  int at_ = 0;
  uint8_t rex_ = 0;
  bool short_ = false;  // prefix 66: 16 bits
};

}  // namespace

bool DecodeX86(const uint8_t* code, int size, InstructionX86& instruction) {
  return Decoder(code, size, instruction).Decode();
}

}  // namespace walkhammer::asgst
