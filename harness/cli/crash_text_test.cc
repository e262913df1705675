// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_text.h"

#include <gtest/gtest.h>

#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

TEST(ImportedCrash, AnswersInWords) {
  const std::string answer =
      AnswerOf(ImportText(LogWith({kSender, kAgct, kHandler, kJava}), "a.log", {}).value());
  EXPECT_NE(answer.find("yes, AsyncGetCallTrace"), std::string::npos) << answer;
  EXPECT_NE(answer.find("frame::sender+0x325"), std::string::npos) << answer;
  EXPECT_NE(answer.find("17.0.15+6"), std::string::npos) << answer;
}

}  // namespace
}  // namespace walkhammer
