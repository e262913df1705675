// SPDX-License-Identifier: Apache-2.0
// MinimizeInput: what proves a smaller input, and how the search ends. Its processes have no JVM.
#include "harness/supervise/minimize_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "harness/base/testing/fails_with.h"
#include "harness/request/text_form.h"
#include "harness/supervise/fake_child_testing.h"

namespace walkhammer {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr char kServes[] = "serve=1";  // also as a process that stays
constexpr char kExpect[] = "crash walkhammer::Planted(int)+0x1";
// For an end that is due at once. A process that does not answer is given 60 s.
constexpr seconds kAtOnce{30};

class MinimizeInputTest : public testing::Test {
 protected:
  // Minimises a request by processes that live as FakeChildren has it.
  Result<MinimizedInput> Minimize(const std::vector<std::string>& lives) {
    auto symbols = NewSymbolTable();
    WalkRequest request{};
    request.depth = 3;
    scratch_ = std::make_unique<ScratchFolder>();
    return MinimizeInput({ToText({request, "", OwnPlatform().arch}, *symbols), "it"},
                         FakeChildren(*scratch_, lives), plan_);
  }
  size_t processes() const {
    size_t count = 0;
    for (const auto& life : std::filesystem::directory_iterator(scratch_->path() + "/lives"))
      count += life.is_directory() ? 1 : 0;
    return count;
  }
  bool HasBegun(size_t processes) const {
    return std::filesystem::exists(scratch_->path() + "/lives/" + std::to_string(processes - 1));
  }
  // The plan stops once `processes` have begun.
  void StopAt(size_t processes) {
    plan_.stop = [this, processes] {
      if (ended_ == Clock::time_point{} && HasBegun(processes)) ended_ = Clock::now();
      return ended_ != Clock::time_point{};
    };
  }

  MinimizePlan plan_;
  std::unique_ptr<ScratchFolder> scratch_;
  Clock::time_point ended_{};  // when the plan stopped
};

TEST_F(MinimizeInputTest, TheSmallestIsProvedInFreshProcesses) {
  const auto small = Must(Minimize({kServes}));
  EXPECT_TRUE(small.proved);
  EXPECT_EQ(small.expect, kExpect);
  EXPECT_GT(small.tried, 0);
  EXPECT_EQ(processes(), 6u) << "one that stays, five that prove";
}

TEST_F(MinimizeInputTest, AProcessThatCouldNotWalkIsReplaced) {
  for (const char* accident : {"unable", "running walk signal=9", "exit=1"}) {
    const auto small = Must(Minimize({accident, kServes, kServes, accident, accident, kServes}));
    EXPECT_TRUE(small.proved) << accident;
    EXPECT_EQ(processes(), 9u) << accident;
  }
}

TEST_F(MinimizeInputTest, AMissIsAMiss) {
  EXPECT_THAT(Minimize({kServes, "running walk walked done"}),
              FailsWith(ExitCode::kToolFailed, HasSubstr("does not replay every time")));
}

TEST_F(MinimizeInputTest, ThreeInARowThatCannotWalkEndIt) {
  for (const std::vector<std::string>& lives :
       {std::vector<std::string>{"say=no-room unable"}, {kServes, "say=no-room unable"}}) {
    EXPECT_THAT(Minimize(lives), FailsWith(ExitCode::kUnable, HasSubstr("no-room")));
    EXPECT_EQ(processes(), 3 + lives.size() - 1);
  }
}

TEST_F(MinimizeInputTest, StopInTheProofKeepsWhatWasFound) {
  StopAt(3);
  const auto small = Must(Minimize({kServes, kServes, "running sleep"}));
  EXPECT_LT(Clock::now() - ended_, kAtOnce);
  EXPECT_FALSE(small.proved);
  EXPECT_EQ(small.expect, kExpect);
  EXPECT_THAT(small.text, HasSubstr(kExpect));
}

TEST_F(MinimizeInputTest, StopBeforeTheFirstAnswerIsNoResult) {
  StopAt(1);
  const auto small = Minimize({"running sleep"});
  EXPECT_LT(Clock::now() - ended_, kAtOnce);
  EXPECT_THAT(small, FailsWith(ExitCode::kToolFailed, HasSubstr("interrupted")));
}

TEST_F(MinimizeInputTest, TheDeadlineEndsTheProofWithoutAResult) {
  plan_.times = 2;
  plan_.stop = [this] {
    if (!plan_.until && HasBegun(3)) plan_.until = Clock::now();
    return false;
  };
  const auto small = Minimize({kServes, kServes, "running sleep"});
  ASSERT_TRUE(plan_.until);
  EXPECT_LT(Clock::now() - *plan_.until, kAtOnce);
  EXPECT_THAT(small, FailsWith(ExitCode::kUnable, HasSubstr("no time left")));
}

}  // namespace
}  // namespace walkhammer
