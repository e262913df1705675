// SPDX-License-Identifier: Apache-2.0
// Results in tests: matchers for those that are failures, and the values of those that must not be.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_TESTING_FAILS_WITH_H_
#define WALKHAMMER_HARNESS_BASE_TESTING_FAILS_WITH_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

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

// The value of `result`. If it is a failure, the test fails with the message, and ends.
template <typename T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.failure().message;
  return std::move(result.value());
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TESTING_FAILS_WITH_H_
