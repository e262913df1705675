// SPDX-License-Identifier: Apache-2.0
// What is private wherever it stands in a line: secrets, addresses. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_REDACTION_PATTERNS_H_
#define WALKHAMMER_HARNESS_HS_ERR_REDACTION_PATTERNS_H_

#include <string>
#include <vector>

namespace walkhammer {

// Replaces in `line`: values of names that say "password", "token", "key" and the like, credentials
// in URLs, IP and MAC addresses but those of the own machine, e-mail addresses, texts of Java
// strings in dumps of objects. Returns what was replaced, a name each time.
std::vector<std::string> ReplacePrivateWords(std::string& line);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_REDACTION_PATTERNS_H_
