// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/shell.h"

namespace walkhammer {
namespace {

std::string Where(int line) { return line > 0 ? fmt::format(" (line {})", line) : ""; }

std::string WhatCrashed(const CrashReport& report) {
  if (report.error == CrashError::kInternal)
    return fmt::format("the JVM stopped by itself at {}:{}: {}", report.internal.file.value,
                       report.internal.file_line.value, report.internal.text);
  if (report.error == CrashError::kOutOfMemory || report.error == CrashError::kJavaHeapFull)
    return "the JVM ran out of memory";
  if (!report.signal.name.known()) return "the text does not say why the process ended";
  std::string text = report.signal.name.value;
  if (report.signal.code.known()) text += ", " + report.signal.code.value;
  if (report.signal.sender_pid.known())
    text += fmt::format(", sent by process {}", report.signal.sender_pid.value);
  if (report.signal.address.known() || report.signal.address_computed)
    text += fmt::format(", at address {:#x}{}", report.signal.address.value,
                        report.signal.address_computed ? " (by instruction and registers)" : "");
  return text;
}

std::string VersionLine(const CrashReport& report) {
  const CrashVersion& version = report.version;
  std::string text = version.jdk.known() ? version.jdk.value : version.vm_version.value;
  if (text.empty()) text = "unknown";
  if (version.debug_level.known() && version.debug_level.value != "release")
    text += ", " + version.debug_level.value;
  if (report.platform.known()) text += ", " + report.platform.value;
  if (report.vm == CrashVm::kOpenJ9) text += ", OpenJ9";
  return text;
}

std::string GuiltText(const GuiltVerdict& guilt) {
  if (guilt.guilt == Guilt::kWalker)
    return fmt::format("yes, {}: {}{}", guilt.pattern->whose, guilt.why, Where(guilt.line));
  return (guilt.guilt == Guilt::kPossible ? "unknown: " : "no: ") + guilt.why;
}

std::string ResemblanceText(const std::vector<Resemblance>& all) {
  if (all.empty()) return "  resembles    no known bug\n";
  std::string text;
  for (const Resemblance& resemblance : all) {
    const Bug& bug = resemblance.bug;
    const std::string by = resemblance.by_check ? "same check" : "same function";
    text += fmt::format("  resembles    {}, {} ({}; {}{})\n", bug.id, bug.title, by,
                        resemblance.versions,
                        bug.bug_class > 0 ? fmt::format("; class {}", bug.bug_class) : "");
  }
  return text;
}

std::string ProtectionText(const GuiltVerdict& guilt) {
  if (guilt.protection.empty()) return "";
  if (guilt.unprotected.empty()) return "  inside of    " + guilt.protection + "\n";
  return fmt::format("  inside of    {}, which did not protect this native thread: {}\n",
                     guilt.protection, guilt.unprotected);
}

// "8 of 64, the likeliest, 1 of them without an assumption".
std::string CandidatesText(const ImportedCrash& crash) {
  const size_t all = crash.candidates.size(), offered = std::min(all, kMostOffered);
  if (all == 0) return "  candidates   none: no request follows from what the report tells\n";
  const auto is_exact = [](const CrashCandidate& candidate) {
    return std::all_of(candidate.fields.begin(), candidate.fields.end(),
                       [](const auto& field) { return field.confidence == Confidence::kExact; });
  };
  const auto end = crash.candidates.begin() + static_cast<std::ptrdiff_t>(offered);
  const auto exact = std::count_if(crash.candidates.begin(), end, is_exact);
  return fmt::format("  candidates   {}{}{}\n", offered,
                     all > offered ? fmt::format(", the likeliest of {}", all) : "",
                     exact > 0 ? fmt::format(", {} of them without an assumption", exact)
                               : ", each with an assumption");
}

}  // namespace

std::string NextCommand(const ImportedCrash& crash) {
  const std::string file = ShellWord(crash.name);
  const bool is_core = crash.report.lines == 0;
  if (crash.guilt.guilt == Guilt::kNone && is_core)
    return fmt::format("gdb -batch -ex bt JAVA -c {} >attachment.txt", file);
  if (crash.guilt.guilt == Guilt::kNone)
    return fmt::format("walkhammer import --redact {} >attachment.log", file);
  if (!crash.guilt.command.empty()) return crash.guilt.command;
  return fmt::format("walkhammer import --reproduce {} --jdk JDK{}", file,
                     IsOfLibrary(crash.guilt) ? " --library FILE.so" : "");
}

std::string GuiltWord(const GuiltVerdict& guilt) {
  if (guilt.guilt == Guilt::kWalker) return std::string("yes: ") + guilt.pattern->whose;
  return guilt.guilt == Guilt::kPossible ? "unknown" : "no";
}

std::string AnswerOf(const ImportedCrash& crash) {
  const std::string name = crash.name + (crash.which.empty() ? "" : ", ") + crash.which;
  std::string text = fmt::format("{}\n  JDK          {}\n  crash        {}\n", name,
                                 VersionLine(crash.report), WhatCrashed(crash.report));
  const std::string place = crash.target.check.empty() ? crash.target.function : "";
  if (!place.empty())
    text +=
        fmt::format("  in           {}{}\n", place,
                    crash.target.offset_known ? fmt::format("+{:#x}", crash.target.offset) : "");
  text += "  a walker?    " + GuiltText(crash.guilt) + "\n" + ProtectionText(crash.guilt);
  if (!crash.guilt.help.empty()) text += "  would help   " + crash.guilt.help + "\n";
  if (!crash.guilt.innocent.empty())
    text += fmt::format("  innocent     {}: loaded, but not in the chain\n",
                        fmt::join(crash.guilt.innocent, ", "));
  if (crash.report.vm == CrashVm::kOpenJ9)
    return text +
           "  candidates   none: walkhammer makes requests for HotSpot, and this is OpenJ9\n";
  if (crash.guilt.guilt != Guilt::kNone || !crash.resemblances.empty())
    text += ResemblanceText(crash.resemblances);
  if (crash.guilt.guilt != Guilt::kNone) text += CandidatesText(crash);
  return text;
}

}  // namespace walkhammer
