// SPDX-License-Identifier: Apache-2.0
// Keywords and white space of the .walk text form, for its writer and its parser only.
// Signal-safe: yes (constant data and pure functions).
#ifndef WALKHAMMER_HARNESS_REQUEST_TEXT_WORDS_H_
#define WALKHAMMER_HARNESS_REQUEST_TEXT_WORDS_H_

#include <cstddef>
#include <iterator>
#include <string_view>

#include "harness/request/walk_request.h"

namespace walkhammer {

// The fields of a .walk file, in the order in which ToText writes them.
enum class Field {
  kWalk,
  kWalker,
  kAgainst,
  kScene,
  kArch,
  kOrigin,
  kState,
  kDepth,
  kOptions,
  kAnchor,
  kAnchorSp,
  kAnchorPc,
  kAnchorFp,
  kPc,
  kSp,
  kFp,
  kLr,
  kFault,
  kEdit,
  kExpect,
  kCount
};

constexpr size_t Index(Field field) { return static_cast<size_t>(field); }

inline constexpr std::string_view kFieldWords[] = {
    "walk",  "walker",  "against", "scene",     "arch",      "origin",    "state",
    "depth", "options", "anchor",  "anchor-sp", "anchor-pc", "anchor-fp", "pc",
    "sp",    "fp",      "lr",      "fault",     "edit",      "expect"};
static_assert(std::size(kFieldWords) == Index(Field::kCount));

inline constexpr std::string_view kAnchorWords[] = {"cleared", "true", "custom"};
static_assert(std::size(kAnchorWords) == static_cast<size_t>(AnchorMode::kCount));

inline constexpr std::string_view kOriginWords[] = {"made", "sample"};
static_assert(std::size(kOriginWords) == static_cast<size_t>(Origin::kCount));

inline constexpr std::string_view kArchWords[] = {"x86_64", "aarch64"};

// Precedes a signed value.
inline constexpr std::string_view kSignedWord = "signed";

inline constexpr std::string_view kOpWords[] = {"=", "^", "+"};
static_assert(std::size(kOpWords) == static_cast<size_t>(EditOp::kCount));

// True for white space within a line, including '\r', because lines may end in CRLF.
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

constexpr std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns `text` up to its comment, if any. A '#' outside of quotes starts a comment. With
// `needs_blank`, it does so only at the start of `text` or after white space.
constexpr std::string_view WithoutComment(std::string_view text, bool needs_blank) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '#' && !quoted && (!needs_blank || i == 0 || IsBlank(text[i - 1])))
      return text.substr(0, i);
  }
  return text;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_TEXT_WORDS_H_
