// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/live/failed_checks.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "harness/elf/elf_functions.h"
#include "harness/guard/code_patch.h"

namespace walkhammer {
namespace {

// char* g_assert_poison: the address to which a failing check writes before it reports.
constexpr char kPoison[] = "g_assert_poison";

constexpr struct {
  const char* symbol;
  int8_t file, line, text;  // argument numbers, see GuardOptions::CheckReport
} kReports[] = {
    {"_Z15report_vm_errorPKciS0_S0_z", 0, 1, 2},
    {"_Z15report_vm_errorPKciS0_S0_", 0, 1, 2},  // JDK 8
    {"_Z15report_vm_errorPKciS0_", 0, 1, 2},
    {"_Z12report_fatal11VMErrorTypePKciS1_z", 1, 2, 3},
    {"_Z12report_fatalPKciS0_z", 0, 1, 2},
    {"_Z12report_fatalPKciS0_", 0, 1, 2},  // JDK 8
    {"_Z22report_should_not_callPKci", 0, 1, -1},
    {"_Z28report_should_not_reach_herePKci", 0, 1, -1},
    {"_Z20report_unimplementedPKci", 0, 1, -1},
};

void Disarm(uint64_t poison) {
  static char harmless;
  *reinterpret_cast<char**>(poison) = &harmless;
}

}  // namespace

void TrapFailedChecks(void* libjvm, const std::string& path, GuardOptions& options) {
  const uint64_t bias = LoadBias(dlsym(libjvm, "JNI_CreateJavaVM"));
  std::vector<std::string> names{kPoison};
  for (const auto& report : kReports) names.emplace_back(report.symbol);
  std::vector<uint64_t> entries;
  uint64_t poison = 0;
  for (const ElfFunction& found : FindFunctions(path, names)) {
    const uint64_t address = bias + found.address;
    if (found.name == kPoison) {
      poison = address;
      continue;
    }
    const auto* report =
        std::find_if(std::begin(kReports), std::end(kReports),
                     [&](const auto& candidate) { return found.name == candidate.symbol; });
    if (options.check_report_count == GuardOptions::kMostCheckReports) continue;
    options.check_reports[options.check_report_count++] = {address, ReadCode(address), report->file,
                                                           report->line, report->text};
    entries.push_back(address);
  }
  std::sort(entries.begin(), entries.end());
  if (!MakeCodeWritable(entries, "").ok() || !UnblockTraps().ok()) {
    MakeCodeUnwritable(entries);
    options.check_report_count = 0;
    return;
  }
  for (const uint64_t entry : entries) WriteCode(entry, kTrapCode);
  MakeCodeUnwritable(entries);
  if (poison != 0 && !entries.empty()) Disarm(poison);
}

}  // namespace walkhammer
