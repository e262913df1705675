// SPDX-License-Identifier: Apache-2.0
// Redact: a crash log without what is personal in it: environment, host, user, home directories,
// secrets of the command line, IP addresses. Used by the verbs redact and bundle. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_REDACT_H_
#define WALKHAMMER_HARNESS_HS_ERR_REDACT_H_

#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

// One kind of thing that was replaced. It never holds the replaced text itself.
struct Redaction {
  std::string what;    // "environment variable PATH", "host name", "user name", "home directory"
  int first_line = 0;  // of the text, from 1
  int count = 0;       // how often
};

// Returns a command line without secrets: values of names with "password", "token" and the like,
// and credentials in URLs.
std::string WithoutSecrets(std::string_view command_line);

// Returns the version of a JDK without who built it, and where: "28-internal-adhoc.<user>" of
// "28-internal-adhoc.alice.jdk", which OpenJDK's build gives personal ones.
std::string WithoutBuilder(std::string_view version);

// Returns `text` with what is personal replaced by words in angle brackets: "<host>", "<user>",
// "/home/<user>/..", "<redacted>". Lines stay lines: their number does not change. A text that was
// redacted stays as it is. Appends to `done`, unless it is null, what was replaced, by first line.
// Reads any text, at any place of it, not only the known sections of a log.
std::string Redact(std::string_view text, std::vector<Redaction>* done);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_REDACT_H_
