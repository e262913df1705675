// SPDX-License-Identifier: Apache-2.0
// The writer of the text form; the parser is in text_parser.cc.
#include "harness/request/text_form.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "harness/base/text.h"
#include "harness/request/scene_table.h"
#include "harness/request/text_words.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

// Negative literals from here up are written as -0x..; lesser ones are written unsigned, as they
// are more likely addresses or masks.
constexpr int64_t kLeastSignedLiteral = -(int64_t{1} << 32);

std::string SignedHex(int64_t number, const char* plus) {
  uint64_t bits = static_cast<uint64_t>(number);
  return number < 0 ? "-" + Hex(0 - bits) : plus + Hex(bits);
}

// The signature as a file can hold it: one line, without anything that starts a comment.
std::string ExpectText(std::string_view expect) {
  std::string text(expect);
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (;;) {
    text.erase(0, text.find_first_not_of(" \t\r"));
    std::string_view kept = WithoutComment(text, true);
    if (kept.size() == text.size()) return std::string(TrimRight(text));
    size_t start = TrimRight(kept).size();
    text.erase(start, kept.size() - start + (start == 0 ? 1 : 0));
  }
}

}  // namespace

std::string ValueText(const Value& value, const SymbolTable& symbols) {
  const Symbol& symbol = symbols.at(value.symbol);
  std::string text;
  if (value.is_signed != 0) text.append(kSignedWord).append(" ");
  if (symbol.kind == SymbolKind::kLiteral)
    return text + (value.addend < kLeastSignedLiteral ? Hex(static_cast<uint64_t>(value.addend))
                                                      : SignedHex(value.addend, ""));
  std::string_view name(symbol.name, strnlen(symbol.name, Symbol::kMaxName));
  text += KindWord(IsNamed(symbol.kind) && name.empty() ? SymbolKind::kUnmapped : symbol.kind);
  if (!name.empty()) text.append(" \"").append(name).append("\"");
  if (value.addend != 0) text += SignedHex(value.addend, "+");
  return text;
}

std::string ToText(const WalkFile& file, const SymbolTable& symbols) {
  const WalkRequest usual;
  const WalkRequest& request = file.request;
  std::string text;
  auto line = [&text](Field field, std::string_view content) {
    text.append(kFieldWords[Index(field)]).append(" ").append(content).append("\n");
  };
  auto value_line = [&](Field field, const Value& value, const Value& usual_value) {
    if (value != usual_value) line(field, ValueText(value, symbols));
  };
  // An index beyond the table comes from damaged memory: write "unknown-INDEX" rather than fail.
  auto name_line = [&](Field field, auto table, size_t index) {
    line(field, index < table.size() ? table[index].name : "unknown-" + std::to_string(index));
  };

  line(Field::kWalk, "1");
  name_line(Field::kWalker, AllWalkers(), request.walker);
  if (request.against != 0) name_line(Field::kAgainst, AllWalkers(), request.against - 1U);
  name_line(Field::kScene, AllScenes(), request.scene);
  if (!file.arch.empty()) line(Field::kArch, file.arch);
  if (request.origin != usual.origin)
    line(Field::kOrigin,
         kOriginWords[static_cast<size_t>(request.origin) % std::size(kOriginWords)]);
  const char* state = StateWord(request.state);
  line(Field::kState, state != nullptr ? state : Hex(request.state));
  if (request.depth != usual.depth) line(Field::kDepth, std::to_string(request.depth));
  if (request.options != usual.options) line(Field::kOptions, Hex(request.options));
  if (request.anchor != usual.anchor)
    line(Field::kAnchor,
         kAnchorWords[static_cast<size_t>(request.anchor) % std::size(kAnchorWords)]);
  if (request.anchor == AnchorMode::kCustom) {
    value_line(Field::kAnchorSp, request.anchor_sp, usual.anchor_sp);
    value_line(Field::kAnchorPc, request.anchor_pc, usual.anchor_pc);
    value_line(Field::kAnchorFp, request.anchor_fp, usual.anchor_fp);
  }
  value_line(Field::kPc, request.pc, usual.pc);
  value_line(Field::kSp, request.sp, usual.sp);
  value_line(Field::kFp, request.fp, usual.fp);
  value_line(Field::kLr, request.lr, usual.lr);
  if (request.fault != usual.fault) line(Field::kFault, std::to_string(request.fault));
  const size_t edits = std::min<size_t>(request.edit_count, WalkRequest::kMaxEdits);
  for (const Edit& edit : std::span(request.edits, edits)) {
    std::string_view op = kOpWords[static_cast<size_t>(edit.op) % std::size(kOpWords)];
    line(Field::kEdit, "stack" + SignedHex(edit.slot, "+") + " " + std::string(op) + " " +
                           ValueText(edit.value, symbols));
  }
  if (std::string expect = ExpectText(file.expect); !expect.empty()) line(Field::kExpect, expect);
  return text;
}

Result<LoadedWalk> ParseWalk(std::string text, std::string_view name) {
  LoadedWalk walk{std::move(text), NewSymbolTable(), {}};
  if (std::string wrong = ParseText(walk.text, name, *walk.symbols, walk.file); !wrong.empty())
    return BadInput(std::move(wrong));
  return walk;
}

}  // namespace walkhammer
