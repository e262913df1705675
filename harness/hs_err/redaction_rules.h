// SPDX-License-Identifier: Apache-2.0
// The rules that harness/hs_err/redact.h applies to each line of a log. Each rule recognises one
// kind of private text by its form, and replaces it in `line`. A rule leaves its own replacements
// alone when it is applied again. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_REDACTION_RULES_H_
#define WALKHAMMER_HARNESS_HS_ERR_REDACTION_RULES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

inline constexpr std::string_view kRedacted = "<redacted>";  // replaces a secret

// The kind of each replaced text, as in Redaction::what: "secret". Rules append to it.
using DoneWords = std::vector<std::string>;

// Values whose names mark them as secrets, users or hosts: "-Ddb.password=x", "--token x",
// "-p x", "?api_key=x&", "\"token\": \"x\"", "<password>x</password>", "user 'x'".
void ReplaceNamedValues(std::string& line, DoneWords& done);

// Secrets and ids with a form of their own: "ghp_..", "eyJ..", 64 hexadecimal digits.
void ReplaceShapes(std::string& line, DoneWords& done);

// Credentials before a '@': "bob:x" in a URL or in the name of a database, "scott/tiger".
void ReplaceLogins(std::string& line, DoneWords& done);

// Hosts in URLs, hosts after credentials, and host names of several parts: "db-3.example.com".
void ReplaceHosts(std::string& line, DoneWords& done);

// E-mail addresses, MAC addresses and IP addresses, except 127.0.0.0/8 and 0.0.0.0.
void ReplaceAddresses(std::string& line, DoneWords& done);

// The user in the version of a JDK that somebody built: see Builder.
void ReplaceBuilders(std::string& line, DoneWords& done);

// Where a JDK's version names the user who built it. The range may include more than the name:
// "alice.jdk" of "28-internal-adhoc.alice.jdk".
struct Builder {
  size_t begin = 0, size = 0;  // in the line; size 0: none was found
  std::string_view name;       // "alice"; empty in `built on .. by "alice" with ..`
};
// Returns the first builder in `line` at or after `from`. Its name points into `line`.
Builder FindBuilder(std::string_view line, size_t from);

// True for letters, digits, '_', '.' and '-': the characters of host and property names.
bool IsNameChar(char c);

// True if neither a letter nor a digit precedes `at`. The last character of an escape, such as \n
// or %3D, does not count.
bool BeginsWord(std::string_view line, size_t at);

// True if `text` is a replacement that redaction inserts: "<redacted>", "<host>".
bool IsStandIn(std::string_view text);
// Returns the replacement at the beginning of `text`; empty: there is none.
std::string_view StandInAt(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_REDACTION_RULES_H_
