// SPDX-License-Identifier: Apache-2.0
// FrameShape on x86_64. The sequences are those that the compilers emit from JDK 17 to 25:
//   entry:  [checks]  mov [rsp-N], eax (stack bang)  push rbp  [mov rbp, rsp]  sub rsp, N
//           or without the push: sub rsp, N  mov [rsp+M], rbp
//   exit:   add rsp, N  pop rbp  cmp rsp, [r15+N] / test  ja  ret
//           add rsp, N  pop rbp  jmp (an exception)
//           @ReservedStackAccess: before the poll  cmp rsp, [r15+N]  jb past the zone's handling
#include <algorithm>
#include <cstring>

#include "harness/asgst/walk/instruction_x86_64.h"
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {
namespace {

constexpr int kWindow = 64;       // bytes read from pc on
constexpr int kLeastWindow = 24;  // bytes that suffice at the end of readable memory
constexpr uint64_t kLongestEntry = 96;
constexpr int kFpNumber = 5;  // of rbp in instructions

constexpr uint8_t kPush = 0x50, kPop = 0x58, kPushFp = 0x55, kPopFp = 0x5d, kRet = 0xc3,
                  kJump = 0xe9;

bool Starts(const uint8_t* code, std::initializer_list<uint8_t> bytes) {
  return std::equal(bytes.begin(), bytes.end(), code);
}

// Length in bytes of `sub rsp, N` at `code`; 0: another instruction.
int SubSp(const uint8_t* code) {
  if (Starts(code, {0x48, 0x83, 0xec})) return 4;
  return Starts(code, {0x48, 0x81, 0xec}) ? 7 : 0;
}

bool StoresFp(const uint8_t* code) {  // mov [rsp+N], rbp
  return Starts(code, {0x48, 0x89, 0x6c, 0x24}) || Starts(code, {0x48, 0x89, 0xac, 0x24});
}

// Instructions between the pop of rbp and the return: polls and similar checks, by their first
// bytes.
struct Check {
  uint8_t count;  // of bytes that tell the instruction
  uint8_t bytes[3];
  uint8_t length;  // in bytes
};
constexpr Check kChecks[] = {
    {3, {0x49, 0x3b, 0xa7}, 7},  // cmp rsp, [r15+disp32]
    {3, {0x49, 0x3b, 0x67}, 4},  // cmp rsp, [r15+disp8]
    {2, {0x0f, 0x87}, 6},        // ja rel32
    {2, {0x0f, 0x85}, 6},        // jne rel32
    {3, {0xc5, 0xf8, 0x77}, 3},  // vzeroupper
    {3, {0x41, 0x85, 0x02}, 3},  // test [r10], eax
    {2, {0x85, 0x05}, 6},        // test [rip+disp32], eax (up to JDK 9)
    {3, {0x41, 0xf6, 0x47}, 5},  // test byte [r15+disp8], imm8
    {3, {0x41, 0xf6, 0x87}, 8},  // test byte [r15+disp32], imm8
    {3, {0x49, 0x83, 0x7f}, 5},  // cmp qword [r15+disp8], imm8
    {3, {0x49, 0x81, 0x7f}, 8},  // cmp qword [r15+disp8], imm32: an exception in native wrappers?
    {1, {0x75}, 2},              // jne rel8
    {3, {0x4d, 0x8b, 0x97}, 7},  // mov r10, [r15+disp32]
};

// Bytes from such a check at `code` to what is executed next; 0: it is another instruction.
int CheckLength(const uint8_t* code) {
  // je rel8: native wrappers of JDK 25 jump over the slow path of a poll
  if (code[0] == 0x74 && code[1] < 0x80) return 2 + code[1];
  for (const Check& check : kChecks)
    if (std::equal(check.bytes, check.bytes + check.count, code)) return check.length;
  return 0;
}

// True if code at `pc`, after the pop of rbp, reaches its return through polls and similar checks
// only. `code`: the bytes at `pc`. Methods with @ReservedStackAccess check whether they used the
// reserved zone; their jb leads past the code that handles this.
bool RunsToReturn(const MemoryReader& memory, uint64_t pc, const uint8_t* code,
                  bool has_jumped = false) {
  for (int at = 0; at < kWindow - 8;) {
    const uint8_t* i = code + at;
    if (*i == kRet) return true;
    if (Starts(i, {0x0f, 0x82})) {  // jb rel32
      uint8_t there[kWindow] = {};
      int32_t distance = 0;
      std::memcpy(&distance, i + 2, sizeof distance);
      const uint64_t to = pc + static_cast<uint64_t>(int64_t{at + 6} + distance);
      return !has_jumped && distance > 0 && memory.ReadBytes(to, there, kLeastWindow) &&
             RunsToReturn(memory, to, there, true);
    }
    const int length = CheckLength(i);
    if (length == 0) return false;
    at += length;
  }
  return false;
}

bool ReadsBefore(const MemoryReader& memory, uint64_t pc, int count,
                 std::initializer_list<uint8_t> bytes) {
  uint8_t before[16];
  return memory.ReadBytes(pc - static_cast<uint64_t>(count), before, count) &&
         Starts(before, bytes);
}

// True in the slow path of the return's safepoint poll: the frame is already gone there.
bool IsPollStub(const MemoryReader& memory, const uint8_t* here, uint64_t pc) {
  constexpr int kLea = 7, kMov = 10, kStore = 7;
  // lea r10, [rip+N], or mov r10, N (up to JDK 17); mov [r15+N], r10; jmp
  if (*here == kJump) return ReadsBefore(memory, pc, kStore, {0x4d, 0x89, 0x97});
  const uint8_t* store = here;
  if (Starts(here, {0x4c, 0x8d, 0x15})) store += kLea;
  if (Starts(here, {0x49, 0xba})) store += kMov;
  return Starts(store, {0x4d, 0x89, 0x97}) && store[kStore] == kJump;
}

// True if `instruction`, at the address `pc`, is a jmp rel32 to other code.
bool JumpsOut(const uint8_t* instruction, const FoundCode& code, uint64_t pc) {
  int32_t distance = 0;
  std::memcpy(&distance, instruction + 1, sizeof distance);
  const uint64_t target = pc + 5 + static_cast<uint64_t>(int64_t{distance});
  return *instruction == kJump && (target < code.begin || target >= code.end);
}

// True at the jump that passes an exception to the caller: pop rbp; jmp to a stub. In native
// wrappers the jump, the only one out of them, is elsewhere (exception_pending in
// generate_native_wrapper).
bool ThrowsOn(const MemoryReader& memory, const FoundCode& code, const uint8_t* here, uint64_t pc) {
  const bool is_native = code.kind == CodeKind::kNmethod && code.level <= 0;
  return JumpsOut(here, code, pc) && (is_native || ReadsBefore(memory, pc, 1, {kPopFp}));
}

// True in the stub after a method's own code through which a patched call enters the interpreter:
// mov rbx, Method*; jmp (CompiledDirectCall::emit_to_interp_stub)
bool IsCallStub(const MemoryReader& memory, const FoundCode& code, const uint8_t* here,
                uint64_t pc) {
  constexpr int kMov = 10;
  if (code.kind != CodeKind::kNmethod) return false;
  if (Starts(here, {0x48, 0xbb})) return JumpsOut(here + kMov, code, pc + kMov);
  return JumpsOut(here, code, pc) && ReadsBefore(memory, pc, kMov, {0x48, 0xbb});
}

// pop rdx  jmp reg: C2 jumps to the code that handles an exception.
bool TailJumps(const uint8_t* code) {
  if (code[0] != 0x5a) return false;
  const uint8_t* jump = code[1] == 0x41 ? code + 2 : code + 1;
  return jump[0] == 0xff && (jump[1] & 0xf8) == 0xe0;
}

// True if the code at `here` builds a frame of `code`'s size, as an OSR entry does, where compiled
// code replaces an interpreted frame in a loop: [mov [rsp-M], eax]  push rbp  [mov rbp, rsp]  sub
// rsp, N
// N = size - 16. `pushed`: 1 if the push is done.
bool BuildsFrame(const uint8_t* here, const FoundCode& code, int pushed) {
  constexpr int kBang = 7;
  if (pushed == 0 && Starts(here, {0x89, 0x84, 0x24})) here += kBang;
  if (pushed == 0 && *here++ != kPushFp) return false;
  if (pushed == 0 && Starts(here, {0x48, 0x8b, 0xec})) here += 3;  // mov rbp, rsp
  const int length = SubSp(here);
  int32_t room = length == 4 ? static_cast<int8_t>(here[3]) : 0;
  if (length == 7) std::memcpy(&room, here + 3, sizeof room);
  return length != 0 && code.frame_words > 2 && room == 8 * (code.frame_words - 2);
}

FrameShape ShapeOf(const MemoryReader& memory, const FoundCode& code, uint64_t pc) {
  uint8_t here[kWindow] = {};
  if (!memory.ReadBytes(pc, here, kWindow) && !memory.ReadBytes(pc, here, kLeastWindow))
    return FrameShape::kUnknown;
  const uint64_t entry_end =
      code.begin + (code.frame_complete > 0 ? static_cast<uint64_t>(code.frame_complete) : 0);
  if (pc < entry_end) {
    // The frame has its full size after the first sub of rsp.
    uint8_t entry[kLongestEntry + 8];
    uint64_t length = entry_end - code.begin;
    const uint64_t from = length > kLongestEntry ? entry_end - kLongestEntry : code.begin;
    length = entry_end - from;
    if (!memory.ReadBytes(from, entry, static_cast<int>(length) + 8)) return FrameShape::kUnknown;
    for (uint64_t i = 0; i < length; i++) {
      if (SubSp(entry + i) == 0) continue;
      const bool pushed = (i >= 1 && entry[i - 1] == kPushFp) ||
                          (i >= 4 && entry[i - 4] == kPushFp);  // mov rbp, rsp is between
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
  if (BuildsFrame(here, code, 0)) return FrameShape::kNone;
  if (ReadsBefore(memory, pc, 1, {kPushFp}) && BuildsFrame(here, code, 1))
    return FrameShape::kFpPushed;
  if (here[0] == kPopFp && (RunsToReturn(memory, pc + 1, here + 1) ||
                            JumpsOut(here + 1, code, pc + 1) || TailJumps(here + 1)))
    return FrameShape::kFpPushed;
  if (IsCallStub(memory, code, here, pc)) return FrameShape::kBeyondCall;
  if (RunsToReturn(memory, pc, here) || TailJumps(here) || ThrowsOn(memory, code, here, pc) ||
      IsPollStub(memory, here, pc))
    return FrameShape::kNone;
  return FrameShape::kWhole;
}

// push rbp  mov rbp, rsp
bool SetsUpFp(const MemoryReader& memory, uint64_t begin, int& pushed, int& all) {
  uint8_t code[4];
  pushed = 1;
  all = 4;
  return memory.ReadBytes(begin, code, 4) && code[0] == kPushFp &&
         (Starts(code + 1, {0x48, 0x8b, 0xec}) || Starts(code + 1, {0x48, 0x89, 0xe5}));
}

bool FollowsCall(const MemoryReader& memory, uint64_t pc) {
  uint8_t before[8];
  if (!memory.ReadBytes(pc - 8, before, 8)) return false;
  if (before[3] == 0xe8) return true;  // call rel32
  // call through a register or memory: ff /2, with or without a prefix and a displacement
  for (int at = 1; at <= 6; at++) {
    InstructionX86 call;
    if (before[at] == 0xff && (before[at + 1] & 0x38) == 0x10 &&
        DecodeX86(before + at, 8 - at, call) && call.length == 8 - at)
      return true;
  }
  return false;
}

// test eax, [reg], up to JDK 9 also test eax, [rip+N]. Java's own operands are behind an object's
// header or in arrays, so their addresses have more parts. [rbp] and [r13] have a displacement of
// 0, and [r12] an index of none.
bool ReadsPollingPage(const MemoryReader& memory, uint64_t pc) {
  constexpr uint8_t kTest = 0x85, kRexB = 0x41, kByBase = 4, kByPcOrDisplaced = 5;
  uint8_t code[4];
  if (!memory.ReadBytes(pc, code, sizeof code)) return false;
  const bool high = code[0] == kRexB;
  const uint8_t* test = code + high;
  if (test[0] != kTest) return false;
  if (test[1] == (0x40 | kByPcOrDisplaced)) return test[2] == 0;
  if (test[1] == kByBase) return high && test[2] == 0x24;
  return test[1] < 8;
}

// mov rsp, [rbp-N]  mov qword [rbp-N], 0  mov r13, [rbp-M]; from JDK 20 on, instead of the first,
// mov reg, [rbp-N]  lea rsp, [rbp+reg*8] with reg = rcx, in JDK 28 r10
// (TemplateInterpreterGenerator::generate_return_entry_for)
bool GoesOn(const MemoryReader& memory, uint64_t pc) {
  uint8_t code[8];
  if (!memory.ReadBytes(pc, code, 8)) return false;
  const auto lea = [](const uint8_t* at) {
    return (at[0] & 0xfd) == 0x48 && at[1] == 0x8d && at[2] == 0x64 && (at[3] & 0xc7) == 0xc5;
  };
  const auto mov = [](const uint8_t* at) {
    return (at[0] & 0xfb) == 0x48 && at[1] == 0x8b && (at[2] & 0xc7) == 0x45;
  };
  return lea(code) || (mov(code) && lea(code + 4)) || Starts(code, {0x48, 0x8b, 0x65}) ||
         Starts(code, {0x4c, 0x8b, 0x6d}) ||
         (Starts(code, {0x48, 0xc7, 0x45}) && Starts(code + 4, {0, 0, 0, 0}));
}

// Number of consecutive instructions from `code` up to `end` that push (or pop) a register other
// than rbp, whose push and pop begin and end a frame; moves `code` past them. `first` is the opcode
// for rax.
uint64_t CountRun(const uint8_t*& code, const uint8_t* end, uint8_t first) {
  uint64_t count = 0;
  for (; code < end; count++) {
    const int prefix = *code == 0x41 ? 1 : 0;  // for r8 to r15
    if ((code[prefix] & 0xf8) != first || *code == first + kFpNumber) break;
    code += prefix + 1;
  }
  return count;
}

// Bytes that `i`, an add or sub with an immediate, adds to rsp; 0: another instruction.
int64_t AddedToSp(const InstructionX86& i) {
  constexpr int kAdd = 0, kSub = 5, kSp = 4;
  if (i.map != 0 || (i.opcode != 0x81 && i.opcode != 0x83) || i.in_memory || i.rm != kSp || !i.wide)
    return 0;
  return (i.reg & 7) == kAdd ? i.immediate : (i.reg & 7) == kSub ? -i.immediate : 0;
}

uint64_t AddsToSp(const MemoryReader& memory, uint64_t pc) {
  constexpr int kLongest = 7;
  uint8_t bytes[kLongest];
  InstructionX86 i;
  if (!memory.ReadBytes(pc, bytes, sizeof bytes) || !DecodeX86(bytes, sizeof bytes, i)) return 0;
  return static_cast<uint64_t>(std::max<int64_t>(AddedToSp(i), 0));
}

// True for mov, lea and pop into rsp.
bool LoadsSp(const InstructionX86& i) {
  constexpr int kSp = 4;
  if (i.map != 0) return false;
  return (i.opcode == kPop + kSp && i.low == kSp) ||
         ((i.opcode == 0x8b || i.opcode == 0x8d) && i.reg == kSp) ||
         (i.opcode == 0x89 && !i.in_memory && i.rm == kSp);
}

// Words that `i` takes off the stack (> 0) or pushes (< 0). `ends`: the frame ends, rsp is aligned,
// or control goes elsewhere.
int PoppedBy(const InstructionX86& i, bool& ends) {
  constexpr int kSp = 4, kCmp = 7;
  const uint8_t op = i.opcode;
  ends = false;
  if (i.map != 0) return 0;
  if ((op & 0xf8) == kPush || op == 0x68 || op == 0x6a || op == 0x9c) return -1;
  if (op == 0xff && (i.reg & 7) == 6) return -1;
  if (((op & 0xf8) == kPop && i.low != kFpNumber) || op == 0x8f || op == 0x9d) return 1;
  ends = (op & 0xf8) == kPop || op == 0xc9 || (op & 0xfe) == 0xc2 || op == 0xe9 || op == 0xeb ||
         (op == 0xff && (i.reg & 6) == 4) ||
         ((op == 0x81 || op == 0x83) && !i.in_memory && i.rm == kSp && (i.reg & 7) != kCmp);
  return 0;
}

// C1's code pushes references to two arrays and compares their classes
// (LIR_Assembler::emit_arraycopy). A call of slow_subtype_check there takes two more words. Each
// way pops all. All ways to an instruction have pushed as many words, so the way without branches
// tells. An instruction that DecodeX86 does not know, as with APX, ends the scan.
uint64_t TakesBackInC1(const MemoryReader& memory, const FoundCode& code, uint64_t pc) {
  constexpr int kMostInstructions = 64;
  uint8_t bytes[InstructionX86::kMostBytes];
  InstructionX86 i;
  int popped = 0, most = 0;
  for (int n = 0; n < kMostInstructions && pc < code.end; n++) {
    const int size = static_cast<int>(std::min<uint64_t>(sizeof bytes, code.end - pc));
    bool ends = false;
    if (!memory.ReadBytes(pc, bytes, size) || !DecodeX86(bytes, size, i)) break;
    popped += PoppedBy(i, ends);
    if (LoadsSp(i)) return 0;  // what was pushed before does not tell
    if (ends) break;
    most = std::max(most, popped);
    pc += static_cast<uint64_t>(i.length);
  }
  return static_cast<uint64_t>(most);
}

// push rsi  push rdi  call  pop rdi  pop rdi (slow_subtype_check), and movsd [rsp], xmm  call
// pop rax (d2l_fixup).
uint64_t TakesBack(const MemoryReader& memory, const FoundCode& nmethod, uint64_t pc) {
  if (nmethod.level > 0 && nmethod.level < 4) return TakesBackInC1(memory, nmethod, pc);
  constexpr int kStore = 5, kCall = 5;
  uint8_t code[kLeastWindow + 1] = {};
  if (!memory.ReadBytes(pc, code, kLeastWindow)) return 0;
  const uint8_t *at = code, *end = code + kLeastWindow - 1;
  const uint64_t pushes = CountRun(at, end - kStore - kCall, kPush);
  // With or without a VEX prefix; the register's number is in the fourth byte.
  if ((Starts(at, {0xc5}) && at[2] == 0x11 && (at[3] & 0xc7) == 0x04 && at[4] == 0x24) ||
      (Starts(at, {0xf2, 0x0f, 0x11}) && (at[3] & 0xc7) == 0x04 && at[4] == 0x24))
    at += kStore;
  if (*at == 0xe8)
    at += kCall;
  else if (at != code)
    return 0;
  const uint64_t pops = CountRun(at, end, kPop);
  return pops > pushes ? pops - pushes : 0;
}

// True for jcc, jmp, ret, push, pop, leave, and call or jmp by register or memory (opcode ff): code
// that saves registers has none of these instructions.
bool EndsKeeping(const InstructionX86& i) {
  const uint8_t op = i.opcode;
  if (i.map == 1) return !i.vex && (op & 0xf0) == 0x80;
  return i.map == 0 && ((op & 0xf0) == 0x70 || op == 0xe9 || op == 0xeb || (op & 0xfe) == 0xc2 ||
                        (op & 0xf0) == kPush || op == 0xff || op == 0xc9);
}

// sub rsp, N  mov [rsp + n], reg ...  call  mov reg, [rsp + n] ...  add rsp, N: the slow path of a
// collector's barrier in C2's code (SaveLiveRegisters).
uint64_t GivesBack(const MemoryReader& memory, const FoundCode& code, uint64_t pc) {
  constexpr int kMostInstructions = 128;  // one saves and one reloads each register
  uint8_t bytes[InstructionX86::kMostBytes];
  InstructionX86 i;
  for (int n = 0; n < kMostInstructions && pc < code.end; n++) {
    const int size = static_cast<int>(std::min<uint64_t>(sizeof bytes, code.end - pc));
    if (!memory.ReadBytes(pc, bytes, size) || !DecodeX86(bytes, size, i) || EndsKeeping(i))
      return 0;
    pc += static_cast<uint64_t>(i.length);
    const int64_t added = AddedToSp(i);
    if (added == 0) continue;
    uint8_t next = kPopFp;  // before pop rbp: the frame's end; added < 0: not subtracted yet
    return added > 0 && memory.ReadBytes(pc, &next, 1) && next != kPopFp
               ? static_cast<uint64_t>(added)
               : 0;
  }
  return 0;
}

// mov rsp, [r15 + offset]
int LoadsSpFrom(const MemoryReader& memory, uint64_t pc) {
  constexpr int kMostInstructions = 8, kSp = 4, kThread = 15;
  uint8_t bytes[InstructionX86::kMostBytes];
  InstructionX86 i;
  for (int n = 0; n < kMostInstructions; n++, pc += static_cast<uint64_t>(i.length)) {
    if (!memory.ReadBytes(pc, bytes, sizeof bytes) || !DecodeX86(bytes, sizeof bytes, i)) return -1;
    if (i.map == 0 && i.opcode == 0x8b && i.wide && i.in_memory && i.reg == kSp &&
        i.base == kThread && i.index < 0 && i.displacement > 0)
      return static_cast<int>(i.displacement);
  }
  return -1;
}

}  // namespace

const CodeRules kX86_64Rules = {.shape_at = ShapeOf,
                                .sets_up_fp = SetsUpFp,
                                .follows_call = FollowsCall,
                                .is_poll = ReadsPollingPage,
                                .goes_on = GoesOn,
                                .takes_back = TakesBack,
                                .gives_back = GivesBack,
                                .adds_to_sp = AddsToSp,
                                .loads_sp_from = LoadsSpFrom,
                                .run_to_exit = RunToExitX86,
                                .read_signal_frame = ReadSignalFrameX86,
                                .address_mask = ~uint64_t{0},
                                .has_link_register = false,
                                .slots = kX86_64Slots};

}  // namespace walkhammer::asgst
