// SPDX-License-Identifier: Apache-2.0
// TOML files, read by toml++, which is compiled in toml.cc alone. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_TOML_H_
#define WALKHAMMER_HARNESS_BASE_TOML_H_

#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "harness/base/result.h"

namespace walkhammer {

// kBadInput that says what is wrong in which line of the file `name`.
Failure BadToml(const std::string& name, const toml::source_region& place, std::string_view what);

// Parses `text`, what the file `name` holds. kBadInput if that is not TOML.
Result<toml::table> ParseToml(std::string_view text, const std::string& name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TOML_H_
