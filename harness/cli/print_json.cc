// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/print_json.h"

#include <nlohmann/json.hpp>

#include "harness/base/print.h"

namespace walkhammer {

void PrintJson(const nlohmann::json& json) {
  Print(stdout, "{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace walkhammer
