// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/crashed_chain.h"

#include <algorithm>
#include <span>

#include "harness/elf/demangle.h"
#include "harness/elf/symbolizer.h"

namespace walkhammer {
namespace {

bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// "raise" of "__GI_raise", "clone3" of "__clone3": the C library has its functions by several
// names.
std::string_view PlainName(std::string_view name) {
  if (name.starts_with("__GI_")) name.remove_prefix(5);
  if (name.starts_with("__")) name.remove_prefix(2);
  return name;
}

// What runs between a crash and the end of the process.
bool HandlesCrash(const CrashFrame& frame) {
  static constexpr std::string_view kHandlers[] = {
      "VMError::",
      "report_vm_error",
      "report_fatal",
      "os::abort",
      "os::die",
      "abort",
      "raise",
      "gsignal",
      "pthread_kill",
      "JVM_handle_linux_signal",
      "JVM_handle_bsd_signal",
      "PosixSignals::",
      "crash_handler",
      "javaSignalHandler",
      "signalHandler",
  };
  return StartsWithAny(PlainName(ComparableFunction(frame.symbol)), kHandlers);
}

// Functions that nothing calls, or only what starts a thread or Java code.
bool IsStart(const CrashFrame& frame) {
  static constexpr std::string_view kStarts[] = {
      "thread_native_entry",
      "java_start",
      "Thread::call_run",
      "JavaThread::thread_main_inner",
      "JavaCalls::call",
      "JavaCalls::call_helper",
      "call_stub",
      "JavaMain",
      "ThreadJavaMain",
      "main",
      "start_thread",
      "clone",
      "clone3",
      "_pthread_start",
      "_pthread_body",
      "thread_start",
      "BaseThreadInitThunk",
      "RtlUserThreadStart",
      "_start",
  };
  const std::string whole = ComparableFunction(frame.symbol);
  const std::string_view name = PlainName(whole);
  return std::find(std::begin(kStarts), std::end(kStarts), name) != std::end(kStarts) ||
         name.starts_with("libc_start_");
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

// The C library has no name for where it starts a thread, nor for its return from a signal. Where a
// log's stack ends there, the calls before it are all that there are.
bool IsUnnamedStart(const CrashReport& report, size_t at) {
  const std::vector<CrashFrame>& frames = report.native_stack.frames;
  const CrashFrame& frame = frames[at];
  const bool goes_on = report.text_kind == CrashText::kHsErr && report.lines > frame.line + 1;
  return goes_on && at > 0 && at + 1 == frames.size() && frame.symbol.empty() &&
         IsRuntimeModule(frame.module) && !IsRuntimeModule(frames[at - 1].module);
}

bool IsNativeMethod(const CrashFrame& frame) {
  return frame.is_native_wrapper ||
         (frame.kind == CrashFrameKind::kInterpreted && frame.bci.value_or(1) == 0);
}

// Sets what the calls frames[first, end) end in, and whether all before it is given.
void FindEnd(const CrashReport& report, size_t first, size_t end, CrashedChain& chain) {
  const CrashStack& stack = report.native_stack;
  size_t last = end;  // index of the frame that ends the calls
  if (end < stack.frames.size()) {
    // A signal does not call the C library, nor does Java code but by a native method, whose
    // library may keep no frame: the caller is missing.
    const bool is_called = end > first && (!IsRuntimeModule(stack.frames[end - 1].module) ||
                                           IsNativeMethod(stack.frames[end]));
    if (is_called) chain.end = IsSignal(stack.frames[end]) ? ChainEnd::kSignal : ChainEnd::kJava;
  }
  for (size_t i = first; i < end && chain.end == ChainEnd::kNone; i++) {
    const CrashFrame& frame = stack.frames[i];
    const bool is_cut = frame.line >= report.lines && !frame.symbol_offset && frame.line > 0 &&
                        report.text_kind != CrashText::kGdb && report.text_kind != CrashText::kLldb;
    if ((!IsStart(frame) || is_cut) && !IsUnnamedStart(report, i)) continue;
    chain.end = ChainEnd::kStart;
    last = i;
  }
  if (!chain.calls.empty() && chain.calls.front().is_java()) chain.end = ChainEnd::kJava;
  chain.has_gap = stack.gap && *stack.gap > first && *stack.gap <= last;
}

// The frame at the top may be cut where the text ends; the head of the log has it in full.
void MendTop(const CrashReport& report, CrashedChain& chain) {
  if (!report.problematic_frame) return;
  const CrashFrame& head = *report.problematic_frame;
  if (chain.calls.empty() && !HandlesCrash(head)) chain.calls.push_back(head);
  if (chain.calls.empty()) return;
  const std::string& top = chain.calls.front().text;
  if (top.size() < head.text.size() && !top.empty() && head.text.starts_with(top))
    chain.calls.front() = head;
}

// A mangled name of an untrusted text may repeat parts of itself, each of which repeats others: a
// line of such becomes gigabytes. Functions repeat a few.
std::string DemangledOfText(std::string_view symbol) {
  constexpr int kMostRepeats = 24;
  constexpr size_t kLongest = 1024;
  int repeats = 0;
  for (size_t i = 0; i + 1 < symbol.size(); i++) {
    const char next = symbol[i + 1];
    const bool is_number =
        next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z');
    repeats += (symbol[i] == 'S' || symbol[i] == 'T') && is_number ? 1 : 0;
  }
  if (repeats > kMostRepeats || symbol.size() > kLongest) return std::string(symbol);
  return Demangle(symbol);
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

// The path of a library by its name; empty if the report's map of the process lacks it.
std::string PathOf(const CrashReport& report, std::string_view module) {
  if (module.empty()) return "";
  for (const CrashModule& mapped : report.modules) {
    const std::string_view path = mapped.path;
    if (path.starts_with('/') && path.substr(path.rfind('/') + 1) == module) return mapped.path;
  }
  return "";
}

}  // namespace

bool IsRuntimeModule(std::string_view module) {
  static constexpr std::string_view kRuntime[] = {
      "libc.so",  "libc-",     "libm.so",   "libm-", "libpthread", "ld-linux",   "ld-musl",
      "libgcc_s", "libstdc++", "libsystem", "[vdso", "linux-vdso", "libplatform"};
  return StartsWithAny(module, kRuntime);
}

bool IsLibjvmFrame(const CrashFrame& frame) {
  return frame.kind == CrashFrameKind::kVm || frame.module.starts_with("libjvm.") ||
         frame.module == "jvm.dll";
}

std::string ComparableFunction(std::string_view symbol) {
  return WithoutTemplateArguments(FunctionBase(DemangledOfText(symbol)));
}

CrashedChain ChainOf(const CrashReport& report) {
  CrashedChain chain;
  const std::vector<CrashFrame>& frames = report.native_stack.frames;
  const size_t first = FirstOfCrash(frames);
  size_t end = std::min(first, frames.size());
  while (end < frames.size() && !EndsCalls(frames, end, first)) end++;
  chain.calls.assign(frames.begin() + static_cast<std::ptrdiff_t>(first),
                     frames.begin() + static_cast<std::ptrdiff_t>(end));
  const size_t made = end - first;
  for (; end < frames.size(); end++) {
    if (IsSignal(frames[end])) {
      chain.in_signal_handler = true;
    } else {
      chain.interrupted.push_back(frames[end]);
    }
  }
  MendTop(report, chain);
  for (CrashFrame& frame : chain.calls) {
    if (frame.is_java()) continue;
    frame.symbol = DemangledOfText(frame.symbol);
    if (!IsLibjvmFrame(frame) && !IsRuntimeModule(frame.module))
      frame.library = PathOf(report, frame.module);
  }
  if (chain.interrupted.empty()) chain.interrupted = report.java_stack.frames;
  chain.only_report = chain.calls.empty() && first > 0;
  FindEnd(report, first, first + made, chain);
  return chain;
}

int BlamedFrame(const std::vector<CrashFrame>& calls) {
  for (size_t i = 0; i < calls.size(); i++)
    if (!calls[i].symbol.empty() && !IsRuntimeModule(calls[i].module)) return static_cast<int>(i);
  return -1;
}

}  // namespace walkhammer
