// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/debugger.h"

#include <algorithm>
#include <utility>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/frames.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestFrame = 4 << 10;
constexpr int kMostJoined = 32;  // lines of a frame

std::string_view LastName(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool IsLibjvm(std::string_view module) { return module.starts_with("libjvm."); }

// "0x.. in f (a=..) at ./f.cpp:12", "f (a=..) from /lib/a.so", "<signal handler called>"
void ParseGdb(CrashFrame& frame) {
  Cursor cursor(frame.text);
  (void)cursor.Skip("#");
  (void)cursor.Decimal();
  if (cursor.Skip("<signal handler called>")) {
    frame.kind = CrashFrameKind::kSignalHandler;
    return;
  }
  frame.pc = cursor.Hex();
  (void)cursor.Skip("in ");
  std::string_view rest = Trim(cursor.rest());
  if (const size_t from = rest.rfind(" from "); from != std::string_view::npos) {
    frame.module = LastName(Trim(rest.substr(from + 6)));
    rest = rest.substr(0, from);
  } else if (const size_t at = rest.rfind(" at "); at != std::string_view::npos) {
    frame.source = LastName(Trim(rest.substr(at + 4)));
    rest = rest.substr(0, at);
  }
  const std::string_view symbol = Trim(rest.substr(0, rest.find(" (")));
  frame.symbol = symbol == "??" ? std::string_view() : symbol;
  frame.kind = IsLibjvm(frame.module) ? CrashFrameKind::kVm : CrashFrameKind::kNative;
}

// "frame #1: 0x.. libjvm.dylib`f(X*) + 12 at f.cpp:12:3 [opt] [inlined]"
void ParseLldb(CrashFrame& frame) {
  Cursor cursor(frame.text);
  (void)cursor.SkipPast("frame #");
  (void)cursor.Decimal();
  (void)cursor.Skip(":");
  frame.pc = cursor.Hex();
  cursor.SkipBlanks();
  frame.kind = CrashFrameKind::kNative;
  if (cursor.rest().find('`') == std::string_view::npos) return;
  frame.module = LastName(cursor.Until("`"));
  if (IsLibjvm(frame.module)) frame.kind = CrashFrameKind::kVm;
  (void)cursor.Skip("`");
  std::string_view rest = Trim(cursor.rest());
  for (std::string_view mark : {"[opt]", "[inlined]", "[artificial]"}) {
    const size_t at = rest.find(mark);
    if (at == std::string_view::npos) continue;
    frame.is_inlined |= mark == "[inlined]";
    // "[inlined]" is before the function, the others are at the end.
    rest = at == 0 ? Trim(rest.substr(mark.size())) : Trim(rest.substr(0, at));
  }
  if (const size_t at = rest.rfind(" at "); at != std::string_view::npos) {
    frame.source = LastName(Trim(rest.substr(at + 4)));
    rest = Trim(rest.substr(0, at));
  }
  if (const size_t plus = rest.rfind(" + "); plus != std::string_view::npos) {
    Cursor offset(rest.substr(plus + 3));
    if (const auto value = offset.Decimal(); value && offset.AtEnd()) {
      frame.symbol_offset = static_cast<uint64_t>(*value);
      rest = Trim(rest.substr(0, plus));
    }
  }
  if (!rest.starts_with("___lldb_unnamed")) frame.symbol = rest;
}

void Parse(CrashText kind, CrashFrame& frame) {
  CrashFrame parsed;
  parsed.line = frame.line;
  parsed.text = std::move(frame.text);
  kind == CrashText::kGdb ? ParseGdb(parsed) : ParseLldb(parsed);
  frame = std::move(parsed);
}

}  // namespace

void DebuggerReader::Start(CrashText kind) {
  Keep();
  if (kind_ == CrashText::kNone) kind_ = kind;
}

void DebuggerReader::Keep() {
  MarkSignalFrames(current_);
  const bool better =
      kept_.frames.empty() || (kept_.signal_frames.empty() && !current_.signal_frames.empty());
  if (better && !current_.frames.empty()) kept_ = std::move(current_);
  current_ = {};
}

void DebuggerReader::NoteGap(int64_t number) {
  const bool follows = current_.frames.empty() || number == last_number_ + 1;
  if (!follows && !current_.gap) current_.gap = current_.frames.size();
  last_number_ = number;
}

bool DebuggerReader::ReadGdbFrame(const Line& line) {
  Cursor cursor(line.text);
  if (!cursor.Skip("#")) return false;
  const auto number = cursor.Decimal();
  if (!number || cursor.AtEnd() || !IsBlank(cursor.rest()[0])) return false;
  Cursor content = cursor;
  content.SkipBlanks();
  const bool is_frame = content.rest().starts_with("0x") ||
                        content.rest().starts_with("<signal handler") ||
                        content.rest().find(" (") != std::string_view::npos;
  if (!is_frame) return false;
  if (*number == 0 || kind_ == CrashText::kNone) Start(CrashText::kGdb);
  if (current_.frames.size() >= kMostCrashItems) return true;
  NoteGap(*number);
  CrashFrame frame;
  frame.line = line.number;
  frame.text = line.text;
  joined_ = 0;
  Parse(CrashText::kGdb, frame);
  current_.frames.push_back(std::move(frame));
  return true;
}

bool DebuggerReader::ReadLldbFrame(const Line& line) {
  std::string_view text = line.text;
  if (text.starts_with("* ")) text = Trim(text.substr(2));
  Cursor cursor(text);
  if (!cursor.Skip("frame #")) return false;
  const auto number = cursor.Decimal();
  if (!number || !cursor.Skip(":")) return false;
  if (*number == 0 || kind_ == CrashText::kNone) Start(CrashText::kLldb);
  if (current_.frames.size() >= kMostCrashItems) return true;
  NoteGap(*number);
  CrashFrame frame;
  frame.line = line.number;
  frame.text = text;
  Parse(CrashText::kLldb, frame);
  current_.frames.push_back(std::move(frame));
  return true;
}

// gdb breaks its lines at the terminal's width.
bool DebuggerReader::ReadMore(const Line& line) {
  if (current_.frames.empty() || kind_ != CrashText::kGdb) return false;
  CrashFrame& frame = current_.frames.back();
  const auto open = std::count(frame.text.begin(), frame.text.end(), '(');
  const bool cut = open != std::count(frame.text.begin(), frame.text.end(), ')');
  if (!cut && !line.text.starts_with("at ") && !line.text.starts_with("from ")) return false;
  if (frame.text.size() + line.text.size() > kLongestFrame || ++joined_ > kMostJoined) return true;
  frame.text += ' ';
  frame.text += line.text;
  Parse(kind_, frame);
  return true;
}

bool DebuggerReader::ReadSignal(const Line& line, CrashReport& report) {
  const std::string_view text = line.text;
  for (const std::string_view mark :
       {"received signal SIG", "terminated with signal SIG", "stop reason = signal SIG"}) {
    Cursor cursor(text);
    if (!cursor.SkipPast(mark)) continue;
    SetIfUnknown(report.signal.name, "SIG" + std::string(cursor.Until(" ,:")), line.number);
    if (report.error == CrashError::kUnknown) report.error = CrashError::kSignal;
    Cursor address(text);
    if (address.SkipPast("fault address"))
      if ((void)(address.Skip(":") || address.Skip("=")), true)
        if (const auto value = address.Hex())
          SetIfUnknown(report.signal.address, *value, line.number);
    return true;
  }
  Cursor access(text);
  if (access.SkipPast("EXC_BAD_ACCESS (code=")) {
    SetIfUnknown(report.signal.name, "EXC_BAD_ACCESS", line.number);
    if (report.error == CrashError::kUnknown) report.error = CrashError::kSignal;
    if (access.SkipPast("address="))
      if (const auto value = access.Hex()) SetIfUnknown(report.signal.address, *value, line.number);
    return true;
  }
  return false;
}

// "rax            0x7f..   140", of gdb's "info registers"
bool DebuggerReader::ReadRegister(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  const std::string_view name = cursor.Until(" \t");
  const auto value = name.size() >= 2 && name.size() <= 6 ? cursor.Hex() : std::nullopt;
  if (!value || report.registers.size() >= 128) return false;
  for (const char c : name)
    if (!IsDigit(c) && (c < 'a' || c > 'z')) return false;
  report.registers.push_back({std::string(name), *value, line.number});
  return true;
}

bool DebuggerReader::Read(const Line& line, CrashReport& report) {
  const char first = line.text[0];
  if (first == '#' && ReadGdbFrame(line)) return true;
  if ((first == '*' || first == 'f') && ReadLldbFrame(line)) return true;
  if (line.text.starts_with("Thread ") || first == '*' || first == 'P')
    if (ReadSignal(line, report)) return true;
  if (kind_ != CrashText::kNone && ReadMore(line)) return true;
  return kind_ == CrashText::kGdb && ReadRegister(line, report);
}

CrashStack DebuggerReader::TakeStack() {
  Keep();
  return std::move(kept_);
}

}  // namespace walkhammer
