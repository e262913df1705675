// SPDX-License-Identifier: Apache-2.0
// A matrix of cells that run scripts in place of JVMs, under backends of the test's own.
#include "harness/supervise/stress_runs/stress_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/store/record_testing.h"
#include "harness/store/sqlite.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<std::vector<std::string>> NoFlags(const BackendPlan&) { return std::vector<std::string>{}; }

BackendVerdict Walked(uint64_t walks) {
  BackendVerdict verdict;
  verdict.delivery.walks = verdict.delivery.successful = walks;
  return verdict;
}
BackendVerdict AtOnce(const BackendPlan&, const std::string&) { return Walked(kLeastWalks); }
BackendVerdict TooFew(const BackendPlan&, const std::string&) { return Walked(kLeastWalks - 1); }
BackendVerdict Slowly(const BackendPlan&, const std::string&) {
  std::this_thread::sleep_for(seconds(4));
  return Walked(kLeastWalks);
}

constexpr SamplingBackend TestBackend(BackendVerdict (*judge)(const BackendPlan&,
                                                              const std::string&),
                                      Status (*collect)(const BackendPlan&) = nullptr) {
  return {"test", "", false, nullptr, NoFlags, nullptr, collect, judge};
}
constexpr SamplingBackend kQuick = TestBackend(AtOnce), kSlow = TestBackend(Slowly),
                          kFew = TestBackend(TooFew);

// Prints far more than a pipe holds, and so waits for its reader, for two seconds; the other words
// of its command line do not matter.
constexpr char kChatty[] =
    "#!/bin/bash\nwhile [ $SECONDS -lt 2 ]; do printf '%01000d\\n' 0; done\n";
constexpr char kBrief[] = "#!/bin/sh\nexit 0\n";

// Ends as a JVM that cannot start its threads.
constexpr char kNoThreads[] =
    "#!/bin/sh\nfor flag; do case $flag in -XX:ErrorFile=*) echo '# There is insufficient memory "
    "for "
    "the Java Runtime Environment to continue.' >\"${flag#*=}\";; esac; done\n"
    "echo 'Cannot create worker GC thread'\nexit 1\n";

class StressRunTest : public NewRunTest {
 protected:
  CellPlan Cell(const SamplingBackend& backend, const std::string& script) {
    CellPlan cell;
    const auto position = static_cast<int64_t>(plan_.cells.size());
    cell.row = TestCell(position);
    cell.row.status = CellStatus::kRunning;
    cell.row.starts = 0;
    cell.java = folder_.Under("java") + std::to_string(position);
    std::ofstream(cell.java) << script;
    std::filesystem::permissions(cell.java, std::filesystem::perms::owner_all);
    cell.prepare = [](const std::string&) -> Result<LoadCommand> { return LoadCommand{}; };
    cell.backend = &backend;
    cell.hung_after = seconds(1);
    cell.output_limit = 1ULL << 40;
    cell.scratch = folder_.Under("scratch") + std::to_string(position);
    return cell;
  }
  // The same cell, whose program is started again and again for a minute.
  static CellPlan Repeated(CellPlan cell) {
    cell.prepare = [](const std::string&) -> Result<LoadCommand> {
      LoadCommand load;
      load.repeat = true;
      return load;
    };
    cell.time = seconds(60);
    return cell;
  }
  void Add(CellPlan cell) { plan_.cells.push_back(std::move(cell)); }
  // The order in which the cells ended; their rows are in `run_`.
  std::vector<int64_t> Run(std::function<void(const StressProgress&)> on_progress = {}) {
    std::vector<int64_t> ended;
    plan_.jobs = static_cast<int>(plan_.cells.size());
    plan_.confirm_times = 0;
    StressRun run(plan_, run_);
    run.on_cell = [&](const CellRow& cell) { ended.push_back(cell.position); };
    run.on_progress = std::move(on_progress);
    EXPECT_TRUE(run.Run(interrupted_).ok());
    return ended;
  }
  CellRow Row(size_t position) { return Read(run_).Rows<CellRow>().value()[position]; }
  std::vector<NoteRow> Stalls() {
    std::vector<NoteRow> notes = Read(run_).Rows<NoteRow>().value();
    std::erase_if(notes, [](const NoteRow& note) { return note.name != "supervisor stalls"; });
    return notes;
  }

  StressPlan plan_;
  std::atomic<bool> interrupted_{false};
};

TEST_F(StressRunTest, ACellWhoseOutputIsReadForLongDoesNotTouchTheOthers) {
  Add(Cell(kSlow, kBrief));
  Add(Cell(kQuick, kChatty));
  EXPECT_EQ(Run(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(Row(0).status, CellStatus::kPassed) << Row(0).reason;
  EXPECT_EQ(Row(1).status, CellStatus::kPassed) << Row(1).reason;
}

TEST_F(StressRunTest, ACellThatIsPreparedForLongDoesNotTouchTheOthers) {
  CellPlan slow = Cell(kQuick, kBrief);
  slow.prepare = [](const std::string&) -> Result<LoadCommand> {
    std::this_thread::sleep_for(seconds(4));
    return Unable("not at hand");
  };
  Add(std::move(slow));
  Add(Cell(kQuick, kChatty));
  EXPECT_EQ(Run(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(Row(0).status, CellStatus::kUnavailable);
  EXPECT_EQ(Row(0).reason, "not at hand");
  EXPECT_EQ(Row(1).status, CellStatus::kPassed) << Row(1).reason;
}

TEST_F(StressRunTest, AProgramForOtherJdksIsNotOneThatIsMissing) {
  CellPlan cell = Cell(kQuick, kBrief);
  cell.for_jdk = false;
  cell.prepare = [](const std::string&) -> Result<LoadCommand> { return Unable("needs JDK 21"); };
  Add(std::move(cell));
  Run();
  EXPECT_EQ(Row(0).status, CellStatus::kNotForJdk);
  EXPECT_EQ(Row(0).reason, "needs JDK 21");
}

// A program that samples has 10 s to stop; one that does not sample yet has none.
TEST_F(StressRunTest, AProgramThatIsStillSettingUpEndsAtOnceWhenInterrupted) {
  const std::string up = folder_.Under("up");
  CellPlan cell = Cell(kOwnBackend, "#!/bin/sh\ntrap '' TERM\ntouch " + up + "\nsleep 1000\n");
  cell.hung_after = seconds(100);
  Add(std::move(cell));
  std::chrono::steady_clock::time_point began;
  std::thread later([&] {
    while (!std::filesystem::exists(up)) std::this_thread::sleep_for(milliseconds(10));
    began = std::chrono::steady_clock::now();
    interrupted_ = true;
  });
  Run();
  later.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(9));
  EXPECT_EQ(Row(0).status, CellStatus::kInterrupted);
}

TEST_F(StressRunTest, AMachineWithoutThreadsIsNobodysFinding) {
  Add(Cell(kQuick, kNoThreads));
  Add(Cell(kQuick,
           "#!/bin/sh\necho 'java.lang.OutOfMemoryError: unable to create native thread: possibly "
           "out of memory or process/resource limits reached'\nexit 1\n"));
  Run();
  EXPECT_EQ(Row(0).status, CellStatus::kUnavailable);
  EXPECT_EQ(Row(0).reason,
            "this machine has no memory or no threads left for the JVM: Cannot create worker GC "
            "thread");
  EXPECT_EQ(Row(1).status, CellStatus::kUnavailable);
  EXPECT_THAT(Row(1).reason, testing::HasSubstr("no threads left for the JVM: "));
  EXPECT_TRUE(Read(run_).Buckets().value().empty());
}

TEST_F(StressRunTest, NoCellIsHungBecauseTheSupervisorWasBusy) {
  Add(Cell(kQuick, kChatty));
  bool slept = false;
  Run([&](const StressProgress& progress) {
    if (slept || progress.running.empty() || progress.seconds < 0.5) return;
    slept = true;
    std::this_thread::sleep_for(seconds(3));
  });
  ASSERT_TRUE(slept);
  EXPECT_EQ(Row(0).status, CellStatus::kPassed) << Row(0).reason;
  ASSERT_EQ(Stalls().size(), 1u);
  EXPECT_EQ(Stalls()[0].cell, kNoCell);
  EXPECT_GE(Stalls()[0].count, 1u);
  EXPECT_GE(std::stoi(Stalls()[0].detail.substr(8)), 3000) << Stalls()[0].detail;
}

// As where a disk takes seconds.
TEST_F(StressRunTest, AStoreThatTakesLongStallsNobody) {
  Add(Cell(kQuick, kChatty));
  std::thread holder;
  Run([&](const StressProgress& progress) {
    if (holder.joinable() || progress.running.empty()) return;
    holder = std::thread([file = folder_.Under("run/run.db")] {
      Database db = std::move(Database::Open(file, file, SQLITE_OPEN_READWRITE).value());
      Transaction held(db);
      ASSERT_TRUE(held.begun().ok());
      std::this_thread::sleep_for(seconds(4));
    });
  });
  ASSERT_TRUE(holder.joinable());
  holder.join();
  EXPECT_EQ(Row(0).status, CellStatus::kPassed) << Row(0).reason;
  EXPECT_GE(Row(0).output_bytes, 1U << 17) << "it never waited for its reader";
  // A busy machine may stall the supervisor for a second; the store was held for four.
  for (const NoteRow& stall : Stalls())
    EXPECT_LT(std::stoi(stall.detail.substr(8)), 2000) << stall.detail;
}

TEST_F(StressRunTest, ACellOfFewWalksIsVacuous) {
  Add(Cell(kFew, kBrief));
  Run();
  EXPECT_EQ(Row(0).status, CellStatus::kVacuous);
  EXPECT_EQ(Row(0).reason.find("only 99 walks were made"), 0u) << Row(0).reason;
}

TEST_F(StressRunTest, ACellThatCannotBeginHasEnded) {
  CellPlan never = Cell(kQuick, kBrief);
  never.row.status = CellStatus::kNotHotspot;
  Add(std::move(never));
  EXPECT_EQ(Run(), (std::vector<int64_t>{0}));
  EXPECT_EQ(Row(0).status, CellStatus::kNotHotspot);
}

TEST_F(StressRunTest, ACellThatUsesNoTimeIsHungStill) {
  Add(Cell(kQuick, "#!/bin/sh\nexec sleep 60\n"));
  Run();
  EXPECT_EQ(Row(0).status, CellStatus::kHung);
}

TEST_F(StressRunTest, WhatAKilledProgramHasPrintedIsCounted) {
  CellPlan flood = Cell(kQuick, "#!/bin/sh\nexec yes\n");
  flood.output_limit = 1 << 20;
  Add(std::move(flood));
  Run();
  EXPECT_EQ(Row(0).status, CellStatus::kOutputFlood);
  EXPECT_GT(Row(0).output_bytes, 1u << 20);
}

TEST_F(StressRunTest, WhatSeveralProgramsHavePrintedIsAddedUp) {
  static const SamplingBackend thrice = TestBackend(AtOnce, [](const BackendPlan& plan) {
    return plan.starts == 3 ? Status(Unable("that is enough")) : Ok();
  });
  Add(Repeated(Cell(thrice, "#!/bin/sh\necho 1234567\n")));
  Run();
  EXPECT_EQ(Row(0).starts, 3u);
  EXPECT_EQ(Row(0).output_bytes, 3 * 8u);
}

// So the gate compares its counts as it does those of our own agent.
TEST_F(StressRunTest, WhatAnotherProfilerCountedIsOnePeriod) {
  static const SamplingBackend counting = TestBackend([](const BackendPlan&, const std::string&) {
    BackendVerdict verdict;
    verdict.counts = {{"agct", "", "in_Java", "", "frames", 7},
                      {"agct", "", "in_Java", "", "-5", 2}};
    return verdict;
  });
  Add(Cell(counting, kBrief));
  Run();
  std::vector<PeriodRow> periods = Read(run_).Rows<PeriodRow>().value();
  std::erase_if(periods, [](const PeriodRow& period) { return period.cell == kNoCell; });
  EXPECT_EQ(periods.size(), 1u);
  const auto counts = Read(run_).Rows<PeriodCountRow>().value();
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].scene, CellLabel(Row(0)));
  EXPECT_EQ(counts[0].counts, std::vector<uint64_t>{2});
  EXPECT_EQ(counts[1].counts, std::vector<uint64_t>{7});
}

// Threads of more memory than there are addresses cannot be started. What the program left is taken
// without one; the verdict of the backend needs one.
TEST_F(StressRunTest, ACellThatCannotHaveAThreadEndsAlone) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);
  CellPlan cell = Cell(kQuick, "#!/bin/sh\necho 1234567\n");
  cell.prepare = [&huge](const std::string&) -> Result<LoadCommand> {
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    return LoadCommand{};
  };
  Add(std::move(cell));
  Run();
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  EXPECT_EQ(Row(0).status, CellStatus::kToolFailed);
  EXPECT_TRUE(Row(0).reason.starts_with("cannot start a thread: ")) << Row(0).reason;
  EXPECT_EQ(Row(0).output_bytes, 8u);
}

TEST_F(StressRunTest, AnInterruptedRunEndsWhileACellIsPrepared) {
  CellPlan slow = Cell(kQuick, kBrief);
  slow.prepare = [this](const std::string&) -> Result<LoadCommand> {
    interrupted_.store(true);
    std::this_thread::sleep_for(milliseconds(300));
    return ToolFailed("interrupted in: a generator");
  };
  Add(std::move(slow));
  Run();
  EXPECT_EQ(Row(0).status, CellStatus::kInterrupted);
}

TEST_F(StressRunTest, WhatAProgramWroteIsCollectedBeforeTheNextOne) {
  static std::vector<std::pair<uint64_t, uint64_t>> calls;  // collected, starts
  calls.clear();
  static const SamplingBackend collecting = TestBackend(AtOnce, [](const BackendPlan& plan) {
    calls.emplace_back(plan.collected, plan.starts);
    return plan.starts == 3 ? Status(Unable("it ended without a recording")) : Ok();
  });
  Add(Repeated(Cell(collecting, kBrief)));
  Run();
  EXPECT_EQ(calls, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(Row(0).status, CellStatus::kBadOutput);
  EXPECT_EQ(Row(0).reason, "it ended without a recording");
}

}  // namespace
}  // namespace walkhammer
