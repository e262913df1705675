// SPDX-License-Identifier: Apache-2.0
// The text of a bug: a TOML file that people edit, too. docs/bugs.md lists the keys. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_BUGS_BUG_TEXT_H_
#define WALKHAMMER_HARNESS_BUGS_BUG_TEXT_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/bugs/bug.h"

namespace walkhammer {

struct ParsedBug {
  Bug bug;  // without id and walk, which are not in the text
  // Lines of the keys that name other bugs; 0 without the key.
  size_t duplicate_line = 0, like_line = 0;
};

// Parses a bug. `name`: of the file, for messages. kBadInput: one sentence with the line.
Result<ParsedBug> ParseBug(std::string_view text, const std::string& name);

// The text of a bug, which ParseBug reads. Keys come in a fixed order; those without a value are
// left out.
std::string BugText(const Bug& bug);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_BUG_TEXT_H_
