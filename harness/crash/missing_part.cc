// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/missing_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "harness/base/shell.h"
#include "harness/crash/profiler_library.h"

namespace walkhammer {
namespace {

constexpr size_t kMostOffsets = 4;  // in a command

bool HasName(const CrashFrame& frame) { return !frame.symbol.empty(); }

// Frames that a debugger shows without a library are generated code, unless it knows no libjvm.
bool KnowsLibjvm(const CrashReport& report) {
  if (report.text_kind != CrashText::kGdb && report.text_kind != CrashText::kLldb) return true;
  const auto& frames = report.native_stack.frames;
  return std::any_of(frames.begin(), frames.end(), [](const CrashFrame& frame) {
    return IsLibjvmFrame(frame) && HasName(frame);
  });
}

// The frames without a name that may be a walker's: of libjvm, of a profiler, and of whatever
// handles a signal.
std::vector<CrashFrame> UnnamedOf(const CrashReport& report, const CrashedChain& chain) {
  std::vector<CrashFrame> unnamed;
  const bool knows_libjvm = KnowsLibjvm(report);
  for (const CrashFrame& frame : chain.calls) {
    if (HasName(frame) || frame.is_java() || IsRuntimeModule(frame.module)) continue;
    const bool is_library = !frame.module.empty();
    const bool counts = IsLibjvmFrame(frame) || ProfilerOf(frame) != nullptr ||
                        (is_library && chain.end == ChainEnd::kSignal) ||
                        (!is_library && !knows_libjvm);
    if (counts) unnamed.push_back(frame);
  }
  return unnamed;
}

// Where distributions keep the names of libjvm's functions.
std::string SymbolsOfLibjvm(const CrashReport& report) {
  struct Packages {
    const char* vendor;   // a part of the version
    const char* package;  // with the release for {}
  };
  static constexpr Packages kPackages[] = {{"ebian", "openjdk-{}-dbg"},
                                           {"buntu", "openjdk-{}-dbg"},
                                           {"alpine", "openjdk{}-dbg"},
                                           {"Red_Hat", "java-{}-openjdk-debuginfo"}};
  const CrashVersion& version = report.version;
  const std::string all = version.jre.value + version.vm.value + version.build.value;
  for (const Packages& row : kPackages)
    if (all.find(row.vendor) != std::string::npos && version.feature.known())
      return "package " + fmt::format(fmt::runtime(row.package), version.feature.value);
  return "those of the same build";
}

// "java-profiler called into libjvm.so from a signal handler that interrupted Java code, and ".
std::string WhoCalled(const CrashedChain& chain) {
  if (chain.end != ChainEnd::kSignal || chain.interrupted.empty() ||
      !chain.interrupted.front().is_java())
    return "";
  for (size_t i = 1; i < chain.calls.size(); i++) {
    const char* profiler = ProfilerOf(chain.calls[i]);
    if (profiler != nullptr && IsLibjvmFrame(chain.calls[i - 1]))
      return fmt::format(
          "{} called into libjvm from a signal handler that interrupted Java code, and ", profiler);
  }
  return "";
}

MissingPart NamesOf(const CrashReport& report, const CrashedChain& chain,
                    const std::vector<CrashFrame>& unnamed) {
  const std::string& module = unnamed.front().module;
  const auto is_there = [&](const CrashFrame& frame) { return frame.module == module; };
  const auto count = static_cast<uint64_t>(std::count_if(unnamed.begin(), unnamed.end(), is_there));
  MissingPart part;
  const std::string of = module.empty() ? "" : " of " + module;
  part.why = fmt::format("{}{}{} {} no name", WhoCalled(chain), Counted(count, "frame"), of,
                         count == 1 ? "has" : "have");
  if (module.empty()) {
    part.help =
        "the debugger must find the libraries of the process: set sysroot or solib-search-path";
    return part;
  }
  part.help = "the debug symbols of " + module;
  if (IsLibjvmFrame(unnamed.front())) part.help += ", " + SymbolsOfLibjvm(report);
  part.help += "; a core with them: walkhammer import CORE --modules DIR";
  size_t told = 0;
  for (const CrashFrame& frame : unnamed)
    if (is_there(frame) && frame.module_offset && told++ < kMostOffsets)
      part.command += fmt::format(" {:#x}", *frame.module_offset);
  if (!part.command.empty()) part.command = "addr2line -Cfe " + ShellWord(module) + part.command;
  return part;
}

// Code of the JVM that every stack walk runs, and that little else does.
bool IsOftenAWalk(std::string_view function) {
  for (const char* prefix : {"frame::", "vframeStream", "RegisterMap::", "CodeCache::find_blob",
                             "PcDescContainer::", "JavaThread::pd_get_top_frame",
                             "Method::is_valid", "StackFrameStream", "CodeBlob::"})
    if (function.starts_with(prefix)) return true;
  return false;
}

// The stacks of all threads, whole: of a process that hangs, else of the core.
MissingPart Stacks(const CrashReport& report, std::string why) {
  const bool was_sent = report.signal.code.value == "SI_USER" ||
                        report.signal.code.value == "SI_TKILL" ||
                        report.signal.code.value == "SI_QUEUE";
  MissingPart part{std::move(why), "", ""};
  part.help = was_sent ? "the stacks of all threads of the process, before it is killed"
                       : "the whole hs_err log, or the stacks of a core";
  part.command = was_sent ? "gdb -batch -ex \"thread apply all bt\" -p PID"
                          : "gdb -batch -ex \"thread apply all bt\" JAVA -c CORE";
  return part;
}

bool FailedToPrint(const CrashReport& report) {
  return std::any_of(report.reporting_errors.begin(), report.reporting_errors.end(),
                     [](const CrashReportingError& error) {
                       return error.step.find("native stack") != std::string::npos;
                     });
}

// "frame::sender", "libfoo.so+0x1f", "an address without a library".
std::string PlaceOfCall(const CrashFrame& frame) {
  if (HasName(frame)) return ComparableFunction(frame.symbol);
  if (frame.module.empty()) return "an address without a library";
  return fmt::format("{}+{:#x}", frame.module, frame.module_offset.value_or(0));
}

std::string WhyOpen(const CrashReport& report, const CrashedChain& chain) {
  if (FailedToPrint(report)) return "the JVM failed to print all of the native stack";
  const int blamed = BlamedFrame(chain.calls);
  const std::string function =
      blamed < 0 ? "" : ComparableFunction(chain.calls[static_cast<size_t>(blamed)].symbol);
  if (IsOftenAWalk(function))
    return function + " runs in most stack walks, and the text does not tell its callers";
  if (chain.calls.size() == 1)
    return fmt::format("the text tells only the frame that crashed, {}, and not its callers",
                       PlaceOfCall(chain.calls.front()));
  return fmt::format("the stack ends at {}, and the text does not tell its callers",
                     PlaceOfCall(chain.calls.back()));
}

// A function into which compilers put a whole walk: that takes a sample, handles its signal, or is
// the loop of a sampler's thread, if it crashed by itself and did not call what crashed.
bool MayInlineAWalk(const CrashFrame& frame) {
  const std::string name = ComparableFunction(frame.symbol);
  if (IsLibjvmFrame(frame))
    return name.starts_with("Jfr") && name.find("Sampl") != std::string::npos &&
           name.ends_with("::run");
  return ProfilerOf(frame) != nullptr &&
         (name.starts_with("Profiler::recordSample") || name.ends_with("::signalHandler"));
}

MissingPart InlinedIn(const CrashFrame& frame) {
  MissingPart part;
  part.why = ComparableFunction(frame.symbol) + " crashed, into which a walk may be inlined";
  part.help = "the inlined calls at that instruction, with the debug symbols of " + frame.module;
  if (frame.module_offset)
    part.command =
        fmt::format("addr2line -Cfie {} {:#x}", ShellWord(frame.module), *frame.module_offset);
  return part;
}

}  // namespace

MissingPart MissingPartOf(const CrashReport& report, const CrashedChain& chain) {
  if (chain.only_report)
    return Stacks(report,
                  "the stack ends within what ends the process, before the code that failed");
  if (chain.calls.empty())
    return Stacks(report, FailedToPrint(report) ? "the JVM failed to print the native stack"
                                                : "the text tells nothing of the stack");
  if (report.native_stack.may_begin_cut)
    return Stacks(report, "the text may begin within the stack, after the newest frames");
  if (chain.calls.front().is_java()) return {};
  const std::vector<CrashFrame> unnamed = UnnamedOf(report, chain);
  if (!unnamed.empty()) return NamesOf(report, chain, unnamed);
  if (MayInlineAWalk(chain.calls.front())) return InlinedIn(chain.calls.front());
  if (chain.has_gap) return Stacks(report, "the text leaves frames out between those of the crash");
  if (chain.end == ChainEnd::kNone) return Stacks(report, WhyOpen(report, chain));
  return {};
}

}  // namespace walkhammer
