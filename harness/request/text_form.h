// SPDX-License-Identifier: Apache-2.0
// The .walk text form: readable, commented, versioned, one field a line.
// Grammar and examples: docs/walk-format.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_TEXT_FORM_H_
#define WALKHAMMER_HARNESS_REQUEST_TEXT_FORM_H_

#include <string>
#include <string_view>

#include "harness/request/walk_request.h"

namespace walkhammer {

// The newest that is read. A file is written in the oldest that has all that it holds: 2 has
// `origin`, the kind `bytecodes`, and more edits than 32; 3 has `against`; 4 has `arch` and signed
// values.
inline constexpr int kWalkFormatVersion = 4;
inline constexpr int kMaxEditsInVersion1 = 32;

// A request with what a file says about it.
struct WalkFile {
  WalkRequest request;
  std::string expect;  // the signature that it should reproduce, e.g. "crash frame::sender+0x1f"
  // Whose registers and frames it is about, as `uname -m` says it; empty: either's.
  std::string arch = {};
};

// nmethod "a.B.c()V"+0x1c, stack+0x8, 0x10, ...
std::string ValueText(const Value& value, const SymbolTable& symbols);

// Ends in a newline. Fields at their default are left out, except walker, scene and state.
std::string ToText(const WalkFile& file, const SymbolTable& symbols);

// Fills `file`, interning names into `symbols`. On failure returns
// "NAME:LINE:COLUMN: what was expected" and leaves `file` untouched; empty on success.
std::string ParseText(std::string_view text, std::string_view name, SymbolTable& symbols,
                      WalkFile& file);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_TEXT_FORM_H_
