// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/redact.h"

#include <unistd.h>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/import.h"

namespace walkhammer {
int RunRedact(const std::string& path) {
  const auto text = ReadCrashText(path);
  if (!text.ok()) return PrintFailure(text.failure());
  std::vector<Redaction> done;
  const std::string redacted = Redact(text.value(), &done);
  // A file gets the log's own bytes; a terminal none that it may obey.
  PrintText(stdout, isatty(STDOUT_FILENO) == 1 ? Printable(redacted) : redacted);
  for (const Redaction& redaction : done)
    Print(stderr, "redacted: {}, {} (first in line {})\n", redaction.what,
          Counted(static_cast<uint64_t>(redaction.count), "time"), redaction.first_line);
  if (done.empty()) Print(stderr, "redacted: nothing; {} names nothing that is known\n", path);
  return 0;
}

}  // namespace walkhammer
