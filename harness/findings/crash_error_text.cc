// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/crash_error_text.h"

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {
namespace {

// "frame::sender(RegisterMap*) const+0x1f", "libc.so.6+0x85f14", "StubRoutines::call_stub",
// "c2 a.B.c(I)V java.base@25", "a.B.c()V+12". Not the compile id, which says nothing about the bug.
std::string FrameText(const CrashFrame& frame) {
  if (!frame.module.empty()) {
    const bool named = !frame.symbol.empty();
    const auto& offset = named ? frame.symbol_offset : frame.module_offset;
    return (named ? frame.symbol : frame.module) + (offset ? "+" + Hex(*offset) : "");
  }
  std::string text = frame.compiler.empty() ? frame.symbol : frame.compiler + " " + frame.symbol;
  if (text.empty() && frame.pc) text = Hex(*frame.pc);
  if (frame.bci) text += "+" + std::to_string(*frame.bci);
  if (!frame.java_module.empty()) text += " " + frame.java_module;
  return NormalizeHex(text);
}

std::string ErrorText(const CrashReport& report) {
  const CrashInternalError& internal = report.internal;
  switch (report.error) {
    case CrashError::kOutOfMemory:
      return kNoMemoryError;
    case CrashError::kSignal:
      return report.signal.name.value;
    case CrashError::kInternal:
    case CrashError::kJavaHeapFull: {
      std::string place = internal.file.value;
      if (internal.file_line.known()) place += ":" + std::to_string(internal.file_line.value);
      return NormalizeHex("Internal Error (" + place + ")");
    }
    default:
      return "";
  }
}

}  // namespace

HsErrHead ParseHsErrHead(std::string_view text) {
  HsErrHead head;
  text = text.substr(0, text.find("S U M M A R Y"));
  const CrashReport report = ParseCrashReport(text);
  const bool is_head = text.find("A fatal error has been detected") != std::string_view::npos ||
                       report.error == CrashError::kOutOfMemory;
  if (!is_head) return head;
  head.error = ErrorText(report);
  head.message = NormalizeHex(report.internal.text);
  if (!report.problematic_frame) return head;
  head.module = report.problematic_frame->module;
  head.frame = FrameText(*report.problematic_frame);
  return head;
}

std::string KilledBy(std::string_view hs_err) {
  const CrashReport report = ParseCrashReport(hs_err);
  const auto& sender = report.signal.sender_pid;
  if (!sender.known() || !report.pid.known() || sender.value == report.pid.value) return "";
  return report.signal.name.value + " of pid " + std::to_string(sender.value);
}

std::string NormalizeHex(std::string_view text, size_t shortest) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool prefixed = text.substr(i).starts_with("0x") || text.substr(i).starts_with("0X");
    const size_t begin = prefixed ? i + 2 : i;
    size_t end = begin;
    while (end < text.size() && IsHexDigit(text[end])) end++;
    const size_t digits = end - begin;
    const bool whole_word =
        (i == 0 || !IsWordChar(text[i - 1])) && (end == text.size() || !IsWordChar(text[end]));
    if (whole_word && (prefixed ? digits >= shortest : digits == 16 || digits == 12)) {
      out += "0x?";
      i = end;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string HsErrHeadText(const HsErrHead& head, bool with_module) {
  std::string text = head.error;
  if (!head.message.empty()) text += " " + head.message;
  if (with_module && !head.module.empty() && !head.frame.starts_with(head.module))
    text += " " + head.module;
  if (!head.frame.empty()) text += " " + head.frame;
  return text;
}

}  // namespace walkhammer
