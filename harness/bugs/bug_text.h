// SPDX-License-Identifier: Apache-2.0
// The text of a bug: a TOML file that people edit, too. docs/howto/bugs.md lists the keys.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BUGS_BUG_TEXT_H_
#define WALKHAMMER_HARNESS_BUGS_BUG_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/bug.h"

namespace walkhammer {

// A key of the file, and the field of a bug that has its value.
struct BugKey {
  using Field = std::variant<std::string*, std::vector<std::string>*, int*, bool*,
                             std::optional<Day>*, BugState*>;
  // How a text is written, where that is not one line in quotes.
  enum class Form : uint8_t { kLine, kLines, kTime, kRanges, kLibraries, kWalkers };

  const char* table;  // "" for none, "first-seen"
  const char* name;   // "build"
  Field (*field)(Bug& bug);
  Form form = Form::kLine;
};
// In the order in which a file has them.
std::span<const BugKey> AllBugKeys();

struct ParsedBug {
  Bug bug;  // without id and the text of requests, which are not in the file
  std::map<std::string, size_t> lines;  // of the keys outside of tables
};

// Parses a bug. `name`: of the file, for messages. kBadInput: one sentence with the line.
Result<ParsedBug> ParseBug(std::string_view text, const std::string& name);

// The text of a bug, which ParseBug reads. Keys come in a fixed order; those without a value are
// left out.
std::string BugText(const Bug& bug);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_BUG_TEXT_H_
