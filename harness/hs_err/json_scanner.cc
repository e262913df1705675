// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/json_scanner.h"

#include <algorithm>
#include <charconv>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/utf8.h"

namespace walkhammer {

// What follows a backslash.
void JsonScanner::ReadEscape(std::string& out) {
  static constexpr std::string_view kEscapes = "nrtbf", kMeanings = "\n\r\t\b\f";
  const char escape = text_[at_++];
  if (const size_t which = kEscapes.find(escape); which != std::string_view::npos) {
    out += kMeanings[which];
    return;
  }
  uint32_t code = 0;
  const std::string_view digits = escape == 'u' ? text_.substr(at_, 4) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + digits.size()) {
    out += escape;
    return;
  }
  at_ += digits.size();
  constexpr uint32_t kReplacement = 0xfffd;
  AppendUtf8(code >> 11 == 0xd800 >> 11 ? kReplacement : code, out);
}

void JsonScanner::ReadString(JsonToken& token) {
  token.kind = JsonToken::Kind::kString;
  at_++;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    const size_t plain = std::min(text_.find_first_of("\"\\\n", at_), text_.size());
    token.text += text_.substr(at_, plain - at_);
    at_ = plain;
    if (at_ >= text_.size() || text_[at_] != '\\') continue;
    at_++;
    if (at_ < text_.size()) ReadEscape(token.text);
  }
  if (at_ < text_.size()) at_++;
}

bool JsonScanner::Next(JsonToken& token) {
  static constexpr std::string_view kMarks = "{}[]:,";
  token = {};
  while (at_ < text_.size() && text_[at_] != '"' && !IsWordChar(text_[at_]) &&
         kMarks.find(text_[at_]) == std::string_view::npos)
    at_++;
  if (at_ >= text_.size()) return false;
  token.begin = at_;
  if (text_[at_] == '"') {
    ReadString(token);
  } else if (kMarks.find(text_[at_]) != std::string_view::npos) {
    token.text = text_[at_++];
  } else {
    token.kind = JsonToken::Kind::kScalar;
    while (at_ < text_.size() && (IsWordChar(text_[at_]) || text_[at_] == '.'))
      token.text += text_[at_++];
  }
  token.end = at_;
  return true;
}

}  // namespace walkhammer
