// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/cell_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "harness/base/clock.h"
#include "harness/supervise/stress_runs/cell_results.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::Not;

class BlameTest : public testing::Test {
 protected:
  ~BlameTest() override {
    munmap(memory_.state, sizeof(StressState));
    close(memory_.fd);
  }
  SampleJournal& Open(int slot, int32_t tid, uint64_t sequence) {
    SampleJournal& journal = memory_.state->journals[slot];
    journal.phase.store(1);
    journal.sample.tid = tid;
    journal.sample.sequence = sequence;
    return journal;
  }
  Blame Of(int32_t tid) const {
    return WalkToBlame(*memory_.state,
                       "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
                       "#  SIGSEGV (0xb) at pc=0x1, pid=1, tid=" +
                           std::to_string(tid) + "\n#\n");
  }
  StressMemory memory_ = MakeStressState(StressJob{}, MonotonicNs()).value();
};

TEST_F(BlameTest, TheThreadThatHsErrNamesWasTheKiller) {
  const SampleJournal& old = Open(3, 70, 5);
  const SampleJournal& newest = Open(0, 71, 9);
  EXPECT_EQ(Of(70).journal, &old);
  EXPECT_THAT(Of(70).why, HasSubstr("the thread that hs_err names (70)"));
  EXPECT_EQ(Of(71).journal, &newest);
  const SampleJournal& nested = Open(7, 70, 6);  // inside the other walk
  EXPECT_EQ(Of(70).journal, &nested);
  memory_.state->journals[7].phase.store(0);  // that walk was over
  EXPECT_EQ(Of(70).journal, &old);
}

TEST_F(BlameTest, ElseTheNewestIsAndTheReportSaysSo) {
  Open(3, 70, 5);
  const SampleJournal& newest = Open(0, 71, 9);
  EXPECT_EQ(Of(99).journal, &newest);
  EXPECT_THAT(Of(99).why, HasSubstr("on another thread than hs_err names (99); the newest of 2"));
  const Blame without = WalkToBlame(*memory_.state, "");
  EXPECT_EQ(without.journal, &newest);
  EXPECT_THAT(without.why, HasSubstr("the newest of 2 that were under way"));
  EXPECT_THAT(without.why, Not(HasSubstr("hs_err")));
}

TEST_F(BlameTest, WhereThereIsOneOrNoneNothingIsChosen) {
  EXPECT_EQ(Of(70).journal, nullptr);
  EXPECT_EQ(Of(70).why, "");
  Open(1, 70, 5);
  EXPECT_EQ(WalkToBlame(*memory_.state, "").why, "");
}

}  // namespace
}  // namespace walkhammer
