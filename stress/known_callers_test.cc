// SPDX-License-Identifier: Apache-2.0
// What of an answer is compared with the callers that are known. How callers are judged is tested
// with the shadow stack, in stepped_stack_test.cc.
#include "stress/known_callers.h"

#include <gtest/gtest.h>

#include <vector>

namespace walkhammer::stress {
namespace {

constexpr int kAsked = 200;

// An answer of `frames` frames; `guessed_from` as in Trace.
Trace AnswerOf(int frames, int guessed_from = -1) {
  static const std::vector<Frame> some(kAsked);
  Trace trace{Ending::kReturned, frames, some.data()};
  trace.guessed_from = guessed_from;
  return trace;
}

// What is measured of an answer to a request of `asked` frames.
void ExpectMeasured(const Trace& answer, int asked, int count, bool goes_on) {
  AnsweredFrames frames;
  frames.Measure(answer, asked);
  EXPECT_EQ(frames.count, count);
  EXPECT_EQ(frames.goes_on, goes_on);
}

constexpr int kMost = AnsweredFrames::kMost;

TEST(AnsweredFrames, AreTheNewestOfTheAnswer) {
  ExpectMeasured(AnswerOf(3), kAsked, 3, false);
  ExpectMeasured(AnswerOf(kMost), kAsked, kMost, false);
  ExpectMeasured(AnswerOf(kMost + 1), kAsked, kMost, true);
}

TEST(AnsweredFrames, GoOnWhereTheRequestEndedTheWalk) {
  ExpectMeasured(AnswerOf(4), 5, 4, false);
  ExpectMeasured(AnswerOf(5), 5, 5, true);
  Trace ended = AnswerOf(3);
  ended.ended_on_request = true;
  ExpectMeasured(ended, kAsked, 3, true);
}

TEST(AnsweredFrames, EndBeforeTheFirstGuess) {
  for (const int guess : {0, 1, 2}) ExpectMeasured(AnswerOf(3, guess), kAsked, guess, true);
  ExpectMeasured(AnswerOf(3, 3), kAsked, 3, false);  // no frame of this answer is a guess
  ExpectMeasured(AnswerOf(100, kMost + 1), kAsked, kMost, true);
}

// Interpreted callers 1 (newer) and 2 of a stub; the answer has 7 in place of 2.
TEST(AnsweredFrames, AGuessContradictsNoCallerThatIsKnown) {
  SteppedCall calls[2];
  calls[0].caller = calls[1].caller = SteppedCall::Caller::kInterpreted;
  calls[0].method = 2;
  calls[1].method = 1;
  AnsweredFrames frames{{1, 7, 3}, 0, false};
  const auto judge = [&](int guessed_from) {
    frames.Measure(AnswerOf(3, guessed_from), kAsked);
    return JudgeCallers(SteppedCode::kStub, 0, calls, frames);
  };
  EXPECT_EQ(judge(-1), CallerVerdict::kContradicted);
  EXPECT_EQ(judge(2), CallerVerdict::kContradicted);  // the guess is older
  EXPECT_EQ(judge(1), CallerVerdict::kProven);        // of 1
  EXPECT_EQ(judge(0), CallerVerdict::kUnknown);
}

// Generated code is below 0x1000.
class GeneratedBelow : public CodeReader {
 public:
  bool IsGenerated(uint64_t pc) const override { return pc < 0x1000; }
  bool InInterpreter(uint64_t) const override { return false; }
  bool InSameNmethod(uint64_t, uint64_t) const override { return false; }
  SteppedCall CallerAt(uint64_t, uint64_t) const override { return {}; }
};

SteppedCall Call(SteppedCall::Caller caller, uint64_t method, uint64_t return_pc = 0x10) {
  SteppedCall call;
  call.caller = caller;
  call.method = method;
  call.return_pc = return_pc;
  return call;
}

// How many calls tell of the newest caller.
size_t Newest(const std::vector<SteppedCall>& calls) {
  return NewestCalls(calls, GeneratedBelow()).size();
}

TEST(NewestCalls, GoDownToTheFirstCallOfAnotherFrame) {
  using Caller = SteppedCall::Caller;
  const SteppedCall compiled = Call(Caller::kCompiled, 1),
                    interpreted = Call(Caller::kInterpreted, 2);
  const SteppedCall stub = Call(Caller::kNoJava, 0), c = Call(Caller::kNoJava, 0, 0x1000);
  EXPECT_EQ(Newest({}), 0u);
  EXPECT_EQ(Newest({compiled, interpreted}), 1u);
  EXPECT_EQ(Newest({interpreted, compiled}), 1u);
  EXPECT_EQ(Newest({compiled, interpreted, stub}), 2u);
  EXPECT_EQ(Newest({compiled, c}), 0u);
  EXPECT_EQ(Newest({compiled, c, stub}), 0u);  // a call stub
  EXPECT_EQ(Newest({c, compiled}), 1u);
  EXPECT_EQ(Newest({compiled, Call(Caller::kUnknown, 0)}), 0u);
  EXPECT_EQ(Newest({compiled, Call(Caller::kInterpreted, 0)}), 2u);
  EXPECT_EQ(Newest({stub}), 0u);
}

TEST(NewestCalls, OfTheFrameThatRunsTellNothingOfItsCaller) {
  using Caller = SteppedCall::Caller;
  const SteppedCall caller = Call(Caller::kInterpreted, 1);
  SteppedCall pushed = Call(Caller::kInterpreted, 2), within = Call(Caller::kCompiled, 2);
  SteppedCall at_entry = Call(Caller::kCompiled, 2);
  pushed.is_pushed = within.is_within = at_entry.may_lack = true;
  for (const SteppedCall& own : {pushed, within, at_entry}) {
    EXPECT_EQ(Newest({caller, own}), 2u);
    EXPECT_EQ(Newest({own}), 0u);
  }
}

}  // namespace
}  // namespace walkhammer::stress
