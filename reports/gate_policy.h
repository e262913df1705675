// SPDX-License-Identifier: Apache-2.0
// GatePolicy: what the gate looks for, from which size on, and which of it fails. A team keeps it
// as a TOML file: docs/howto/gate.md lists the keys. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_POLICY_H_
#define WALKHAMMER_REPORTS_GATE_POLICY_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

enum class GateKind : uint8_t {
  kNewCrash,      // a crash or death that the baseline does not have
  kNewHang,       // a hang that it does not have
  kNewFinding,    // any other such Forbidden finding, such as invalid frames
  kUnsure,        // one of these three that was not confirmed, or is too rare to differ from chance
  kLostWorkload,  // a workload or scene that the baseline walked and the candidate did not
  kLostCoverage,  // code of the walker that only the baseline reached
  kCodes,         // an error code that is more frequent
  kSlower,        // walks that take longer
  kKnown,         // one of the first three that is a bug of the store, and not accepted
  kReopened,      // a known bug that is fixed in the candidate, or that the baseline's build lacks
  kCannotStart,   // the candidate walked nothing
  kNoStacks,      // no walk of the candidate returned a frame
  kFewerWalks,    // the candidate made far fewer walks a second
  kLostTruth,     // scenes whose undisturbed walks gave the true stack in the baseline's runs alone
  kLostStruct,    // vmStructs that profilers need, and the candidate lacks
  // A request that both builds were shown, and always answer differently: worse, or two builds of
  // one release.
  kAnswers,
  kOtherAnswers,  // of two releases: differently, but not worse
  kCount
};
inline constexpr size_t kGateKinds = static_cast<size_t>(GateKind::kCount);
const char* GateKindWord(GateKind kind);  // "new-crash", "new-hang", ...

enum class GateEffect : uint8_t { kIgnore, kWarn, kFail };
const char* GateEffectWord(GateEffect effect);  // "ignore", "warn", "fail"

std::array<GateEffect, kGateKinds> DefaultEffects();  // by GateKind

struct GatePolicy {
  std::array<GateEffect, kGateKinds> effects = DefaultEffects();  // by GateKind
  // Chance of a false alarm that each family of tests may have: buckets, codes, times.
  double alpha = 0.003;
  double code_ratio = 1.05;    // smallest rise of a code's share that counts, as a factor
  double code_share = 0.0005;  // and in shares of the walks of its state and region
  double time_ratio = 1.05;    // smallest rise of the walks' time that counts
  double coverage = 0.02;      // smallest loss that counts, in shares of the walker's blocks
  double walk_rate = 0.2;      // smallest rate of walks, as a share of the baseline's, in fuzz runs

  GateEffect EffectOf(GateKind kind) const { return effects[static_cast<size_t>(kind)]; }
};

// Parses a policy; what it does not name stays as by default. `name`: of the file, for messages. A
// failure, with kBadInput, names the line.
Result<GatePolicy> ParseGatePolicy(std::string_view text, const std::string& name);
Result<GatePolicy> ReadGatePolicy(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_POLICY_H_
