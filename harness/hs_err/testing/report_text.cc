// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/testing/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace walkhammer {
namespace {

constexpr const char* kTexts[] = {"none", "hs_err", "gdb", "lldb", "stack"};
constexpr const char* kErrors[] = {"unknown", "signal", "internal", "out-of-memory", "heap-full"};
constexpr const char* kArchs[] = {"unknown", "x86_64", "aarch64", "x86",
                                  "arm",     "ppc64",  "s390x",   "riscv64"};
constexpr const char* kSystems[] = {"unknown", "linux", "macos", "windows", "other"};
constexpr const char* kFrames[] = {"unknown", "native",      "vm",   "compiled",
                                   "aot",     "interpreted", "stub", "signal"};
constexpr const char* kPointees[] = {"unknown", "null", "unreadable", "memory",  "thread",
                                     "stack",   "oop",  "method",     "class",   "metadata",
                                     "nmethod", "stub", "codelet",    "library", "jni-handle"};

class Text {
 public:
  template <typename... T>
  void Line(int line, fmt::format_string<T...> format, T&&... args) {
    fmt::format_to(std::back_inserter(text_), "{:>5}  ", line);
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(args)...);
    text_ += '\n';
  }
  template <typename T>
  void Item(const char* name, const Told<T>& told) {
    if (told.told()) Line(told.line, "{}: {}", name, told.value);
  }
  void Hex(const char* name, const Told<uint64_t>& told) {
    if (told.told()) Line(told.line, "{}: {:#x}", name, told.value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string Optional(const char* name, const std::optional<uint64_t>& value) {
  return value ? fmt::format(" {}={:#x}", name, *value) : "";
}
std::string Optional(const char* name, const std::optional<int>& value) {
  return value ? fmt::format(" {}={}", name, *value) : "";
}
std::string Optional(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format(" {}={}", name, value);
}

void Write(const CrashFrame& frame, Text& text) {
  std::string more;
  more += Optional("module", frame.module) + Optional("at", frame.module_offset);
  more += Optional("symbol", frame.symbol) + Optional("offset", frame.symbol_offset);
  more += Optional("source", frame.source) + Optional("in", frame.java_module);
  more += Optional("bci", frame.bci) + Optional("id", frame.compile_id);
  more += Optional("compiler", frame.compiler) + Optional("bytes", frame.bytecode_size);
  more += Optional("pc", frame.pc) + Optional("code", frame.code_begin) + Optional("sp", frame.sp);
  if (frame.tier > 0) more += fmt::format(" tier={}", frame.tier);
  if (frame.is_osr) more += " osr";
  if (frame.is_inlined) more += " inlined";
  if (frame.is_native_wrapper) more += " wrapper";
  text.Line(frame.line, "  {}{}", kFrames[static_cast<int>(frame.kind)], more);
}

void Write(const char* name, const CrashStack& stack, Text& text) {
  if (stack.frames.empty()) return;
  text.Line(stack.frames[0].line, "{}: {} frames{}", name, stack.frames.size(),
            stack.truncated ? ", truncated" : "");
  // All of a stack overflow's frames are alike.
  constexpr size_t kShown = 40;
  for (size_t i = 0; i < std::min(stack.frames.size(), kShown); i++) Write(stack.frames[i], text);
}

void Write(const CrashThread& thread, const char* name, Text& text) {
  text.Line(thread.line, "{}: {:#x} {} \"{}\"{} {} id={} stack={:#x}..{:#x}", name, thread.address,
            thread.kind, thread.name, thread.daemon ? " daemon" : "",
            thread.state.empty() ? "-" : thread.state, thread.id, thread.stack_begin,
            thread.stack_end);
}

void Write(const CrashPointee& pointee, Text& text) {
  const std::string where =
      pointee.slot >= 0 ? fmt::format("sp+{}", pointee.slot) : pointee.register_name;
  text.Line(pointee.line, "  {} = {:#x} {}{}{}{}{}", where, pointee.value,
            kPointees[static_cast<int>(pointee.kind)], Optional("name", pointee.name),
            Optional("symbol", pointee.symbol), Optional("base", pointee.base),
            Optional("offset", pointee.offset));
}

// The count of a list, its first and its last item.
template <typename T, typename F>
void WriteEnds(const char* name, const std::vector<T>& all, Text& text, F&& words) {
  if (all.empty()) return;
  text.Line(all.front().line, "{}: {}", name, all.size());
  text.Line(all.front().line, "  {}", words(all.front()));
  if (all.size() > 1) text.Line(all.back().line, "  {}", words(all.back()));
}

void WriteHead(const CrashReport& report, Text& text) {
  text.Line(report.lines, "{}: {} on {} {}", kTexts[static_cast<int>(report.text_kind)],
            kErrors[static_cast<int>(report.error)], kSystems[static_cast<int>(report.os)],
            kArchs[static_cast<int>(report.arch)]);
  text.Item("signal", report.signal.name);
  text.Item("signal number", report.signal.number);
  text.Item("code", report.signal.code);
  text.Item("code number", report.signal.code_number);
  text.Hex(report.signal.address_computed ? "address (computed)" : "address",
           report.signal.address);
  text.Item("sender", report.signal.sender_pid);
  text.Item("file", report.internal.file);
  text.Item("file line", report.internal.file_line);
  text.Item("kind", report.internal.kind);
  text.Item("condition", report.internal.condition);
  text.Item("message", report.internal.message);
  text.Item("pid", report.pid);
  text.Item("tid", report.tid);
  text.Hex("pc", report.pc);
  text.Hex("sp", report.stack_pointer);
  text.Item("jre", report.version.jre);
  text.Item("vm", report.version.vm);
  text.Item("jdk", report.version.jdk);
  text.Item("vm version", report.version.vm_version);
  text.Item("feature", report.version.feature);
  text.Item("build", report.version.build);
  text.Item("debug level", report.version.debug_level);
  text.Item("platform", report.platform);
  text.Item("os", report.os_text);
  text.Item("gc", report.gc);
  text.Item("command line", report.command_line);
  text.Item("java command", report.java_command);
  text.Item("time", report.time);
  text.Item("elapsed seconds", report.elapsed_seconds);
  if (report.thread.line > 0) Write(report.thread, "thread", text);
  text.Item("vm state", report.vm_state);
  text.Item("vm operation", report.vm_operation);
  text.Item("compile task", report.compile_task);
}

void WriteMemory(const CrashReport& report, Text& text) {
  if (!report.registers.empty())
    text.Line(report.registers[0].line, "registers: {}", report.registers.size());
  for (const CrashRegister& reg : report.registers)
    text.Line(reg.line, "  {} = {:#x}", reg.name, reg.value);
  if (!report.register_pointees.empty())
    text.Line(report.register_pointees[0].line, "register pointees:");
  for (const CrashPointee& pointee : report.register_pointees) Write(pointee, text);
  if (!report.stack_pointees.empty()) text.Line(report.stack_pointees[0].line, "stack pointees:");
  for (const CrashPointee& pointee : report.stack_pointees) Write(pointee, text);
  const auto word = [](const CrashWord& w) {
    return fmt::format("{:#x}: {:#x}", w.address, w.value);
  };
  WriteEnds("stack words", report.stack_words, text, word);
  if (!report.instructions) return;
  std::string bytes;
  for (size_t i = 0; i < std::min<size_t>(report.instructions->bytes.size(), 16); i++)
    bytes += fmt::format(" {:02x}", report.instructions->bytes[i]);
  text.Line(report.instructions->line, "instructions: {:#x} {} bytes:{} ..",
            report.instructions->begin, report.instructions->bytes.size(), bytes);
}

void WriteProcess(const CrashReport& report, Text& text) {
  if (!report.threads.empty())
    text.Line(report.threads[0].line, "threads: {}", report.threads.size());
  for (size_t i = 0; i < report.threads.size(); i++)
    if (i == 0 || i + 1 == report.threads.size() || report.threads[i].is_current)
      Write(report.threads[i], report.threads[i].is_current ? "  =>" : "  ", text);
  WriteEnds("modules", report.modules, text, [](const CrashModule& m) {
    return fmt::format("{:#x}-{:#x} {} {:#x} {}", m.begin, m.end, m.access, m.file_offset, m.path);
  });
  for (const CrashCodeHeap& heap : report.code_heaps)
    text.Line(heap.line, "code heap: {} {:#x} {:#x} {:#x}", heap.name, heap.begin,
              heap.committed_end, heap.end);
  WriteEnds("flags", report.flags, text, [](const CrashFlag& f) {
    return fmt::format("{} = {} ({})", f.name, f.value, f.origin);
  });
  WriteEnds("events", report.events, text, [](const CrashEvent& e) {
    return fmt::format("{}: {} {:#x} {}", e.log, e.seconds, e.thread,
                       e.text.substr(0, e.text.find('\n')));
  });
  for (const CrashReportingError& error : report.reporting_errors)
    text.Line(error.line, "error while {}: {}", error.step, error.error);
  for (const CrashUnread& unread : report.unread)
    text.Line(unread.line, "unread: {}: {}", unread.what, unread.why);
}

}  // namespace

std::string ReportText(const CrashReport& report) {
  Text text;
  WriteHead(report, text);
  if (report.problematic_frame) {
    text.Line(report.problematic_frame->line, "problematic frame:");
    Write(*report.problematic_frame, text);
  }
  Write("native stack", report.native_stack, text);
  for (const size_t i : report.native_stack.signal_frames)
    text.Line(report.native_stack.frames[i].line, "signal frame: {}", i);
  Write("java stack", report.java_stack, text);
  WriteMemory(report, text);
  WriteProcess(report, text);
  return text.Take();
}

}  // namespace walkhammer
