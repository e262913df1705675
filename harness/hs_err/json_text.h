// SPDX-License-Identifier: Apache-2.0
// TextInJson: the crash's text out of collectors' JSON: a string a line, a whole log in one string,
// or a stack as objects. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_JSON_TEXT_H_
#define WALKHAMMER_HARNESS_HS_ERR_JSON_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace walkhammer {

// Returns the text that JSON's strings hold: of each line of `text` those with the key that the
// string with the first mark of a crash has, else the line itself. If no string has such a mark,
// the stack that objects tell (Datadog's crash tracking, Sentry), in the notation of an hs_err log.
// None: `text` is not such a text.
std::optional<std::string> TextInJson(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_JSON_TEXT_H_
