// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_rows.h"

#include "harness/base/text.h"

namespace walkhammer {

const char* RunStatusWord(RunStatus status) {
  static constexpr const char* kWords[] = {"running", "clean-end", "interrupted", "failed",
                                           "vacuous"};
  return kWords[static_cast<int>(status)];
}

RunStatus RunStatusFromWord(std::string_view word) {
  return FromWord(word, RunStatusWord, RunStatus::kVacuous, RunStatus::kFailed);
}

}  // namespace walkhammer
