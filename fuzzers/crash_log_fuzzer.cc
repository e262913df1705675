// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target for what reads and redacts crash logs, built with sanitizers: anybody's text
// is such an input. Besides passing the sanitizers, what is read must be within its bounds, and a
// redacted text must keep its lines and stay as it is when it is redacted again.
//   build/asan/crash_log_fuzzer [-runs=N] [CORPUS] harness/hs_err/testdata
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/redact.h"

namespace walkhammer {
namespace {

void Must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "crash_log_fuzzer: %s\n", what);
  std::abort();
}

template <typename T>
void MustStandIn(const std::vector<T>& items, const CrashReport& report) {
  Must(items.size() <= kMostCrashItems, "a list is too long");
  for (const T& item : items)
    Must(item.line >= 0 && item.line <= report.lines, "an item is in no line of the text");
}

void CheckStack(const CrashStack& stack, const CrashReport& report) {
  MustStandIn(stack.frames, report);
  for (const size_t i : stack.signal_frames) {
    Must(i < stack.frames.size(), "a signal frame that is none");
    Must(stack.frames[i].kind == CrashFrameKind::kSignalHandler, "a signal frame of another kind");
  }
}

void CheckReport(const CrashReport& report) {
  CheckStack(report.native_stack, report);
  CheckStack(report.java_stack, report);
  MustStandIn(report.registers, report);
  MustStandIn(report.register_pointees, report);
  MustStandIn(report.stack_pointees, report);
  MustStandIn(report.stack_words, report);
  MustStandIn(report.threads, report);
  MustStandIn(report.modules, report);
  MustStandIn(report.code_heaps, report);
  MustStandIn(report.flags, report);
  MustStandIn(report.events, report);
  MustStandIn(report.reporting_errors, report);
  MustStandIn(report.unread, report);
  Must(report.pc.line <= report.lines && report.tid.line <= report.lines, "a fact in no line");
  const bool is_nothing = report.text_kind == CrashText::kNone;
  Must(!is_nothing || report.native_stack.frames.empty(), "frames of no crash");
}

void CheckRedaction(std::string_view text) {
  const std::string once = Redact(text, nullptr);
  Must(std::count(once.begin(), once.end(), '\n') == std::count(text.begin(), text.end(), '\n'),
       "redaction changed the number of lines");
  std::vector<Redaction> done;
  Must(Redact(once, &done) == once, "a redacted text was changed again");
  Must(done.empty(), "a redacted text had something to redact");
}

}  // namespace
}  // namespace walkhammer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const walkhammer::CrashReport& report : walkhammer::ParseCrashReports(text))
    walkhammer::CheckReport(report);
  walkhammer::CheckRedaction(text);
  return 0;
}
