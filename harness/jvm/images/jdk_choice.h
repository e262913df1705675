// SPDX-License-Identifier: Apache-2.0
// The JDKs that a verb works on. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_JDK_CHOICE_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_JDK_CHOICE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// Opens the JDKs that --jdk names, in that order, then those of the folders that --jdk-dir names,
// see JdksIn; DefaultJdk if both are empty. Returns the first failure; kUnable also for a JDK
// without vmStructs.
Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths,
                                  const std::vector<std::string>& folders = {});

// As OpenJdks, of one path at most; kBadInput, in the name of `verb`, if there are more.
Result<Jdk> OpenOneJdk(const std::vector<std::string>& paths, const std::string& verb);

// The JDK for a user who names none and asks about JDK `feature` (17, ...): the newest one of that
// line among FindJdks that has vmStructs; DefaultJdk if $WALKHAMMER_JDK is set or no such JDK is
// found. kUnable also for a JDK without vmStructs.
Result<Jdk> DefaultJdkOfLine(int feature);

// The JDKs whose homes are entries of `folder`, distinct by libjvm, in the order of their versions
// (JdkVersion); those without a version first. Entries that begin with a dot are not JDKs.
// `unusable`, if given, gets a failure for each other entry that is a folder without a JDK that
// walkhammer can use. kBadInput if there is none.
Result<std::vector<Jdk>> JdksIn(const std::string& folder,
                                std::vector<Failure>* unusable = nullptr);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_JDK_CHOICE_H_
