// SPDX-License-Identifier: Apache-2.0
// ImportCore: reads a core of a JVM as a crash report, with the walked context exactly as it was:
// registers, thread state, anchor and stack. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_CORE_IMPORT_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_CORE_IMPORT_H_

#include <string>

#include "harness/base/result.h"
#include "harness/crash/imported_crash.h"

namespace walkhammer {

// `modules`: a folder as for CoreFile::Open, or empty. kBadInput: no core; kUnable: no JVM is in
// it, or its libjvm.so is not on this machine.
Result<ImportedCrash> ImportCore(const std::string& path, const std::string& modules,
                                 const Corpora& corpora);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_CORE_IMPORT_H_
