// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::string_view AffectedText(Affected affected) {
  if (affected == Affected::kYes) return "this version is known to have it";
  return affected == Affected::kNo ? "but this version is known to be without it"
                                   : "whether this version has it is not known here";
}

std::string ResemblanceText(const std::vector<Resemblance>& all) {
  if (all.empty()) return "  resembles    no known bug\n";
  std::string text;
  for (const Resemblance& resemblance : all) {
    const Bug& bug = resemblance.bug;
    const std::string by = resemblance.by_check ? "same check" : "same function";
    text += fmt::format("  resembles    {}, {} ({}; {}{})\n", bug.id, bug.title, by,
                        AffectedText(resemblance.affected),
                        bug.bug_class > 0 ? fmt::format("; class {}", bug.bug_class) : "");
  }
  return text;
}

}  // namespace

std::string GuiltWord(const GuiltVerdict& guilt) {
  if (guilt.guilt == Guilt::kWalker) return std::string("yes: ") + guilt.pattern->whose;
  return guilt.guilt == Guilt::kPossible ? "unknown" : "no";
}

std::string AnswerOf(const ImportedCrash& crash) {
  std::string text = fmt::format("{}\n  JDK          {}\n  crash        {}\n", crash.name,
                                 VersionLine(crash.report), WhatCrashed(crash.report));
  const std::string place = crash.target.check.empty() ? crash.target.function : "";
  if (!place.empty())
    text +=
        fmt::format("  in           {}{}\n", place,
                    crash.target.offset_known ? fmt::format("+{:#x}", crash.target.offset) : "");
  text += "  a walker?    " + GuiltText(crash.guilt) + "\n";
  if (!crash.guilt.protection.empty()) text += "  inside of    " + crash.guilt.protection + "\n";
  if (!crash.guilt.innocent.empty())
    text += fmt::format("  innocent     {}: loaded, but not in the chain\n",
                        fmt::join(crash.guilt.innocent, ", "));
  if (crash.report.vm == CrashVm::kOpenJ9)
    return text +
           "  candidates   none: walkhammer makes requests for HotSpot, and this is OpenJ9\n";
  if (crash.guilt.guilt != Guilt::kNone) text += ResemblanceText(crash.resemblances);
  size_t exact = 0;
  for (const CrashCandidate& candidate : crash.candidates)
    exact += std::all_of(candidate.fields.begin(), candidate.fields.end(),
                         [](const auto& field) { return field.confidence == Confidence::kExact; });
  if (crash.guilt.guilt != Guilt::kNone)
    text += fmt::format("  candidates   {}{}\n", crash.candidates.size(),
                        exact > 0 ? fmt::format(", {} of them without an assumption", exact)
                                  : ", each with an assumption");
  return text;
}

}  // namespace walkhammer
