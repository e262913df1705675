// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/testing/report_items.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

using Report = CrashReport;
using ItemValues = std::vector<std::string>;

constexpr const char* kTexts[] = {"none",     "hs_err", "gdb",      "lldb",       "stack",
                                  "minidump", "apple",  "javacore", "thread dump"};
constexpr const char* kVms[] = {"unknown", "HotSpot", "OpenJ9"};
constexpr const char* kErrors[] = {"unknown", "signal", "internal", "out-of-memory", "heap-full"};
constexpr const char* kArchs[] = {"unknown", "x86_64", "aarch64", "x86",
                                  "arm",     "ppc64",  "s390x",   "riscv64"};
constexpr const char* kSystems[] = {"unknown", "linux", "macos", "windows", "other"};
constexpr const char* kFrames[] = {"unknown", "native",      "vm",   "compiled",
                                   "aot",     "interpreted", "stub", "signal"};
constexpr const char* kPointees[] = {"unknown", "null", "unreadable", "memory",  "thread",
                                     "stack",   "oop",  "method",     "class",   "metadata",
                                     "nmethod", "stub", "codelet",    "library", "jni-handle"};

template <typename T>
ItemValues Of(const Reported<T>& told) {
  return told.known() ? ItemValues{fmt::format("{}", told.value)} : ItemValues{};
}

ItemValues Hex(const Reported<uint64_t>& told, bool wanted = true) {
  return told.known() && wanted ? ItemValues{fmt::format("{:#x}", told.value)} : ItemValues{};
}

template <typename T, typename F>
ItemValues Each(const std::vector<T>& all, F&& text) {
  ItemValues values;
  for (const T& one : all) values.push_back(text(one));
  return values;
}

std::string Optional(const char* name, const std::optional<uint64_t>& value) {
  return value ? fmt::format(" {}={:#x}", name, *value) : "";
}
std::string Optional(const char* name, const std::optional<int>& value) {
  return value ? fmt::format(" {}={}", name, *value) : "";
}
std::string Optional(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format(" {}={}", name, value);
}

std::string Text(const CrashFrame& frame) {
  std::string text = kFrames[static_cast<int>(frame.kind)];
  text += Optional("module", frame.module) + Optional("at", frame.module_offset);
  text += Optional("symbol", frame.symbol) + Optional("offset", frame.symbol_offset);
  text += Optional("source", frame.source) + Optional("in", frame.java_module);
  text += Optional("bci", frame.bci) + Optional("id", frame.compile_id);
  text += Optional("compiler", frame.compiler) + Optional("bytes", frame.bytecode_size);
  text += Optional("pc", frame.pc) + Optional("code", frame.code_begin) + Optional("sp", frame.sp);
  if (frame.tier > 0) text += fmt::format(" tier={}", frame.tier);
  if (frame.is_osr) text += " osr";
  if (frame.is_inlined) text += " inlined";
  if (frame.is_native_wrapper) text += " wrapper";
  return text;
}

ItemValues Frames(const CrashStack& stack) {
  ItemValues values;
  for (size_t i = 0; i < stack.frames.size(); i++)
    values.push_back(fmt::format("{} {}", i, Text(stack.frames[i])));
  if (stack.truncated) values.push_back("truncated");
  return values;
}

std::string Text(const CrashThread& thread) {
  return fmt::format("{:#x} {} \"{}\"{}{} {} id={} stack={:#x}..{:#x}", thread.address, thread.kind,
                     thread.name, thread.daemon ? " daemon" : "",
                     thread.is_current ? " current" : "", thread.state.empty() ? "-" : thread.state,
                     thread.id, thread.stack_begin, thread.stack_end);
}

std::string Text(const CrashPointee& pointee) {
  const std::string where =
      pointee.slot >= 0 ? std::to_string(pointee.slot) : pointee.register_name;
  return fmt::format("{} {:#x} {}{}{}{}{}", where, pointee.value,
                     kPointees[static_cast<int>(pointee.kind)], Optional("name", pointee.name),
                     Optional("symbol", pointee.symbol), Optional("base", pointee.base),
                     Optional("offset", pointee.offset));
}

ItemValues Code(const Report& report) {
  if (!report.instructions) return {};
  const std::vector<uint8_t>& bytes = report.instructions->bytes;
  return {fmt::format("{:#x}: {}", report.instructions->begin,
                      HexBytes(bytes.data(), std::min<size_t>(bytes.size(), 16)))};
}

ItemValues Counts(const Report& report) {
  return {fmt::format(
      "{} frames, {} in java stack, {} signal frames, {} registers, {} pointees, {} slots, "
      "{} words, {} bytes of code, {} threads, {} modules, {} heaps, {} flags, {} events, "
      "{} errors, {} unread",
      report.native_stack.frames.size(), report.java_stack.frames.size(),
      report.native_stack.signal_frames.size(), report.registers.size(),
      report.register_pointees.size(), report.stack_pointees.size(), report.stack_words.size(),
      report.instructions ? report.instructions->bytes.size() : 0, report.threads.size(),
      report.modules.size(), report.code_heaps.size(), report.flags.size(), report.events.size(),
      report.reporting_errors.size(), report.unread.size())};
}

#define VALUES(expression) [](const Report& r) -> ItemValues { return expression; }

constexpr ReportItem kItems[] = {
    {"text", VALUES({kTexts[static_cast<int>(r.text_kind)]})},
    {"error", VALUES({kErrors[static_cast<int>(r.error)]})},
    {"system", VALUES({kSystems[static_cast<int>(r.os)]})},
    {"architecture", VALUES({kArchs[static_cast<int>(r.arch)]})},
    {"signal", VALUES(Of(r.signal.name))},
    {"signal number", VALUES(Of(r.signal.number))},
    {"code", VALUES(Of(r.signal.code))},
    {"code number", VALUES(Of(r.signal.code_number))},
    {"address", VALUES(Hex(r.signal.address, !r.signal.address_computed))},
    {"computed address", VALUES(Hex(r.signal.address, r.signal.address_computed))},
    {"sender", VALUES(Of(r.signal.sender_pid))},
    {"file", VALUES(Of(r.internal.file))},
    {"file line", VALUES(Of(r.internal.file_line))},
    {"kind", VALUES(Of(r.internal.kind))},
    {"condition", VALUES(Of(r.internal.condition))},
    {"message", VALUES(Of(r.internal.message))},
    {"pid", VALUES(Of(r.pid))},
    {"tid", VALUES(Of(r.tid))},
    {"pc", VALUES(Hex(r.pc))},
    {"sp", VALUES(Hex(r.stack_pointer))},
    {"jre", VALUES(Of(r.version.jre))},
    {"vm", VALUES(Of(r.version.vm))},
    {"jdk", VALUES(Of(r.version.jdk))},
    {"vm version", VALUES(Of(r.version.vm_version))},
    {"feature", VALUES(Of(r.version.feature))},
    {"build", VALUES(Of(r.version.build))},
    {"debug level", VALUES(Of(r.version.debug_level))},
    {"platform", VALUES(Of(r.platform))},
    {"os", VALUES(Of(r.os_text))},
    {"gc", VALUES(Of(r.gc))},
    {"command line", VALUES(Of(r.command_line))},
    {"java command", VALUES(Of(r.java_command))},
    {"time", VALUES(Of(r.time))},
    {"elapsed seconds", VALUES(Of(r.elapsed_seconds))},
    {"thread", VALUES(r.thread.line > 0 ? ItemValues{Text(r.thread)} : ItemValues{})},
    {"vm state", VALUES(Of(r.vm_state))},
    {"vm operation", VALUES(Of(r.vm_operation))},
    {"compile task", VALUES(Of(r.compile_task))},
    {"problematic frame",
     VALUES(r.problematic_frame ? ItemValues{Text(*r.problematic_frame)} : ItemValues{})},
    {"frame", VALUES(Frames(r.native_stack))},
    {"signal frame",
     VALUES(Each(r.native_stack.signal_frames, [](size_t i) { return std::to_string(i); }))},
    {"java frame", VALUES(Frames(r.java_stack))},
    {"register", VALUES(Each(r.registers,
                             [](const CrashRegister& one) {
                               return fmt::format("{} {:#x}", one.name, one.value);
                             }))},
    {"pointee", VALUES(Each(r.register_pointees, [](const CrashPointee& p) { return Text(p); }))},
    {"slot", VALUES(Each(r.stack_pointees, [](const CrashPointee& p) { return Text(p); }))},
    {"word", VALUES(Each(r.stack_words,
                         [](const CrashWord& w) {
                           return fmt::format("{:#x}: {:#x}", w.address, w.value);
                         }))},
    {"instructions", VALUES(Code(r))},
    {"one of the threads", VALUES(Each(r.threads, [](const CrashThread& t) { return Text(t); }))},
    {"module", VALUES(Each(r.modules,
                           [](const CrashModule& m) {
                             return fmt::format("{:#x}-{:#x} {} {:#x} {}", m.begin, m.end, m.access,
                                                m.file_offset, m.path);
                           }))},
    {"code heap", VALUES(Each(r.code_heaps,
                              [](const CrashCodeHeap& h) {
                                return fmt::format("{} {:#x} {:#x} {:#x}", h.name, h.begin,
                                                   h.committed_end, h.end);
                              }))},
    {"flag", VALUES(Each(r.flags,
                         [](const CrashFlag& f) {
                           return fmt::format("{} = {} ({})", f.name, f.value, f.origin);
                         }))},
    {"event", VALUES(Each(r.events,
                          [](const CrashEvent& e) {
                            return fmt::format("{}: {} {:#x} {}", e.log, e.seconds, e.thread,
                                               e.text.substr(0, e.text.find('\n')));
                          }))},
    {"reporting error", VALUES(Each(r.reporting_errors,
                                    [](const CrashReportingError& e) {
                                      return fmt::format("while {}: {}", e.step, e.error);
                                    }))},
    {"unread",
     VALUES(Each(r.unread,
                 [](const CrashUnread& u) { return fmt::format("{}: {}", u.what, u.why); }))},
    {"VM", VALUES(ItemValues{kVms[static_cast<int>(r.vm)]})},
    {"counts", VALUES(Counts(r))},
};

#undef VALUES

}  // namespace

std::span<const ReportItem> AllReportItems() { return kItems; }

ItemValues ValuesOf(const CrashReport& report, const std::string& item) {
  for (const ReportItem& known : kItems)
    if (item == known.name) return known.values(report);
  return {};
}

}  // namespace walkhammer
