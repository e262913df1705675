// SPDX-License-Identifier: Apache-2.0
// What all verbs share: look-ups, and results as the user sees them.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_COMMON_H_
#define WALKHAMMER_HARNESS_CLI_COMMON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/base/result.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/request/lookup.h"

namespace walkhammer {

// Indented JSON and a newline on stdout; bytes that are not UTF-8 are replaced.
void PrintJson(const nlohmann::json& json);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_COMMON_H_
