// SPDX-License-Identifier: Apache-2.0
#include "harness/frame_rows/walker_rules.h"

#include <algorithm>
#include <initializer_list>

namespace walkhammer {
namespace {

using RuledKind = RuledCode::Kind;

constexpr FrameRegister kRuledSp = 4, kRuledFp = 5;
constexpr int32_t kRuledWord = 8;
constexpr uint8_t kPushRbp = 0x55, kPopRbp = 0x5d, kRet = 0xc3;
constexpr int kAnyByte = -1;

constexpr Prediction Right(const char* rule) { return {Predicted::kRight, rule}; }
constexpr Prediction Wrong(const char* rule) { return {Predicted::kWrong, rule}; }
constexpr Prediction NoAnswer(const char* rule) { return {Predicted::kNoAnswer, rule}; }
constexpr Prediction Depends(const char* rule) { return {Predicted::kDepends, rule}; }

constexpr Prediction kNotKnown = Depends("the code does not tell where the return address is");
constexpr Prediction kEntryFrame =
    Depends("the entry frame: of no Java caller, if it is the first");
constexpr Prediction kReplaces = Depends("the stub replaces frames by others");
// Runtime1::generate_code_for (c1_Runtime1_x86.cpp), at slow_subtype_check: two words.
constexpr Prediction kPushedByCaller =
    Depends("finds the caller, but not behind it: C1 has pushed arguments beyond its frame");
constexpr Prediction kInlinedByNearest =
    Depends("finds the caller, but may name other methods that are inlined there");
// No code is at the address in that word.
constexpr Prediction kOnByFp =
    Depends("takes the saved fp for the return address, and goes on by the word below as fp");
// ICache::invalidate_range, also of a thread in Java.
constexpr Prediction kCalledByC = Depends("finds the caller, which is C code: its frames are next");

bool IsFromSp(const FrameRow& row) {
  return row.place == FramePlace::kInMemory && row.reg == kRuledSp;
}
bool IsAtSp(const FrameRow& row, int32_t distance) {
  return IsFromSp(row) && row.distance == distance;
}
bool HasCallersFp(const FrameRow& row) {
  return row.fp_place == FramePlace::kInRegister && row.fp_reg == kRuledFp;
}

// Deoptimisation: what runs there lays out interpreted frames in place of a compiled one.
bool ReplacesFrames(const RuledCode& code) {
  const auto has = [&](std::string_view part) { return code.name.find(part) != code.name.npos; };
  return code.kind != RuledKind::kNmethod && (has("eopt") || has("ncommon"));
}

// The return address is taken from sp + frame size.
Prediction BySize(const RuledCode& code, const FrameRow& row) {
  if (row.place == FramePlace::kUnknown) return kNotKnown;
  const int32_t distance = kRuledWord * (code.frame_words - 1);
  if (IsAtSp(row, distance)) return Right("sp + frame size");
  if (!IsFromSp(row)) {
    const bool is_by_fp = row.place == FramePlace::kInMemory && row.reg == kRuledFp;
    if (is_by_fp || row.place == FramePlace::kThroughMemory) return kNotKnown;
    return Wrong("sp + frame size: the return address is not on the stack");
  }
  if (row.distance > distance) return Wrong("sp + frame size: more was pushed");
  return row.had_frame ? Wrong("sp + frame size: part of the frame is not pushed, or popped again")
                       : Wrong("sp + frame size: nothing is pushed yet");
}

// The return address is taken from the word at sp + `distance`.
Prediction ByWord(const FrameRow& row, int32_t distance, const char* right, const char* wrong) {
  if (row.place == FramePlace::kUnknown) return kNotKnown;
  return IsAtSp(row, distance) ? Right(right) : Wrong(wrong);
}

// The return address is taken from the word at fp + 8.
Prediction ByFp(const FrameRow& row) {
  if (row.from_fp == kRuledWord) return Right("fp");
  if (row.place == FramePlace::kUnknown) return kNotKnown;
  return Wrong("fp: the code has not set it up, or does not use it");
}

// Bytes between an interpreted frame's fp and its last fixed word (frame_x86.hpp:
// interpreter_frame_initial_sp_offset). JDK 8 keeps no mirror.
int32_t InterpretedFixed(const RuledCode& code) { return kRuledWord * (code.feature == 8 ? 8 : 9); }

// Bytes from sp up to an interpreted frame's fp; INT32_MAX: as many as there ever are, or more.
int32_t Pushed(const FrameRow& row) {
  return IsFromSp(row) ? row.distance - kRuledWord : INT32_MAX;
}

// HotSpot, JDK 8 to 28: JavaThread::pd_get_top_frame takes the registers' frame if
// frame::safe_for_sender (frame_x86.cpp) accepts it. An interpreted frame must be valid, too
// (frame::is_interpreted_frame_valid).
Prediction Agct(const RuledCode& code, const FrameRow& row) {
  if (ReplacesFrames(code)) return kReplaces;
  if (code.kind == RuledKind::kInterpreter) {
    if (row.from_fp == kRuledWord)
      return Pushed(row) >= InterpretedFixed(code) ? Right("fp of an interpreted frame")
                                                   : NoAnswer(
                                                         "refuses: the interpreted frame is not "
                                                         "filled yet");
    return HasCallersFp(row)
               ? Depends("takes the caller's fp for its own: true below an interpreted caller")
               : kNotKnown;
  }
  if (code.kind == RuledKind::kAdapter) return NoAnswer("refuses: adapters have no frame");
  if (code.entry_return != 0 && row.offset == code.entry_return) return kEntryFrame;
  // CodeBlob::is_frame_complete_at: JDK 8 takes the offset -1, of a frame that is never complete,
  // for one before the code.
  const bool is_complete =
      code.complete < 0 ? code.feature == 8 : row.offset >= static_cast<uint32_t>(code.complete);
  if (!is_complete && (code.kind == RuledKind::kNmethod || code.kind == RuledKind::kRuntimeStub))
    return NoAnswer("refuses: the frame is not complete");
  if (code.frame_words <= 0) return NoAnswer("refuses: a stub without frame size");
  const Prediction by_size = BySize(code, row);
  // is_decipherable_compiled_frame (forte.cpp) takes the first compiled frame for interrupted code.
  return by_size.predicted == Predicted::kRight && code.kind != RuledKind::kNmethod
             ? kInlinedByNearest
             : by_size;
}

bool StartsWith(std::span<const uint8_t> code, size_t at, std::initializer_list<int> bytes) {
  if (at > code.size() || bytes.size() > code.size() - at) return false;
  return std::equal(bytes.begin(), bytes.end(), code.begin() + static_cast<ptrdiff_t>(at),
                    [](int byte, uint8_t there) { return byte == kAnyByte || byte == there; });
}

// The bytes behind `pop rbp` that StackFrame::unwindEpilogue takes for a poll at a return, or its
// jump, of JDK 8, 11 and 17 on. `at`: of the instruction.
bool IsPollAtReturn(std::span<const uint8_t> code, size_t at) {
  constexpr int kA = kAnyByte;
  const bool is_popped = at > 0 && code[at - 1] == kPopRbp;
  if (is_popped &&
      (StartsWith(code, at, {0x49, 0x3b, 0x67}) || StartsWith(code, at, {0x49, 0x3b, 0xa7}) ||
       StartsWith(code, at, {0x4d, 0x8b, 0x97})))
    return true;
  return StartsWith(code, at, {0x0f, 0x87, kA, kA, kA, kA, kRet}) ||
         StartsWith(code, at, {0x41, 0x85, 0x02, kRet}) ||
         StartsWith(code, at, {0x85, 0x05, kA, kA, kA, kA, kRet});
}

// True if `sub rsp, N` is between the entry and `at`, as StackFrame::unwindPrologue searches it.
bool HasRoom(std::span<const uint8_t> code, size_t entry, size_t at) {
  for (size_t i = entry; i + 4 <= at && i + 2 < code.size(); i++)
    if (code[i] == 0x48 && code[i + 2] == 0xec && (code[i + 1] & 0xfd) == 0x81) return true;
  return false;
}

Prediction AsprofNmethod(const RuledCode& code, const FrameRow& row) {
  const size_t at = row.offset, entry = code.entry;
  if (at >= code.bytes.size()) return kNotKnown;
  const uint8_t first = code.bytes[at];
  if (static_cast<int64_t>(at) >= code.complete) {
    if (first == kRet || IsPollAtReturn(code.bytes, at))
      return ByWord(row, 0, "the word at sp: an epilogue", "the word at sp: not an epilogue");
    if (first == kPopRbp)
      return ByWord(row, kRuledWord, "the word at sp + 8: pop rbp",
                    "the word at sp + 8: not an epilogue");
    const Prediction by_size = BySize(code, row);
    // In a stub behind the code, which the method itself has called, one word more is on the stack.
    const bool is_called = IsAtSp(row, 0) && !row.had_frame;
    return by_size.predicted == Predicted::kWrong && is_called ? kOnByFp : by_size;
  }
  if (at <= entry || first == kPushRbp || code.frame_words == 0)
    return ByWord(row, 0, "the word at sp: the entry", "the word at sp: not the entry");
  if (at <= entry + 15 && code.bytes[at - 1] == kPushRbp)
    return ByWord(row, kRuledWord, "the word at sp + 8: behind push rbp",
                  "the word at sp + 8: not behind push rbp");
  if (at <= entry + 31 && HasRoom(code.bytes, entry, at)) return BySize(code, row);
  return NoAnswer("stops: a part of the prologue that it does not know");
}

Prediction AsprofInterpreter(const RuledCode& code, const FrameRow& row) {
  // A frame is plausible if sp is below the slot of the bytecode pointer, the last but one fixed
  // word. Else the word at sp does not lead to code, and walkVM goes on as in C code without unwind
  // tables: by fp, unless r13 is above that.
  if (row.from_fp == kRuledWord)
    return Pushed(row) > InterpretedFixed(code) - kRuledWord
               ? Right("fp of an interpreted frame")
               : Depends("takes the word at sp, then fp: true if r13 is the sender's sp");
  if (!HasCallersFp(row)) return kNotKnown;
  return Depends(
      "takes the caller's fp for its own, or the word at sp if that looks like no frame");
}

// A stub: StackFrame::unwindStub, else by the frame size, else as C code without unwind tables.
Prediction AsprofStub(const RuledCode& code, const FrameRow& row) {
  const size_t at = row.offset;
  if (at >= code.bytes.size()) return kNotKnown;
  if (at == 0) return ByWord(row, 0, "the word at sp: the entry", "the word at sp: not the entry");
  if (code.bytes[at] == kRet)
    return ByWord(row, 0, "the word at sp: ret", "the word at sp: no return");
  if (code.kind == RuledKind::kVtableStub)
    return ByWord(row, 0, "the word at sp: a vtable stub", "the word at sp: more was pushed");
  if (StartsWith(code.bytes, 0, {kPushRbp, 0x48, 0x8b, 0xec})) {
    if (at == 1)
      return ByWord(row, kRuledWord, "the word at sp + 8: behind push rbp",
                    "the word at sp + 8: not behind push rbp");
    return ByFp(row);
  }
  return code.frame_words > 0 ? BySize(code, row) : ByFp(row);
}

// async-profiler 4.5 and 4.6: StackWalker::walkVM (stackWalker.cpp), and
// StackFrame::unwindPrologue, unwindEpilogue and unwindStub (stackFrame_x64.cpp).
Prediction AsprofVm(const RuledCode& code, const FrameRow& row) {
  if (ReplacesFrames(code)) return kReplaces;
  if (code.kind == RuledKind::kInterpreter) return AsprofInterpreter(code, row);
  if (code.kind == RuledKind::kNmethod) return AsprofNmethod(code, row);
  if (code.entry_return != 0 && row.offset == code.entry_return) return kEntryFrame;
  if (code.name.starts_with("cont") || code.name.starts_with("Cont "))
    return NoAnswer("stops: a stub of continuations");
  const Prediction stub = AsprofStub(code, row);
  if (stub.predicted != Predicted::kRight) return stub;
  if (code.name.find("slow_subtype_check") != code.name.npos) return kPushedByCaller;
  return code.name.starts_with("flush_icache") ? kCalledByC : stub;
}

// libasgst (harness/asgst/walk): runs the code on to its return or jump.
Prediction Reference(const RuledCode& code, const FrameRow&) {
  return ReplacesFrames(code) ? kReplaces : Right("runs the code on to its return");
}

constexpr WalkerRules kRules[] = {
    {"agct", false, Agct},
    {"asprof-vm", false, AsprofVm},
    {"asgst", false, Reference},
    {"puzzle-skip-caller", true, Agct},
    {"puzzle-no-caller", true, Reference},
};

}  // namespace

RuledCode::Kind RuledKindOf(std::string_view kind, std::string_view name, int frame_words) {
  if (kind == "nmethod") return RuledKind::kNmethod;
  if (kind == "codelet") return RuledKind::kInterpreter;
  if (kind == "adapter") return RuledKind::kAdapter;
  if (name.starts_with("vtable") || name.starts_with("itable")) return RuledKind::kVtableStub;
  // The other blobs of HotSpot with a frame are SingletonBlobs and stubs of upcalls. JDK 28 has
  // other names than before.
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  const bool is_other = has("Blob") || has("_handler_blob") || name.starts_with("exception_blob") ||
                        has("upcall") || frame_words <= 0;
  return is_other ? RuledKind::kStub : RuledKind::kRuntimeStub;
}

const char* PredictedName(Predicted predicted) {
  switch (predicted) {
    case Predicted::kRight:
      return "right";
    case Predicted::kWrong:
      return "wrong";
    case Predicted::kNoAnswer:
      return "no-answer";
    default:
      return "depends";
  }
}

std::span<const WalkerRules> WalkerRules::All() { return kRules; }

const WalkerRules* WalkerRules::Of(std::string_view walker) {
  const auto* of = std::find_if(std::begin(kRules), std::end(kRules),
                                [&](const WalkerRules& one) { return one.walker == walker; });
  return of == std::end(kRules) ? nullptr : of;
}

}  // namespace walkhammer
