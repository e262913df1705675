// SPDX-License-Identifier: Apache-2.0
// Text that a signal handler puts together. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GUARD_SIGNAL_TEXT_H_
#define WALKHAMMER_HARNESS_GUARD_SIGNAL_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace walkhammer {

// Appends `text` (may be null) to the string at `to`, truncated to `size` - 1 bytes in all.
inline void Append(const char* text, char* to, size_t size) {
  size_t used = strnlen(to, size - 1);
  for (; text != nullptr && *text != 0 && used < size - 1; text++) to[used++] = *text;
  to[used] = 0;
}

// The same, in decimal.
inline void AppendNumber(uint32_t number, char* to, size_t size) {
  char digits[11] = {};
  char* first = digits + sizeof digits - 1;
  do *--first = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  Append(first, to, size);
}

// The part behind the last slash; null for null.
inline const char* BaseName(const char* path) {
  const char* slash = path == nullptr ? nullptr : std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_SIGNAL_TEXT_H_
