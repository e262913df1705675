// SPDX-License-Identifier: Apache-2.0
// Signature: text that identifies the bug of a finding. Findings with the same `key` share a
// bucket, replays compare `expect`, people read `title`. Used by the parent, by replay and by
// minimize. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_SIGNATURE_H_
#define WALKHAMMER_HARNESS_FINDINGS_SIGNATURE_H_

#include <string>
#include <string_view>

#include "harness/elf/symbolizer.h"
#include "harness/ipc/line_state.h"

namespace walkhammer {

// Names of the oracle table that signatures treat specially. Crashes and hangs are signed by where
// the walker was. The parent itself judges survival.
inline constexpr char kCrashOracleName[] = "crash";
inline constexpr char kHangOracleName[] = "hang";
inline constexpr char kDeathOracleName[] = "survival";
inline constexpr char kDeathOutcomeName[] = "death";

struct Signature {
  std::string key;     // exact within a build: "crash SIGSEGV libjvm.so f(X*)+0x1f build 0123.."
  std::string title;   // across builds, for people: "crash in f"
  std::string oracle;  // the oracle's name
  std::string expect;  // for .walk files: "crash f(X*)+0x1f", "hang f(X*)", "oracle/outcome"
  bool operator==(const Signature&) const = default;
};

Signature SignatureOf(const RawFinding& finding, const Symbolizer& symbolizer);

// How a child died that was not asked to end.
struct DeathInfo {
  int wait_status = 0;      // of waitpid
  std::string hs_err_text;  // the child's hs_err log, or empty
  bool after_walk = false;  // the walk that is to blame was over: Journal::kWalked
};

Signature SignatureOfDeath(const DeathInfo& death);

enum class Match { kNo, kFunction, kExact };

// How well `signature` matches the `expect` line of a .walk file. kExact: the same text. kFunction:
// the same kind of finding in the same function (for a death or failed check: the same message)
// with another offset, argument list or line number. An `expect` line may leave out offset and
// argument list, or name only "oracle/outcome"; it then matches as kFunction.
Match MatchesExpect(std::string_view expect, const Signature& signature);

// Name of the bucket's folder: a readable slug and a short hash of the key.
std::string BucketName(const Signature& signature);

// The native call chain of `finding`, one "libjvm.so f(X*)+0x1f" a line, innermost first, beginning
// with the pc itself; "" if no place is known.
std::string NativeChainText(const RawFinding& finding, const Symbolizer& symbolizer);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_SIGNATURE_H_
