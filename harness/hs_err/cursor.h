// SPDX-License-Identifier: Apache-2.0
// Cursor: reads one line from left to right. Each reader moves only if it succeeds. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_CURSOR_H_
#define WALKHAMMER_HARNESS_HS_ERR_CURSOR_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace walkhammer {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  std::string_view rest() const { return rest_; }
  bool AtEnd() const { return rest_.empty(); }

  void SkipBlanks();
  // Skips blanks, then `literal` if it follows.
  bool Skip(std::string_view literal);
  // Moves past the next `literal`, if there is one.
  bool SkipPast(std::string_view literal);
  // Returns what is before the next of `ends` or the end, and stops before it.
  std::string_view Until(std::string_view ends);
  // Skips blanks; "0x1f" with up to 16 digits, "0X" too.
  std::optional<uint64_t> Hex();
  // Skips blanks; hexadecimal digits without "0x", no letter or digit after them.
  std::optional<uint64_t> BareHex(size_t digits);
  // Skips blanks; decimal digits, with '-' before them if `is_signed`.
  std::optional<int64_t> Decimal(bool is_signed = false);

 private:
  std::string_view rest_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_CURSOR_H_
