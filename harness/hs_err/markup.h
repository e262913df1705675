// SPDX-License-Identifier: Apache-2.0
// WithoutMarkup: a line as its author wrote it, without what HTML, markdown, terminals and UTF-16
// have put into it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_MARKUP_H_
#define WALKHAMMER_HARNESS_HS_ERR_MARKUP_H_

#include <string>
#include <string_view>

namespace walkhammer {

// Returns the line without tags, escapes, colours and NULs, and with characters for entities:
// a view into `line` if there is nothing to change, else into `scratch`.
std::string_view WithoutMarkup(std::string_view line, std::string& scratch);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_MARKUP_H_
