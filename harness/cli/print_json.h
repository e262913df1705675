// SPDX-License-Identifier: Apache-2.0
// JSON as the user sees it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PRINT_JSON_H_
#define WALKHAMMER_HARNESS_CLI_PRINT_JSON_H_

#include <nlohmann/json_fwd.hpp>

namespace walkhammer {

// Indented JSON and a newline on stdout; bytes that are not UTF-8 are replaced.
void PrintJson(const nlohmann::json& json);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PRINT_JSON_H_
