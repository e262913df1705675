// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/imported_crash.h"

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
  crash.resemblances = ResemblancesOf(crash.report, crash.guilt, crash.target, corpora.issues);
  if (crash.guilt.guilt != Guilt::kNone)
    crash.candidates = CandidatesOf(crash.report, crash.chain, crash.guilt, crash.target,
                                    corpora.inputs, kMostCandidates);
  return crash;
}

Result<ImportedCrash> ImportText(std::string_view text, const std::string& name,
                                 const Corpora& corpora) {
  CrashReport report = ParseCrashReport(text);
  if (report.text_kind == CrashText::kNone)
    return BadInput(name +
                    " is not a crash report: it has neither a head of an hs_err log nor a stack");
  if (report.text_kind == CrashText::kThreadDump)
    return BadInput(name + " is a thread dump of a process that lives: no crash is in it");
  return Judge(std::move(report), name, corpora);
}

}  // namespace walkhammer
