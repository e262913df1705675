// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/crash_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/hs_err/json_text.h"
#include "harness/hs_err/lines.h"
#include "harness/hs_err/parser.h"
#include "harness/hs_err/prefixes.h"

namespace walkhammer {
namespace {

// What stands in this order in a log of any version.
constexpr std::string_view kInOrder[] = {"A fatal error has been detected by",
                                         "Problematic frame:",
                                         "T H R E A D",
                                         "P R O C E S S",
                                         "Dynamic libraries:",
                                         "S Y S T E M",
                                         "vm_info:"};

// True if the lines stand from the last to the first, as some trackers show them.
bool IsBackwards(std::string_view text) {
  int forwards = 0, backwards = 0;
  size_t last = 0;
  bool any = false;
  for (const std::string_view mark : kInOrder) {
    const size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    if (any) (at > last ? forwards : backwards)++;
    last = at;
    any = true;
  }
  return backwards > forwards;
}

// The part of a long text that is read: from a bit before the first mark of a crash.
std::string_view Window(std::string_view text) {
  if (text.size() <= kMostCrashText) return text;
  const size_t first = FirstCrashMark(text);
  if (first == std::string_view::npos) return text.substr(0, kMostCrashText);
  constexpr size_t kBefore = 64 << 10;
  return text.substr(first - std::min(first, kBefore), kMostCrashText);
}

int CountEnds(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// What the text holds, if it is JSON, which may hold JSON itself; `inner` owns it.
std::string_view Unwrapped(std::string_view text, std::string& inner) {
  constexpr int kMostNested = 4;
  for (int i = 0; i < kMostNested; i++) {
    std::optional<std::string> found = TextInJson(text);
    if (!found) break;
    inner = std::move(*found);
    text = inner;
  }
  return text;
}

// The reports of the crashes in a text, `most` at most; at least one.
std::vector<CrashReport> Parse(std::string_view wrapped, size_t most) {
  std::string inner;
  const std::string_view text = Unwrapped(wrapped, inner);
  const std::string_view window = Window(text);
  const size_t begin = static_cast<size_t>(window.data() - text.data());
  const int before = CountEnds(text.substr(0, begin)), within = CountEnds(window);
  CrashReport none;
  none.lines = before + within + CountEnds(text.substr(begin + window.size()));
  if (!text.empty() && text.back() != '\n') none.lines++;
  if (window.size() < text.size())
    none.unread.push_back({"a part of the text", "it is too long", before + within + 1});
  std::vector<CrashReport> reports(1, none);
  auto parser = std::make_unique<Parser>(reports.back());
  LineReader lines(window, IsBackwards(window));
  Line line;
  while (lines.Next(line)) {
    line.number += before;
    if (parser->Read(line)) continue;
    if (reports.size() >= most) break;
    parser->Finish();
    reports.push_back(none);
    parser = std::make_unique<Parser>(reports.back());
    (void)parser->Read(line);
  }
  parser->Finish();
  return reports;
}

}  // namespace

std::optional<uint64_t> CrashReport::Register(std::string_view name) const {
  for (const CrashRegister& reg : registers)
    if (reg.name == name) return reg.value;
  return {};
}

std::optional<uint64_t> CrashReport::sp() const {
  if (stack_pointer.known()) return stack_pointer.value;
  return {};
}

std::optional<uint64_t> CrashReport::fp() const {
  return Register(arch == CrashArch::kAarch64 ? "x29" : "rbp");
}

CrashReport ParseCrashReport(std::string_view text) { return std::move(Parse(text, 1)[0]); }

std::vector<CrashReport> ParseCrashReports(std::string_view text) {
  std::vector<CrashReport> reports = Parse(text, kMostCrashReports);
  // A log, and then its head again, from the console.
  const auto is_told = [&](const CrashReport& later) {
    return later.native_stack.frames.empty() && later.pid.value == reports[0].pid.value &&
           later.pc.value == reports[0].pc.value;
  };
  reports.erase(std::remove_if(reports.begin() + 1, reports.end(), is_told), reports.end());
  return reports;
}

}  // namespace walkhammer
