// SPDX-License-Identifier: Apache-2.0
// KnownBug: what a folder of corpora/known-bugs says of a bug of a public tracker. The keys are
// those of the table in corpora/README.md; ci/test/known_bugs.sh reads the same
// files. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_KNOWN_BUGS_H_
#define WALKHAMMER_HARNESS_FINDINGS_KNOWN_BUGS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk_version.h"

namespace walkhammer {

struct KnownBug {
  std::string id;                                               // as on the tracker: "JDK-8302320"
  std::string title;                                            // one sentence
  std::vector<VersionRange> versions_affected, versions_clean;  // of other versions nobody knows
  std::vector<std::string> flags;                               // JVM flags of its replay
  std::string walk;  // path of the .walk whose `expect` line is what the bug shows; may be empty
  std::string walk_text;  // what that file holds
  std::string silent;     // what the walk answers on a build without the bug: "32 frames"
};

enum class Affected { kNo, kYes, kUnknown };

// The bugs of the folder `dir`, sorted by id. kBadInput, with the file, if the folder has none or
// one of them is not as corpora/README.md says.
Result<std::vector<KnownBug>> ReadKnownBugs(const std::string& dir);

// Whether the JDK of this version (Jdk::version) has the bug, by what its folder says. kUnknown for
// text that is no version, too.
Affected AffectedByVersion(const KnownBug& bug, const std::string& version);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_KNOWN_BUGS_H_
