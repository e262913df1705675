// SPDX-License-Identifier: Apache-2.0
// Stanzas: text files of `key: value` lines, in blocks separated by blank lines. A line that begins
// with a space or a tab continues the value above it; a line that begins with `#` is a comment.
// Signal-safe: no.
#ifndef WALKHAMMER_WORKLOADS_STANZAS_H_
#define WALKHAMMER_WORKLOADS_STANZAS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct StanzaLine {
  std::string key, value;  // the value without spaces at its ends
  std::string where;       // file:line
};

// A block of lines: at least one, and no key twice.
struct Stanza {
  std::vector<StanzaLine> lines;

  // The line with this key; null if there is none.
  const StanzaLine* Find(std::string_view key) const;
};

// Reads all stanzas of a file. kBadInput: a malformed line or a key twice; kToolFailed: the file
// cannot be read.
Result<std::vector<Stanza>> ReadStanzas(const std::string& path);

// What may stand in braces in the texts of a workload: {scratch}.
inline constexpr std::string_view kPlaceholders[] = {"home",    "input",   "scratch", "seed",
                                                     "seconds", "threads", "scale",   "size",
                                                     "file",    "name",    "jdk"};

// The names in braces; an open brace without a closing one gives the rest of the text, brace
// included.
std::vector<std::string> PlaceholdersIn(std::string_view text);

bool IsPlaceholder(std::string_view name);

// `text` with placeholders replaced by their values. Names that `values` lacks stay as they are.
std::string Filled(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace walkhammer

#endif  // WALKHAMMER_WORKLOADS_STANZAS_H_
