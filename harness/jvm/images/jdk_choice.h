// SPDX-License-Identifier: Apache-2.0
// The JDKs that a verb works on. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_JDK_CHOICE_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_JDK_CHOICE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {

// Opens the JDKs that --jdk names, in that order; DefaultJdk if `paths` is empty. Returns the first
// failure; kUnable also for a JDK without vmStructs.
Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_JDK_CHOICE_H_
