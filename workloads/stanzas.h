// SPDX-License-Identifier: Apache-2.0
// Stanzas: text files of `key: value` lines, in blocks that blank lines part. A line that begins
// with a blank goes on with the value before it; `#` begins a line of comment.
// Signal-safe: no.
#ifndef WALKHAMMER_WORKLOADS_STANZAS_H_
#define WALKHAMMER_WORKLOADS_STANZAS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct StanzaLine {
  std::string key, value;  // the value without blanks at its ends
  std::string where;       // file:line
};

// Not empty, and no key comes twice.
struct Stanza {
  std::vector<StanzaLine> lines;

  // Null if there is no such line.
  const StanzaLine* Find(std::string_view key) const;
};

// kBadInput where a line is none, kToolFailed where the file cannot be read.
Result<std::vector<Stanza>> ReadStanzas(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_WORKLOADS_STANZAS_H_
