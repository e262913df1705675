// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/crashed_chain.h"

#include <algorithm>
#include <array>
#include <span>

#include "harness/elf/symbolizer.h"

namespace walkhammer {
namespace {

bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// What runs between a crash and the end of the process.
bool HandlesCrash(const CrashFrame& frame) {
  static constexpr std::array<std::string_view, 12> kHandlers = {"VMError::",
                                                                 "report_vm_error",
                                                                 "report_fatal",
                                                                 "os::abort",
                                                                 "abort",
                                                                 "raise",
                                                                 "JVM_handle_linux_signal",
                                                                 "PosixSignals::",
                                                                 "crash_handler",
                                                                 "javaSignalHandler",
                                                                 "signalHandler",
                                                                 "JVM_handle_bsd_signal"};
  return StartsWithAny(ComparableFunction(frame.symbol), kHandlers);
}

bool IsSignal(const CrashFrame& frame) { return frame.kind == CrashFrameKind::kSignalHandler; }

bool IsGenerated(const CrashFrame& frame) {
  return frame.is_java() || frame.kind == CrashFrameKind::kStub;
}

// Index of the first frame after those that handled the crash.
size_t FirstOfCrash(const std::vector<CrashFrame>& frames) {
  size_t first = 0;
  bool handled = false;
  for (size_t i = 0; i < frames.size() && !IsGenerated(frames[i]); i++) {
    if (HandlesCrash(frames[i])) {
      handled = true;
      first = i + 1;
    } else if (handled && IsSignal(frames[i])) {
      return i + 1;
    } else if (handled && !IsRuntimeModule(frames[i].module)) {
      break;
    }
  }
  return handled ? first : 0;
}

// The frame that crashed may itself be Java code.
bool EndsCalls(const std::vector<CrashFrame>& frames, size_t at, size_t first) {
  return IsSignal(frames[at]) || (IsGenerated(frames[at]) && at > first);
}

std::string WithoutTemplateArguments(std::string_view name) {
  std::string plain;
  int depth = 0;
  const bool is_operator = name.find("operator") != std::string_view::npos;
  for (const char c : name) {
    if (c == '<' && !is_operator) depth++;
    if (depth == 0) plain += c;
    if (c == '>' && !is_operator && depth > 0) depth--;
  }
  return plain;
}

}  // namespace

bool IsRuntimeModule(std::string_view module) {
  static constexpr std::array<std::string_view, 13> kRuntime = {
      "libc.so",  "libc-",     "libm.so",   "libm-", "libpthread", "ld-linux",   "ld-musl",
      "libgcc_s", "libstdc++", "libsystem", "[vdso", "linux-vdso", "libplatform"};
  return StartsWithAny(module, kRuntime);
}

std::string ComparableFunction(std::string_view symbol) {
  return WithoutTemplateArguments(FunctionBase(symbol));
}

CrashedChain ChainOf(const CrashReport& report) {
  CrashedChain chain;
  const std::vector<CrashFrame>& frames = report.native_stack.frames;
  const size_t first = FirstOfCrash(frames);
  size_t end = std::min(first, frames.size());
  while (end < frames.size() && !EndsCalls(frames, end, first)) end++;
  chain.calls.assign(frames.begin() + static_cast<std::ptrdiff_t>(first),
                     frames.begin() + static_cast<std::ptrdiff_t>(end));
  for (; end < frames.size(); end++) {
    if (IsSignal(frames[end])) {
      chain.in_signal_handler = true;
    } else {
      chain.interrupted.push_back(frames[end]);
    }
  }
  if (chain.calls.empty() && report.problematic_frame)
    chain.calls.push_back(*report.problematic_frame);
  if (chain.interrupted.empty()) chain.interrupted = report.java_stack.frames;
  chain.is_partial = chain.calls.size() < 2 || report.native_stack.truncated;
  return chain;
}

int BlamedFrame(const std::vector<CrashFrame>& calls) {
  for (size_t i = 0; i < calls.size(); i++)
    if (!calls[i].symbol.empty() && !IsRuntimeModule(calls[i].module)) return static_cast<int>(i);
  return -1;
}

}  // namespace walkhammer
