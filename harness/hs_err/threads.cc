// SPDX-License-Identifier: Apache-2.0
// The current thread, its stack, and the lists of threads.

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

// "[0x..,0x..]" or "(0x..,0x..)" after `key`
void ReadBounds(std::string_view text, std::string_view key, CrashThread& thread) {
  Cursor cursor(text);
  if (!cursor.SkipPast(key)) return;
  const auto begin = cursor.Hex();
  if (!begin || !cursor.Skip(",")) return;
  const auto end = cursor.Hex();
  if (!end || *end <= *begin) return;
  thread.stack_begin = *begin;
  thread.stack_end = *end;
}

// JavaThread "main" daemon [_thread_in_Java, id=26513, stack(0x..,0x..) (1024K)]
// VMThread [stack: 0x..,0x..] [id=29775], as JDK 8 writes it
void ReadDescription(std::string_view text, CrashThread& thread) {
  Cursor kind(text);
  kind.SkipBlanks();
  thread.kind = Trim(kind.Until(" \"["));
  // The name may hold quotes and brackets: it ends where the last quote before the state is.
  size_t state = text.rfind("[_thread");
  if (state == std::string_view::npos) state = text.rfind("[id=");
  const size_t open = text.find('"');
  const size_t close = text.substr(0, state).rfind('"');
  if (open < close && close != std::string_view::npos) {
    thread.name = text.substr(open + 1, close - open - 1);
    thread.daemon = text.substr(close).find("daemon") != std::string_view::npos;
  }
  if (state != std::string_view::npos && text.substr(state).starts_with("[_thread")) {
    Cursor cursor(text.substr(state + 1));
    thread.state = Trim(cursor.Until(",] "));
  }
  Cursor id(text);
  if (id.SkipPast("id="))
    if (const auto value = id.Decimal()) thread.id = *value;
  ReadBounds(text, "stack(", thread);
  if (thread.stack_end == 0) ReadBounds(text, "[stack: ", thread);
}

}  // namespace

bool ReadCurrentThread(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (!cursor.Skip("Current thread")) return false;
  // What a wrapped line had lost comes with the second reading.
  CrashThread thread;
  thread.line = report.thread.line > 0 ? report.thread.line : line.number;
  thread.is_current = true;
  if (cursor.Skip("(")) thread.address = cursor.Hex().value_or(0);
  if (cursor.SkipPast(":")) {
    ReadDescription(cursor.rest(), thread);
  } else if (line.text.find("native thread") != std::string_view::npos) {
    thread.kind = "native thread";
  }
  if (thread.stack_end == 0) {
    thread.stack_begin = report.thread.stack_begin;
    thread.stack_end = report.thread.stack_end;
  }
  report.thread = std::move(thread);
  return true;
}

bool ReadStackBounds(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (!cursor.Skip("Stack: [")) return false;
  if (report.thread.stack_end == 0) ReadBounds(line.text, "[", report.thread);
  if (cursor.SkipPast("sp="))
    if (const auto sp = cursor.Hex()) SetIfUnknown(report.stack_pointer, *sp, line.number);
  return true;
}

bool ReadThread(const Line& line, CrashReport& report) {
  if (report.threads.size() >= kMostCrashItems) return false;
  Cursor cursor(line.text);
  CrashThread thread;
  thread.line = line.number;
  thread.is_current = cursor.Skip("=>");
  const auto address = cursor.Hex();
  if (!address) return false;
  thread.address = *address;
  (void)cursor.Skip("(exited)");
  ReadDescription(cursor.rest(), thread);
  // Lists of addresses alone are not threads.
  if (thread.kind.empty() || !IsLetter(thread.kind[0])) return false;
  report.threads.push_back(std::move(thread));
  return true;
}

}  // namespace walkhammer
