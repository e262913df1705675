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

// Trains on `java -version`, which takes a few seconds, writes the cache into `folder` and returns
// the JVM flags by which a program uses the cache. With them, a JVM that cannot use the cache does
// not start. `flags`: those of the JVM that will use the cache. kUnable, with the JVM's own words,
// if it makes no cache.
Result<std::vector<std::string>> MakeAotCache(const std::string& java, const Platform& platform,
                                              const std::vector<std::string>& flags,
                                              const std::string& folder);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_AOT_CACHE_H_
