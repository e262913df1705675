// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/resemblance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
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

// Any call, also of the C library.
bool MatchesCall(const CrashSigns& signs, const CrashedChain& chain) {
  return std::any_of(chain.calls.begin(), chain.calls.end(), [&](const CrashFrame& frame) {
    const std::string called = ComparableFunction(frame.symbol);
    return std::any_of(signs.functions.begin(), signs.functions.end(),
                       [&](const std::string& name) { return called.starts_with(name); });
  });
}

// The version that the log tells. Up to JDK 8 the VM counts versions of its own: "25.504-b01".
std::optional<JdkVersion> VersionOf(const CrashVersion& crashed) {
  const auto version =
      ParseJdkVersion(crashed.jdk.known() ? crashed.jdk.value : crashed.vm_version.value);
  if (!version ||
      (crashed.feature.known() && static_cast<int>(version->numbers[0]) != crashed.feature.value))
    return std::nullopt;
  return version;
}

// "17.0.13", "8u412", "28-ea".
std::string VersionName(const JdkVersion& version) {
  const auto& numbers = version.numbers;
  std::string name = numbers[0] == 8 && numbers.size() == 3
                         ? fmt::format("8u{}", numbers[2])
                         : fmt::format("{}", fmt::join(numbers, "."));
  if (!version.pre.empty()) name += "-" + version.pre;
  return name;
}

// The version that a JDK with the bug must become, which is of its own line, if that has one.
std::string FixFor(const Bug& bug, const JdkVersion& version) {
  const auto fixed = FixedVersions(bug.fixed_in);
  if (bug.state != BugState::kFixed || !fixed.ok()) return "";
  for (const VersionRange& range : fixed.value())
    if (version < range.from) return VersionName(range.from);
  return "";
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
  if (!VersionOf(crashed)) return Affected::kUnknown;
  return AffectedByVersion(bug, crashed.jdk.known() ? crashed.jdk.value : crashed.vm_version.value);
}

std::string VersionsText(const Bug& bug, const CrashVersion& crashed) {
  const auto version = VersionOf(crashed);
  const Affected affected = AffectedByCrash(bug, crashed);
  const std::string name = version ? VersionName(*version) : "this version";
  if (affected == Affected::kNo) return fmt::format("but {} is without it", name);
  const std::string fix = version ? FixFor(bug, *version) : "";
  return (affected == Affected::kYes ? name + " has it"
                                     : fmt::format("whether {} has it is not known here", name)) +
         (fix.empty() ? "" : "; fixed in " + fix);
}

std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const CrashedChain& chain,
                                        const GuiltVerdict& guilt, const CrashTarget& target,
                                        const std::map<std::string, Bug>& issues) {
  std::vector<Resemblance> found;
  for (const auto& [id, bug] : issues) {
    const CrashSigns& signs = bug.crash;
    if (!IsOfThisBuild(signs, report)) continue;
    if (guilt.guilt == Guilt::kNone && !signs.no_walker) continue;
    if (guilt.pattern != nullptr &&
        !std::string_view(guilt.pattern->whose).starts_with(signs.whose))
      continue;
    const bool by_check =
        !signs.check.empty() && report.internal.text.find(signs.check) != std::string::npos;
    // A bug with a check of its own shows that check, where the JVM stopped by itself.
    const bool by_call = signs.no_walker && MatchesCall(signs, chain);
    const bool by_function = target.check.empty() && MatchesFunction(signs, target);
    if (!by_check && !by_call && !by_function) continue;
    found.push_back(
        {bug, AffectedByCrash(bug, report.version), by_check, VersionsText(bug, report.version)});
  }
  std::stable_sort(found.begin(), found.end(), [](const Resemblance& a, const Resemblance& b) {
    return RankOf(a) < RankOf(b);
  });
  // Beside a bug that this version has, others that it is without explain nothing.
  if (!found.empty() && found.front().affected == Affected::kYes)
    std::erase_if(found, [](const Resemblance& one) { return one.affected == Affected::kNo; });
  return found;
}

}  // namespace walkhammer
