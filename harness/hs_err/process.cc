// SPDX-License-Identifier: Apache-2.0
// What a log tells of the process: modules, code cache, flags, events, and single facts.
#include <algorithm>
#include <charconv>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

constexpr size_t kLongestEvent = 4 << 10;

// Bare hexadecimal digits up to `end`.
std::optional<uint64_t> HexUpTo(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "7f00-7f01 r-xp 00001000 08:01 123   /lib/a.so"
bool ReadMapsLine(const Line& line, CrashModule& module) {
  Cursor cursor(line.text);
  const auto begin = HexUpTo(cursor.Until("-"));
  if (!begin || !cursor.Skip("-")) return false;
  const auto end = HexUpTo(cursor.Until(" "));
  if (!end || *end < *begin) return false;
  cursor.SkipBlanks();
  module.begin = *begin;
  module.end = *end;
  module.access = cursor.Until(" ");
  if (module.access.size() != 4) return false;
  cursor.SkipBlanks();
  module.file_offset = HexUpTo(cursor.Until(" ")).value_or(0);
  for (int i = 0; i < 2; i++) {  // device, inode
    cursor.SkipBlanks();
    (void)cursor.Until(" \t");
  }
  module.path = Trim(cursor.rest());
  return true;
}

// "0x0000000104b4c000 \t/lib/a.dylib", "0x.. - 0x.. \tC:\\a.dll"
bool ReadLoadAddress(const Line& line, CrashModule& module) {
  Cursor cursor(line.text);
  const auto begin = cursor.Hex();
  if (!begin) return false;
  module.begin = *begin;
  if (cursor.Skip("-")) module.end = cursor.Hex().value_or(0);
  module.path = Trim(cursor.rest());
  return !module.path.empty() && module.path.find_first_of("/\\") != std::string::npos;
}

struct Fact {
  std::string_view prefix;
  Reported<std::string> CrashReport::*field;
};
constexpr Fact kFacts[] = {
    {"Command Line:", &CrashReport::command_line}, {"jvm_args:", &CrashReport::command_line},
    {"java_command:", &CrashReport::java_command}, {"VM state:", &CrashReport::vm_state},
    {"VM_Operation ", &CrashReport::vm_operation}, {"time:", &CrashReport::time},
};

struct HeapWord {
  std::string_view text;
  const char* gc;
};
constexpr HeapWord kHeaps[] = {{"garbage-first heap", "g1"},
                               {"PSYoungGen", "parallel"},
                               {"def new generation", "serial"},
                               {"par new generation", "cms"},
                               {"Shenandoah Heap", "shenandoah"},
                               {"ZHeap", "z"},
                               {"DefNew", "serial"}};

void ReadElapsed(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (!cursor.SkipPast("elapsed time:")) return;
  cursor.SkipBlanks();
  double seconds = 0;
  const std::string_view rest = cursor.rest();
  if (std::from_chars(rest.data(), rest.data() + rest.size(), seconds).ec == std::errc())
    SetIfUnknown(report.elapsed_seconds, seconds, line.number);
}

}  // namespace

bool ReadModule(const Line& line, CrashReport& report) {
  if (report.modules.size() >= kMostCrashItems) return false;
  CrashModule module;
  if (!ReadMapsLine(line, module)) {
    module = {};
    if (!ReadLoadAddress(line, module)) return false;
  }
  module.line = line.number;
  report.modules.push_back(std::move(module));
  return true;
}

bool ReadCodeHeap(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (cursor.Skip("CodeHeap '")) {
    CrashCodeHeap heap;
    heap.name = cursor.Until("'");
    heap.line = line.number;
    if (report.code_heaps.size() < 64) report.code_heaps.push_back(std::move(heap));
    return true;
  }
  if (cursor.Skip("CodeCache:")) {
    if (report.code_heaps.empty()) report.code_heaps.push_back({"CodeCache", 0, 0, 0, line.number});
    return true;
  }
  if (!cursor.Skip("bounds [") || report.code_heaps.empty() || report.code_heaps.back().end != 0)
    return false;
  CrashCodeHeap& heap = report.code_heaps.back();
  heap.begin = cursor.Hex().value_or(0);
  (void)cursor.Skip(",");
  heap.committed_end = cursor.Hex().value_or(0);
  (void)cursor.Skip(",");
  heap.end = cursor.Hex().value_or(0);
  return true;
}

bool ReadFlag(const Line& line, CrashReport& report) {
  if (report.flags.size() >= kMostCrashItems) return false;
  Cursor cursor(line.text);
  const std::string_view type = cursor.Until(" ");
  cursor.SkipBlanks();
  const std::string_view name = cursor.Until(" ={");
  if (type.empty() || name.empty() || !IsLetter(type[0]) || !IsLetter(name[0])) return false;
  if (!cursor.Skip(":=") && !cursor.Skip("=")) return false;
  std::string_view value = Trim(cursor.rest());
  CrashFlag flag;
  flag.name = name;
  const size_t open = value.rfind('{');
  if (open != std::string_view::npos && value.ends_with('}')) {
    flag.origin = Trim(value.substr(open + 1, value.size() - open - 2));
    value = Trim(value.substr(0, value.find('{')));
  }
  flag.value = value;
  flag.line = line.number;
  report.flags.push_back(std::move(flag));
  return true;
}

bool ReadEvent(const Line& line, const std::string& log, CrashReport& report) {
  Cursor cursor(line.text);
  if (!cursor.Skip("Event:")) {
    if (report.events.empty() || report.events.back().log != log) return false;
    std::string& text = report.events.back().text;
    if (text.size() + line.text.size() > kLongestEvent) return false;
    text += '\n';
    text += line.text;
    return true;
  }
  if (report.events.size() >= kMostCrashItems) return false;
  CrashEvent event;
  event.log = log;
  event.line = line.number;
  cursor.SkipBlanks();
  const std::string_view rest = cursor.rest();
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), event.seconds);
  if (error != std::errc()) return false;
  Cursor after(rest.substr(static_cast<size_t>(end - rest.data())));
  if (after.Skip("Thread ")) event.thread = after.Hex().value_or(0);
  event.text = Trim(after.rest());
  report.events.push_back(std::move(event));
  return true;
}

bool ReadFact(const Line& line, CrashReport& report) {
  for (const Fact& fact : kFacts) {
    if (!line.text.starts_with(fact.prefix)) continue;
    const std::string_view rest = Trim(line.text.substr(fact.prefix.size()));
    // The word "VM_Operation" is a part of what it tells.
    if (!rest.empty())
      SetIfUnknown(report.*fact.field, fact.prefix.ends_with(':') ? rest : line.text, line.number);
    return true;
  }
  if (line.text.starts_with("Time: ")) {
    const size_t elapsed = line.text.find("elapsed time:");
    const size_t size = std::min(elapsed, line.text.size()) - 6;
    SetIfUnknown(report.time, Trim(line.text.substr(6, size)), line.number);
    ReadElapsed(line, report);
    return true;
  }
  if (line.text.starts_with("elapsed time:")) {
    ReadElapsed(line, report);
    return true;
  }
  for (const HeapWord& heap : kHeaps)
    if (line.text.starts_with(heap.text)) SetIfUnknown(report.gc, heap.gc, line.number);
  return false;
}

bool ReadReportingError(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  const bool timed_out =
      line.text.find("[timeout occurred during error reporting") < line.text.size();
  if (!timed_out && !cursor.SkipPast("[error occurred during error reporting")) return false;
  if (timed_out) (void)cursor.SkipPast("[timeout occurred during error reporting");
  if (report.reporting_errors.size() >= 256) return true;
  CrashReportingError error;
  error.line = line.number;
  if (cursor.Skip("(")) {
    // The step's name may hold parentheses.
    const std::string_view rest = cursor.rest();
    const size_t close = std::min(rest.find("), id"), rest.rfind(')'));
    error.step = rest.substr(0, close);
    if (close < rest.size()) error.error = Trim(rest.substr(close + 1));
  } else {
    error.error = Trim(cursor.rest());
  }
  while (!error.error.empty() && (error.error[0] == ',' || error.error[0] == ' '))
    error.error.erase(0, 1);
  if (error.error.ends_with(']')) error.error.pop_back();
  if (timed_out && error.error.empty()) error.error = "timeout";
  report.reporting_errors.push_back(std::move(error));
  return true;
}

}  // namespace walkhammer
