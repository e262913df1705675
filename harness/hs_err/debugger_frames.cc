// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/debugger_frames.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"

namespace walkhammer {
namespace {

std::string_view LastName(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void SetModuleOf(std::string_view path, CrashFrame& frame) {
  frame.module = LastName(Trim(path));
  const bool is_vm = frame.module.starts_with("libjvm.") || frame.module == "jvm.dll";
  frame.kind = is_vm ? CrashFrameKind::kVm : CrashFrameKind::kNative;
}

// Takes what follows the last `mark` from the end of `text`; none if there is no mark.
std::optional<std::string_view> TakeAfter(std::string_view& text, std::string_view mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view after = Trim(text.substr(at + mark.size()));
  text = Trim(text.substr(0, at));
  return after;
}

// Takes " + 12" or " + 0x1f" from the end.
std::optional<uint64_t> TakeAddend(std::string_view& text) {
  std::string_view before = text;
  const auto number = TakeAfter(before, " + ");
  if (!number) return {};
  Cursor cursor(*number);
  std::optional<uint64_t> offset = cursor.Hex();
  if (!offset) offset = cursor.Decimal();
  if (!offset || !cursor.AtEnd()) return {};
  text = before;
  return offset;
}

// Takes the file from the end: "f (a=1) at ./f.cpp:12", "f(int) /src/f.cpp:12:3".
void TakeFile(std::string_view& text, CrashFrame& frame) {
  std::optional<std::string_view> path = TakeAfter(text, " at ");
  if (!path) {
    const size_t blank = text.rfind(' ') + 1;
    if (text.substr(blank).starts_with('/')) path = TakeAfter(text, " ");
  }
  if (path) frame.source = LastName(*path);
}

// Takes the module and the pc's offset in it from the end: "(libjvm.so + 0x74c308)",
// "(/lib/libc.so.6+0x4251f) (BuildId: 11)", "(<unknown module>)", " - /lib/libc.so.6".
bool TakeModule(std::string_view& text, CrashFrame& frame) {
  if (const size_t build = text.rfind(" (BuildId:"); build != std::string_view::npos)
    text = Trim(text.substr(0, build));
  if (const auto path = TakeAfter(text, " from ")) return SetModuleOf(*path, frame), true;
  const size_t open = text.ends_with(')') ? text.rfind('(') : std::string_view::npos;
  if (open == std::string_view::npos) return false;
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  const size_t plus = inside.rfind('+');
  Cursor offset(inside.substr(plus == std::string_view::npos ? inside.size() : plus + 1));
  frame.module_offset = offset.Hex();
  if (!frame.module_offset && inside != "<unknown module>") return false;
  if (frame.module_offset && !inside.starts_with("n/a "))
    SetModuleOf(inside.substr(0, plus), frame);
  text = Trim(text.substr(0, open));
  return true;
}

// What follows the number: "0x.. in f (a=..) at ./f.cpp:12", "f (a=..) from /lib/a.so", "0x.. f
// (a.so + 0x12)", "0x.. in f(int) /src/f.cpp:12:3", "<signal handler called>"
void ParseNumbered(std::string_view text, CrashFrame& frame) {
  Cursor cursor(text);
  if (cursor.Skip("<signal handler called>")) {
    frame.kind = CrashFrameKind::kSignalHandler;
    return;
  }
  frame.kind = CrashFrameKind::kNative;
  frame.pc = cursor.Hex();
  (void)(cursor.Skip("in ") || cursor.Skip("- 1 "));
  std::string_view rest = Trim(cursor.rest());
  if (!TakeModule(rest, frame)) TakeFile(rest, frame);
  const std::string_view symbol = Trim(rest.substr(0, rest.find(" (")));
  frame.symbol = symbol == "??" || symbol == "n/a" ? std::string_view() : symbol;
}

// "libjvm.dylib`f(X*) + 12 at f.cpp:12:3 [opt] [inlined]"
void ParseLldb(std::string_view text, CrashFrame& frame) {
  Cursor cursor(text);
  frame.pc = cursor.Hex();
  cursor.SkipBlanks();
  frame.kind = CrashFrameKind::kNative;
  if (cursor.rest().find('`') == std::string_view::npos) return;
  SetModuleOf(cursor.Until("`"), frame);
  (void)cursor.Skip("`");
  std::string_view rest = Trim(cursor.rest());
  for (std::string_view mark : {"[opt]", "[inlined]", "[artificial]"}) {
    const size_t at = rest.find(mark);
    if (at == std::string_view::npos) continue;
    frame.is_inlined |= mark == "[inlined]";
    // "[inlined]" is before the function, the others are at the end.
    rest = at == 0 ? Trim(rest.substr(mark.size())) : Trim(rest.substr(0, at));
  }
  TakeFile(rest, frame);
  frame.symbol_offset = TakeAddend(rest);
  if (!rest.starts_with("___lldb_unnamed")) frame.symbol = rest;
}

bool IsFileName(std::string_view text) {
  static constexpr std::string_view kOthers = "._-+[]";
  const auto may_be = [](char c) { return IsWordChar(c) || kOthers.find(c) < kOthers.size(); };
  return !text.empty() && std::all_of(text.begin(), text.end(), may_be);
}

// "libjvm.so!f(X*) [f.cpp : 12 + 0x3]", "libjvm.so!f + 0x308", "libjvm.so + 0x74c308",
// "0x7f2a3c123456"
bool ParseMinidump(std::string_view text, CrashFrame& frame) {
  frame.kind = CrashFrameKind::kNative;
  Cursor pc(text);
  frame.pc = pc.Hex();
  if (frame.pc) return pc.AtEnd();
  const size_t bang = text.find('!');
  std::string_view module = text.substr(0, bang);
  if (bang == std::string_view::npos) frame.module_offset = TakeAddend(module);
  if (!IsFileName(module)) return false;
  SetModuleOf(module, frame);
  if (bang == std::string_view::npos) return frame.module_offset.has_value();
  std::string_view symbol = text.substr(bang + 1);
  if (const size_t open = symbol.rfind(" ["); open < symbol.size() && symbol.ends_with(']')) {
    const std::string_view inside = symbol.substr(open + 2, symbol.size() - open - 3);
    for (const char c : inside.substr(0, inside.rfind(" + ")))
      if (!IsBlank(c)) frame.source += c;
    symbol = symbol.substr(0, open);
  }
  frame.symbol_offset = TakeAddend(symbol);
  frame.symbol = symbol;
  return true;
}

// "libjvm.dylib  0x0000000104b4c9e8 f(X*) + 12 (f.cpp:12)", "???  0x00000001178f3a40 0x0 + 4690"
bool ParseApple(std::string_view text, CrashFrame& frame) {
  const size_t address = text.find(" 0x");
  const size_t tab = text.find("\t0x");
  const size_t at = std::min(address, tab);
  if (at == std::string_view::npos) return false;
  const std::string_view module = Trim(text.substr(0, at));
  if (module != "???" && !IsFileName(module)) return false;
  SetModuleOf(module, frame);
  if (module == "???") frame.module.clear();
  Cursor cursor(text.substr(at));
  frame.pc = cursor.Hex();
  std::string_view rest = Trim(cursor.rest());
  if (const size_t open = rest.rfind(" (");
      open < rest.size() && rest.find(':', open) < rest.size())
    frame.source = rest.substr(open + 2, rest.size() - open - 3), rest = rest.substr(0, open);
  const std::optional<uint64_t> offset = TakeAddend(rest);
  if (frame.pc && rest == "???") return true;
  if (!frame.pc || !offset) return false;
  // A load address in place of a function.
  const bool is_named = !rest.starts_with("0x");
  (is_named ? frame.symbol_offset : frame.module_offset) = offset;
  if (is_named) frame.symbol = rest;
  return true;
}

// "f+0x1c (0x00007F468F249A9C [libj9jit29.so+0x6a9a9c])", "(0x00007F4694100000 [libc.so.6+0x1])"
bool ParseJavacore(std::string_view text, CrashFrame& frame) {
  frame.kind = CrashFrameKind::kNative;
  const size_t open = text.rfind("(0x");
  if (open == std::string_view::npos) return false;
  Cursor place(text.substr(open + 1));
  frame.pc = place.Hex();
  if (place.Skip("[")) {
    const std::string_view module = place.Until("]+");
    (void)place.Skip("+");
    frame.module_offset = place.Hex();
    SetModuleOf(module, frame);
  }
  std::string_view symbol = Trim(text.substr(0, open));
  if (const size_t plus = symbol.rfind('+'); plus != std::string_view::npos) {
    frame.symbol_offset = Cursor(symbol.substr(plus + 1)).Hex();
    symbol = symbol.substr(0, plus);
  }
  frame.symbol = symbol;
  return frame.pc.has_value();
}

// "#1  0x..", "#1  f (a=1)", "#1  <signal handler called>"
bool IsNumbered(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("<signal handler") ||
         text.find(" (") != std::string_view::npos;
}

}  // namespace

std::optional<DebuggerFrame> ParseDebuggerFrame(std::string_view text) {
  DebuggerFrame parsed;
  CrashFrame& frame = parsed.frame;
  if (text.starts_with("* ")) text = Trim(text.substr(2));
  frame.text = text;
  Cursor cursor(text);
  if (cursor.Skip("4XENATIVESTACK")) {
    parsed.writer = CrashText::kJavacore;
    parsed.number = -1;
    if (!ParseJavacore(Trim(cursor.rest()), frame)) return {};
    return parsed;
  }
  const bool lldb = cursor.Skip("frame #"), numbered = !lldb && cursor.Skip("#");
  const auto number = cursor.Decimal();
  if (!number || *number < 0 || *number > INT32_MAX) return {};
  parsed.number = *number;
  if (lldb) {
    if (!cursor.Skip(":")) return {};
    parsed.writer = CrashText::kLldb;
    ParseLldb(cursor.rest(), frame);
    return parsed;
  }
  if (cursor.AtEnd() || !IsBlank(cursor.rest()[0])) return {};
  const std::string_view rest = Trim(cursor.rest());
  if (rest.empty()) return {};
  // Digits of a dump do not number a frame.
  if (!numbered && text.starts_with('0') && IsDigit(text[1])) return {};
  if (numbered) {
    parsed.writer = CrashText::kGdb;
    if (!IsNumbered(rest)) return {};
    ParseNumbered(rest, frame);
  } else if (ParseMinidump(rest, frame)) {
    parsed.writer = CrashText::kMinidump;
  } else {
    parsed.writer = CrashText::kApple;
    frame = {};
    frame.text = text;
    if (!ParseApple(rest, frame)) return {};
  }
  return parsed;
}

}  // namespace walkhammer
