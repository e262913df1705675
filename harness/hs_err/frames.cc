// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/frames.h"

#include <algorithm>
#include <string>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"

namespace walkhammer {
namespace {

CrashFrameKind KindOf(char letter) {
  switch (letter) {
    case 'C':
      return CrashFrameKind::kNative;
    case 'V':
      return CrashFrameKind::kVm;
    case 'J':
      return CrashFrameKind::kCompiled;
    case 'A':
      return CrashFrameKind::kAot;
    case 'j':
      return CrashFrameKind::kInterpreted;
    case 'v':
      return CrashFrameKind::kStub;
    default:
      return CrashFrameKind::kUnknown;
  }
}

// Takes "+0x1f" from the end of `text`; "+31", too, if `decimal`.
std::optional<uint64_t> TakeOffset(std::string_view& text, bool decimal) {
  const size_t plus = text.rfind('+');
  if (plus == std::string_view::npos) return {};
  Cursor cursor(text.substr(plus + 1));
  std::optional<uint64_t> offset = cursor.Hex();
  if (!offset && decimal) offset = cursor.Decimal();
  if (!offset || !cursor.AtEnd()) return {};
  text = Trim(text.substr(0, plus));
  return offset;
}

// "  (frame.cpp:123)", "  (frame.inline.hpp:77)  (inlined)"
void TakeSource(std::string_view& text, CrashFrame& frame) {
  for (const std::string_view mark : {"(inlined)", "[inlined]"}) {
    if (!text.ends_with(mark)) continue;
    frame.is_inlined = true;
    text = Trim(text.substr(0, text.size() - mark.size()));
  }
  if (!text.ends_with(')')) return;
  const size_t open = text.rfind('(');
  const std::string_view inside =
      open == std::string_view::npos ? "" : text.substr(open + 1, text.size() - open - 2);
  const size_t colon = inside.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == inside.size() || !IsDigit(inside.back()) ||
      inside.find('.') > colon || inside.find(' ') != std::string_view::npos)
    return;
  frame.source = inside;
  text = Trim(text.substr(0, open));
}

// "[libjvm.so+0x12]  f(X*) const+0x1f  (f.cpp:12)", "0x0000000000001234"
void ParseNative(std::string_view rest, CrashFrame& frame) {
  Cursor cursor(rest);
  if (cursor.Skip("[")) {
    std::string_view inside = cursor.Until("]");
    (void)cursor.Skip("]");
    frame.module_offset = TakeOffset(inside, false);
    const size_t slash = inside.find_last_of("/\\");
    frame.module = slash == std::string_view::npos ? inside : inside.substr(slash + 1);
  } else {
    frame.pc = cursor.Hex();
  }
  std::string_view symbol = Trim(cursor.rest());
  Cursor sp(symbol);
  if (sp.Skip("sp=")) {  // JDK 6: "C  0x1234  sp=0x..."
    frame.sp = sp.Hex();
    return;
  }
  TakeSource(symbol, frame);
  frame.symbol_offset = TakeOffset(symbol, false);
  // Cut within the offset.
  for (const std::string_view begun : {"+", "+0", "+0x"})
    if (symbol.ends_with(begun)) symbol = Trim(symbol.substr(0, symbol.size() - begun.size()));
  frame.symbol = symbol;
}

// "java.base@17.0.15" and the like at the end.
void TakeJavaModule(std::string_view& text, CrashFrame& frame) {
  const size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view word = text.substr(blank + 1);
  if (word.find('@') == std::string_view::npos || word.find('(') != std::string_view::npos) return;
  frame.java_module = word;
  text = Trim(text.substr(0, blank));
}

// "a.B.c(I)V+12 java.base@17"
void ParseInterpreted(std::string_view rest, CrashFrame& frame) {
  std::string_view text = Trim(rest);
  TakeJavaModule(text, frame);
  if (const auto bci = TakeOffset(text, true)) frame.bci = static_cast<int>(*bci & 0xffffff);
  frame.symbol = text;
}

void ParseTier(Cursor& cursor, CrashFrame& frame) {
  if (cursor.Skip("%")) frame.is_osr = true;
  for (const std::string_view name : {"c1", "c2", "C1", "C2", "jvmci", "JVMCI"}) {
    Cursor ahead = cursor;
    if (!ahead.Skip(name) || !ahead.rest().starts_with(' ')) continue;
    cursor = ahead;
    for (const char c : name) frame.compiler += LowerCase(c);
  }
  if (frame.compiler == "c2") frame.tier = 4;
}

// "44% c2 a.B.c(I)V java.base@17 (55 bytes) @ 0x.. [0x..+0x..]"; JDK 6: "a.B.c(I)V"
void ParseCompiled(std::string_view rest, CrashFrame& frame) {
  Cursor cursor(rest);
  if (const auto id = cursor.Decimal()) frame.compile_id = static_cast<int>(*id & 0x7fffffff);
  ParseTier(cursor, frame);
  const std::string_view all = Trim(cursor.rest());
  const size_t bytes = all.find(" (");
  std::string_view method = Trim(all.substr(0, std::min(bytes, all.find(" @ "))));
  TakeJavaModule(method, frame);
  frame.symbol = method;
  Cursor end(all.substr(method.size()));
  if (end.SkipPast("(")) {
    if (const auto size = end.Decimal()) frame.bytecode_size = static_cast<int>(*size & 0xffffff);
    frame.is_native_wrapper = frame.bytecode_size == 0;
  }
  if (!end.SkipPast("@")) return;
  frame.pc = end.Hex();
  if (!end.Skip("[")) return;
  frame.code_begin = end.Hex();
  if (end.Skip("+")) frame.symbol_offset = end.Hex();
}

// "~StubRoutines::call_stub 0x..", "~RuntimeStub::_new_instance_Java"
void ParseStub(std::string_view rest, CrashFrame& frame) {
  std::string_view text = Trim(rest);
  if (text.starts_with('~')) text.remove_prefix(1);
  const size_t blank = text.rfind(' ');
  if (blank != std::string_view::npos) {
    Cursor cursor(text.substr(blank));
    if (const auto pc = cursor.Hex(); pc && cursor.AtEnd()) {
      frame.pc = pc;
      text = Trim(text.substr(0, blank));
    }
  }
  frame.symbol = text;
}

// True if there is a method with its descriptor, "a.B.c(I)V": printable, and a point in its name.
bool HasMethod(std::string_view rest) {
  const size_t open = rest.find('(');
  const size_t close = rest.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return false;
  for (const char c : rest.substr(0, close))
    if (static_cast<unsigned char>(c) < ' ') return false;
  static constexpr std::string_view kTypes = "BCDFIJSZ[L)";
  const std::string_view name = rest.substr(0, open);
  return name.substr(name.rfind(' ') + 1).find('.') != std::string_view::npos &&
         kTypes.find(rest[open + 1]) != std::string_view::npos;
}

}  // namespace

bool IsFrame(std::string_view line) {
  if (line.size() < 4 || !IsBlank(line[1])) return false;
  const CrashFrameKind kind = KindOf(line[0]);
  const std::string_view rest = Trim(line.substr(1));
  if (rest.empty()) return false;
  switch (kind) {
    case CrashFrameKind::kNative:
    case CrashFrameKind::kVm:
      return rest.starts_with("0x") || (rest[0] == '[' && rest.find('+') != std::string_view::npos);
    case CrashFrameKind::kCompiled:
    case CrashFrameKind::kAot:
    case CrashFrameKind::kInterpreted:
      return HasMethod(rest);
    case CrashFrameKind::kStub:
      return rest[0] == '~' || rest.find("::") != std::string_view::npos;
    default:
      return false;
  }
}

bool IsEllipsis(std::string_view line) {
  std::string_view text = line;
  while (!text.empty() && (text.front() == '[' || text.front() == '(' || text.front() == '<'))
    text.remove_prefix(1);
  if (text.starts_with("snip") || text.starts_with("\u2026")) return true;
  return text.starts_with("..") && text.find_first_not_of(".])> ") == std::string_view::npos;
}

bool IsCutFrame(std::string_view frame) {
  if (frame.empty()) return false;
  if (KindOf(frame[0]) == CrashFrameKind::kCompiled) return frame.back() != ']';
  if (KindOf(frame[0]) == CrashFrameKind::kInterpreted)
    return frame.rfind('+') == std::string_view::npos;
  if (frame.find('[') < frame.size() && frame.find(']') == std::string_view::npos) return true;
  const auto open = std::count(frame.begin(), frame.end(), '(');
  if (open != std::count(frame.begin(), frame.end(), ')')) return true;
  // A symbol without an offset: HotSpot prints both.
  return frame.back() != ']' && frame.rfind("+0x") < frame.find(']');
}

CrashFrame ParseFrame(std::string_view text, int line) {
  CrashFrame frame;
  frame.line = line;
  frame.text = text;
  if (text.empty()) return frame;
  frame.kind = KindOf(text[0]);
  const std::string_view rest = text.substr(1);
  switch (frame.kind) {
    case CrashFrameKind::kNative:
    case CrashFrameKind::kVm:
      ParseNative(rest, frame);
      break;
    case CrashFrameKind::kCompiled:
    case CrashFrameKind::kAot:
      ParseCompiled(rest, frame);
      break;
    case CrashFrameKind::kInterpreted:
      ParseInterpreted(rest, frame);
      break;
    case CrashFrameKind::kStub:
      ParseStub(rest, frame);
      break;
    default:
      break;
  }
  return frame;
}

}  // namespace walkhammer
