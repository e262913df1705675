// SPDX-License-Identifier: Apache-2.0
// CoreUnwind: unwind tables of the libraries that the process of a core had mapped, from their
// files, and of the kernel's own library, which is in the core. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_CORE_UNWIND_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_CORE_UNWIND_H_

#include <span>
#include <vector>

#include "harness/asgst/walk/unwind_table.h"
#include "harness/crash/core/core_file.h"

namespace walkhammer {

class CoreUnwind {
 public:
  // Libraries that are not on this machine, or are other builds, are left out.
  explicit CoreUnwind(const CoreFile& core);
  CoreUnwind(const CoreUnwind&) = delete;
  CoreUnwind& operator=(const CoreUnwind&) = delete;

  const asgst::UnwindTables& tables() const { return tables_; }

 private:
  void Add(uint64_t low, uint64_t high, std::vector<asgst::UnwindRow> rows);
  void AddLibraries(const CoreFile& core);
  void AddKernelLibrary(const CoreFile& core);

  std::vector<std::vector<asgst::UnwindRow>> rows_;
  std::vector<asgst::UnwindModule> modules_;
  std::span<const asgst::UnwindModule> published_;
  asgst::UnwindTables tables_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_CORE_UNWIND_H_
