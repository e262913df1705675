// SPDX-License-Identifier: Apache-2.0
// LineReader: the lines of a text as HotSpot wrote them, without what logs, mail and trackers have
// put around each of them. Also tells lines that were cut at their end. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_LINES_H_
#define WALKHAMMER_HARNESS_HS_ERR_LINES_H_

#include <string>
#include <string_view>

#include "harness/hs_err/prefixes.h"

namespace walkhammer {

struct Line {
  std::string_view text;  // without blanks at its ends, '#', quotes, timestamps
  int number = 0;         // in the text, from 1
  bool has_hash = false;  // a '#' was before it
  bool is_empty() const { return text.empty(); }
};

class LineReader {
 public:
  // Reads from the first line on, or from the last line back. `text` must outlive the reader.
  LineReader(std::string_view text, bool backwards);
  // The same for a part of the text that has these prefixes.
  LineReader(std::string_view text, bool backwards, LinePrefixes prefixes);

  // Returns false at the end. The line is valid until the next call.
  bool Next(Line& line);

 private:
  std::string_view rest_;
  LinePrefixes prefixes_;
  std::string scratch_;
  int number_;
  bool backwards_;
};

// Removes what is not the line's own, from its begin: blanks, "> " of mails, numbers of lists, '#'.
// Returns a view into `text`.
std::string_view WithoutPrefix(std::string_view text, bool& has_hash);

// True if a terminal has broken a word between the two: "linux-" and "amd64", "0x00007feb" and
// "ed3fd000", a symbol and its offset.
bool IsWithinWord(std::string_view text, std::string_view next);

// True for "JRE version:", "Java VM:", "vm_info:".
bool IsVersion(std::string_view text);

// True if the next line may be the rest of such a line.
bool IsCutVersion(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_LINES_H_
