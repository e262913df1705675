// SPDX-License-Identifier: Apache-2.0
// The ahead-of-time cache of JEP 483 (JDK 24 and later), for the profile "aot-cache".
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_AOT_CACHE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_AOT_CACHE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/platform.h"

namespace walkhammer {

// Trains on what `java -version` does, which takes a few seconds, writes the cache into `folder`
// and gives the JVM flags that a program uses it by: the JVM does not start where it cannot.
// `flags`: of the JVM that is to use it. kUnable, with what the JVM says, where there is none.
Result<std::vector<std::string>> MakeAotCache(const std::string& java, const Platform& platform,
                                              const std::vector<std::string>& flags,
                                              const std::string& folder);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_AOT_CACHE_H_
