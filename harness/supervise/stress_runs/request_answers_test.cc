// SPDX-License-Identifier: Apache-2.0
// What is asked of requested stack traces, on synthetic answers.
#include "harness/supervise/stress_runs/request_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/trace_ticket.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int32_t kOne = 100, kOther = 4194303;  // the highest thread id of Linux

RequestAnswer To(int32_t asker, uint64_t number, int64_t start_ns) {
  return {TraceTicket{asker, number}.ToUserData(), start_ns, asker, false, false};
}

RequestAnswers Counted(std::vector<RequestAnswer> answers, uint64_t asked) {
  RequestAnswers counted;
  counted.Count(std::move(answers), asked);
  return counted;
}

std::vector<std::string> Outcomes(const RequestAnswers& answers, uint64_t promised) {
  std::vector<std::string> outcomes;
  for (const FindingRecord& record : FindingsOf(answers, promised)) {
    EXPECT_EQ(record.oracle, "trace-request");
    EXPECT_EQ(record.grade, record.outcome == "dropped" ? Grade::kInteresting : Grade::kForbidden);
    EXPECT_EQ(record.signature.expect, "trace-request/" + record.outcome);
    outcomes.push_back(record.outcome);
  }
  return outcomes;
}

TEST(TraceTicket, SurvivesTheJourney) {
  for (const TraceTicket ticket : {TraceTicket{1, 1}, {kOther, (uint64_t{1} << 40) - 1}}) {
    EXPECT_GT(ticket.ToUserData(), 0);
    const TraceTicket back = TraceTicket::Of(ticket.ToUserData());
    EXPECT_EQ(back.tid, ticket.tid);
    EXPECT_EQ(back.number, ticket.number);
  }
}

TEST(RequestAnswers, AcceptsWhatComesOnceAndInOrder) {
  // As in a recording: each thread's in order, but not all together.
  std::vector<RequestAnswer> answers = {To(kOne, 1, 10), To(kOne, 4, 40), To(kOther, 2, 20),
                                        To(kOther, 3, 20)};
  answers[1].failed = true;
  answers[2].biased = true;
  const RequestAnswers counted = Counted(answers, 4);
  EXPECT_EQ(counted.answers, 4u);
  EXPECT_EQ(counted.answered, 4u);
  EXPECT_EQ(counted.failed, 1u);
  EXPECT_EQ(counted.biased, 1u);
  EXPECT_THAT(FindingsOf(counted, 4), IsEmpty());
  EXPECT_EQ(WordsFor(counted, 4),
            "4 of 4 promised stack traces came (100.0 %); 1 failed, 1 biased");
}

TEST(RequestAnswers, CountsWhatNeverCame) {
  const RequestAnswers counted = Counted({To(kOne, 1, 10), To(kOne, 3, 30)}, 3);
  EXPECT_THAT(Outcomes(counted, 3), testing::ElementsAre("dropped"));
  EXPECT_THAT(FindingsOf(counted, 3)[0].detail, HasSubstr("1 of 3 promised"));
  EXPECT_THAT(FindingsOf(counted, 2), IsEmpty());
  EXPECT_THAT(Outcomes(RequestAnswers(), 1), testing::ElementsAre("dropped"));
  EXPECT_EQ(WordsFor(RequestAnswers(), 0),
            "0 of 0 promised stack traces came (0.0 %); 0 failed, 0 biased");
}

TEST(RequestAnswers, SeesASecondAnswer) {
  const RequestAnswers counted =
      Counted({To(kOne, 1, 10), To(kOne, 2, 20), To(kOne, 2, 30), To(kOne, 2, 40)}, 2);
  EXPECT_EQ(counted.twice, 2u);
  EXPECT_EQ(counted.answered, 2u);
  EXPECT_THAT(Outcomes(counted, 2), testing::ElementsAre("answered-twice"));
  EXPECT_THAT(FindingsOf(counted, 2)[0].detail,
              HasSubstr("2 of 4 answers are to a request that had one already; the first"));
  EXPECT_THAT(FindingsOf(counted, 2)[0].detail,
              HasSubstr("request 2 of the program, by thread 100"));
}

TEST(RequestAnswers, SeesAnotherOrderWithinAThreadAlone) {
  const RequestAnswers counted =
      Counted({To(kOther, 9, 5), To(kOne, 2, 10), To(kOne, 1, 20), To(kOne, 3, 30)}, 9);
  EXPECT_EQ(counted.out_of_order, 1u);
  EXPECT_THAT(Outcomes(counted, 4), testing::ElementsAre("out-of-order"));
}

// Times drift from chunk to chunk of a recording, and within a chunk events are in no order.
TEST(RequestAnswers, DoesNotTakeTheFilesOrderOrTheTimesAlone) {
  EXPECT_EQ(Counted({To(kOne, 1, 20), To(kOne, 2, 19), To(kOne, 3, 30)}, 3).out_of_order, 0u);
  EXPECT_EQ(Counted({To(kOne, 3, 30), To(kOne, 1, 10), To(kOne, 2, 20)}, 3).out_of_order, 0u);
}

TEST(RequestAnswers, SeesMoreAnswersThanPromises) {
  const RequestAnswers counted = Counted({To(kOne, 1, 10), To(kOne, 2, 20), To(kOne, 3, 30)}, 5);
  EXPECT_THAT(Outcomes(counted, 2), testing::ElementsAre("never-asked"));
  EXPECT_THAT(FindingsOf(counted, 2)[0].detail, HasSubstr("3 requests were answered, of which 2"));
  EXPECT_THAT(Outcomes(counted, 3), IsEmpty());
}

TEST(RequestAnswers, ANumberCountsOnce) {
  RequestAnswer damaged = To(kOther, 1, 20);
  damaged.tid = 0;
  EXPECT_EQ(Counted({To(kOne, 1, 10), damaged}, 2).twice, 1u);
}

TEST(RequestAnswers, SeesAnotherThread) {
  std::vector<RequestAnswer> answers = {To(kOne, 1, 10), To(kOne, 2, 30), To(kOne, 3, 20)};
  answers[1].tid = kOther;  // nor out of order: only the thread's own are compared with that
  EXPECT_THAT(Outcomes(Counted(answers, 3), 3), testing::ElementsAre("wrong-thread"));
  answers[1].tid = 0;  // of a virtual thread
  answers[2].start_ns = 40;
  EXPECT_THAT(Outcomes(Counted(answers, 3), 3), IsEmpty());
  answers[1].tid = -1;
  EXPECT_THAT(Outcomes(Counted(answers, 3), 3), IsEmpty());
}

TEST(RequestAnswers, SeesWhatNobodyAskedFor) {
  // What follows a synthetic number is not late.
  std::vector<RequestAnswer> answers = {To(kOne, 3, 5), To(kOne, 1, 10), To(kOne, 0, 30)};
  answers.push_back({-1, 40, kOne, false, false});
  answers.push_back({0, 50, kOne, false, false});
  const RequestAnswers counted = Counted(answers, 2);
  EXPECT_EQ(counted.never_asked, 4u);
  EXPECT_EQ(counted.answered, 1u);
  EXPECT_THAT(Outcomes(counted, 1), testing::ElementsAre("never-asked"));
  EXPECT_EQ(Counted(answers, 3).never_asked, 3u);
}

TEST(RequestAnswers, CountsProgramsByThemselves) {
  RequestAnswers counted;
  counted.Count({To(kOne, 2, 10)}, 2);
  counted.Count({To(kOne, 1, 20), To(kOne, 2, 30)}, 2);
  EXPECT_EQ(counted.answered, 3u);
  EXPECT_THAT(FindingsOf(counted, 3), IsEmpty());
}

}  // namespace
}  // namespace walkhammer
