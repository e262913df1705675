// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/base/text.h"
#include "harness/findings/crash_error_text.h"

namespace walkhammer {
namespace {

// Entries of walkers and their callers: each crash has these, so they tell no class.
constexpr std::string_view kEntries[] = {"AsyncGetCallTrace", "AsyncGetStackTrace",
                                         "forte_fill_call_trace_given_top", "JavaMain",
                                         "thread_native_entry"};

bool IsEntry(std::string_view function) {
  return std::find(std::begin(kEntries), std::end(kEntries), function) != std::end(kEntries);
}

struct ExpectedPlace {
  std::string function;
  uint64_t offset = 0;
  bool has_offset = false;
};

// "f(X*) const+0x1f", "libjvm.so+0x12", "codelet \"x\"+0x1".
ExpectedPlace PlaceOf(std::string_view text) {
  ExpectedPlace place;
  const size_t plus = text.rfind("+0x");
  if (plus != std::string_view::npos) {
    const std::string_view digits = text.substr(plus + 3);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), place.offset, 16);
    place.has_offset = error == std::errc() && end == digits.end();
    if (place.has_offset) text = text.substr(0, plus);
  }
  place.function = ComparableFunction(text);
  return place;
}

// "guarantee(x) failed: message" -> "guarantee(x) failed"; other texts without their numbers.
std::string CheckText(std::string_view text) {
  const size_t failed = text.find(" failed");
  if (failed != std::string_view::npos) return std::string(text.substr(0, failed + 7));
  return NormalizeHex(Trim(text));
}

// The source file of "(frame.cpp:123)": "frame.cpp".
std::string FileOf(std::string_view text) {
  const size_t open = text.find('('), colon = text.find_first_of(":)", open + 1);
  if (open == std::string_view::npos || colon == std::string_view::npos) return "";
  return std::string(text.substr(open + 1, colon - open - 1));
}

struct ShownFailure {
  ExpectedPlace place;
  std::string check;
};

// "(frame.cpp:12) assert(x) failed" of failed checks, "Internal Error (frame.cpp:12) assert(x)
// failed: message frame" of deaths.
std::string CheckOf(std::string_view text) {
  const std::string file = FileOf(text);
  const size_t close = text.find(')');
  if (file.empty() || close == std::string_view::npos) return "";
  return "(" + file + ") " + CheckText(Trim(text.substr(close + 1)));
}

ShownFailure ShownFailureOf(std::string_view expect) {
  ShownFailure seen;
  const size_t space = expect.find(' ');
  if (space == std::string_view::npos) return seen;
  const std::string_view kind = expect.substr(0, space);
  std::string_view rest = Trim(expect.substr(space + 1));
  if (kind == "failed-check" || (kind == "death" && rest.starts_with("Internal Error"))) {
    seen.check = CheckOf(rest);
    return seen;
  }
  if (kind == "death" && rest.starts_with("SIG"))
    rest = Trim(rest.substr(std::min(rest.find(' '), rest.size())));
  if (const size_t from = rest.find(" from "); from != std::string_view::npos)
    rest = Trim(rest.substr(from + 6));
  if (rest.starts_with("in ")) rest = Trim(rest.substr(3));
  if (kind == "crash" || kind == "hang" || kind == "death") seen.place = PlaceOf(rest);
  return seen;
}

// The comparable functions of "libjvm.so f(X*)+0x1f" lines.
std::vector<std::string> FunctionsOf(std::string_view native) {
  std::vector<std::string> functions;
  for (const std::string& line : Split(native, '\n')) {
    const size_t space = line.find(' ');
    if (space != std::string::npos)
      functions.push_back(PlaceOf(std::string_view(line).substr(space + 1)).function);
  }
  return functions;
}

bool IsOneOf(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void SetCheck(const CrashReport& report, CrashTarget& target) {
  const CrashInternalError& internal = report.internal;
  if (internal.text.empty() && !internal.file.known()) return;
  target.check = "(" + internal.file.value + ") " + CheckText(internal.text);
  target.expect = fmt::format("failed-check ({}:{}) {}", internal.file.value,
                              internal.file_line.value, CheckText(internal.text));
}

}  // namespace

CrashTarget TargetOf(const CrashReport& report, const CrashedChain& chain) {
  CrashTarget target;
  if (report.error == CrashError::kInternal) SetCheck(report, target);
  const int blamed = BlamedFrame(chain.calls);
  if (blamed < 0) return target;
  const auto at = static_cast<size_t>(blamed);
  const CrashFrame& frame = chain.calls[at];
  target.function = ComparableFunction(frame.symbol);
  target.offset = frame.symbol_offset.value_or(0);
  target.offset_known = frame.symbol_offset.has_value() && at == 0;
  for (size_t i = at + 1; i < chain.calls.size(); i++) {
    const std::string caller = ComparableFunction(chain.calls[i].symbol);
    if (caller.empty() || IsEntry(caller)) break;
    target.callers.push_back(caller);
  }
  if (target.check.empty())
    target.expect = target.offset_known ? fmt::format("crash {}+{:#x}", frame.symbol, target.offset)
                                        : "crash " + frame.symbol;
  return target;
}

CrashTarget TargetOfExpect(std::string_view expect) {
  const ShownFailure seen = ShownFailureOf(expect);
  CrashTarget target;
  target.function = seen.place.function;
  target.offset = seen.place.offset;
  target.offset_known = seen.place.has_offset;
  target.check = seen.check;
  target.expect = expect;
  return target;
}

Closeness Compare(const CrashTarget& target, std::string_view expect, std::string_view native) {
  const ShownFailure seen = ShownFailureOf(expect);
  if (!target.check.empty()) {
    // A check may fault before it reports, so a guarded walk shows a crash in the same function.
    const bool is_there = !target.function.empty() && seen.place.function == target.function;
    if (seen.check.empty()) return is_there ? Closeness::kFunction : Closeness::kNone;
    if (seen.check == target.check)
      return expect == target.expect ? Closeness::kExact : Closeness::kFunction;
    return FileOf(seen.check) == FileOf(target.check) ? Closeness::kClass : Closeness::kNone;
  }
  if (target.function.empty() || seen.place.function.empty()) return Closeness::kNone;
  if (seen.place.function == target.function) {
    const bool exact =
        target.offset_known && seen.place.has_offset && seen.place.offset == target.offset;
    return exact ? Closeness::kExact : Closeness::kFunction;
  }
  const bool in_caller = IsOneOf(seen.place.function, target.callers);
  const bool in_callee = !IsEntry(target.function) && IsOneOf(target.function, FunctionsOf(native));
  return in_caller || in_callee ? Closeness::kClass : Closeness::kNone;
}

}  // namespace walkhammer
