// SPDX-License-Identifier: Apache-2.0
// What registers and stack slots point to (os::print_location).
#include <algorithm>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestPointee = 4 << 10;

struct Phrase {
  std::string_view text;
  PointeeKind kind;
};

// In order: the first that occurs in the first line tells the kind.
constexpr Phrase kPhrases[] = {
    {"{method}", PointeeKind::kMethod},
    {"to unknown location", PointeeKind::kUnknown},
    {" is null", PointeeKind::kNull},
    {" is NULL", PointeeKind::kNull},
    {"into the stack for thread", PointeeKind::kStack},
    {"(nmethod*)", PointeeKind::kNmethod},
    {"Interpreter codelet", PointeeKind::kCodelet},
    {" in a stub", PointeeKind::kStub},
    {"vtable stub", PointeeKind::kStub},
    {"AdapterHandler", PointeeKind::kStub},
    {"adapter blob", PointeeKind::kStub},
    {"StubRoutines::", PointeeKind::kStub},
    {"RuntimeStub", PointeeKind::kStub},
    {"RuntimeBlob", PointeeKind::kStub},
    {"BufferBlob", PointeeKind::kStub},
    {" is at code_begin+", PointeeKind::kStub},
    {"jni handle", PointeeKind::kJniHandle},
    {"pointer to class", PointeeKind::kClass},
    {"InstanceKlass", PointeeKind::kClass},
    {" is an oop", PointeeKind::kHeapOop},
    {"pointing into object", PointeeKind::kHeapOop},
    {"heap location", PointeeKind::kHeapOop},
    {"compressed pointer to object", PointeeKind::kHeapOop},
    {"into metadata", PointeeKind::kMetadata},
    {" is a thread", PointeeKind::kThread},
    {"readable memory", PointeeKind::kMemory},
    {"unallocated", PointeeKind::kUnreadable},
    {"unreadable", PointeeKind::kUnreadable},
    {"protection zone", PointeeKind::kUnreadable},
};

// "'chain' '(I)V' in 'a/B'" -> "a.B.chain(I)V"
std::string MethodName(std::string_view text) {
  Cursor cursor(text);
  std::string parts[3];
  for (std::string& part : parts) {
    if (!cursor.SkipPast("'")) return {};
    part = cursor.Until("'");
    if (!cursor.Skip("'")) return {};
  }
  std::replace(parts[2].begin(), parts[2].end(), '/', '.');
  return parts[2] + "." + parts[0] + parts[1];
}

// "0x..: <offset 0x..> in /lib/a.so at 0x..", "0x..: f+0x13 in /lib/a.so at 0x.."
bool ReadLibrary(std::string_view text, CrashPointee& pointee) {
  Cursor cursor(text);
  if (!cursor.Hex() || !cursor.Skip(":")) return false;
  const std::string_view rest = Trim(cursor.rest());
  const size_t in = rest.find(" in ");
  if (in == std::string_view::npos) return false;
  const size_t at = rest.rfind(" at 0x");
  const bool has_base = at != std::string_view::npos && at >= in + 4;
  pointee.kind = PointeeKind::kLibrary;
  pointee.name = rest.substr(in + 4, has_base ? at - in - 4 : std::string_view::npos);
  if (has_base) pointee.base = Cursor(rest.substr(at + 4)).Hex();
  std::string_view symbol = Trim(rest.substr(0, in));
  Cursor offset(symbol);
  if (offset.Skip("<offset")) {
    pointee.offset = offset.Hex();
    return true;
  }
  const size_t plus = symbol.rfind('+');
  if (plus != std::string_view::npos) {
    Cursor number(symbol.substr(plus + 1));
    pointee.offset = number.Hex();
    if (!pointee.offset) pointee.offset = number.Decimal();  // JDK 8: "+0"
    symbol = symbol.substr(0, plus);
  }
  pointee.symbol = symbol;
  return true;
}

// "is at entry_point+76 in ..": an nmethod may be entered before its entry point, too.
void ReadBlobOffset(std::string_view text, CrashPointee& pointee) {
  for (const std::string_view mark : {"entry_point+", "code_begin+", "begin+"}) {
    Cursor cursor(text);
    if (!cursor.SkipPast(mark)) continue;
    const auto offset = cursor.Decimal(true);
    if (offset && *offset >= 0) pointee.offset = static_cast<uint64_t>(*offset);
    return;
  }
}

void ReadKind(std::string_view text, CrashPointee& pointee) {
  if (ReadLibrary(text, pointee)) return;
  for (const Phrase& phrase : kPhrases) {
    if (text.find(phrase.text) == std::string_view::npos) continue;
    pointee.kind = phrase.kind;
    break;
  }
  Cursor cursor(text);
  switch (pointee.kind) {
    case PointeeKind::kMethod:
      pointee.name = MethodName(text);
      if (cursor.SkipPast("{method} {")) pointee.base = cursor.Hex();
      break;
    case PointeeKind::kNmethod:
      if (cursor.SkipPast("(nmethod*)")) pointee.base = cursor.Hex();
      ReadBlobOffset(text, pointee);
      break;
    case PointeeKind::kCodelet:
    case PointeeKind::kStub:
      ReadBlobOffset(text, pointee);
      if (cursor.SkipPast("StubRoutines::")) pointee.name = Trim(cursor.Until(" ["));
      break;
    case PointeeKind::kStack:
      if (cursor.SkipPast("thread:")) pointee.base = cursor.Hex();
      break;
    case PointeeKind::kThread:
      pointee.base = pointee.value;
      break;
    case PointeeKind::kHeapOop:
    case PointeeKind::kClass:
      if (cursor.SkipPast("is an oop:") || cursor.SkipPast("into object:") ||
          cursor.SkipPast("to class:"))
        pointee.name = Trim(cursor.rest());
      break;
    default:
      break;
  }
}

// Lines after the first name what it left open.
void ReadMore(std::string_view text, CrashPointee& pointee) {
  if (pointee.kind == PointeeKind::kNmethod && pointee.name.empty() &&
      text.starts_with("Compiled method")) {
    // "Compiled method (c1)     232   23 % !   3       Crash::main @ 155 (307 bytes)"
    std::string_view name = text.substr(0, text.rfind(" ("));
    name = Trim(name.substr(0, name.find(" @ ")));
    const size_t blank = name.rfind(' ');
    std::string method(name.substr(blank == std::string_view::npos ? 0 : blank + 1));
    if (const size_t colons = method.find("::"); colons != std::string::npos)
      method.replace(colons, 2, ".");
    pointee.name = method;
  }
  const bool names_blob =
      pointee.kind == PointeeKind::kCodelet || pointee.kind == PointeeKind::kStub;
  if (!names_blob || pointee.base) return;
  const size_t bounds = text.find("[0x");
  if (bounds == std::string_view::npos) return;
  std::string_view name = text.substr(0, bounds);
  if (name.find("->") != std::string_view::npos) name = {};
  if (pointee.name.empty()) pointee.name = Trim(name);
  pointee.base = Cursor(text.substr(bounds + 1)).Hex();
}

// True if the first line may have been wrapped before it said what there is.
bool IsCut(const CrashPointee& pointee) {
  switch (pointee.kind) {
    case PointeeKind::kUnknown:
      return pointee.text.find("unknown ") == std::string::npos;
    case PointeeKind::kLibrary:
      return !pointee.base;
    case PointeeKind::kMethod:
      return pointee.name.empty();
    default:
      return false;
  }
}

// Reads the lines so far as one.
void Rejoin(CrashPointee& pointee) {
  std::string whole = pointee.text;
  std::replace(whole.begin(), whole.end(), '\n', ' ');
  // JDK 6 tells the value alone, and in the next line the value and what it is.
  Cursor value(whole);
  (void)value.Hex();
  if (Cursor again = value; again.Hex() == pointee.value) whole = Trim(value.rest());
  pointee.symbol.clear();
  pointee.offset.reset();
  ReadKind(whole, pointee);
}

// "RAX=..", "R8 =..", "stack at sp + 3 slots: .."; returns what is behind it.
std::optional<std::string_view> BeginOf(std::string_view text, bool stack, CrashPointee& pointee) {
  Cursor cursor(text);
  if (stack) {
    if (!cursor.Skip("stack at sp + ")) return {};
    const auto slot = cursor.Decimal();
    if (!slot || *slot > 4096 || !cursor.SkipPast(":")) return {};
    pointee.slot = static_cast<int>(*slot);
    return Trim(cursor.rest());
  }
  std::string name;
  for (const char c : text.substr(0, 7)) {
    if (!IsWordChar(c)) break;
    name += LowerCase(c);
  }
  Cursor value(text.substr(name.size()));
  if (name.empty() || name.size() > 6 || !value.Skip("=")) return {};
  pointee.register_name = name;
  return Trim(value.rest());
}

}  // namespace

bool ReadPointee(const Line& line, bool stack, CrashReport& report) {
  std::vector<CrashPointee>& all = stack ? report.stack_pointees : report.register_pointees;
  CrashPointee pointee;
  const auto text = BeginOf(line.text, stack, pointee);
  if (!text) {
    if (all.empty() || all.back().text.size() + line.text.size() > kLongestPointee) return false;
    all.back().text += '\n';
    all.back().text += line.text;
    constexpr size_t kLongestWrapped = 1024;
    if (IsCut(all.back()) && all.back().text.size() < kLongestWrapped) {
      Rejoin(all.back());
    } else {
      ReadMore(line.text, all.back());
    }
    return true;
  }
  if (all.size() >= kMostCrashItems) return false;
  pointee.line = line.number;
  pointee.text = *text;
  Cursor value(*text);
  (void)value.Skip("{method} {");
  if (const auto number = value.Hex()) {
    pointee.value = *number;
  } else if (const auto word = value.Decimal()) {
    pointee.value = static_cast<uint64_t>(*word);  // "2118 is a compressed pointer to class"
  }
  ReadKind(*text, pointee);
  all.push_back(std::move(pointee));
  return true;
}

}  // namespace walkhammer
