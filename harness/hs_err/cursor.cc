// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/cursor.h"

#include <algorithm>
#include <charconv>

#include "harness/hs_err/characters.h"

namespace walkhammer {

void Cursor::SkipBlanks() {
  size_t blanks = 0;
  while (blanks < rest_.size() && IsBlank(rest_[blanks])) blanks++;
  rest_.remove_prefix(blanks);
}

bool Cursor::Skip(std::string_view literal) {
  Cursor ahead = *this;
  ahead.SkipBlanks();
  if (!ahead.rest_.starts_with(literal)) return false;
  ahead.rest_.remove_prefix(literal.size());
  *this = ahead;
  return true;
}

bool Cursor::SkipPast(std::string_view literal) {
  const size_t at = rest_.find(literal);
  if (at == std::string_view::npos) return false;
  rest_.remove_prefix(at + literal.size());
  return true;
}

std::string_view Cursor::Until(std::string_view ends) {
  const size_t size = std::min(rest_.find_first_of(ends), rest_.size());
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

std::optional<uint64_t> Cursor::Hex() {
  Cursor ahead = *this;
  if (!ahead.Skip("0x") && !ahead.Skip("0X")) return {};
  uint64_t value = 0;
  const char* begin = ahead.rest_.data();
  const auto [end, error] = std::from_chars(begin, begin + ahead.rest_.size(), value, 16);
  if (error != std::errc()) return {};
  ahead.rest_.remove_prefix(static_cast<size_t>(end - begin));
  *this = ahead;
  return value;
}

std::optional<uint64_t> Cursor::BareHex(size_t digits) {
  Cursor ahead = *this;
  ahead.SkipBlanks();
  const std::string_view rest = ahead.rest_;
  if (rest.size() < digits || (rest.size() > digits && IsWordChar(rest[digits]))) return {};
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + digits, value, 16);
  if (error != std::errc() || end != rest.data() + digits) return {};
  ahead.rest_.remove_prefix(digits);
  *this = ahead;
  return value;
}

std::optional<int64_t> Cursor::Decimal(bool is_signed) {
  Cursor ahead = *this;
  ahead.SkipBlanks();
  if (!is_signed && ahead.rest_.starts_with('-')) return {};
  int64_t value = 0;
  const char* begin = ahead.rest_.data();
  const auto [end, error] = std::from_chars(begin, begin + ahead.rest_.size(), value);
  if (error != std::errc()) return {};
  ahead.rest_.remove_prefix(static_cast<size_t>(end - begin));
  *this = ahead;
  return value;
}

}  // namespace walkhammer
