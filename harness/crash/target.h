// SPDX-License-Identifier: Apache-2.0
// CrashTarget: what a reproduction has to show: the function, and where the JVM itself stopped, the
// check. A finding of walkhammer is compared with it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_TARGET_H_
#define WALKHAMMER_HARNESS_CRASH_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/crash/crashed_chain.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct CrashTarget {
  std::string function;  // comparable name of the frame to blame; empty: not known
  uint64_t offset = 0;   // bytes into that function; 0 with a line of 0: not known
  bool offset_known = false;
  std::string check;                 // "(frame.cpp) guarantee(x) failed"; empty: a signal
  std::vector<std::string> callers;  // of the blamed frame, up to the walker's entry
  std::string expect;                // for .walk files; empty if neither is known

  bool known() const { return !function.empty() || !check.empty(); }
};

CrashTarget TargetOf(const CrashReport& report, const CrashedChain& chain);
// The target of an expect line: "crash f(X*)+0x1f", "failed-check (f.cpp:1) assert(x) failed".
CrashTarget TargetOfExpect(std::string_view expect);

// In rising order. What counts as progress in a search, and what a verdict says.
enum class Closeness : uint8_t {
  kNone,      // nothing in common
  kClass,     // it failed in a caller or a callee of the target's function, or in its source file
  kFunction,  // the same function, or the same check with another line number
  kExact,     // the same offset, too
};

// `expect`, `native`: as of FindingRecord and its signature.
Closeness Compare(const CrashTarget& target, std::string_view expect, std::string_view native);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_TARGET_H_
