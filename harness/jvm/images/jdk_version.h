// SPDX-License-Identifier: Apache-2.0
// JdkVersion: the version of a JDK, in the order of java.lang.Runtime.Version; and ranges of
// versions. Bisection sorts builds by version; known issues name the ranges of affected versions.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_JDK_VERSION_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_JDK_VERSION_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct JdkVersion {
  std::vector<uint32_t> numbers;  // 17, 0, 15; at least one; trailing zeros are dropped
  std::string pre;                // "ea", "internal"; empty: a release
  std::optional<uint32_t> build;  // the number after '+', or after "-b" up to JDK 8
};

// Parses a version as of JEP 322, "17.0.15+6-Debian-1", or of the older form, "1.8.0_504-8u504-b08"
// or "8u504-b08". Ignores what follows the build number, which is up to the distributor. Returns
// nullopt if `text` is not a version.
std::optional<JdkVersion> ParseJdkVersion(std::string_view text);

// The order of Runtime.Version.compareToIgnoreOptional. Compares number by number; a missing number
// counts as 0. A pre-release precedes its release; a version without a build precedes build 0.
std::weak_ordering operator<=>(const JdkVersion& a, const JdkVersion& b);
inline bool operator==(const JdkVersion& a, const JdkVersion& b) { return (a <=> b) == 0; }

// The versions v with from <= v < before; without `before`, all from `from` on. [17,) excludes
// 17-ea, which precedes 17.
struct VersionRange {
  JdkVersion from;
  std::optional<JdkVersion> before;

  bool Contains(const JdkVersion& version) const;
};

// Parses ranges that white space separates: "[11.0.5,11.0.14) [19,)". Fails with kBadInput if a
// word is not a range, or if no version can be in the range.
Result<std::vector<VersionRange>> ParseVersionRanges(std::string_view text);

bool AnyContains(const std::vector<VersionRange>& ranges, const JdkVersion& version);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_JDK_VERSION_H_
