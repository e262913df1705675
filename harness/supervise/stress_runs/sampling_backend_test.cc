// SPDX-License-Identifier: Apache-2.0
// Reading and judging the output of other profilers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/supervise/command_testing.h"
#include "harness/supervise/stress_runs/backend_samples.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Answer = std::pair<std::string, std::string>;

Status ReadBack(const std::string& text, BackendSamples& samples) {
  std::istringstream stream(text);
  return ReadBackText(stream, samples);
}
Status Collapsed(const std::string& text, BackendSamples& samples) {
  std::istringstream stream(text);
  return ReadCollapsed(stream, samples);
}

TEST(BackendOf, NamesTheBackendByTheWalker) {
  EXPECT_EQ(BackendOf("jfr"), &kJfrBackend);
  EXPECT_EQ(BackendOf("agent:/x.so=start"), &kForeignAgentBackend);
  for (const char* own : {"agct", "jfrx", "agents", "", "agct,jfr"})
    EXPECT_EQ(BackendOf(own), &kOwnBackend);
}

TEST(ReadBack, KeepsAnswersToRequests) {
  BackendSamples samples;
  ASSERT_TRUE(
      ReadBack("answer\t1099511627777\t17\t1\tfb\nanswer\t-1\t-18\t-1\t\nend\t2\n", samples).ok());
  EXPECT_THAT(samples.given, ElementsAre(RequestAnswer{1099511627777, 17, 1, true, true},
                                         RequestAnswer{-1, -18, -1, false, false}));
  for (const char* bad : {"answer\t1\t2\t3\nend\t1\n", "answer\tx\t2\t3\t\nend\t1\n",
                          "answer\t1\tx\t3\t\nend\t1\n", "answer\t1\t2\tx\t\nend\t1\n"})
    EXPECT_FALSE(ReadBack(bad, samples).ok()) << bad;
}

TEST(ReadBack, JudgesStacks) {
  BackendSamples samples;
  ASSERT_TRUE(ReadBack("stack\t5\tExecutionSample\t\tjava.lang.Thread.run()V;a.B.c(I)V\n"
                       "stack\t4\tExecutionSample\t\ta.B.c(Ljava/lang/String;)V\n"
                       "stack\t3\tExecutionSample\ttb\ta.B.c(I)V;a.B.c(I)V\n"
                       "stack\t2\tCPUTimeSample\t-\t\n"
                       "stack\t1\tCPUTimeSample\tb\ta.Main.main([Ljava/lang/String;)V\n"
                       "stack\t6\tCPUTimeSample\tu\t[unknown method];a.B.c(I)V\n"
                       "stack\t7\tExecutionSample\t\tjdk.internal.vm.Continuation.enterSpecial()V;"
                       "jdk.internal.vm.Continuation.enter()V\n"
                       "stack\t9\tExecutionSample\t\tjdk.internal.vm.Continuation.enterSpecial()V;"
                       "a.B.c()V\n"
                       "stack\t2\tExecutionSample\tn\tstart_thread;a.B.c()V\n"
                       "stack\t8\tExecutionSample\t\t[stack table full]\n"
                       "frames\t20\t3\ntimed\t9\t110000\nlost\t12\nend\t99\n",
                       samples)
                  .ok());
  EXPECT_EQ(samples.samples, 47u);
  EXPECT_EQ(samples.successful, 45u);
  EXPECT_EQ(samples.coalesced, 2u);  // 11 periods of 10 us in 9 samples
  EXPECT_EQ(samples.lost, 12u);
  EXPECT_EQ(samples.without_line, 3u);
  EXPECT_THAT(samples.answers, ElementsAre(Pair(Answer("CPUTimeSample", "no-bci"), 1),
                                           Pair(Answer("CPUTimeSample", "no-stack"), 2),
                                           Pair(Answer("CPUTimeSample", "unknown-method"), 6),
                                           Pair(Answer("ExecutionSample", "cut-off"), 4),
                                           Pair(Answer("ExecutionSample", "frames"), 22),
                                           Pair(Answer("ExecutionSample", "gap"), 9),
                                           Pair(Answer("ExecutionSample", "truncated"), 3)));
  EXPECT_EQ(samples.stacks.Stacks()["java.lang.Thread.run()V\na.B.c(I)V"], 5u);
  EXPECT_EQ(samples.stacks.Stacks()["[jfr cut-off]\na.B.c(Ljava/lang/String;)V"], 4u);
  EXPECT_EQ(samples.stacks.Stacks()["[jfr no-stack]"], 2u);
  const BackendVerdict verdict = VerdictOf(samples, kJfrBackend);
  EXPECT_EQ(verdict.status, CellStatus::kPassed);
  EXPECT_EQ(verdict.delivery.requested, 61u);
  EXPECT_EQ(verdict.delivery.missed, 12u);
}

TEST(ReadBack, WhatWasCutShortIsNoAnswer) {
  for (const char* text :
       {"", "lost\t0\n", "stack\t1\tExecutionSample\t\n", "stack\tx\tExecutionSample\t\ta.B.c()V\n",
        "stack\t1\tE\t\t\nend\t1\n", "stack\t1\tE\t-\ta.B.c()V\nend\t1\n", "end\t1\nlost\t0\n",
        "end\tmany\n", "what\n"}) {
    BackendSamples samples;
    EXPECT_FALSE(ReadBack(text, samples).ok()) << text;
  }
}

TEST(ReadBack, NothingIsVacuous) {
  BackendSamples none;
  ASSERT_TRUE(ReadBack("frames\t0\t0\ntimed\t0\t0\nlost\t0\nend\t7\n", none).ok());
  EXPECT_EQ(VerdictOf(none, kJfrBackend).status, CellStatus::kVacuous);
  BackendSamples empty;
  ASSERT_TRUE(ReadBack("stack\t3\tCPUTimeSample\t-\t\nend\t3\n", empty).ok());
  const BackendVerdict verdict = VerdictOf(empty, kJfrBackend);
  EXPECT_EQ(verdict.status, CellStatus::kVacuous);
  EXPECT_THAT(verdict.reason, HasSubstr("none of its 3 samples"));
  EXPECT_EQ(verdict.delivery.walks, 3u);
}

TEST(Collapsed, CountsWhatCouldNotBeWalked) {
  BackendSamples samples;
  ASSERT_TRUE(Collapsed("java/lang/Thread.run;a/B.c;JVM_Do(int, long) 10\n"
                        "[unknown_Java] 3\n\n"
                        "[main tid=7];start_thread;a/B.c;[break_interpreted] 2\n"
                        "[main tid=7];[vdso];clock 1\n",
                        samples)
                  .ok());
  EXPECT_EQ(samples.samples, 16u);
  EXPECT_EQ(samples.successful, 13u);
  EXPECT_THAT(samples.answers, ElementsAre(Pair(Answer("collapsed", "[break_interpreted]"), 2),
                                           Pair(Answer("collapsed", "[unknown_Java]"), 3),
                                           Pair(Answer("collapsed", "frames"), 11)));
  EXPECT_EQ(samples.stacks.Stacks().size(), 4u);
}

TEST(Collapsed, LinesThatAreNone) {
  for (const char* text : {"a;b 1\na;b\n", "a;b 1\na;b 2x\n", "a;b 1\n 2\n", "a;b 1\na;b 2"}) {
    BackendSamples samples;
    EXPECT_THAT(Collapsed(text, samples), FailsWith(ExitCode::kUnable, HasSubstr("line 2")))
        << text;
  }
  for (const char* line : {"", "<!DOCTYPE html>", "12", " 12", "--- Execution profile ---"})
    EXPECT_FALSE(IsCollapsed(line)) << line;
}

TEST(BackendSamples, KeepsSoManyFrames) {
  using Frames = std::vector<std::string_view>;
  BackendSamples samples;
  for (size_t i = 0; i < BackendSamples::kMostFrames + 10; i++) {
    const std::string frame = std::to_string(i);
    samples.stacks.Add(Frames{frame}, 1);
  }
  samples.stacks.Add(Frames{"5"}, 1);
  samples.stacks.Add(Frames{"5", "new"}, 1);
  const auto stacks = samples.stacks.Stacks();
  EXPECT_EQ(stacks.at("[stack table full]"), 10u);
  EXPECT_EQ(stacks.at("5"), 3u);  // with the one that found no room below it
  EXPECT_EQ(samples.stacks.cut(), 11u);
  EXPECT_EQ(stacks.size(), BackendSamples::kMostFrames + 1);
}

class ForeignAgent : public testing::Test {
 protected:
  BackendVerdict Judge(const std::string& options) const {
    return kForeignAgentBackend.judge({"/x.so=" + options, folder_.Under(""), "", 1}, "");
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(folder_.Under(name));
  }
  TemporaryFolder folder_;
};

TEST_F(ForeignAgent, EachOutputHasItsStatus) {
  EXPECT_EQ(Judge("start").status, CellStatus::kVacuous);
  EXPECT_THAT(Judge("start").reason, HasSubstr("{out}"));
  EXPECT_EQ(Judge("file={out}").status, CellStatus::kVacuous);
  folder_.Write("profile-0", "");
  EXPECT_THAT(Judge("file={out}").reason, HasSubstr("wrote nothing"));
  folder_.Write("profile-0", "<html>\n");
  EXPECT_EQ(Judge("file={out}").status, CellStatus::kVacuous);
  folder_.Write("profile-0", "a;b 1\na;b\n");
  EXPECT_EQ(Judge("file={out}").status, CellStatus::kBadOutput);
  folder_.Write("profile-0", "[unknown_Java] 1\n");
  EXPECT_EQ(Judge("file={out}").status, CellStatus::kVacuous);
  folder_.Write("profile-0", "a;b 1\n");
  folder_.Write("profile-1.txt", "a;b 41\n");
  const BackendVerdict verdict = Judge("file={out}.txt");
  EXPECT_EQ(verdict.status, CellStatus::kPassed) << verdict.reason;
  EXPECT_EQ(verdict.delivery.successful, 42u);
}

// A program of a second, started again for a night, leaves one file at most.
TEST_F(ForeignAgent, WhatWasCollectedCountsAndIsGone) {
  BackendPlan plan{"/x.so=file={out}", folder_.Under(""), "", 1};
  plan.samples = std::make_shared<BackendSamples>();
  for (; plan.starts <= 20; plan.starts++) {
    folder_.Write("profile-" + std::to_string(plan.starts - 1), "a;b 2\n");
    ASSERT_TRUE(kForeignAgentBackend.collect(plan).ok());
    plan.collected = plan.starts;
    EXPECT_FALSE(Exists("profile-" + std::to_string(plan.starts - 1)));
  }
  EXPECT_EQ(kForeignAgentBackend.judge(plan, "").delivery.successful, 40u);
  folder_.Write("profile-20", "a;b 1\n");
  const BackendVerdict verdict = kForeignAgentBackend.judge(plan, "");
  EXPECT_EQ(verdict.status, CellStatus::kPassed) << verdict.reason;
  EXPECT_EQ(verdict.delivery.successful, 41u);
}

TEST_F(ForeignAgent, OneFileThatNobodyReadsIsKeptForTheVerdict) {
  BackendPlan plan{"/x.so=file={out}", folder_.Under(""), "", 2};
  plan.samples = std::make_shared<BackendSamples>();
  folder_.Write("profile-0", "<html>\n");
  folder_.Write("profile-1", "<html>\n");
  ASSERT_TRUE(kForeignAgentBackend.collect(plan).ok());
  EXPECT_TRUE(Exists("profile-0"));
  EXPECT_FALSE(Exists("profile-1"));
  EXPECT_THAT(kForeignAgentBackend.judge(plan, "").reason, HasSubstr("neither collapsed stacks"));
  folder_.Write("profile-0", "a;b 1\na;b\n");
  EXPECT_THAT(kForeignAgentBackend.collect(plan), FailsWith(ExitCode::kUnable));
}

TEST_F(ForeignAgent, OptionsNameFilesOfTheirOwnForEachJvm) {
  EXPECT_THAT(Must(kForeignAgentBackend.flags({"/x/y.so=a,{out}.x,{out}", "/s", "", 3})),
              ElementsAre("-agentpath:/x/y.so=a,/s/profile-3.x,/s/profile-3"));
  EXPECT_THAT(kForeignAgentBackend.flags({"/x/y.so", "/s", "", 0}).value(),
              ElementsAre("-agentpath:/x/y.so"));
}

TEST_F(ForeignAgent, LibrariesThatAreNoneAreRefused) {
  for (const char* argument : {"", "=start", "/nowhere/lib.so=start", "/"})
    EXPECT_FALSE(kForeignAgentBackend.check(argument).ok()) << argument;
  folder_.Write("lib.so", "");
  EXPECT_TRUE(kForeignAgentBackend.check(folder_.Under("lib.so") + "=a=b").ok());
}

TEST(JfrBackend, NoRecordingIsBadOutput) {
  TemporaryFolder folder;
  for (const uint64_t starts : {1, 2}) {
    const BackendVerdict verdict =
        kJfrBackend.judge({"", folder.Under(""), "/nowhere", starts}, "");
    EXPECT_EQ(verdict.status, CellStatus::kBadOutput);
    EXPECT_THAT(verdict.reason, HasSubstr("without a recording"));
  }
}

}  // namespace
}  // namespace walkhammer
