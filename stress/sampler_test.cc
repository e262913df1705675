// SPDX-License-Identifier: Apache-2.0
// Intervals, the choice of a sampler, and the signals of each: without a JVM.
#include "stress/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "harness/base/clock.h"
#include "harness/guard/guard_testing.h"

namespace walkhammer::stress {
namespace {

class Intervals : public Sampler {
 public:
  using Sampler::NextInterval;
  using Sampler::Periodic;
  using Sampler::Sampler;
  using Sampler::TooLong;
  bool Arm(SampledThread&) override { return true; }
  void Disarm(SampledThread&) override {}
  void Rearm(SampledThread&, uint64_t) override {}
};

StressJob Job(uint64_t min_ns, uint64_t max_ns) {
  StressJob job{};
  job.interval_min_ns = min_ns;
  job.interval_max_ns = max_ns;
  return job;
}

TEST(Interval, IsWithinItsRangeAndTakesBothEnds) {
  const StressJob job = Job(5000, 5003);
  const Intervals sampler(job);
  SampledThread thread;
  thread.random = 1;
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; i++) seen.insert(sampler.NextInterval(thread));
  EXPECT_EQ(seen, (std::set<uint64_t>{5000, 5001, 5002, 5003}));
}

TEST(Interval, LeavesTheProgramSomeTime) {
  SampledThread thread;
  thread.random = 1;
  for (const auto& [min, max] : {std::pair<uint64_t, uint64_t>{0, 0}, {0, 100}, {1999, 1999}})
    EXPECT_EQ(Intervals(Job(min, max)).NextInterval(thread), kLeastPauseNs) << min << " " << max;
  EXPECT_EQ(Intervals(Job(2001, 2001)).NextInterval(thread), 2001u);
}

TEST(Interval, DiffersBetweenThreads) {
  const StressJob job = Job(10'000, 1'000'000'000);
  const Intervals sampler(job);
  SampledThread a, b, again;
  a.random = again.random = 1;
  b.random = 2;
  const uint64_t first = sampler.NextInterval(a);
  EXPECT_NE(first, sampler.NextInterval(b));
  EXPECT_EQ(first, sampler.NextInterval(again)) << "a seed means the same each time";
  EXPECT_NE(first, sampler.NextInterval(a));
}

TEST(Interval, IsPeriodicIfItIsFixedAndLong) {
  EXPECT_TRUE(Intervals(Job(kPeriodicFromNs, kPeriodicFromNs)).Periodic());
  EXPECT_FALSE(Intervals(Job(kPeriodicFromNs - 1, kPeriodicFromNs - 1)).Periodic());
  EXPECT_FALSE(Intervals(Job(kPeriodicFromNs, kPeriodicFromNs + 1)).Periodic());
}

TEST(Interval, IsTooShortForSeveralLongHandlersInARow) {
  const StressJob job = Job(1000, 1000);
  const Intervals sampler(job);
  SampledThread thread;
  for (uint32_t i = 1; i < kMostLongHandlers; i++) EXPECT_FALSE(sampler.TooLong(thread, 501));
  EXPECT_TRUE(sampler.TooLong(thread, 501));
  EXPECT_TRUE(sampler.TooLong(thread, 501));
  EXPECT_FALSE(sampler.TooLong(thread, 500)) << "half of it";
  EXPECT_FALSE(sampler.TooLong(thread, 501)) << "counted anew";
}

TEST(ChooseSamplerTest, TakesWhatIsAskedForIfItFollowsTheClock) {
  std::string reason;
  StressJob job = Job(100'000, 100'000);
  job.sampler = SamplerKind::kTimer;
  for (const auto clock : {SampleClock::kCpu, SampleClock::kWall}) {
    job.clock = clock;
    EXPECT_EQ(ChooseSampler(job, reason).value(), &kTimerSampler);
    EXPECT_EQ(reason, "as asked");
  }
  job.sampler = SamplerKind::kThread;
  EXPECT_EQ(ChooseSampler(job, reason).value(), &kThreadSampler);
  job.sampler = SamplerKind::kPerf;
  const auto refused = ChooseSampler(job, reason);
  ASSERT_FALSE(refused.ok()) << "perf events follow CPU time";
  EXPECT_EQ(refused.failure().code, ExitCode::kBadInput);
}

TEST(ChooseSamplerTest, TakesTheBestThatWorks) {
  std::string reason;
  StressJob job = Job(100'000, 100'000);
  job.clock = SampleClock::kWall;
  EXPECT_EQ(ChooseSampler(job, reason).value(), &kTimerSampler);
  EXPECT_EQ(reason, kTimerSampler.what);
  job.clock = SampleClock::kCpu;
  const bool has_perf = kPerfSampler.usable().ok();
  EXPECT_EQ(ChooseSampler(job, reason).value(), has_perf ? &kPerfSampler : &kTimerSampler);
  EXPECT_EQ(reason.find("perf events are not permitted") == std::string::npos, has_perf);
}

// The handler of a thread that is sampled: counts, and arms the next interval.
std::atomic<int> handled{0};
Sampler* armed = nullptr;
SampledThread* sampled = nullptr;

void Handle(int) {
  handled++;
  if (armed != nullptr && sampled->rearming.Begin()) {
    armed->Rearm(*sampled, 0);
    sampled->rearming.End();
  }
}

class EachSampler : public testing::TestWithParam<const SamplerInfo*> {
 protected:
  void SetUp() override {
    if (!GetParam()->usable().ok()) GTEST_SKIP() << GetParam()->usable().failure().message;
    struct sigaction action {};
    action.sa_handler = Handle;
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(kSampleSignal, &action, &before_), 0);
    state_->job.native_threads = 1;
    handled = 0;
  }
  void TearDown() override {
    armed = nullptr;
    if (GetParam()->usable().ok()) sigaction(kSampleSignal, &before_, nullptr);
  }

  // Samples, in these intervals, a thread that takes 200 ms of CPU time; returns the number of
  // signals, after which no more may come.
  int SignalsOf(uint64_t min_ns, uint64_t max_ns) {
    state_->job.interval_min_ns = min_ns;
    state_->job.interval_max_ns = max_ns;
    const auto sampler = GetParam()->make(state_->job);
    int count = 0;
    std::thread([&] {
      SampledThread* me = table_->Add(gettid(), "sampled", true);
      sampled = me;
      armed = sampler.get();
      me->rearming.Allow();
      EXPECT_TRUE(sampler->Start(*table_).ok());
      EXPECT_TRUE(sampler->Arm(*me));
      Burn(200);
      me->rearming.Withdraw();
      armed = nullptr;
      sampler->Stop();
      sampler->Disarm(*me);
      usleep(2000);  // what was sent has come
      count = handled.load();
      Burn(200);
      EXPECT_EQ(handled.load(), count) << "disarmed";
      EXPECT_EQ(me->perf_fd, -1);
      EXPECT_FALSE(me->has_timer);
      table_->Remove(*me, true);
    }).join();
    return count;
  }

 private:
  std::unique_ptr<StressState> state_ = std::make_unique<StressState>();
  std::unique_ptr<ThreadTable> table_ = std::make_unique<ThreadTable>(*state_);
  struct sigaction before_ {};
};

// 200 ms hold 200 signals each 1 ms. A machine that is busy with others makes fewer of them.
TEST_P(EachSampler, SignalsInItsIntervals) {
  for (const uint64_t longest : {1'000'000, 2'000'000}) {
    handled = 0;
    EXPECT_GE(SignalsOf(1'000'000, longest), 10) << longest;
  }
}

// By CPU time, no more signals than the time has room for; timers and threads follow real time.
TEST_P(EachSampler, DoesNotSignalMoreOften) {
  const uint64_t begin = MonotonicNs();
  const int often = SignalsOf(20'000'000, 20'000'000);
  const uint64_t most = GetParam() == &kPerfSampler ? 200'000'000 : MonotonicNs() - begin;
  EXPECT_GE(often, 1);
  EXPECT_LE(static_cast<uint64_t>(often), most / 20'000'000 + 1);
}

INSTANTIATE_TEST_SUITE_P(All, EachSampler,
                         testing::Values(&kPerfSampler, &kTimerSampler, &kThreadSampler),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace walkhammer::stress
