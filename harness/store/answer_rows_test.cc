// SPDX-License-Identifier: Apache-2.0
#include "harness/store/answer_rows.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "harness/ipc/line_state.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

constexpr uint64_t kRequest = 0x1234567800000000;

class AnswerFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(dir_); }
  void TearDown() override { unsetenv(kAnswersVariable); }

  TemporaryFolder temp_;
  const std::string dir_ = temp_.Under("run"), path_ = dir_ + "/" + kAnswersName;
};

TEST_F(AnswerFile, KeepsWhatAChildWroteByTheRequestsNumber) {
  Answers parent = std::move(Answers::Create(path_).value());
  setenv(kAnswersVariable, path_.c_str(), 1);
  {
    Answers child = std::move(Answers::OpenFromEnvironment().value());
    ASSERT_TRUE(child.wanted());
    child.Begin(0, kRequest);
    child.End(0, kRequest, DigestOf(kCodeFrames, 7));
    child.Begin(2, kRequest);
    child.Begin(3, kRequest);
    child.End(3, kRequest, DigestOf(6, 0));
    child.End(kMostAnswers, kRequest, DigestOf(6, 0));  // is not kept
  }
  ASSERT_TRUE(parent.Trim(path_).ok());
  const auto answers = ReadAnswers(dir_);
  ASSERT_TRUE(answers.ok());
  ASSERT_EQ(answers.value().size(), 4U);
  EXPECT_EQ(answers.value()[0].request, kRequest >> 32);
  EXPECT_EQ(CodeOf(answers.value()[0]), "frames");
  EXPECT_FALSE(answers.value()[1].IsWalked());
  EXPECT_TRUE(answers.value()[2].IsCutOff());
  EXPECT_EQ(CodeOf(answers.value()[2]), "crash");
  EXPECT_FALSE(answers.value()[3].IsCutOff());
  EXPECT_EQ(CodeOf(answers.value()[3]), "-5");
}

TEST_F(AnswerFile, NothingIsKeptUnlessItIsWanted) {
  Answers none = std::move(Answers::OpenFromEnvironment().value());
  EXPECT_FALSE(none.wanted());
  none.Begin(0, kRequest);
  EXPECT_TRUE(ReadAnswers(dir_).value().empty());
}

TEST_F(AnswerFile, ADigestTellsFramesApart) {
  EXPECT_NE(DigestOf(kCodeFrames, uint64_t{1} << 40), DigestOf(kCodeFrames, uint64_t{2} << 40));
  EXPECT_EQ(DigestOf(kCodeFrames, uint64_t{1} << 40), DigestOf(kCodeFrames, uint64_t{1} << 40));
  for (int slot = 0; slot < kCodeSlots; slot++) {
    const Answer answer{0, DigestOf(slot, UINT64_MAX)};
    EXPECT_TRUE(answer.IsWalked() && !answer.IsCutOff());
    EXPECT_EQ(answer.code(), slot);
  }
}

TEST_F(AnswerFile, WhatIsNotAFileOfAnswersIsRefused) {
  const auto refused = [&] {
    const auto answers = ReadAnswers(dir_);
    return !answers.ok() && answers.failure().code == ExitCode::kBadInput;
  };
  std::ofstream(path_) << "123456789";
  EXPECT_TRUE(refused());
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_TRUE(refused());
  std::filesystem::remove(path_);
  std::ofstream(path_) << "";
  std::filesystem::resize_file(path_, (kMostAnswers + 1) * 8);
  EXPECT_TRUE(refused());
  std::filesystem::resize_file(path_, 0);
  EXPECT_TRUE(ReadAnswers(dir_).value().empty());
  EXPECT_FALSE(Answers::Create(path_).ok());  // it is there
}

}  // namespace
}  // namespace walkhammer
