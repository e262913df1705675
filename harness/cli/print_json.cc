// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/print_json.h"

#include <nlohmann/json.hpp>

#include "harness/base/json_text.h"
#include "harness/base/print.h"

namespace walkhammer {

void PrintJson(const nlohmann::json& json) { Print(stdout, "{}\n", JsonText(json)); }

}  // namespace walkhammer
