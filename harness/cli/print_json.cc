// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/print_json.h"

#include <nlohmann/json.hpp>

#include "harness/base/print.h"

namespace walkhammer {

namespace {

template <typename Json>
void PrintIndented(const Json& json) {
  Print(stdout, "{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

void PrintJson(const nlohmann::json& json) { PrintIndented(json); }

void PrintOrderedJson(const nlohmann::ordered_json& json) { PrintIndented(json); }

}  // namespace walkhammer
