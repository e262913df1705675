// SPDX-License-Identifier: Apache-2.0
// Which walkhammer this is. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_VERSION_H_
#define WALKHAMMER_HARNESS_CLI_VERSION_H_

#include <string>

namespace walkhammer {

// The lines of --version: version; commit, its day, whether files had changes; compiler; features.
std::string VersionText();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_VERSION_H_
