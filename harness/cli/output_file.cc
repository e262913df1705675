// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/output_file.h"

#include <fmt/format.h>

#include "harness/base/print.h"
#include "harness/findings/crash_folder.h"

namespace walkhammer {

Status WriteOutput(const char* option, const std::string& path, const std::string& text) {
  if (path == "-") {
    Print(stdout, "{}", text);
    return Ok();
  }
  const Status status = WriteFileAtomically(path, text);
  if (!status.ok()) return BadInput(fmt::format("{} {}", option, status.failure().message));
  Print(stderr, "{}: written\n", path);
  return Ok();
}

}  // namespace walkhammer
