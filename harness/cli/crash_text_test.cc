// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_text.h"

#include <gtest/gtest.h>

#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

TEST(ImportedCrash, AnswersInWords) {
  const std::string answer =
      AnswerOf(ImportTexts(LogWith({kSender, kAgct, kHandler, kJava}), "a.log", {}).value()[0]);
  EXPECT_NE(answer.find("yes, AsyncGetCallTrace"), std::string::npos) << answer;
  EXPECT_NE(answer.find("frame::sender+0x325"), std::string::npos) << answer;
  EXPECT_NE(answer.find("17.0.15+6"), std::string::npos) << answer;
}

std::string AnswerTo(const std::vector<std::string>& frames) {
  return AnswerOf(ImportTexts(LogWith(frames), "a.log", {}).value()[0]);
}

std::string NextAfter(const std::vector<std::string>& frames) {
  return NextCommand(ImportTexts(LogWith(frames), "a b.log", {}).value()[0]);
}

TEST(ImportedCrash, OffersAHandfulOfCandidates) {
  const std::string answer = AnswerTo({kSender, kAgct, kHandler, kJava});
  EXPECT_NE(answer.find("candidates   8, the likeliest of "), std::string::npos) << answer;
  EXPECT_NE(AnswerTo({"V  [libjvm.so+0x1]  Parse::do_one_block()+0x1"}).find("candidates   none"),
            std::string::npos);
  EXPECT_EQ(AnswerTo({"V  [libjvm.so+0x1]  f()+0x1", kThreadStart}).find("candidates"),
            std::string::npos);
}

TEST(ImportedCrash, SaysWhatWouldHelpWhereItIsUnknown) {
  const char* no_name = "V  [libjvm.so+0x74c308]";
  const std::string answer = AnswerTo({no_name, kThreadStart});
  EXPECT_NE(answer.find("unknown: 1 frame of libjvm.so has no name"), std::string::npos) << answer;
  EXPECT_NE(answer.find("would help   the debug symbols of libjvm.so"), std::string::npos);
  EXPECT_EQ(AnswerTo({kSender, kAgct}).find("would help"), std::string::npos);
}

// The next command is to be typed, so it names the file alone.
TEST(ImportedCrash, SaysWhichOfSeveralCrashesItIs) {
  const std::string text = LogWith({kHandler, kJava}) + LogWith({kSender, kAgct, kHandler, kJava});
  const auto crashes = ImportTexts(text, "a.log", {}).value();
  ASSERT_EQ(crashes.size(), 2u);
  EXPECT_TRUE(AnswerOf(crashes[1]).starts_with("a.log, crash 2 of 2\n")) << AnswerOf(crashes[1]);
  EXPECT_EQ(NextCommand(crashes[1]), "walkhammer import --reproduce a.log --jdk JDK");
}

TEST(ImportedCrash, EndsWithTheNextCommand) {
  EXPECT_EQ(NextAfter({kSender, kAgct}), "walkhammer import --reproduce 'a b.log' --jdk JDK");
  EXPECT_EQ(NextAfter({"V  [libjvm.so+0x1]  f()+0x1", kThreadStart}),
            "walkhammer import --redact 'a b.log' >attachment.log");
  EXPECT_EQ(NextAfter({"V  [libjvm.so+0x74c308]", kThreadStart}),
            "addr2line -Cfe libjvm.so 0x74c308");
}

TEST(ImportedCrash, OfOpenJ9SaysSo) {
  const std::string answer =
      AnswerOf(ImportTexts("#0  0x20 in AsyncGetCallTrace () from /j/libj9vm29.so\n", "a.txt", {})
                   .value()[0]);
  EXPECT_NE(answer.find("JDK          unknown, OpenJ9"), std::string::npos) << answer;
  EXPECT_NE(answer.find("candidates   none"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("resembles"), std::string::npos) << answer;
}

}  // namespace
}  // namespace walkhammer
