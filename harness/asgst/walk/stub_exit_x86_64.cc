// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/stub_exit_x86_64.h"

#include <algorithm>
#include <utility>

#include "harness/asgst/walk/machine_x86_64.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMostSteps = 1500;  // instructions on all paths together
constexpr int kMostOnOneWay = 600;
constexpr int kMostWays = 4;  // paths that take a branch, each another one

// Registers that a callee may change by the System V ABI: rax, rcx, rdx, rsi, rdi, r8 to r11.
constexpr uint32_t kCallerSaved = 0x0fc7;
constexpr uint8_t kNotZero = 5;  // condition code of jne; je has one less

namespace effects {

// Effect of an instruction with a one-byte opcode.
enum Effect : uint8_t {
  K,  // changes no general register
  R,  // the register operand becomes unknown
  M,  // the r/m operand becomes unknown
  A,  // rax becomes unknown
  D,  // rdx becomes unknown
  L,  // the register in the opcode becomes unknown
  T,  // string instruction: rax, rcx, rsi, rdi become unknown
  I,  // the register in the opcode gets the immediate
  E,  // xchg with rax
  G,  // arithmetic of two operands
  P,  // push
  O,  // pop
  B,  // conditional branch
  S,  // an effect of its own: Single()
  X,  // not in stubs, or at their end: int3, hlt
};

constexpr Effect kOneByte[256] = {
    // 0 1 2 3 4 5 6 7 8 9 a b c d e f
    G, G, G, G, G, G, X, X, G, G, G, G, G, G, X, X,  // 00
    G, G, G, G, G, G, X, X, G, G, G, G, G, G, X, X,  // 10
    G, G, G, G, G, G, X, X, G, G, G, G, G, G, X, X,  // 20
    G, G, G, G, G, G, X, X, G, G, G, G, G, G, X, X,  // 30
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,  // 40
    P, P, P, P, P, P, P, P, O, O, O, O, O, O, O, O,  // 50
    X, X, X, R, X, X, X, X, S, R, S, R, X, X, X, X,  // 60
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,  // 70
    S, S, X, S, K, S, S, S, M, S, R, S, X, S, X, S,  // 80
    E, E, E, E, E, E, E, E, A, D, X, K, S, S, K, A,  // 90
    X, X, X, X, T, T, T, T, K, K, T, T, T, T, T, T,  // a0
    L, L, L, L, L, L, L, L, I, I, I, I, I, I, I, I,  // b0
    M, S, S, S, X, X, M, S, X, S, X, X, X, X, X, X,  // c0
    M, M, M, M, X, X, X, X, K, K, K, K, K, K, K, K,  // d0
    B, B, B, B, X, X, X, X, S, S, X, S, X, X, X, X,  // e0
    X, X, X, X, X, K, S, S, K, K, K, K, K, K, M, S,  // f0
};

}  // namespace effects

enum class Went { kOn, kOut, kNowhere };

// One path through the code.
class Run : private MachineX86 {
 public:
  Run(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
      const StubStart& start, int taken)
      : MachineX86(memory, start), code_(code), found_(found), taken_(taken) {
    exit_.called = start.called;
    to_call_ = start.to_call;
  }

  // Simulates up to the exit. `steps`: number of steps left on all paths together.
  bool ToExit(int& steps, StubExit& exit) {
    for (int i = 0; i < kMostOnOneWay && steps > 0; i++, steps--) {
      switch (Step()) {
        case Went::kOn:
          break;
        case Went::kNowhere:
          if (taken_ < 0) exit.loses_sp = LosesSp();
          return false;
        case Went::kOut:
          exit_.loses_sp = exit.loses_sp;
          exit = exit_;
          exit.sp = r_[kRsp].bits;
          exit.fp = Known(kRbp);
          exit.top = Load(r_[kRsp]).bits;
          exit.sender_sp = Known(kR13);
          exit.exception_pc = Known(kRdx);
          if (to_call_)
            exit.return_pc =
                Load({exit.sp + 8 * static_cast<uint64_t>(found_.frame_words) - 8, true}).bits;
          return true;
      }
    }
    return false;
  }

  int branches() const { return branches_; }

 private:
  uint64_t Known(int number) const { return r_[number].known ? r_[number].bits : 0; }

  Went Step() {
    if (pc_ < found_.begin || pc_ >= found_.end || !Fetch()) return Went::kNowhere;
    const uint64_t at = pc_ - window_begin_;
    if (!DecodeX86(window_ + at, static_cast<int>(window_size_ - at), i_)) return Went::kNowhere;
    pc_ += static_cast<uint64_t>(i_.length);
    if (!KeepsFlags()) zero_ = {};
    const Went went = i_.map == 0 ? OneByte() : Longer();
    return r_[kRsp].known ? went : Went::kNowhere;  // without sp the path is useless
  }

  // Reads the instruction at pc_ and some of those after it into window_.
  bool Fetch() {
    constexpr uint64_t kMost = InstructionX86::kMostBytes;
    const uint64_t left = found_.end - pc_;
    if (pc_ >= window_begin_ && pc_ - window_begin_ + std::min(kMost, left) <= window_size_)
      return true;
    window_begin_ = pc_;
    for (const uint64_t wanted : {uint64_t{sizeof window_}, kMost}) {
      window_size_ = std::min(wanted, left);
      if (code_.ReadBytes(pc_, window_, static_cast<int>(window_size_))) return true;
    }
    window_size_ = 0;
    return false;
  }

  // True for mov, lea, push, pop and jumps.
  bool KeepsFlags() const {
    const uint8_t op = i_.opcode;
    if (i_.map != 0) return i_.map == 1 && (op & 0xf0) == 0x80;
    return (op & 0xf0) == 0x50 || (op & 0xf0) == 0x70 || (op >= 0x88 && op <= 0x8d) ||
           (op & 0xf8) == 0xb8 || op == 0xc7 || op == 0xe9 || op == 0xeb;
  }

  // True if mov rsp, reg has made sp unknown, after a call.
  bool LosesSp() const {
    return !r_[kRsp].known && exit_.called && i_.map == 0 && !i_.in_memory &&
           ((i_.opcode == 0x89 && i_.rm == kRsp) || (i_.opcode == 0x8b && i_.reg == kRsp));
  }

  static Went On(bool can) { return can ? Went::kOn : Went::kNowhere; }

  // --- where control goes ----------------------------------------------------------------------

  Went Out(Value to, bool through_memory) {
    exit_.pc = to.known ? to.bits : 0;
    exit_.through_memory = through_memory;
    return Went::kOut;
  }

  Went Jump() {
    const uint64_t to = pc_ + static_cast<uint64_t>(i_.immediate);
    if (to < found_.begin || to >= found_.end) return Out({to, true}, false);
    pc_ = to;
    return Went::kOn;
  }

  // A branch of known condition goes one way only.
  Went Branch() {
    const uint8_t condition = i_.opcode & 0x0f;
    if (zero_.known && (condition | 1) == kNotZero)
      return (condition == kNotZero) == (zero_.bits == 0) ? Jump() : Went::kOn;
    return branches_++ == taken_ ? Jump() : Went::kOn;
  }

  Went Return() {
    exit_.returns = true;
    const Went went = Out(Pop(), false);
    if (i_.opcode == 0xc2) r_[kRsp].bits += static_cast<uint64_t>(i_.immediate);
    return went;
  }

  Went Call() {
    exit_.called = true;
    if (to_call_) return Out({}, false);
    ForgetAll(kCallerSaved);
    return Went::kOn;
  }

  // --- instructions of one byte ----------------------------------------------------------------

  Went OneByte() {
    using namespace effects;  // NOLINT(google-build-using-namespace)
    switch (kOneByte[i_.opcode]) {
      case K:
        return Went::kOn;
      case R:
        return Forgets(i_.reg);
      case M:
        ForgetRm();
        return Went::kOn;
      case A:
        return Forgets(kRax);
      case D:
        return Forgets(kRdx);
      case L:
        Forget(i_.low);
        return Forgets(i_.low & 3);  // 8-bit registers: ah to bh are in rax to rbx
      case I:
        SetRegister(i_.low, {static_cast<uint64_t>(i_.immediate), true});
        return Went::kOn;
      case T:
        ForgetAll(1U << kRax | 1U << kRcx | 1U << kRsi | 1U << kRdi);
        return Went::kOn;
      case E:
        std::swap(r_[kRax], r_[i_.low]);
        return Went::kOn;
      case G:
        return Arithmetic(i_.opcode);
      case P:
        return On(Push(r_[i_.low]));
      case O:
        r_[i_.low] = Pop();
        return Went::kOn;
      case B:
        return Branch();
      case S:
        return Single(i_.opcode);
      default:
        return Went::kNowhere;
    }
  }

  Went Forgets(int number) {
    Forget(number);
    return Went::kOn;
  }

  Went Single(uint8_t op) {
    switch (op) {
      case 0x68:
      case 0x6a:
        return On(Push({static_cast<uint64_t>(i_.immediate), true}));
      case 0x80:
      case 0x81:
      case 0x83:
        return ByImmediate();
      case 0x85:
        CompareRegisters(true);
        return Went::kOn;
      case 0x86:
        Forget(i_.reg);
        Forget(i_.reg & 3);
        ForgetRm();
        return Went::kOn;
      case 0x87:
        return Exchange();
      case 0x89:
        return SetRm(r_[i_.reg]);
      case 0x8b:
        SetRegister(i_.reg, i_.in_memory && !i_.wide ? LoadSome(Address(), 4) : Rm());
        return Went::kOn;
      case 0x8d:
        SetRegister(i_.reg, Address());
        return Went::kOn;
      case 0x8f:
        Pop();
        ForgetRm();
        return Went::kOn;
      case 0x9c:
        return On(Push({}));
      case 0x9d:
        Pop();
        return Went::kOn;
      case 0xc1:
        return Shift();
      case 0xc2:
      case 0xc3:
        return Return();
      case 0xc7:
        return SetRm({static_cast<uint64_t>(i_.immediate), true});
      case 0xc9:
        return Leave();
      case 0xe8:
        return Call();
      case 0xe9:
      case 0xeb:
        return Jump();
      case 0xff:
        return Group5();
      default:
        return Group3();
    }
  }

  Went Leave() {
    r_[kRsp] = r_[kRbp];
    r_[kRbp] = Pop();
    return Went::kOn;
  }

  // test, not, neg, mul, div
  Went Group3() {
    if ((i_.reg & 6) == 0) {
      CompareWithImmediate(true);
      return Went::kOn;
    }
    if ((i_.reg & 4) != 0) ForgetAll(1U << kRax | 1U << kRdx);
    ForgetRm();
    return Went::kOn;
  }

  // Shift by an immediate: shl and shr decode compressed class pointers.
  Went Shift() {
    const int which = i_.reg & 7;
    if (i_.in_memory || !i_.wide || (which != 4 && which != 5)) {
      ForgetRm();
      return Went::kOn;
    }
    Value& rm = r_[i_.rm];
    rm.bits = which == 4 ? rm.bits << (i_.immediate & 63) : rm.bits >> (i_.immediate & 63);
    return Went::kOn;
  }

  Went SetRm(Value value) {
    if (i_.in_memory) return On(Store(Address(), i_.wide ? value : Value{}));
    SetRegister(i_.rm, value);
    return Went::kOn;
  }

  Went Exchange() {
    const Value rm = Rm(), reg = r_[i_.reg];
    const Went went = SetRm(reg);
    r_[i_.reg] = i_.wide ? rm : Value{};
    return went;
  }

  // inc, dec, call, jmp, push
  Went Group5() {
    switch (i_.reg & 7) {
      case 2:
        return Call();
      case 4:
        return Out(Rm(), i_.in_memory);
      case 6:
        return On(Push(Rm()));
      default:
        ForgetRm();
        return Went::kOn;
    }
  }

  // add, or, adc, sbb, and, sub, xor, cmp, in this order
  static Value Calculate(int which, Value a, Value b) {
    const bool known = a.known && b.known;
    switch (which) {
      case 0:
        return {a.bits + b.bits, known};
      case 4:
        return {a.bits & b.bits, known};
      case 5:
        return {a.bits - b.bits, known};
      case 6:
        return {a.bits ^ b.bits, known};
      default:
        return {};
    }
  }

  Went ByImmediate() {
    const int which = i_.reg & 7;
    if (which == 7) {
      CompareWithImmediate(false);
      return Went::kOn;
    }
    if (i_.in_memory || i_.opcode == 0x80) {
      ForgetRm();
      return Went::kOn;
    }
    SetRegister(i_.rm, Calculate(which, r_[i_.rm], {static_cast<uint64_t>(i_.immediate), true}));
    return Went::kOn;
  }

  Went Arithmetic(uint8_t op) {
    const int which = op >> 3, form = op & 7;
    if (which == 7) {
      if (form == 1 || form == 3) CompareRegisters(false);
      return Went::kOn;
    }
    if (form >= 4) return Forgets(kRax);
    if (i_.in_memory || (form & 1) == 0) {
      if (form < 2)
        ForgetRm();
      else
        Forget(i_.reg);
      return Went::kOn;
    }
    const int to = form == 1 ? i_.rm : i_.reg, from = form == 1 ? i_.reg : i_.rm;
    Value result = Calculate(which, r_[to], r_[from]);
    if (which == 6 && to == from) result = {0, true};
    SetRegister(to, result);
    return Went::kOn;
  }

  // --- longer opcodes --------------------------------------------------------------------------

  Went Longer() {
    constexpr uint32_t kStack = 1U << kRsp | 1U << kRbp;
    if (i_.map == 1) return Behind0f(i_.opcode);
    // crc32, movbe, adcx; with a VEX prefix, instructions whose result is named by another field
    if (i_.map == 2 && i_.opcode >= 0xf0) ForgetAll(i_.vex ? ~kStack : 1U << i_.reg);
    if (i_.map == 3 && (i_.opcode == 0x61 || i_.opcode == 0x63)) Forget(kRcx);  // pcmpestri
    if (i_.map == 3 && i_.opcode == 0xf0) Forget(i_.reg);                       // rorx
    if (i_.map == 3 && i_.opcode >= 0x14 && i_.opcode <= 0x17 && !i_.in_memory) Forget(i_.rm);
    return Went::kOn;
  }

  Went Behind0f(uint8_t op) {
    if (!i_.vex && (op & 0xf0) == 0x80) return Branch();
    if (i_.vex) return VectorBehind0f(op);
    if ((op & 0xf0) == 0x40) return Forgets(i_.reg);  // cmov
    if ((op & 0xf0) == 0x90) {                        // set
      ForgetRm();
      return Went::kOn;
    }
    if ((op & 0xf8) == 0xc8) return Forgets(i_.low);  // bswap
    switch (op) {
      case 0x0b:
        return Went::kNowhere;  // ud2
      case 0x01:
      case 0x31:
      case 0xa2:  // xgetbv, rdtsc, cpuid
        ForgetAll(1U << kRax | 1U << kRcx | 1U << kRdx | 1U << kRbx);
        return Went::kOn;
      case 0x05:
        ForgetAll(1U << kRax | 1U << kRcx | 1U << kR11);  // syscall
        return Went::kOn;
      case 0xa4:
      case 0xa5:
      case 0xac:
      case 0xad:
      case 0xab:
      case 0xb3:
      case 0xbb:
      case 0xba:  // shld, shrd, bts, btr, btc
        ForgetRm();
        return Went::kOn;
      case 0xb0:
      case 0xb1:
      case 0xc0:
      case 0xc1:
      case 0xc7:  // cmpxchg, xadd, cmpxchg16b
        ForgetAll(1U << kRax | 1U << kRdx);
        if (op != 0xc7) Forget(i_.reg);
        ForgetRm();
        return Went::kOn;
      case 0xaf:
      case 0xb6:
      case 0xb7:
      case 0xb8:
      case 0xbc:
      case 0xbd:
      case 0xbe:
      case 0xbf:  // imul, movzx, popcnt, tzcnt, lzcnt, movsx
        return Forgets(i_.reg);
      default:
        return VectorBehind0f(op);
    }
  }

  // Vector instructions that write a general register.
  Went VectorBehind0f(uint8_t op) {
    if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5) Forget(i_.reg);
    if (i_.vex && (op == 0x93 || op == 0x78 || op == 0x79)) Forget(i_.reg);  // kmov, vcvt
    // movq and movd; the F3 form of this opcode moves between vectors.
    if (op == 0x7e && !i_.in_memory &&
        (i_.vex ? i_.rm != kRbp && i_.rm != kRsp : i_.half || i_.wide))
      Forget(i_.rm);
    return Went::kOn;
  }

  const MemoryReader& code_;
  const FoundCode& found_;
  const int taken_;  // index of the branch that is taken, from 0; -1: none
  int branches_ = 0;
  bool to_call_ = false;
  StubExit exit_;
  uint8_t window_[64];
  uint64_t window_begin_ = 0, window_size_ = 0;
};

}  // namespace

bool RunToExitX86(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
                  const StubStart& start, StubExit& exit) {
  int steps = kMostSteps;
  for (int taken = -1; taken < kMostWays && steps > 0; taken++) {
    Run run(code, memory, found, start, taken);
    if (run.ToExit(steps, exit)) return true;
    if (run.branches() <= taken) return false;  // no other path is left
  }
  return false;
}

}  // namespace walkhammer::asgst
