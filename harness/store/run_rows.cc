// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_rows.h"

#include "harness/base/text.h"

namespace walkhammer {

const char* RunStatusWord(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kCleanEnd:
      return "clean-end";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kFailed:
      return "failed";
    case RunStatus::kVacuous:
      return "vacuous";
  }
  return "failed";
}

RunStatus RunStatusFromWord(std::string_view word) {
  return FromWord(word, RunStatusWord, RunStatus::kVacuous, RunStatus::kFailed);
}

}  // namespace walkhammer
