// SPDX-License-Identifier: Apache-2.0
// JdkVersion: a JDK's version as one can compare it, in the order of java.lang.Runtime.Version, and
// ranges of versions. Bisection sorts builds by it; known bugs name the versions that they are in.
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
  std::vector<uint32_t> numbers;  // 17, 0, 15; at least one, without zeros at the end
  std::string pre;                // "ea", "internal"; empty: a release
  std::optional<uint32_t> build;  // the number after '+', or after "-b" up to JDK 8
};

// Reads a version of JEP 322, "17.0.15+6-Debian-1", or of the older form, "1.8.0_504-8u504-b08" or
// "8u504-b08". What follows the build is left out: distributors write there what they like. Empty
// if `text` is not a version.
std::optional<JdkVersion> ParseJdkVersion(std::string_view text);

// The order of Runtime.Version.compareToIgnoreOptional: number by number, a missing one as 0; a
// pre-release before its release; no build before build 0.
std::weak_ordering operator<=>(const JdkVersion& a, const JdkVersion& b);
inline bool operator==(const JdkVersion& a, const JdkVersion& b) { return (a <=> b) == 0; }

// Versions from `from` on, and before `before`, if there is one. A pre-release of `from` is outside
// unless `from` names it: 17-ea is before 17.
struct VersionRange {
  JdkVersion from;
  std::optional<JdkVersion> before;

  bool Contains(const JdkVersion& version) const;
};

// Reads ranges that white space separates: "[11.0.5,11.0.14) [19,)". kBadInput if a word is none or
// is empty of versions.
Result<std::vector<VersionRange>> ParseVersionRanges(std::string_view text);

bool AnyContains(const std::vector<VersionRange>& ranges, const JdkVersion& version);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_JDK_VERSION_H_
