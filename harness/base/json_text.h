// SPDX-License-Identifier: Apache-2.0
// JSON as users, terminals and programs get it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_JSON_TEXT_H_
#define WALKHAMMER_HARNESS_BASE_JSON_TEXT_H_

#include <string>

namespace walkhammer {

// Indented JSON in ASCII, without a newline at the end. Other characters and control characters are
// escaped, so a terminal obeys none, and none changes the direction of text. Names come from
// untrusted programs: U+FFFD stands for bytes that are not UTF-8. `Json`: nlohmann::json or
// nlohmann::ordered_json, whose header the caller includes.
template <typename Json>
std::string JsonText(const Json& json) {
  return json.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_JSON_TEXT_H_
