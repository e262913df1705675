// SPDX-License-Identifier: Apache-2.0
// Opcodes as in the Intel SDM, volume 2, appendix A, "Opcode Map".
#include "stress/step_instruction.h"

#include <cstring>

namespace walkhammer::stress {
namespace {

constexpr uint8_t kOperandSize = 0x66, kAddressSize = 0x67, kFs = 0x64, kGs = 0x65;
constexpr uint8_t kRepeat = 0xf3, kRepeatNot = 0xf2, kNotrack = 0x3e, kCs = 0x2e;
constexpr uint8_t kRexW = 8, kRexR = 4, kRexB = 1;
constexpr int kSpNumber = 4;

bool IsPrefix(uint8_t byte) {
  return byte == kOperandSize || byte == kAddressSize || byte == kFs || byte == kGs ||
         byte == kRepeat || byte == kRepeatNot || byte == kNotrack || byte == kCs;
}

// add, sub and mov between two registers, one of which is sp as the target: `to_modrm` tells which
// operand the opcode writes.
bool WritesSp(uint8_t modrm, uint8_t rex, bool to_modrm) {
  if (modrm >> 6 != 3 && to_modrm) return false;  // writes memory
  const int field = to_modrm ? modrm & 7 : modrm >> 3 & 7;
  const bool extended = (rex & (to_modrm ? kRexB : kRexR)) != 0;
  return (rex & kRexW) != 0 && field == kSpNumber && !extended;
}

StepOp OfGroup5(uint8_t modrm) {  // ff /digit
  switch (modrm >> 3 & 7) {
    case 2:
      return StepOp::kCall;
    case 4:
      return StepOp::kJumpIndirect;
    case 6:
      return StepOp::kPush;
    default:
      return StepOp::kOther;
  }
}

}  // namespace

StepOp StepOpAt(const uint8_t* code) {
  uint64_t i = 0;
  while (i + 3 < kLongestInstruction && IsPrefix(code[i])) i++;
  uint8_t rex = 0;
  if ((code[i] & 0xf0) == 0x40) rex = code[i++];
  const uint8_t op = code[i];
  if (op >= 0x50 && op <= 0x57) return StepOp::kPush;
  if (op >= 0x58 && op <= 0x5f) return StepOp::kPop;
  if (op >= 0x70 && op <= 0x7f) return StepOp::kJump;  // jcc
  switch (op) {
    case 0x0f:  // jcc with a long offset
      return code[i + 1] >= 0x80 && code[i + 1] <= 0x8f ? StepOp::kJump : StepOp::kOther;
    case 0xe0:  // loopne, loope, loop, jrcxz
    case 0xe1:
    case 0xe2:
    case 0xe3:
    case 0xe9:
    case 0xeb:
      return StepOp::kJump;
    case 0xe8:
      return StepOp::kCall;
    case 0xc2:
    case 0xc3:
      return StepOp::kReturn;
    case 0x68:
    case 0x6a:
    case 0x9c:  // pushf
      return StepOp::kPush;
    case 0x8f:
    case 0x9d:  // popf
      return StepOp::kPop;
    case 0xff:
      return OfGroup5(code[i + 1]);
    case 0x01:  // add, sub, mov: register to register or memory
    case 0x29:
    case 0x89:
      return WritesSp(code[i + 1], rex, true) ? StepOp::kSetsSp : StepOp::kOther;
    case 0x03:  // the same the other way round
    case 0x2b:
    case 0x8b:
      return WritesSp(code[i + 1], rex, false) ? StepOp::kSetsSp : StepOp::kOther;
    default:
      return StepOp::kOther;
  }
}

uint64_t JumpTarget(const uint8_t* code, uint64_t pc) {
  constexpr uint8_t kShort = 0xeb, kNear = 0xe9;
  if (*code == kShort) return pc + 2 + static_cast<uint64_t>(int64_t{static_cast<int8_t>(code[1])});
  if (*code != kNear) return 0;
  int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof distance);
  return pc + 5 + static_cast<uint64_t>(int64_t{distance});
}

}  // namespace walkhammer::stress
