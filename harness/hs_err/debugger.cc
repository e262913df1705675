// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/debugger.h"

#include <algorithm>
#include <utility>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/debugger_frames.h"
#include "harness/hs_err/frames.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestFrame = 4 << 10;
constexpr int kMostJoined = 32;  // lines of a frame

// True if a debugger broke the frame at the terminal's width.
bool IsBroken(std::string_view frame) {
  return std::count(frame.begin(), frame.end(), '(') != std::count(frame.begin(), frame.end(), ')');
}

// Lists in prose are numbered, too: without a '#' only what goes on, or begins with 0, is a stack.
bool MayFollow(const DebuggerFrame& frame, CrashText writer, int64_t last) {
  if (frame.writer != CrashText::kMinidump && frame.writer != CrashText::kApple) return true;
  return frame.number == 0 || (frame.writer == writer && frame.number == last + 1);
}

// "rax            0x7f..   140", of gdb's "info registers"
bool ReadGdbRegister(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  const std::string_view name = cursor.Until(" \t");
  const auto value = name.size() >= 2 && name.size() <= 6 ? cursor.Hex() : std::nullopt;
  if (!value || report.registers.size() >= 128) return false;
  for (const char c : name)
    if (!IsDigit(c) && (c < 'a' || c > 'z')) return false;
  report.registers.push_back({std::string(name), *value, line.number});
  return true;
}

}  // namespace

// The stack of the crash is better than another; so is one that was printed before, but in part.
bool DebuggerReader::IsBetter() const {
  const std::vector<CrashFrame>&before = kept_.frames.frames, &now = current_.frames.frames;
  if (names_crashed_ && !current_.crashed) return false;
  if (before.empty() || now.empty()) return !now.empty();
  if (kept_.crashed != current_.crashed) return current_.crashed;
  if (kept_.frames.signal_frames.empty() && !current_.frames.signal_frames.empty()) return true;
  return now.size() > before.size() &&
         std::equal(before.begin(), before.end(), now.begin(),
                    [](const CrashFrame& a, const CrashFrame& b) { return a.text == b.text; });
}

void DebuggerReader::Keep() {
  if (!current_.frames.frames.empty())
    current_.frames.truncated |= IsBroken(current_.frames.frames.back().text);
  MarkSignalFrames(current_.frames);
  if (IsBetter()) kept_ = std::move(current_);
  current_ = {};
}

bool DebuggerReader::ReadFrame(const Line& line) {
  std::optional<DebuggerFrame> parsed = ParseDebuggerFrame(line.text);
  if (!parsed || !MayFollow(*parsed, current_.writer, current_.last)) return false;
  // "0 0x7": two numbers, unless the text is a minidump's.
  const bool is_bare = parsed->writer == CrashText::kMinidump && parsed->frame.module.empty();
  if (is_bare && parsed->number == 0 && !tells_end_) return false;
  if (parsed->number < 0) parsed->number = current_.last + 1;
  if (parsed->number == 0 || current_.frames.frames.empty()) {
    Keep();
    current_.writer = parsed->writer;
    current_.crashed = std::exchange(next_crashed_, false);
  }
  CrashStack& stack = current_.frames;
  if (parsed->number > current_.last + 1) {  // frames between are not there
    stack.truncated = true;
    if (stack.frames.empty()) stack.may_begin_cut = true;
    if (!stack.gap && !stack.frames.empty()) stack.gap = stack.frames.size();
  }
  current_.last = parsed->number;
  in_registers_ = false;
  joined_ = 0;
  if (stack.frames.size() >= kMostCrashItems) return true;
  parsed->frame.line = line.number;
  stack.frames.push_back(std::move(parsed->frame));
  return true;
}

// gdb breaks its lines at the terminal's width.
bool DebuggerReader::ReadMore(const Line& line) {
  if (current_.frames.frames.empty() || current_.writer != CrashText::kGdb) return false;
  CrashFrame& frame = current_.frames.frames.back();
  if (!IsBroken(frame.text) && !line.text.starts_with("at ") && !line.text.starts_with("from "))
    return false;
  if (frame.text.size() + line.text.size() > kLongestFrame || ++joined_ > kMostJoined) return true;
  std::string text = frame.text + ' ';
  text += line.text;
  if (std::optional<DebuggerFrame> whole = ParseDebuggerFrame(text)) {
    whole->frame.line = frame.line;
    frame = std::move(whole->frame);
  }
  return true;
}

// "Thread 31 (crashed)", "Thread 5 Crashed:: Java: main", "Stack trace of thread 4790:", "Thread 5
// crashed with X86 Thread State (64-bit):", "(More stack frames follow...)"
bool DebuggerReader::ReadHeadOfStack(const Line& line) {
  const std::string_view text = line.text;
  if (text.starts_with("(More stack frames follow") || text.starts_with("Backtrace stopped:")) {
    current_.frames.truncated = true;
    return true;
  }
  // OpenJ9's javacore: the current thread is the first one.
  if (text.starts_with("3XMTHREADINFO ")) Keep();
  if (text.starts_with("1XMCURTHDINFO")) return next_crashed_ = true;
  if (text.starts_with("Debugger attached successfully") || text.starts_with("Full thread dump "))
    return is_of_live_process_ = true;
  if (text.starts_with("Crashed Thread:")) return names_crashed_ = true;
  if (text.starts_with("Stack trace of thread")) {
    next_crashed_ = !kept_.crashed && !current_.crashed;  // the first one is
    return false;
  }
  if (text.find("Sanitizer: ") != std::string_view::npos) next_crashed_ = !kept_.crashed;
  if (!text.starts_with("Thread ")) return false;
  in_registers_ = text.find(" crashed with ") != std::string_view::npos;
  if (in_registers_) return true;
  next_crashed_ = text.ends_with("(crashed)") || text.find(" Crashed:") != std::string_view::npos;
  return next_crashed_;
}

bool DebuggerReader::ReadCrashedRegisters(const Line& line, CrashReport& report) {
  if (in_registers_) return ReadRegisters(line, report, ':');
  if (current_.writer == CrashText::kGdb) return ReadGdbRegister(line, report);
  if (current_.writer != CrashText::kMinidump) return false;
  // Below each frame: those below the others are what minidump-stackwalk computed.
  CrashReport ignored;
  const bool are_real = current_.crashed && current_.last == 0;
  return ReadRegisters(line, are_real ? report : ignored);
}

// "(gdb) p $_siginfo._sifields._sigfault.si_addr", and then "$1 = (void *) 0x70"
bool DebuggerReader::ReadPrintedAddress(const Line& line, CrashReport& report) {
  const bool expected = std::exchange(expects_address_, line.text.ends_with(".si_addr"));
  Cursor cursor(line.text);
  if (!expected || !cursor.Skip("$") || !cursor.SkipPast(" = (void *)")) return expects_address_;
  if (const auto value = cursor.Hex()) SetIfUnknown(report.signal.address, *value, line.number);
  return true;
}

bool DebuggerReader::Read(const Line& line, CrashReport& report) {
  const char first = line.text[0];
  const bool may_be_frame = first == '#' || first == '*' || first == 'f' || IsDigit(first);
  if (may_be_frame && ReadFrame(line)) return true;
  if (ReadHeadOfStack(line) || ReadPrintedAddress(line, report)) return true;
  if (ReadDebuggerFact(line, report)) return tells_end_ = true;
  return ReadMore(line) || ReadCrashedRegisters(line, report);
}

CrashStack DebuggerReader::TakeStack() {
  Keep();
  return std::move(kept_.frames);
}

}  // namespace walkhammer
