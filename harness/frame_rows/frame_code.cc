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
         NameHas(name, "unwind_exception") || NameHas(name, "UncommonTrapBlob") ||
         NameHas(name, "uncommon_trap_blob") || NameHas(name, "DeoptimizationBlob") ||
         NameHas(name, "deopt_blob");
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
  code.frame_words = frame_words;
  if (kind == "codelet") return OfCodelet(name, code);
  FrameEntry first = FrameEntry::kCalled;
  if (kind == "nmethod" && frame_words > 0) code.elsewhere = FrameEntry::kFramed;
  // An adapter begins with the entry from an interpreted caller. Compiled ones come behind it.
  if (kind == "adapter") first = FrameEntry::kCalledBelow;
  // Pieces that are each called, or jumped to at the begin of a method.
  if (kind == "adapter" || name == "native signature handlers")
    code.elsewhere = FrameEntry::kCalled;
  if (NameHas(name, "ExceptionBlob") || name.starts_with("exception_blob"))
    first = FrameEntry::kThrown;
  // SharedRuntime::generate_handler_blob: only where the fault of a poll leads does it make room.
  constexpr uint8_t kPushRbx = 0x53;
  const bool is_poll = NameHas(name, "SafepointBlob") || name.starts_with("polling_page_");
  if (is_poll && !bytes.empty() && bytes[0] == kPushRbx) first = FrameEntry::kPolled;
  code.entries.push_back({0, first});
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
