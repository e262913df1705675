// SPDX-License-Identifier: Apache-2.0
// The rules by which harness/hs_err/redact.h replaces words of one line; each knows one kind of
// thing by how it looks, and leaves what it has replaced before. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_REDACTION_RULES_H_
#define WALKHAMMER_HARNESS_HS_ERR_REDACTION_RULES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

inline constexpr std::string_view kRedacted = "<redacted>";  // what a secret becomes

// What was replaced, a name each time: "secret".
using DoneWords = std::vector<std::string>;

// Values of names that tell a secret, a user beside it, or a host: "-Ddb.password=x", "--token x",
// "-p x", "?api_key=x&", "\"token\": \"x\"", "<password>x</password>", "user 'x'".
void ReplaceNamedValues(std::string& line, DoneWords& done);

// Secrets and ids that a shape of their own tells: "ghp_..", "eyJ..", 64 hexadecimal digits.
void ReplaceShapes(std::string& line, DoneWords& done);

// "bob:x@" of a URL or of a database's name, "scott/tiger@".
void ReplaceLogins(std::string& line, DoneWords& done);

// Hosts in URLs and behind logins, and host names of several parts: "db-3.example.com".
void ReplaceHosts(std::string& line, DoneWords& done);

// IP and MAC addresses but those of the own machine, e-mail addresses.
void ReplaceAddresses(std::string& line, DoneWords& done);

// Who built a JDK, by its version.
void ReplaceBuilders(std::string& line, DoneWords& done);

// The user who built a JDK, from `from` on: the name, which is empty in a stock build, and its
// place in the line; size 0: there is none.
struct Builder {
  size_t begin = 0, size = 0;
  std::string_view name;
};
Builder FindBuilder(std::string_view line, size_t from);

// The characters of names of hosts, properties and the like.
bool IsNameChar(char c);

// True if neither a letter nor a digit stands before `at`. Those of escapes, such as \n and %3D, do
// not count.
bool BeginsWord(std::string_view line, size_t at);

// True for what stands for something: "<redacted>", "<host>".
bool IsStandIn(std::string_view text);
// The one that `text` begins with; empty: none.
std::string_view StandInAt(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_REDACTION_RULES_H_
