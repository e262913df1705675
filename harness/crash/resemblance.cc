// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/resemblance.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "harness/jvm/images/jdk_version.h"

namespace walkhammer {
namespace {

bool MatchesFunction(const CrashSigns& signs, const CrashTarget& target) {
  const auto matches = [&](const std::string& function) {
    return std::any_of(signs.functions.begin(), signs.functions.end(),
                       [&](const std::string& name) { return function.starts_with(name); });
  };
  return matches(target.function) ||
         std::any_of(target.callers.begin(), target.callers.end(), matches);
}

bool IsOfThisBuild(const CrashSigns& signs, const CrashReport& report) {
  const std::string& level = report.version.debug_level.value;
  if (signs.debug_only && (level.empty() || level == "release")) return false;
  return !signs.aarch64_only || report.arch == CrashArch::kAarch64;
}

// The smallest is the best.
auto RankOf(const Resemblance& one) {
  constexpr int kRanks[] = {2, 0, 1};  // kNo, kYes, kUnknown
  const int bug_class = one.bug.bug_class;
  return std::tuple(!one.by_check, kRanks[static_cast<int>(one.affected)],
                    bug_class > 0 ? bug_class : std::numeric_limits<int>::max());
}

}  // namespace

Affected AffectedByCrash(const Bug& bug, const CrashVersion& crashed) {
  const std::string& text = crashed.jdk.known() ? crashed.jdk.value : crashed.vm_version.value;
  const auto version = ParseJdkVersion(text);
  // Up to JDK 8 the VM counts versions of its own: "25.504-b01".
  if (!version ||
      (crashed.feature.known() && static_cast<int>(version->numbers[0]) != crashed.feature.value))
    return Affected::kUnknown;
  return AffectedByVersion(bug, text);
}

std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const GuiltVerdict& guilt,
                                        const CrashTarget& target,
                                        const std::map<std::string, Bug>& issues) {
  std::vector<Resemblance> found;
  if (guilt.guilt == Guilt::kNone) return found;
  for (const auto& [id, bug] : issues) {
    const CrashSigns& signs = bug.crash;
    if (!IsOfThisBuild(signs, report)) continue;
    if (guilt.pattern != nullptr &&
        !std::string_view(guilt.pattern->whose).starts_with(signs.whose))
      continue;
    const bool by_check =
        !signs.check.empty() && report.internal.text.find(signs.check) != std::string::npos;
    // A bug with a check of its own shows that check, where the JVM stopped by itself.
    if (!by_check && (!target.check.empty() || !MatchesFunction(signs, target))) continue;
    found.push_back({bug, AffectedByCrash(bug, report.version), by_check});
  }
  std::stable_sort(found.begin(), found.end(), [](const Resemblance& a, const Resemblance& b) {
    return RankOf(a) < RankOf(b);
  });
  return found;
}

}  // namespace walkhammer
