// SPDX-License-Identifier: Apache-2.0
#include "harness/frame_rows/frame_decoder_x86_64.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace walkhammer {
namespace {

using Effect = FrameEffect::Kind;
using Flow = FrameInstruction::Flow;

constexpr FrameRegister kStackPointer = 4, kFramePointer = 5;
constexpr int32_t kPushed = 8;

// Registers of Capstone by number, each with its parts.
constexpr x86_reg kParts[kFrameRegisters][5] = {
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
};

// The number of the general register that `reg` is, or is a part of.
FrameRegister NumberOf(unsigned reg) {
  static const auto numbers = [] {
    std::array<FrameRegister, X86_REG_ENDING> table{};
    table.fill(kNoFrameRegister);
    for (FrameRegister i = 0; i < kFrameRegisters; i++)
      for (const x86_reg part : kParts[i])
        if (part != X86_REG_INVALID) table[part] = i;
    return table;
  }();
  return reg < X86_REG_ENDING ? numbers[reg] : kNoFrameRegister;
}

bool IsWord(const cs_x86_op& op) { return op.type == X86_OP_REG && op.size == kPushed; }

// The register that `op` is, or is a part of.
FrameRegister RegisterOf(const cs_x86_op& op) {
  return op.type == X86_OP_REG ? NumberOf(op.reg) : kNoFrameRegister;
}

// The base of an operand in memory whose address is a register and a constant.
FrameRegister BaseOf(const cs_x86_op& op) {
  if (op.type != X86_OP_MEM || op.mem.index != X86_REG_INVALID || op.mem.segment != X86_REG_INVALID)
    return kNoFrameRegister;
  return NumberOf(op.mem.base);
}

int32_t OffsetOf(const cs_x86_op& op) { return static_cast<int32_t>(op.mem.disp); }

void Lose(FrameInstruction& out, FrameRegister reg) {
  if (reg != kNoFrameRegister) out.Add({Effect::kLose, reg});
}

void Spoil(FrameInstruction& out, const cs_x86_op& op) {
  if (const FrameRegister base = BaseOf(op); base != kNoFrameRegister)
    out.Add({Effect::kSpoil, base, kNoFrameRegister, std::max<uint16_t>(op.size, 1), OffsetOf(op)});
}

void Move(FrameInstruction& out, int32_t bytes) {
  out.Add({Effect::kSet, kStackPointer, kStackPointer, 8, bytes});
}

void Push(FrameInstruction& out, FrameRegister from) {
  Move(out, -kPushed);
  if (from == kNoFrameRegister || from == kStackPointer)
    out.Add({Effect::kSpoil, kStackPointer});
  else
    out.Add({Effect::kStore, kStackPointer, from});
}

// Any instruction: what it may write is unknown afterwards. Capstone 4 does not know the access of
// some vector instructions.
void LoseWritten(const cs_insn& insn, FrameInstruction& out) {
  const cs_x86& x86 = insn.detail->x86;
  for (int i = 0; i < x86.op_count; i++) {
    const cs_x86_op& op = x86.operands[i];
    const bool writes = (op.access & CS_AC_WRITE) != 0 || (op.access == 0 && i < 2);
    if (!writes) continue;
    if (op.type == X86_OP_REG) Lose(out, RegisterOf(op));
    if (op.type == X86_OP_MEM) Spoil(out, op);
  }
  for (int i = 0; i < insn.detail->regs_write_count; i++)
    Lose(out, NumberOf(insn.detail->regs_write[i]));
}

void ReadMove(const cs_insn& insn, FrameInstruction& out) {
  const cs_x86_op& to = insn.detail->x86.operands[0];
  const cs_x86_op& from = insn.detail->x86.operands[1];
  if (to.type == X86_OP_MEM) {
    if (IsWord(from) && BaseOf(to) != kNoFrameRegister && RegisterOf(from) != kNoFrameRegister)
      out.Add({Effect::kStore, BaseOf(to), RegisterOf(from), 8, OffsetOf(to)});
    else
      Spoil(out, to);
    return;
  }
  if (IsWord(to) && IsWord(from) && RegisterOf(from) != kNoFrameRegister)
    out.Add({Effect::kSet, RegisterOf(to), RegisterOf(from)});
  else if (IsWord(to) && BaseOf(from) != kNoFrameRegister)
    out.Add({Effect::kLoad, RegisterOf(to), BaseOf(from), 8, OffsetOf(from)});
  else
    Lose(out, RegisterOf(to));
}

// add and sub of a constant, lea.
void ReadSum(const cs_insn& insn, FrameInstruction& out) {
  const cs_x86_op& to = insn.detail->x86.operands[0];
  const cs_x86_op& from = insn.detail->x86.operands[1];
  if (insn.id == X86_INS_LEA && IsWord(to) && BaseOf(from) != kNoFrameRegister)
    return out.Add({Effect::kSet, RegisterOf(to), BaseOf(from), 8, OffsetOf(from)});
  if (insn.id == X86_INS_LEA || !IsWord(to) || from.type != X86_OP_IMM)
    return LoseWritten(insn, out);
  const auto by = static_cast<int32_t>(from.imm);
  out.Add({Effect::kSet, RegisterOf(to), RegisterOf(to), 8, insn.id == X86_INS_SUB ? -by : by});
}

// and rsp, -N with a power of 2 aligns the stack.
void ReadAnd(const cs_insn& insn, FrameInstruction& out) {
  const cs_x86_op& to = insn.detail->x86.operands[0];
  const cs_x86_op& by = insn.detail->x86.operands[1];
  const bool aligns = IsWord(to) && RegisterOf(to) == kStackPointer && by.type == X86_OP_IMM &&
                      by.imm < 0 && by.imm >= -4096 && (by.imm & -by.imm) == -by.imm;
  if (!aligns) return LoseWritten(insn, out);
  out.Add({Effect::kAlign, kStackPointer, kNoFrameRegister, 8, static_cast<int32_t>(-by.imm)});
}

void ReadPop(const cs_x86_op& to, FrameInstruction& out) {
  if (RegisterOf(to) == kStackPointer) return Lose(out, kStackPointer);
  if (IsWord(to)) out.Add({Effect::kLoad, RegisterOf(to), kStackPointer});
  Move(out, kPushed);
  if (to.type == X86_OP_MEM) Spoil(out, to);
}

void ReadExchange(const cs_insn& insn, FrameInstruction& out) {
  const cs_x86_op& a = insn.detail->x86.operands[0];
  const cs_x86_op& b = insn.detail->x86.operands[1];
  if (IsWord(a) && IsWord(b)) return out.Add({Effect::kSwap, RegisterOf(a), RegisterOf(b)});
  for (const cs_x86_op* op : {&a, &b}) {
    Lose(out, RegisterOf(*op));
    Spoil(out, *op);
  }
}

// Sets flow and target; false: the instruction goes on behind itself.
bool ReadFlow(const cs_insn& insn, FrameInstruction& out) {
  const auto in = [&](uint8_t group) {
    const std::span<const uint8_t> all(insn.detail->groups, insn.detail->groups_count);
    return std::find(all.begin(), all.end(), group) != all.end();
  };
  switch (insn.id) {
    case X86_INS_UD2:
    case X86_INS_HLT:
    case X86_INS_INT3:
      out.flow = Flow::kStop;
      out.padding = insn.id != X86_INS_UD2;
      return true;
    case X86_INS_JMP:
      out.flow = Flow::kJump;
      break;
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
      out.flow = Flow::kBranch;
      break;
    default:
      if (in(CS_GRP_RET)) out.flow = Flow::kReturn;
      if (in(CS_GRP_CALL)) out.flow = Flow::kCall;
      if (in(CS_GRP_JUMP)) out.flow = Flow::kBranch;
  }
  if (out.flow == Flow::kNext) return false;
  const cs_x86& x86 = insn.detail->x86;
  if (out.flow != Flow::kReturn && x86.op_count > 0 && x86.operands[0].type == X86_OP_IMM)
    out.target = static_cast<uint64_t>(x86.operands[0].imm);
  // A call of the next instruction is a push of its address.
  if (out.flow == Flow::kCall && out.target == out.end()) {
    out.flow = Flow::kNext;
    out.target = 0;
    Push(out, kNoFrameRegister);
  }
  return true;
}

bool Begins(std::span<const uint8_t> code, std::initializer_list<uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}

// mov [rsp - N], eax: what a method with calls begins with, to touch the stack below its frame.
bool IsBang(std::span<const uint8_t> code) {
  return Begins(code, {0x89, 0x84, 0x24}) && code.size() >= 7 && code[6] == 0xff;
}

// An on-stack replacement's entry, or the stub by which a compiled method calls an interpreted one:
// mov rbx, Method*; jmp.
bool IsCalled(std::span<const uint8_t> code) {
  constexpr size_t kJump = 10;
  return IsBang(code) || (Begins(code, {0x48, 0xbb}) && code.size() > kJump && code[kJump] == 0xe9);
}

// mov [r15 + N], rdx: what the stub of deoptimisation begins with for an exception.
bool IsThrown(std::span<const uint8_t> code) { return Begins(code, {0x49, 0x89, 0x97}); }

// NativeJump::patch_verified_entry writes five bytes over the first instruction, which has seven:
// the touching of the stack, or sub rsp, N.
size_t BehindPatch(std::span<const uint8_t> code, bool& has_frame) {
  constexpr size_t kFirst = 7;
  if (!Begins(code, {0xe9}) || code.size() < kFirst + 4) return 0;
  const auto next = code.subspan(kFirst);
  has_frame = Begins(next, {0x48, 0x89, 0x6c, 0x24}) ||  // mov [rsp + N], rbp
              Begins(next, {0x48, 0x89, 0xac, 0x24});
  const bool pushes =
      Begins(next, {0x55}) || Begins(next, {0x48, 0x81, 0xec}) || Begins(next, {0x48, 0x83, 0xec});
  return has_frame || pushes ? kFirst : 0;
}

// Bytes of a ModRM byte and what belongs to it, with `modrm` and what follows; 0: cut off.
size_t SizeOfOperand(std::span<const uint8_t> modrm) {
  if (modrm.empty()) return 0;
  const int mode = modrm[0] >> 6, rm = modrm[0] & 7;
  if (mode == 3) return 1;
  const bool has_sib = rm == 4;
  if (has_sib && modrm.size() < 2) return 0;
  const bool is_far = mode == 2 || (mode == 0 && (has_sib ? modrm[1] & 7 : rm) == 5);
  return (has_sib ? 2 : 1) + size_t{is_far ? 4U : mode == 1 ? 1U : 0U};
}

// True if the instruction `op` of an opcode map of the vector extensions ends in a byte of data.
bool HasImmediate(int map, uint8_t op) {
  return map == 3 || (map == 1 && ((op >= 0x70 && op <= 0x73) || (op >= 0xc2 && op <= 0xc6)));
}

constexpr uint64_t Bits(std::initializer_list<int> registers) {
  uint64_t bits = 0;
  for (const int reg : registers) bits |= uint64_t{1} << reg;
  return bits;
}

}  // namespace

const FrameRules kFrameRulesX86 = {
    .sp = kStackPointer,
    .fp = kFramePointer,
    .thrower = 2,
    .thread = 15,
    .sender = 13,
    .sender_slot = -8,  // interpreter_frame_sender_sp_offset
    .lost_in_calls = Bits({0, 1, 2, 6, 7, 8, 9, 10, 11}),
    .is_called = IsCalled,
    .is_thrown = IsThrown,
    .behind_patch = BehindPatch,
};

void ReadFrameX86(const cs_insn& insn, FrameInstruction& out) {
  if (ReadFlow(insn, out)) return;
  const cs_x86& x86 = insn.detail->x86;
  switch (insn.id) {
    case X86_INS_NOP:
      out.padding = true;
      return;
    case X86_INS_CMP:  // Capstone 4 lets comparisons write
    case X86_INS_TEST:
    case X86_INS_BT:
      return;
    case X86_INS_PUSH:
      if (x86.operands[0].type == X86_OP_MEM) {
        Move(out, -kPushed);
        return out.Add({Effect::kStore, kStackPointer});
      }
      return Push(out, IsWord(x86.operands[0]) ? RegisterOf(x86.operands[0]) : kNoFrameRegister);
    case X86_INS_PUSHFQ:
    case X86_INS_PUSHF:
      return Push(out, kNoFrameRegister);
    case X86_INS_POP:
      return ReadPop(x86.operands[0], out);
    case X86_INS_POPFQ:
    case X86_INS_POPF:
      return Move(out, kPushed);
    case X86_INS_LEAVE:
      out.Add({Effect::kSet, kStackPointer, kFramePointer});
      out.Add({Effect::kLoad, kFramePointer, kStackPointer});
      return Move(out, kPushed);
    case X86_INS_MOV:
    case X86_INS_MOVABS:
      return ReadMove(insn, out);
    case X86_INS_ADD:
      out.padding = insn.size == 2 && insn.bytes[0] == 0 && insn.bytes[1] == 0;
      [[fallthrough]];
    case X86_INS_SUB:
    case X86_INS_LEA:
      return ReadSum(insn, out);
    case X86_INS_AND:
      return ReadAnd(insn, out);
    case X86_INS_XCHG:
      return ReadExchange(insn, out);
    default:
      return LoseWritten(insn, out);
  }
}

// Intel SDM, volume 2, 2.3 and 2.7: the prefixes VEX and EVEX. No such instruction moves the stack
// pointer; its first register may be a general one.
bool ReadVectorX86(std::span<const uint8_t> code, FrameInstruction& out) {
  if (code.size() < 6) return false;
  const bool is_short = code[0] == 0xc5, is_vex = code[0] == 0xc4, is_evex = code[0] == 0x62;
  if (!is_short && !is_vex && !is_evex) return false;
  const size_t at_op = is_short ? 2 : is_vex ? 3 : 4;
  const int map = is_short ? 1 : is_vex ? code[1] & 0x1f : code[1] & 7;
  const uint8_t op = code[at_op];
  const size_t operand = SizeOfOperand(code.subspan(at_op + 1));
  const size_t size = at_op + 1 + operand + (HasImmediate(map, op) ? 1 : 0);
  if (map < 1 || map > 3 || operand == 0 || size > code.size()) return false;
  out.size = static_cast<uint8_t>(size);
  const bool is_extended = (code[1] & 0x80) == 0;
  const auto reg = static_cast<FrameRegister>((code[at_op + 1] >> 3 & 7) + (is_extended ? 8 : 0));
  if (reg != kStackPointer && reg != kFramePointer) Lose(out, reg);
  return true;
}

}  // namespace walkhammer
