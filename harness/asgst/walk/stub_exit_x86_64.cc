// SPDX-License-Identifier: Apache-2.0
// RunToExitX86: simulates code from the interrupted registers on, with real memory, along one path
// through its branches. On every path the code pops what it has pushed, so one path is enough;
// Windows unwinds epilogues in the same way.
#include <algorithm>
#include <utility>

#include "harness/asgst/walk/instruction_x86_64.h"
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMostSteps = 1500;  // instructions on all paths together
constexpr int kMostOnOneWay = 600;
constexpr int kMostWays = 4;  // paths that take a branch, each another one

// Registers that a callee may change by the System V ABI: rax, rcx, rdx, rsi, rdi, r8 to r11.
constexpr uint32_t kCallerSaved = 0x0fc7;
constexpr uint8_t kNotZero = 5;  // condition code of jne; je has one less
constexpr int kZeroFlag = 6;     // bit of rflags

namespace effects {

// Effect of an instruction.
enum Effect : uint8_t {
  K,  // changes no general register
  R,  // the register operand becomes unknown; behind 0f cmov, imul, movzx and the like
  M,  // the r/m operand becomes unknown
  A,  // rax becomes unknown
  D,  // rdx becomes unknown
  L,  // the register in the opcode becomes unknown
  T,  // string instruction: rax, rcx, rsi, rdi become unknown
  I,  // the register in the opcode gets the immediate
  E,  // xchg with rax; behind 0f cmpxchg, xadd, cmpxchg16b
  G,  // arithmetic of two operands
  P,  // push
  O,  // pop
  B,  // conditional branch
  S,  // an effect of its own: Single()
  X,  // not in stubs, or at their end: int3, hlt, ud2
  // Behind 0f only:
  V,  // writes at most vectors, but for those of Vector()
  C,  // cpuid, rdtsc, xgetbv: rax, rcx, rdx, rbx become unknown
  Y,  // syscall: rax, rcx, r11 become unknown
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

constexpr Effect kBehind0f[256] = {
    V, C, V, V, V, Y, V, V, V, V, V, X, V, V, V, V,  // 00
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // 10
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // 20
    V, C, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // 30
    R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R,  // 40
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // 50
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // 60
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // 70
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,  // 80
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,  // 90
    V, V, C, V, M, M, V, V, V, V, V, M, M, M, V, R,  // a0
    E, E, V, M, V, V, R, R, R, V, M, M, R, R, R, R,  // b0
    E, E, V, V, V, V, V, E, L, L, L, L, L, L, L, L,  // c0
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // d0
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // e0
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,  // f0
};

}  // namespace effects

enum class Went { kOn, kOut, kNowhere };

// One path through the code: its registers and memory. Each value is known or marked unknown.
class Run {
 public:
  Run(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
      const StubStart& start, int taken)
      : code_(code),
        memory_(memory),
        found_(found),
        taken_(taken),
        to_call_(start.to_call),
        low_(start.general[kRsp]),
        pc_(start.pc) {
    exit_.called = start.called;
    for (int i = 0; i < 16; i++) r_[i] = {start.general[i], (start.known >> i & 1) != 0};
    if (start.flags != 0) zero_ = {start.flags >> kZeroFlag & 1, true};
  }

  // Simulates up to the exit. `steps`: number of steps left on all paths together.
  bool ToExit(int& steps, StubExit& exit) {
    for (int i = 0; i < kMostOnOneWay && steps > 0; i++, steps--) {
      Step();
      if (went_ != Went::kOn) break;
    }
    if (went_ == Went::kNowhere && taken_ < 0) exit.loses_sp = LosesSp();
    if (went_ != Went::kOut) return false;
    exit_.loses_sp = exit.loses_sp;
    exit = exit_;
    exit.sp = r_[kRsp].bits;
    exit.fp = Known(kRbp);
    exit.top = Load(r_[kRsp]).bits;
    exit.sender_sp = Known(kR13);
    exit.exception_pc = Known(kRdx);
    exit.method = Known(kRbx);
    if (to_call_)
      exit.return_pc =
          Load({exit.sp + 8 * static_cast<uint64_t>(found_.frame_words) - 8, true}).bits;
    return true;
  }

  int branches() const { return branches_; }

 private:
  static constexpr int kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6,
                       kRdi = 7, kR11 = 11, kR13 = 13;

  struct Value {
    uint64_t bits = 0;
    bool known = false;
  };

  uint64_t Known(int number) const { return r_[number].known ? r_[number].bits : 0; }

  void Step() {
    went_ = Went::kNowhere;
    if (pc_ < found_.begin || pc_ >= found_.end || !Fetch()) return;
    const uint64_t at = pc_ - window_begin_;
    if (!DecodeX86(window_ + at, static_cast<int>(window_size_ - at), i_)) return;
    pc_ += static_cast<uint64_t>(i_.length);
    if (!KeepsFlags()) zero_ = {};
    went_ = Went::kOn;
    if (i_.map == 0)
      OneByte(i_.opcode);
    else
      Longer(i_.opcode);
    if (!r_[kRsp].known) went_ = Went::kNowhere;  // without sp the path is useless
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

  // Writes a word. A store to an unknown address is taken to be outside of the stack.
  void Store(Value at, Value value) {
    if (!at.known) return;
    if ((at.bits & 7) != 0) {  // both words become unknown
      Store({at.bits & ~7ULL, true}, {});
      Store({(at.bits | 7) + 1, true}, {});
    } else if (stores_ < kMostStores) {
      stored_[stores_++] = {at.bits, value};
    } else {
      went_ = Went::kNowhere;  // the stack is no longer known
    }
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

  void Push(Value value) {
    r_[kRsp].bits -= 8;
    Store(r_[kRsp], value);
  }

  Value Pop() {
    const Value top = Load(r_[kRsp]);
    r_[kRsp].bits += 8;
    return top;
  }

  // Compares the r/m operand, of `bytes` bytes, with `other`, as cmp does, or test: sets the zero
  // flag that je and jne test. Other arithmetic makes it unknown.
  void CompareRm(Value other, int bytes, bool tests) {
    if (i_.half || (!i_.in_memory && bytes == 1)) return;  // one byte may be ah to bh
    const uint64_t mask = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
    const Value rm = i_.in_memory ? LoadSome(Address(), bytes) : r_[i_.rm];
    const uint64_t a = rm.bits & mask, b = other.bits & mask;
    zero_ = {tests ? (a & b) == 0 : a == b, rm.known && other.known};
  }
  void CompareWithImmediate(bool tests) {
    const int bytes = i_.opcode == 0x80 || i_.opcode == 0xf6 ? 1 : i_.wide ? 8 : 4;
    CompareRm({static_cast<uint64_t>(i_.immediate), true}, bytes, tests);
  }
  void CompareRegisters(bool tests) { CompareRm(r_[i_.reg], i_.wide ? 8 : 4, tests); }

  void SetRegister(int number, Value value) {
    if (!i_.wide) value = {value.bits & 0xffffffff, value.known && !i_.half};
    r_[number] = value;
  }

  // --- where control goes ----------------------------------------------------------------------

  void Out(Value to, bool through_memory) {
    exit_.pc = to.known ? to.bits : 0;
    exit_.through_memory = through_memory;
    went_ = Went::kOut;
  }

  void Jump() {
    const uint64_t to = pc_ + static_cast<uint64_t>(i_.immediate);
    if (to < found_.begin || to >= found_.end) return Out({to, true}, false);
    pc_ = to;
  }

  // A branch of known condition goes one way only.
  void Branch() {
    const uint8_t condition = i_.opcode & 0x0f;
    const bool taken = zero_.known && (condition | 1) == kNotZero
                           ? (condition == kNotZero) == (zero_.bits == 0)
                           : branches_++ == taken_;
    if (taken) Jump();
  }

  // What was at `at` before the last store there; 0: not known, or no store. Below the sp of the
  // interrupted code is what older frames have left.
  uint64_t Replaced(Value at) const {
    int stores = 0;
    uint64_t word = 0;
    for (int i = stores_ - 1; at.known && i >= 0; i--)
      if (stored_[i].at == at.bits && ++stores == 2)
        return stored_[i].value.known ? stored_[i].value.bits : 0;
    return stores == 1 && at.bits >= low_ && memory_.ReadWord(at.bits, word) ? word : 0;
  }

  void Return() {
    exit_.returns = true;
    exit_.replaced = Replaced(r_[kRsp]);
    Out(Pop(), false);
    if (i_.opcode == 0xc2) r_[kRsp].bits += static_cast<uint64_t>(i_.immediate);
  }

  void Call() {
    exit_.called = true;
    if (to_call_) return Out({}, false);
    ForgetAll(kCallerSaved);
  }

  // --- instructions of one byte ----------------------------------------------------------------

  void OneByte(uint8_t op) {
    using namespace effects;  // NOLINT(google-build-using-namespace)
    switch (kOneByte[op]) {
      case K:
        return;
      case R:
        return Forget(i_.reg);
      case M:
        return ForgetRm();
      case A:
        return Forget(kRax);
      case D:
        return Forget(kRdx);
      case L:
        Forget(i_.low);
        return Forget(i_.low & 3);  // 8-bit registers: ah to bh are in rax to rbx
      case I:
        return SetRegister(i_.low, {static_cast<uint64_t>(i_.immediate), true});
      case T:
        return ForgetAll(1U << kRax | 1U << kRcx | 1U << kRsi | 1U << kRdi);
      case E:
        return std::swap(r_[kRax], r_[i_.low]);
      case G:
        return Arithmetic(op >> 3, op & 7);
      case P:
        return Push(r_[i_.low]);
      case O:
        r_[i_.low] = Pop();
        return;
      case B:
        return Branch();
      case S:
        return Single(op);
      default:
        went_ = Went::kNowhere;
    }
  }

  void Single(uint8_t op) {
    switch (op) {
      case 0x68:
      case 0x6a:
        return Push({static_cast<uint64_t>(i_.immediate), true});
      case 0x80:
      case 0x81:
      case 0x83:
        return ByImmediate(i_.reg & 7);
      case 0x85:
        return CompareRegisters(true);
      case 0x86:
        Forget(i_.reg);
        Forget(i_.reg & 3);
        return ForgetRm();
      case 0x87:
        return Exchange();
      case 0x89:
        return SetRm(r_[i_.reg]);
      case 0x8b:
        return SetRegister(i_.reg, i_.in_memory && !i_.wide ? LoadSome(Address(), 4) : Rm());
      case 0x8d:
        return SetRegister(i_.reg, Address());
      case 0x8f:
        Pop();
        return ForgetRm();
      case 0x9c:
        return Push({});
      case 0x9d:
        Pop();
        return;
      case 0xc1:
        return Shift(i_.reg & 7);
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
        return Group5(i_.reg & 7);
      default:
        return Group3();
    }
  }

  void Leave() {
    r_[kRsp] = r_[kRbp];
    r_[kRbp] = Pop();
  }

  // test, not, neg, mul, div
  void Group3() {
    if ((i_.reg & 6) == 0) return CompareWithImmediate(true);
    if ((i_.reg & 4) != 0) ForgetAll(1U << kRax | 1U << kRdx);
    ForgetRm();
  }

  // Shift by an immediate: shl and shr decode compressed class pointers.
  void Shift(int which) {
    if (i_.in_memory || !i_.wide || (which != 4 && which != 5)) return ForgetRm();
    Value& rm = r_[i_.rm];
    rm.bits = which == 4 ? rm.bits << (i_.immediate & 63) : rm.bits >> (i_.immediate & 63);
  }

  void SetRm(Value value) {
    if (i_.in_memory)
      Store(Address(), i_.wide ? value : Value{});
    else
      SetRegister(i_.rm, value);
  }

  void Exchange() {
    const Value rm = Rm();
    SetRm(r_[i_.reg]);
    r_[i_.reg] = i_.wide ? rm : Value{};
  }

  // inc, dec, call, jmp, push
  void Group5(int which) {
    if (which == 2) return Call();
    if (which == 4) return Out(Rm(), i_.in_memory);
    if (which == 6) return Push(Rm());
    ForgetRm();
  }

  // add, or, adc, sbb, and, sub, xor, cmp, in this order
  static Value Calculate(int which, Value a, Value b) {
    const bool known = a.known && b.known;
    if (which == 0) return {a.bits + b.bits, known};
    if (which == 4) return {a.bits & b.bits, known};
    if (which == 5) return {a.bits - b.bits, known};
    if (which == 6) return {a.bits ^ b.bits, known};
    return {};
  }

  void ByImmediate(int which) {
    if (which == 7) return CompareWithImmediate(false);
    if (i_.in_memory || i_.opcode == 0x80) return ForgetRm();
    SetRegister(i_.rm, Calculate(which, r_[i_.rm], {static_cast<uint64_t>(i_.immediate), true}));
  }

  // `form`: which operands; 1: r/m, register; 3: register, r/m; even: of 8 bits.
  void Arithmetic(int which, int form) {
    if (which == 7) {
      if (form == 1 || form == 3) CompareRegisters(false);
      return;
    }
    if (form >= 4) return Forget(kRax);
    if (i_.in_memory || (form & 1) == 0) return form < 2 ? ForgetRm() : Forget(i_.reg);
    const int to = form == 1 ? i_.rm : i_.reg, from = form == 1 ? i_.reg : i_.rm;
    Value result = Calculate(which, r_[to], r_[from]);
    if (which == 6 && to == from) result = {0, true};
    SetRegister(to, result);
  }

  // --- longer opcodes --------------------------------------------------------------------------

  void Longer(uint8_t op) {
    constexpr uint32_t kStack = 1U << kRsp | 1U << kRbp;
    if (i_.map == 1) return Behind0f(op);
    // crc32, movbe, adcx; with a VEX prefix, instructions whose result is named by another field
    if (i_.map == 2 && op >= 0xf0) ForgetAll(i_.vex ? ~kStack : 1U << i_.reg);
    if (i_.map == 3 && (op == 0x61 || op == 0x63)) Forget(kRcx);  // pcmpestri
    if (i_.map == 3 && op == 0xf0) Forget(i_.reg);                // rorx
    if (i_.map == 3 && op >= 0x14 && op <= 0x17 && !i_.in_memory) Forget(i_.rm);
  }

  void Behind0f(uint8_t op) {
    using namespace effects;  // NOLINT(google-build-using-namespace)
    switch (i_.vex ? K : kBehind0f[op]) {
      case B:
        return Branch();
      case R:
        return Forget(i_.reg);
      case M:
        return ForgetRm();
      case L:
        return Forget(i_.low);
      case C:
        return ForgetAll(1U << kRax | 1U << kRcx | 1U << kRdx | 1U << kRbx);
      case Y:
        return ForgetAll(1U << kRax | 1U << kRcx | 1U << kR11);
      case E:
        ForgetAll(1U << kRax | 1U << kRdx);
        if (op != 0xc7) Forget(i_.reg);
        return ForgetRm();
      case X:
        went_ = Went::kNowhere;
        return;
      default:
        return Vector(op);
    }
  }

  // Vector instructions that write a general register.
  void Vector(uint8_t op) {
    if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5) Forget(i_.reg);
    if (i_.vex && (op == 0x93 || op == 0x78 || op == 0x79)) Forget(i_.reg);  // kmov, vcvt
    // movq and movd; the F3 form of this opcode moves between vectors.
    if (op == 0x7e && !i_.in_memory &&
        (i_.vex ? i_.rm != kRbp && i_.rm != kRsp : i_.half || i_.wide))
      Forget(i_.rm);
  }

  static constexpr int kMostStores = 96, kMostFarLoads = 24;

  const MemoryReader &code_, &memory_;
  const FoundCode& found_;

  const int taken_;  // index of the branch that is taken, from 0; -1: none
  int branches_ = 0;
  const bool to_call_;
  Went went_ = Went::kOn;  // of the last instruction
  StubExit exit_;
  const uint64_t low_;  // sp at the start
  uint64_t pc_;         // of the next instruction
  InstructionX86 i_;
  Value r_[16];
  Value zero_;  // zero flag: 1 if the last cmp found equality, or test no common bit
  int far_loads_ = 0, stores_ = 0;
  struct {
    uint64_t at;
    Value value;
  } stored_[kMostStores];
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
