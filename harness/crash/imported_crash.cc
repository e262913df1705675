// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/imported_crash.h"

#include <fmt/format.h>

#include <utility>

namespace walkhammer {
ImportedCrash Judge(CrashReport report, const std::string& name, const Corpora& corpora) {
  ImportedCrash crash;
  crash.name = name;
  crash.report = std::move(report);
  crash.chain = ChainOf(crash.report);
  crash.guilt = JudgeGuilt(crash.report, crash.chain);
  crash.target = TargetOf(crash.report, crash.chain);
  // Known bugs and requests are HotSpot's.
  if (crash.report.vm == CrashVm::kOpenJ9) return crash;
  crash.resemblances =
      ResemblancesOf(crash.report, crash.chain, crash.guilt, crash.target, corpora.issues);
  crash.walker = WalkerFor(crash.guilt, corpora.library);
  if (crash.guilt.guilt != Guilt::kNone)
    crash.candidates =
        CandidatesOf(crash.report, crash.chain, crash.guilt, crash.target, corpora.inputs,
                     AllWalkers()[static_cast<size_t>(crash.walker)].name, kMostCandidates);
  return crash;
}

Result<std::vector<ImportedCrash>> ImportTexts(std::string_view text, const std::string& name,
                                               const Corpora& corpora) {
  std::vector<CrashReport> reports = ParseCrashReports(text);
  if (reports[0].text_kind == CrashText::kNone)
    return BadInput(name +
                    " is not a crash report: it has neither a head of an hs_err log nor a stack");
  if (reports[0].text_kind == CrashText::kThreadDump)
    return BadInput(name + " is a thread dump of a process that lives: no crash is in it");
  std::vector<ImportedCrash> crashes;
  for (CrashReport& report : reports) {
    crashes.push_back(Judge(std::move(report), name, corpora));
    if (reports.size() > 1)
      crashes.back().which = fmt::format("crash {} of {}", crashes.size(), reports.size());
  }
  return crashes;
}

}  // namespace walkhammer
