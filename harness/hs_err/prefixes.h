// SPDX-License-Identifier: Apache-2.0
// LinePrefixes: what logs, containers, builds, mails and tables have put before each line of a
// crash's text: timestamps, levels, threads, names of pods, files and lines. No list of forms: what
// precedes the lines that only a crash's text has is compared, with numbers masked. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_PREFIXES_H_
#define WALKHAMMER_HARNESS_HS_ERR_PREFIXES_H_

#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

class LinePrefixes {
 public:
  LinePrefixes() = default;
  // Learns from the text's first lines of a crash.
  explicit LinePrefixes(std::string_view text);

  // Returns the line without the prefix, and, of a cell of a table, without the bar behind it. The
  // line has no markup. Returns a view into `line`.
  std::string_view Without(std::string_view line) const;

 private:
  std::vector<std::string> shapes_;  // see ShapeOf, the most frequent first
};

// The size of `text` before the first mark of a crash; npos: there is none.
size_t FirstCrashMark(std::string_view text);

// The number of lines that only a crash's text has, with any prefixes; of a long text, of its
// begin.
int CountCrashLines(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_PREFIXES_H_
