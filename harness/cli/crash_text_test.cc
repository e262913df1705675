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

TEST(ImportedCrash, OfOpenJ9SaysSo) {
  const std::string answer = AnswerOf(
      ImportText("#0  0x20 in AsyncGetCallTrace () from /j/libj9vm29.so\n", "a.txt", {}).value());
  EXPECT_NE(answer.find("JDK          unknown, OpenJ9"), std::string::npos) << answer;
  EXPECT_NE(answer.find("candidates   none"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("resembles"), std::string::npos) << answer;
}

}  // namespace
}  // namespace walkhammer
