// SPDX-License-Identifier: Apache-2.0
// The end of the reading: what several sections tell together, and what they do not tell.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/frames.h"
#include "harness/hs_err/parser.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {

// HotSpot's "R29" of aarch64 is what everybody else calls x29.
void Parser::NameAarch64Registers() {
  for (CrashRegister& reg : report_.registers) {
    if (reg.name.size() >= 2 && reg.name[0] == 'r' && IsDigit(reg.name[1])) reg.name[0] = 'x';
    if (reg.name == "fp") reg.name = "x29";
    if (reg.name == "lr") reg.name = "x30";
  }
  for (CrashPointee& pointee : report_.register_pointees)
    if (pointee.register_name.size() >= 2 && pointee.register_name[0] == 'r' &&
        IsDigit(pointee.register_name[1]))
      pointee.register_name[0] = 'x';
}

// By the registers, if no line tells the architecture.
void Parser::GuessArch() {
  if (report_.arch != CrashArch::kUnknown) return;
  if (report_.Register("rax")) report_.arch = CrashArch::kX86_64;
  if (report_.Register("r30") || report_.Register("x30") || report_.Register("x28"))
    report_.arch = CrashArch::kAarch64;
}

// Puts together what several sections tell.
void Parser::Refine() {
  GuessArch();
  if (report_.arch == CrashArch::kAarch64) NameAarch64Registers();
  for (const char* name : {"rip", "pc"})
    for (const CrashRegister& reg : report_.registers)
      if (reg.name == name) SetIfUnknown(report_.pc, reg.value, reg.line);
  for (const char* name : {"rsp", "sp"})
    for (const CrashRegister& reg : report_.registers)
      if (reg.name == name) SetIfUnknown(report_.stack_pointer, reg.value, reg.line);
  // Before JDK 9 the head tells a pthread's address, which no thread's id of Linux is as large as.
  constexpr int64_t kMostLinuxId = 1 << 22;
  if (report_.thread.line > 0 && report_.thread.id > 0 &&
      (!report_.tid.known() || report_.tid.value > kMostLinuxId))
    report_.tid = {report_.thread.id, report_.thread.line};
  std::sort(report_.stack_words.begin(), report_.stack_words.end(),
            [](const CrashWord& a, const CrashWord& b) { return a.address < b.address; });
  for (const CrashFrame& frame : report_.native_stack.frames) {
    if (report_.os != CrashOs::kUnknown) break;
    if (frame.module.ends_with(".dylib")) report_.os = CrashOs::kMacos;
    if (frame.module.find(".so") != std::string::npos) report_.os = CrashOs::kLinux;
  }
}

void Parser::TellUnread() {
  const struct {
    const char* what;
    bool is_there;
  } wanted[] = {
      {"error", report_.error != CrashError::kUnknown},
      {"versions", report_.version.vm.known()},
      {"siginfo", report_.error != CrashError::kSignal || report_.signal.code.known() ||
                      report_.signal.code_number.known() || report_.signal.address.known()},
      {"current thread", report_.thread.line > 0},
      {"native frames", !report_.native_stack.frames.empty()},
      {"registers", !report_.registers.empty() || report_.error == CrashError::kOutOfMemory},
      {"register to memory mapping",
       !report_.register_pointees.empty() || report_.error == CrashError::kOutOfMemory},
      {"top of stack", !report_.stack_words.empty()},
      {"instructions", report_.instructions.has_value()},
      {"modules", !report_.modules.empty()},
      {"code cache", !report_.code_heaps.empty()},
      {"command line", report_.command_line.known()},
  };
  for (const auto& row : wanted) {
    if (row.is_there) continue;
    report_.unread.push_back({row.what,
                              ended_ ? "the text does not tell them" : "the text ends before them",
                              ended_ ? 0 : last_line_});
  }
}

// The debugger stops where the JVM aborts, when it has reported its death; the crash is below.
void Parser::UseDebugger(CrashStack stack) {
  report_.native_stack = std::move(stack);
  GuessArch();
  const CrashStack& all = report_.native_stack;
  const size_t first = all.signal_frames.empty() ? 0 : all.signal_frames[0];
  const bool reports = std::any_of(
      all.frames.begin(), all.frames.begin() + static_cast<std::ptrdiff_t>(first),
      [](const CrashFrame& frame) { return frame.symbol.starts_with("VMError::report"); });
  const size_t crash = reports ? first + 1 : 0;
  if (reports && !report_.registers.empty()) {
    report_.unread.push_back({"registers",
                              "the debugger shows those of the abort, not of the crash",
                              report_.registers[0].line});
    report_.registers.clear();
  }
  if (crash >= all.frames.size()) return;
  const CrashFrame& frame = all.frames[crash];
  if (!report_.problematic_frame) report_.problematic_frame = frame;
  if (frame.pc) SetIfUnknown(report_.pc, *frame.pc, frame.line);
}

// A stack is cut where the text begins or ends within it.
void Parser::MarkCutStack() {
  CrashStack& stack = report_.native_stack;
  if (stack.frames.empty()) return;
  // JDK 6 has no bracket at the end of a Java frame.
  const bool within_frame = cut_ == Cut::kNativeFrame && !stack.frames.back().is_java();
  stack.truncated |= in_stack_ || (is_log_ && !has_stack_header_) || within_frame;
  const bool is_newest =
      report_.problematic_frame && report_.problematic_frame->text == stack.frames.front().text;
  stack.may_begin_cut = !has_stack_header_ && !is_newest;
}

CrashText Parser::KindOfText(bool has_frames) const {
  const bool is_others = debugger_.kind() != CrashText::kNone && debugger_.tells_end();
  if (has_frames) return is_log_ ? CrashText::kHsErr : CrashText::kStack;
  if (is_others && !report_.version.vm.known()) return debugger_.kind();
  if (debugger_.is_of_live_process() && report_.error == CrashError::kUnknown)
    return CrashText::kThreadDump;
  return is_log_ ? CrashText::kHsErr : debugger_.kind();
}

// A log of HotSpot has a line of its own for the VM.
CrashVm Parser::Vm() const {
  const bool has_libjvm =
      std::any_of(report_.native_stack.frames.begin(), report_.native_stack.frames.end(),
                  [](const CrashFrame& frame) { return frame.kind == CrashFrameKind::kVm; });
  if (names_openj9_ && !report_.version.vm.known()) return CrashVm::kOpenJ9;
  return has_libjvm || report_.text_kind == CrashText::kHsErr ? CrashVm::kHotSpot
                                                              : CrashVm::kUnknown;
}

void Parser::Finish() {
  MarkCutStack();
  EndCut();
  if (superseded_.frames.size() > report_.native_stack.frames.size())
    report_.native_stack = std::move(superseded_);
  CrashStack debugged = debugger_.TakeStack();
  const bool has_frames = !report_.native_stack.frames.empty() ||
                          !report_.java_stack.frames.empty() || report_.problematic_frame;
  if (!has_frames && !debugged.frames.empty()) UseDebugger(std::move(debugged));
  report_.text_kind = KindOfText(has_frames);
  Refine();
  report_.vm = Vm();
  MarkSignalFrames(report_.native_stack);
  MarkSignalFrames(report_.java_stack);
  if (report_.text_kind == CrashText::kNone) {
    report_.unread.push_back({"everything", "the text has no trace of a crash", 0});
    return;
  }
  ComputeFaultAddress(report_);
  if (report_.text_kind == CrashText::kHsErr) TellUnread();
}

}  // namespace walkhammer
