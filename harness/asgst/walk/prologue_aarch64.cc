// SPDX-License-Identifier: Apache-2.0
// FrameShape on aarch64. The sequences are those that the compilers emit from JDK 17 to 25:
//   entry:  [checks, stack bang, paciasp]  sub sp, sp, #N  stp x29, x30, [sp, #N-16]
//           or, of large frames: stp x29, x30, [sp, #-16]!  [mov x29, sp]  sub sp, sp, ...
//   exit:   ldp x29, x30, [sp, #N-16]  add sp, sp, #N
//           or: add sp, sp, ...  ldp x29, x30, [sp], #16
//           [autiasp]  ldr x8, [x28, #N]  cmp sp, x8  b.hi  ret
//           @ReservedStackAccess: before that  ldr, cmp, b.lo past the zone's handling
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMostEntry = 48;  // instructions
constexpr int kMostExit = 8;

constexpr uint32_t kPushFpLr = 0xa9bf7bfd;  // stp x29, x30, [sp, #-16]!
constexpr uint32_t kPopFpLr = 0xa8c17bfd;   // ldp x29, x30, [sp], #16
constexpr uint32_t kMoveSpToFp = 0x910003fd, kPaciasp = 0xd503233f;
constexpr uint32_t kMoveLrTo3 = 0xaa1e03e3;  // mov x3, x30: C2's handlers take it there
constexpr uint32_t kRet = 0xd65f03c0, kRetAuthenticated = 0xd65f0bff, kAutiasp = 0xd50323bf;

bool IsSubSp(uint32_t i) {  // by an immediate or a register
  return (i & 0xff0003ff) == 0xd10003ff || (i & 0xffe0ffff) == 0xcb2063ff;
}
bool IsAddSp(uint32_t i) {
  return (i & 0xff0003ff) == 0x910003ff || (i & 0xffe0ffff) == 0x8b2063ff;
}
bool StoresFpLr(uint32_t i) { return (i & 0xffc07fff) == 0xa9007bfd; }  // stp x29, x30, [sp, #N]
bool LoadsFpLr(uint32_t i) { return (i & 0xffc07fff) == 0xa9407bfd; }   // ldp x29, x30, [sp, #N]

bool IsPoll(uint32_t i) {
  return (i & 0xffc003e0) == 0xf9400380 ||  // ldr xN, [x28, #N]
         (i & 0xffe0ffff) == 0xeb2063ff ||  // cmp sp, xN
         (i & 0xff000010) == 0x54000000;    // b.cond
}

// True in the slow path of the return's poll: adr x8, N; str x8, [x28, #N]; b. The frame is already
// gone there.
bool IsPollStub(const MemoryReader& memory, uint64_t pc) {
  uint32_t i = 0;
  if (memory.Read(pc, i) && (i & 0x9f00001f) == 0x10000008) pc += 4;
  return memory.Read(pc, i) && (i & 0xffc003ff) == 0xf9000388 && memory.Read(pc + 4, i) &&
         (i & 0xfc000000) == 0x14000000;
}

// True if code at `pc` reaches its return through polls only. Methods with @ReservedStackAccess
// check whether they used the reserved zone; their b.lo leads past the code that handles this.
bool RunsToReturn(const MemoryReader& memory, uint64_t pc) {
  constexpr uint32_t kMostWords = 64;  // a b.lo to this distance or farther is not followed
  uint32_t i = 0;
  for (int n = 0; n < kMostExit && memory.Read(pc, i); n++) {
    if (i == kRet || i == kRetAuthenticated) return true;
    if (i != kAutiasp && !IsPoll(i)) return false;
    const uint32_t words = i >> 5 & 0x7ffff;
    pc += (i & 0xff00001f) == 0x54000003 && words < kMostWords ? 4 * words : 4;  // b.lo
  }
  return false;
}

// True if the instructions before `pc` have removed the frame: ldp, add, or ldp with add.
bool LeftFrame(const MemoryReader& memory, uint64_t pc) {
  uint32_t i = 0;
  for (int n = 0; n < 2 && memory.Read(pc - 4, i) && (i == kAutiasp || i == kMoveLrTo3); n++)
    pc -= 4;
  uint32_t load = 0;
  return memory.Read(pc - 4, i) &&
         (i == kPopFpLr || (IsAddSp(i) && memory.Read(pc - 8, load) && LoadsFpLr(load)));
}

// True if the code at `pc`, with its frame removed, jumps to other code, with ret = lr: from stubs
// to a callee or to a handler ([mov x3, x30]  br), from methods to the stub that throws on (b).
bool JumpsOn(const MemoryReader& memory, const FoundCode& code, uint64_t pc) {
  uint32_t i = 0;
  if (!LeftFrame(memory, pc) || !memory.Read(pc, i)) return false;
  if (i == kMoveLrTo3 && !memory.Read(pc + 4, i)) return false;
  if ((i & 0xfffffc1f) == 0xd61f0000) return true;  // br
  const auto words = static_cast<int64_t>(static_cast<int32_t>(i << 6) >> 6);
  const uint64_t to = pc + static_cast<uint64_t>(4 * words);
  return (i & 0xfc000000) == 0x14000000 && (to < code.begin || to >= code.end);
}

FrameShape InEntry(const MemoryReader& memory, const FoundCode& code, uint64_t pc, uint64_t end) {
  uint64_t pushed = 0;  // address of the push of fp and lr in a large frame; 0: none
  uint32_t i = 0;
  const uint64_t from = end - code.begin > 4 * kMostEntry ? end - 4 * kMostEntry : code.begin;
  for (uint64_t at = from; at < end; at += 4) {
    if (!memory.Read(at, i)) return FrameShape::kUnknown;
    if (i == kPushFpLr) pushed = at;
    if (!IsSubSp(i)) continue;
    if (pushed != 0)
      return pc <= pushed ? FrameShape::kInLink
             : pc <= at   ? FrameShape::kFpPushed
                          : FrameShape::kWhole;
    return pc <= at       ? FrameShape::kInLink
           : pc == at + 4 ? FrameShape::kSpMoved
                          : FrameShape::kWhole;
  }
  return pushed != 0 && pc > pushed ? FrameShape::kFpPushed : FrameShape::kInLink;
}

FrameShape ShapeOf(const MemoryReader& memory, const FoundCode& code, uint64_t pc) {
  uint32_t here = 0, before = 0;
  if (!memory.Read(pc, here)) return FrameShape::kUnknown;
  const uint64_t end =
      code.begin + (code.frame_complete > 0 ? static_cast<uint64_t>(code.frame_complete) : 0);
  if (pc < end) return InEntry(memory, code, pc, end);
  // The entry of code that does not say where its frame is complete, or of a loop.
  if (StoresFpLr(here) && memory.Read(pc - 4, before) && IsSubSp(before))
    return FrameShape::kSpMoved;
  if (here == kPopFpLr) return FrameShape::kFpPushed;
  if (IsAddSp(here) && memory.Read(pc - 4, before) && LoadsFpLr(before))
    return FrameShape::kSpMoved;
  if (RunsToReturn(memory, pc) || JumpsOn(memory, code, pc) || IsPollStub(memory, pc))
    return FrameShape::kInLink;
  return FrameShape::kWhole;
}

// [paciasp]  stp x29, x30, [sp, #-16]!  mov x29, sp
bool SetsUpFp(const MemoryReader& memory, uint64_t begin, int& pushed, int& all) {
  uint32_t first = 0, second = 0;
  if (!memory.Read(begin, first)) return false;
  const int before = first == kPaciasp ? 4 : 0;
  if (!memory.Read(begin + static_cast<uint64_t>(before), first) ||
      !memory.Read(begin + static_cast<uint64_t>(before) + 4, second))
    return false;
  pushed = before + 4;
  all = before + 8;
  return first == kPushFpLr && second == kMoveSpToFp;
}

bool FollowsCall(const MemoryReader& memory, uint64_t pc) {
  uint32_t i = 0;
  return memory.Read(pc - 4, i) && ((i & 0xfc000000) == 0x94000000 ||  // bl
                                    (i & 0xfffffc1f) == 0xd63f0000);   // blr
}

// stp xzr, x9, [sp, #-16]!  blr  [nop  movk xzr  movk xzr]  add sp, sp, #16: so C2 calls functions
// of the JVM as leaves (aarch64_enc_java_to_runtime).
uint64_t TakesBack(const MemoryReader& memory, const FoundCode& /*code*/, uint64_t pc) {
  constexpr uint32_t kPushed = 0xa9bf27ff;
  constexpr int kMostNops = 3;
  uint32_t i = 0;
  for (int n = 0; n <= kMostNops; n++, pc -= 4) {
    if (!memory.Read(pc - 4, i)) return 0;
    if (n == 0 && i == kPushed) return 2;  // before the call
    if ((i & 0xfffffc1f) == 0xd63f0000) return memory.Read(pc - 8, i) && i == kPushed ? 2 : 0;
    if (i != 0xd503201f && (i & 0xff80001f) != 0xf280001f) return 0;
  }
  return 0;
}

// ldr wzr, [reg]
bool ReadsPollingPage(const MemoryReader& memory, uint64_t pc) {
  uint32_t i = 0;
  return memory.Read(pc, i) && (i & 0xfffffc1f) == 0xb940001f;
}

// ldr x20, [x29, #-16]  str xzr, [x29, #-16]  ldr x22, [x29, #-72]; from JDK 20 on, instead of the
// first, ldr x8, [x29, #-16]  add x20, x29, x8, lsl #3
// (TemplateInterpreterGenerator::generate_return_entry_for)
bool GoesOn(const MemoryReader& memory, uint64_t pc) {
  uint32_t i = 0;
  return memory.Read(pc, i) &&
         ((i & 0xffffffe0) == 0xf85f03a0 || i == 0x8b080fb4 || i == 0xf81f03bf || i == 0xf85b83b6);
}

}  // namespace

const CodeRules kAarch64Rules = {.shape_at = ShapeOf,
                                 .sets_up_fp = SetsUpFp,
                                 .follows_call = FollowsCall,
                                 .is_poll = ReadsPollingPage,
                                 .goes_on = GoesOn,
                                 .takes_back = TakesBack,
                                 .read_signal_frame = ReadSignalFrameAarch64,
                                 .address_mask = 0x0000ffffffffffff,
                                 .has_link_register = true,
                                 .slots = kAarch64Slots};

}  // namespace walkhammer::asgst
