// SPDX-License-Identifier: Apache-2.0
// Texts within strings of JSON: logs of containers and of services have a crash log so, line by
// line or as a whole, with "\n" for each end of a line. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_JSON_STRINGS_H_
#define WALKHAMMER_HARNESS_HS_ERR_JSON_STRINGS_H_

#include <functional>
#include <string>
#include <string_view>

namespace walkhammer {

using ChangeText = std::function<std::string(std::string_view text)>;

// Calls `change` with the text of each string of `line` that has escapes in it, and, in a line that
// is an object, of each that is named as a log's line. Where it returns another text, which must
// have as many lines, puts that there; lines that did not change keep their escapes.
void ChangeJsonStrings(std::string& line, const ChangeText& change);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_JSON_STRINGS_H_
