// SPDX-License-Identifier: Apache-2.0
// Kinds of characters, by ASCII alone, whatever the locale. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_HS_ERR_CHARACTERS_H_
#define WALKHAMMER_HARNESS_HS_ERR_CHARACTERS_H_

namespace walkhammer {

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsWordChar(char c) { return IsDigit(c) || IsLetter(c) || c == '_'; }
constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_CHARACTERS_H_
