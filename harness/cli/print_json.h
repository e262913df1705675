// SPDX-License-Identifier: Apache-2.0
// JSON as the user sees it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PRINT_JSON_H_
#define WALKHAMMER_HARNESS_CLI_PRINT_JSON_H_

#include <nlohmann/json_fwd.hpp>

namespace walkhammer {

// JsonText and a newline on stdout.
void PrintJson(const nlohmann::json& json);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PRINT_JSON_H_
