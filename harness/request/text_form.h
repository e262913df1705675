// SPDX-License-Identifier: Apache-2.0
// The .walk text form: readable, versioned, one field per line, with comments.
// Grammar and examples: docs/reference/walk-format.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_TEXT_FORM_H_
#define WALKHAMMER_HARNESS_REQUEST_TEXT_FORM_H_

#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// The content of a .walk file: a request and what the file says about it.
struct WalkFile {
  WalkRequest request;
  std::string expect;  // signature to reproduce, e.g. "crash frame::sender+0x1f"; empty: none
  // Architecture of the request's registers and frames, as in `uname -m`; empty: any.
  std::string arch = {};
};

// The text of a value: nmethod "a.B.c()V"+0x1c, stack+0x8, 0x10, ...
std::string ValueText(const Value& value, const SymbolTable& symbols);

// The text of `file`, ending in a newline. Fields with default values are left out, except walker,
// scene and state.
std::string ToText(const WalkFile& file, const SymbolTable& symbols);

// Reads `text` into `file` and interns its names into `symbols`. Returns "" on success. On failure
// returns "NAME:LINE:COLUMN: what was expected" and leaves `file` unchanged.
std::string ParseText(std::string_view text, std::string_view name, SymbolTable& symbols,
                      WalkFile& file);

// A .walk file that was read, with the symbols of its request.
struct LoadedWalk {
  std::string text;
  std::unique_ptr<SymbolTable> symbols;
  WalkFile file;
};

// As ParseText; kBadInput on failure.
Result<LoadedWalk> ParseWalk(std::string text, std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_TEXT_FORM_H_
