// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/forged_frames.h"

#include <fmt/format.h>

namespace walkhammer {
namespace {

constexpr char kMethod[] = "wh.Sampled.interpPass()V";
constexpr char kCode[] = "wh.Sampled.bestDown(Ljava/lang/String;J)J";

}  // namespace

void WriteInterpreted(const InterpretedFrame& frame, int feature, WalkText& walk) {
  const int32_t fp = frame.fp;
  walk.Word(fp + 8, frame.return_pc);
  walk.Word(fp, frame.link.empty() ? StackValue(frame.caller) : frame.link);
  walk.Word(fp - 8, frame.sender_sp.empty() ? StackValue(fp + 0x10) : frame.sender_sp);
  walk.Word(MethodSlot(fp), frame.method);
  const int32_t mirror_bytes = feature < 9 ? 0 : 8;
  walk.Word(fp - 0x28 - mirror_bytes, frame.cache);
  // Locals: an address before JDK 21, a distance from fp in words since.
  walk.Word(fp - 0x30 - mirror_bytes, feature >= 21 ? "0x2" : StackValue(fp + 0x10));
  walk.Word(fp - 0x38 - mirror_bytes, frame.bcp);
  walk.Word(fp - 0x40 - mirror_bytes, feature >= 22 ? "-9" : StackValue(fp - 0x40 - mirror_bytes));
}

std::string CallCodelet() { return NamedValue("codelet", "invoke return entry points", 7); }

std::string KnownMethod(int64_t addend) {
  return fmt::format(
      "method \"{}\"{}", kMethod,
      addend == 0 ? ""
                  : fmt::format("{}{:#x}", addend < 0 ? "-" : "+", addend < 0 ? -addend : addend));
}

std::string KnownBytecodes() { return NamedValue("bytecodes", kMethod); }

std::string KnownCode(uint64_t offset) { return NamedValue("nmethod", kCode, offset); }

}  // namespace walkhammer
