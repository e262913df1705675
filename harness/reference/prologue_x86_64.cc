// x86_64. The sequences are those that the compilers emit from JDK 17 to 25:
//   entry:  [checks]  mov [rsp-N], eax (stack bang)  push rbp  [mov rbp, rsp]  sub rsp, N
//           or without the push: sub rsp, N  mov [rsp+M], rbp
//   exit:   add rsp, N  pop rbp  cmp rsp, [r15+N] / test  ja  ret
#include <cstring>

#include "harness/reference/prologue.h"

namespace walkhammer {
namespace {

constexpr int kWindow = 24;  // bytes looked at from pc on
constexpr uint64_t kLongestEntry = 96;

constexpr uint8_t kPushFp = 0x55, kPopFp = 0x5d, kRet = 0xc3;

bool Starts(const uint8_t* code, std::initializer_list<uint8_t> bytes) {
  size_t i = 0;
  for (const uint8_t byte : bytes)
    if (code[i++] != byte) return false;
  return true;
}

// sub rsp, N; the length of the instruction, or 0.
int SubSp(const uint8_t* code) {
  if (Starts(code, {0x48, 0x83, 0xec})) return 4;
  return Starts(code, {0x48, 0x81, 0xec}) ? 7 : 0;
}

bool StoresFp(const uint8_t* code) {  // mov [rsp+N], rbp
  return Starts(code, {0x48, 0x89, 0x6c, 0x24}) || Starts(code, {0x48, 0x89, 0xac, 0x24});
}

// Between the pop of the frame pointer and the return: polls, in any number of instructions.
bool RunsToReturn(const uint8_t* code) {
  for (int at = 0; at < kWindow - 8;) {
    const uint8_t* i = code + at;
    if (*i == kRet) return true;
    if (Starts(i, {0x49, 0x3b, 0xa7}))
      at += 7;  // cmp rsp, [r15+disp32]
    else if (Starts(i, {0x49, 0x3b, 0x67}))
      at += 4;  // cmp rsp, [r15+disp8]
    else if (Starts(i, {0x0f, 0x87}))
      at += 6;  // ja rel32
    else if (Starts(i, {0xc5, 0xf8, 0x77}))
      at += 3;  // vzeroupper
    else if (Starts(i, {0x41, 0x85}) || Starts(i, {0x41, 0xf6}))
      at += 3;  // test
    else if (Starts(i, {0x49, 0x81, 0x7f}))
      at += 8;  // cmp qword [r15+disp8], imm32: native wrappers look for an exception
    else if (Starts(i, {0x75}))
      at += 2;  // jne rel8
    else if (Starts(i, {0x4d, 0x8b, 0x97}))
      at += 7;  // mov r10, [r15+disp32]
    else
      return false;
  }
  return false;
}

// The safepoint poll's far side: the frame is gone already.
bool IsPollStub(const uint8_t* code) {
  // lea r10, [rip+N]; mov [r15+N], r10; jmp
  const uint8_t* store = Starts(code, {0x4c, 0x8d, 0x15}) ? code + 7 : code;
  return Starts(store, {0x4d, 0x89, 0x97}) && store[7] == 0xe9;
}

FrameShape ShapeOf(const MemoryReader& memory, const FoundCode& code, uint64_t pc) {
  uint8_t here[kWindow];
  if (!memory.ReadBytes(pc, here, kWindow)) return FrameShape::kUnknown;
  const uint64_t entry_end =
      code.begin + (code.frame_complete > 0 ? static_cast<uint64_t>(code.frame_complete) : 0);
  if (pc < entry_end) {
    // From the first sub of sp on the frame has its size.
    uint8_t entry[kLongestEntry + 8];
    uint64_t length = entry_end - code.begin;
    const uint64_t from = length > kLongestEntry ? entry_end - kLongestEntry : code.begin;
    length = entry_end - from;
    if (!memory.ReadBytes(from, entry, static_cast<int>(length) + 8)) return FrameShape::kUnknown;
    for (uint64_t i = 0; i < length; i++) {
      const int sub = SubSp(entry + i);
      if (sub == 0) continue;
      const bool pushed = (i >= 1 && entry[i - 1] == kPushFp) ||
                          (i >= 4 && entry[i - 4] == kPushFp);  // mov rbp, rsp between
      const uint64_t at = from + i;
      if (pc > at) {
        return !pushed && StoresFp(here) ? FrameShape::kFpNotSaved : FrameShape::kWhole;
      }
      if (!pushed) return FrameShape::kNone;
      const uint64_t push = entry[i - 1] == kPushFp ? at - 1 : at - 4;
      return pc > push ? FrameShape::kFpPushed : FrameShape::kNone;
    }
    return FrameShape::kNone;
  }
  if (here[0] == kPopFp && RunsToReturn(here + 1)) return FrameShape::kFpPushed;
  if (RunsToReturn(here) || IsPollStub(here)) return FrameShape::kNone;
  return FrameShape::kWhole;
}

// push rbp  mov rbp, rsp
bool SetsUpFp(const MemoryReader& memory, uint64_t begin, int& pushed, int& all) {
  uint8_t code[4];
  pushed = 1;
  all = 4;
  return memory.ReadBytes(begin, code, 4) && code[0] == kPushFp && code[1] == 0x48 &&
         code[2] == 0x8b && code[3] == 0xec;
}

bool FollowsCall(const MemoryReader& memory, uint64_t pc) {
  uint8_t before[8];
  if (!memory.ReadBytes(pc - 8, before, 8)) return false;
  if (before[3] == 0xe8) return true;  // call rel32
  // call through a register or memory: ff /2, with or without a prefix and a displacement
  for (int at = 1; at <= 6; at++)
    if (before[at] == 0xff && (before[at + 1] & 0x38) == 0x10) return true;
  return false;
}

}  // namespace

const CodeRules kX86_64Rules = {ShapeOf, SetsUpFp, FollowsCall, ~uint64_t{0}, false, kX86_64Slots};

}  // namespace walkhammer
