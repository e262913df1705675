// SPDX-License-Identifier: Apache-2.0
// Matchers for a Status or Result that is a failure. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_TESTING_FAILS_WITH_H_
#define WALKHAMMER_HARNESS_BASE_TESTING_FAILS_WITH_H_

#include <gmock/gmock.h>

#include "harness/base/result.h"

namespace walkhammer {

// `code` and `message`: values or matchers.
MATCHER_P2(FailsWith, code, message, "") {
  if (arg.ok()) {
    *result_listener << "which has not failed";
    return false;
  }
  *result_listener << "which failed: " << arg.failure().message << "; ";
  return testing::ExplainMatchResult(code, arg.failure().code, result_listener) &&
         testing::ExplainMatchResult(message, arg.failure().message, result_listener);
}

template <typename Code>
auto FailsWith(Code code) {
  return FailsWith(code, testing::_);
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TESTING_FAILS_WITH_H_
