// SPDX-License-Identifier: Apache-2.0
// AppendUtf8: a character as UTF-8. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_UTF8_H_
#define WALKHAMMER_HARNESS_HS_ERR_UTF8_H_

#include <cstdint>
#include <string>

namespace walkhammer {

// Appends the character with this code point.
void AppendUtf8(uint32_t code, std::string& text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_UTF8_H_
