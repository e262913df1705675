// SPDX-License-Identifier: Apache-2.0
// What HotSpot's names of code say of how it is entered, and words for rows.
#include <fmt/format.h>

#include <string>

#include "harness/frame_rows/frame_rows.h"

namespace walkhammer {
namespace {

constexpr const char* kRegisterNames[kFrameRegisters] = {"rax", "rcx", "rdx", "rbx", "sp",  "fp",
                                                         "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                         "r12", "r13", "r14", "r15"};

bool NameHas(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

// TemplateInterpreterGenerator::generate_all names the codelets.
FrameCode OfCodelet(std::string_view name, FrameCode code) {
  code.elsewhere = FrameEntry::kInterpreted;
  FrameEntry first = FrameEntry::kInterpreted;
  if (name.starts_with("method entry point") || NameHas(name, "entry point (kind"))
    first = FrameEntry::kCalledBelow;
  if (NameHas(name, "result handlers") || NameHas(name, "slow signature handler") ||
      NameHas(name, "bytecode tracing"))
    first = code.elsewhere = FrameEntry::kCalled;
  code.entries.push_back({0, first});
  return code;
}

bool IsDeoptimisation(std::string_view name) {
  return NameHas(name, "DeoptimizationBlob") || NameHas(name, "deopt_blob");
}
bool IsUncommonTrap(std::string_view name) {
  return NameHas(name, "UncommonTrapBlob") || NameHas(name, "uncommon_trap_blob");
}
bool IsOfC1(std::string_view name) { return NameHas(name, "Runtime1") || NameHas(name, "C1 "); }

// Stubs that begin otherwise than by a call, or do not return as they were called.
FrameCode OfStub(std::string_view name, int frame_words, FrameCode code) {
  constexpr uint8_t kPushRbx = 0x53, kJump = 0xe9;
  constexpr uint32_t kJumpBytes = 5;
  const uint8_t begins = code.bytes.empty() ? 0 : code.bytes[0];
  FrameCode::Entry first{0, FrameEntry::kCalled};
  code.replaces_frames = IsDeoptimisation(name) || IsUncommonTrap(name);
  // Pieces that are each called. The blob of deoptimisation has an entry for each reason.
  if (name == "native signature handlers" || IsDeoptimisation(name))
    code.elsewhere = FrameEntry::kCalled;
  // SharedRuntime::generate_handler_blob: only where the fault of a poll leads does it make room.
  const bool is_poll = NameHas(name, "SafepointBlob") || name.starts_with("polling_page_");
  if (is_poll && begins == kPushRbx) first.how = FrameEntry::kPolled;
  // C1's handlers of exceptions (Runtime1::generate_handle_exception). Its stubs jump to
  // forward_exception with their frame.
  const bool forwards = IsOfC1(name) && NameHas(name, "forward_exception");
  code.replaces_return = is_poll || forwards || (IsOfC1(name) && NameHas(name, "handle_exception"));
  if (forwards) {
    first.how = FrameEntry::kFramedByFp;
    code.frame_words = frame_words;
  }
  if (NameHas(name, "ExceptionBlob") || name.starts_with("exception_blob"))
    first.how = FrameEntry::kThrown;
  // Return addresses that were replaced lead here, and an exception that no Java caller handles.
  if (name.starts_with("cont_returnBarrier") || name.starts_with("cont_preempt") ||
      name.starts_with("upcall_stub_exception_handler"))
    first.how = FrameEntry::kReturned;
  // A jump to where it fails lies before the entry (StubGenerator::generate_generic_copy).
  if (NameHas(name, "generic_arraycopy") && begins == kJump) first.offset = kJumpBytes;
  code.entries.push_back(first);
  return code;
}

const char* WhyText(WhyUnknown why) {
  switch (why) {
    case WhyUnknown::kPathsDisagree:
      return "unknown: paths disagree";
    case WhyUnknown::kLost:
      return "unknown: lost";
    case WhyUnknown::kBehindIndirect:
      return "unknown: behind an indirect jump";
    default:
      return "unknown: not reached";
  }
}

std::string RegisterName(FrameRegister reg) {
  return reg < kFrameRegisters ? kRegisterNames[reg] : "?";
}

bool IsBySp(const FrameRow& row) { return row.reg == 4; }
bool IsByFp(const FrameRow& row) { return row.reg == 5; }

}  // namespace

// The stubs of C1 that throw, and what replaces the caller's frame. JDK 28 has other names.
bool NeverReturns(std::string_view name) {
  return NameHas(name, "throw_") || NameHas(name, "forward_exception") ||
         NameHas(name, "unwind_exception") || IsUncommonTrap(name) || IsDeoptimisation(name);
}

bool IsScratch(std::string_view name) {
  return NameHas(name, "temporary CodeBuffer") || NameHas(name, "Temp Buffer") ||
         name == "adapters" || name == "InlineCacheBuffer" || NameHas(name, "Compile::");
}

FrameCode FrameCodeOf(std::string_view kind, std::string_view name, uint64_t begin,
                      std::span<const uint8_t> bytes, int frame_words) {
  FrameCode code;
  code.begin = begin;
  code.bytes = bytes;
  if (kind == "codelet") return OfCodelet(name, code);
  if (kind == "stub") return OfStub(name, frame_words, code);
  const bool is_nmethod = kind == "nmethod", is_adapter = kind == "adapter";
  if (is_nmethod) code.frame_words = frame_words;
  if (is_nmethod && frame_words > 0) code.elsewhere = FrameEntry::kFramed;
  // An adapter begins with the entry from an interpreted caller. The others are each called, or
  // jumped to at the begin of a method.
  if (is_adapter) code.elsewhere = FrameEntry::kCalled;
  code.entries.push_back({0, is_adapter ? FrameEntry::kCalledBelow : FrameEntry::kCalled});
  return code;
}

std::string PlaceText(const FrameRow& row) {
  switch (row.place) {
    case FramePlace::kInMemory:
      return fmt::format("{}{:+}", RegisterName(row.reg), row.distance);
    case FramePlace::kInRegister:
      return "in " + RegisterName(row.reg);
    case FramePlace::kThroughMemory:
      return fmt::format("[{}{:+}]{:+}", RegisterName(row.reg), row.distance, row.beyond);
    case FramePlace::kInThread:
      return "in the thread";
    default:
      return WhyText(row.why);
  }
}

std::string SenderText(const FrameSender& sender) {
  switch (sender.place) {
    case FramePlace::kInRegister:
      return fmt::format("{}{:+}", RegisterName(sender.reg), sender.distance);
    case FramePlace::kInMemory:
      return fmt::format("[{}{:+}]{:+}", RegisterName(sender.reg), sender.distance, sender.beyond);
    default:
      return "unknown";
  }
}

std::string PlaceGroup(const FrameRow& row) {
  switch (row.place) {
    case FramePlace::kInMemory:
      if (IsByFp(row)) return "fp+n";
      if (!IsBySp(row)) return "by a register";
      if (row.distance == 0) return row.had_frame ? "sp+0, frame popped" : "sp+0";
      return row.distance == 8 ? "sp+8" : "sp+n";
    case FramePlace::kInRegister:
      return "in a register";
    case FramePlace::kThroughMemory:
      return "by a saved address";
    default:
      return PlaceText(row);
  }
}

}  // namespace walkhammer
