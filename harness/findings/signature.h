// SPDX-License-Identifier: Apache-2.0
// Signature: what makes two findings the same bug. Its text is its identity: buckets are joined
// by `key`, replays compare `expect`, people read `title`.
// Called by the parent, by replay and by minimize. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_SIGNATURE_H_
#define WALKHAMMER_HARNESS_FINDINGS_SIGNATURE_H_

#include <string>
#include <string_view>

#include "harness/elf/symbolizer.h"
#include "harness/shared/line_state.h"

namespace walkhammer {

// Rows of the oracle table that signatures know: these are signed by where the walker was. The
// parent itself judges survival.
inline constexpr char kCrashOracleName[] = "crash";
inline constexpr char kHangOracleName[] = "hang";
inline constexpr char kDeathOracleName[] = "survival";
inline constexpr char kDeathOutcomeName[] = "death";

struct Signature {
  std::string key;     // exact within a build: "crash SIGSEGV libjvm.so f(X*)+0x1f build 0123.."
  std::string title;   // across builds, for people: "crash in f"
  std::string oracle;  // the oracle's name
  std::string expect;  // for .walk files: "crash f(X*)+0x1f", "hang f(X*)", "oracle/outcome"
};

Signature SignatureOf(const RawFinding& finding, const Symbolizer& symbolizer);

// How a child died that did not end as asked.
struct DeathInfo {
  int wait_status = 0;      // of waitpid
  std::string hs_err_text;  // its hs_err log, or empty
};

Signature SignatureOfDeath(const DeathInfo& death);

enum class Match { kNo, kFunction, kExact };

// Whether `signature` is what a .walk file expects. kFunction: the same kind of finding in the
// same function (or, for a death, the same message), at another offset, signature or line.
// An expectation may leave out offset and argument list; it then matches as kFunction.
Match MatchesExpect(std::string_view expect, const Signature& signature);

// Name of the bucket's folder: a readable slug and a short hash of the key.
std::string BucketName(const Signature& signature);

// The native call chain of `finding`, one "libjvm.so f(X*)+0x1f" a line, innermost first,
// beginning with the pc itself; "" when it has no fault.
std::string NativeChainText(const RawFinding& finding, const Symbolizer& symbolizer);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_SIGNATURE_H_
