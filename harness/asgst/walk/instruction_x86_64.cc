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
    Follows what = X;
    switch (to_.map) {
      case 0:
        what = kOneByte[to_.opcode];
        break;
      case 1:
        what = kBehind0f[to_.opcode];
        if (what == P) return false;
        break;
      case 3:
        what = C;
        break;
      default:
        what = M;  // 0f 38, and EVEX's half-precision maps
    }
    if (!Operands(what)) return false;
    to_.length = at_;
    return at_ <= size_;
  }

 private:
  bool Byte(uint8_t& byte) {
    if (at_ >= size_) return false;
    byte = code_[at_++];
    return true;
  }

  bool Number(int bytes, int64_t& number) {
    if (at_ + bytes > size_) return false;
    uint64_t all = 0;
    std::memcpy(&all, code_ + at_, static_cast<size_t>(bytes));
    const int unused = 64 - 8 * bytes;
    number = static_cast<int64_t>(all << unused) >> unused;
    at_ += bytes;
    return true;
  }

  bool Prefixes() {
    uint8_t byte = 0;
    while (Byte(byte)) {
      if (byte == 0x66) {
        short_ = true;
      } else if (byte == 0x64 || byte == 0x65) {
        to_.by_thread = true;
      } else if (byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x67 || byte == 0x2e ||
                 byte == 0x36 || byte == 0x3e || byte == 0x26) {
        if (byte == 0x67) to_.by_thread = true;  // a 32-bit address is not computed
      } else {
        return Opcode(byte);
      }
    }
    return false;
  }

  bool Opcode(uint8_t byte) {
    if ((byte & 0xf0) == 0x40) {
      rex_ = byte;
      if (!Byte(byte)) return false;
    } else if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) {
      return VectorPrefix(byte);
    }
    to_.wide = (rex_ & kRexW) != 0;
    to_.half = short_ && !to_.wide;
    if (byte == 0x0f) {
      to_.map = 1;
      if (!Byte(byte)) return false;
      if (byte == 0x38 || byte == 0x3a) {
        to_.map = byte == 0x38 ? 2 : 3;
        if (!Byte(byte)) return false;
      }
    }
    to_.opcode = byte;
    to_.low = (byte & 7) | ((rex_ & kRexB) != 0 ? 8 : 0);
    return true;
  }

  // In VEX and EVEX prefixes the upper bits of register numbers are inverted.
  bool VectorPrefix(uint8_t first) {
    uint8_t a = 0, b = 0, c = 0;
    to_.vex = true;
    to_.map = 1;
    if (!Byte(a)) return false;
    rex_ = (a & 0x80) == 0 ? kRexR : 0;
    if (first != 0xc5) {
      if ((a & 0x40) == 0) rex_ |= kRexX;
      if ((a & 0x20) == 0) rex_ |= kRexB;
      to_.map = a & (first == 0x62 ? 7 : 0x1f);
      if (!Byte(b)) return false;
      to_.wide = (b & 0x80) != 0;
      if (first == 0x62 && !Byte(c)) return false;
    }
    return to_.map != 0 && Byte(to_.opcode);
  }

  bool Operands(Follows what) {
    using namespace follows;  // NOLINT(google-build-using-namespace)
    const int few = to_.half ? 2 : 4;
    switch (what) {
      case N:
        return true;
      case M:
        return ModRm() && ImmediateOfTest(few);
      case B:
        return Number(1, to_.immediate);
      case W:
        return Number(2, to_.immediate);
      case I:
        return Number(MovesImmediate() && to_.wide ? 8 : few, to_.immediate);
      case J:
        return Number(4, to_.immediate);
      case C:
        return ModRm() && Number(1, to_.immediate);
      case D:
        return ModRm() && Number(few, to_.immediate);
      default:
        return false;
    }
  }

  bool MovesImmediate() const { return to_.map == 0 && (to_.opcode & 0xf8) == 0xb8; }

  // test is the only instruction of opcodes f6 and f7 that has an immediate.
  bool ImmediateOfTest(int few) {
    if (to_.map != 0 || (to_.opcode | 1) != 0xf7 || (to_.reg & 6) != 0) return true;
    return Number(to_.opcode == 0xf6 ? 1 : few, to_.immediate);
  }

  bool ModRm() {
    uint8_t byte = 0;
    if (!Byte(byte)) return false;
    const int mod = byte >> 6, low = byte & 7;
    const int high_b = (rex_ & kRexB) != 0 ? 8 : 0;
    to_.reg = (byte >> 3 & 7) | ((rex_ & kRexR) != 0 ? 8 : 0);
    if (mod == 3) {
      to_.rm = low | high_b;
      return true;
    }
    to_.in_memory = true;
    bool far = mod == 2;
    if (low == 4) {
      if (!Sib(mod, far)) return false;
    } else if (low == 5 && mod == 0) {
      to_.by_pc = far = true;
    } else {
      to_.base = low | high_b;
    }
    if (far) return Number(4, to_.displacement);
    return mod == 0 || Number(1, to_.displacement);
  }

  bool Sib(int mod, bool& far) {
    uint8_t sib = 0;
    if (!Byte(sib)) return false;
    const int index = (sib >> 3 & 7) | ((rex_ & kRexX) != 0 ? 8 : 0);
    constexpr int kNoIndex = 4;
    if (index != kNoIndex) to_.index = index;
    to_.scale = 1 << (sib >> 6);
    if ((sib & 7) == 5 && mod == 0)
      far = true;
    else
      to_.base = (sib & 7) | ((rex_ & kRexB) != 0 ? 8 : 0);
    return true;
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
