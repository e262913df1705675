// SPDX-License-Identifier: Apache-2.0
// The agent's tables: distinct stacks, generated code, what the JVM says of its code.
#include <gtest/gtest.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/clock.h"
#include "harness/supervise/stress_runs/cell_results.h"
#include "stress/code_recorder.h"
#include "stress/described_code.h"
#include "stress/stack_table.h"

namespace walkhammer::stress {
namespace {

// A zeroed mapping, as the supervisor makes it, and a registry whose names are in that mapping.
class TablesTest : public testing::Test {
 protected:
  TablesTest() {
    StressJob job{};
    job.walker_count = 1;
    memory_ = MakeStressState(job, MonotonicNs()).value();
    methods_ = std::make_unique<MethodRegistry>(NameArena{state().names, StressState::kNamesBytes});
    methods_->Add(&ids_[0], "app.Main.main()V", 10, false);
    methods_->Add(&ids_[1], "app.Main.work()V", 10, false);
  }
  ~TablesTest() override {
    munmap(memory_.state, sizeof(StressState));
    close(memory_.fd);
  }
  StressState& state() { return *memory_.state; }

  void Count(std::vector<void*> newest_first, int32_t code = 0) {
    std::vector<Frame> frames;
    for (void* id : newest_first) frames.push_back({0, 0, id});
    const Trace trace{Ending::kReturned,
                      frames.empty() ? code : static_cast<int32_t>(frames.size()), frames.data()};
    CountStack(state(), *methods_, trace, code, 0);
  }
  using Counts = std::map<std::string, uint64_t>;
  Counts Stacks() {
    harvest_.Take(state(), tree_);
    return tree_.Stacks();
  }

  int ids_[3] = {};
  StressMemory memory_{};
  std::unique_ptr<MethodRegistry> methods_;
  StackHarvest harvest_;
  StackTree tree_;
};

// Takes all free places of the state's tree.
void FillUp(StackNodes& nodes) {
  for (auto& key : nodes.keys) {
    uint64_t free = 0;
    key.compare_exchange_strong(free, StackNodes::Key(StackNodes::kRoot, 77));
  }
}

TEST_F(TablesTest, EqualStacksAreCountedTogether) {
  for (int i = 0; i < 3; i++) Count({&ids_[1], &ids_[0]});
  Count({&ids_[0]});
  EXPECT_EQ(Stacks(), (Counts{{"app.Main.main()V\napp.Main.work()V", 3}, {"app.Main.main()V", 1}}));
}

TEST_F(TablesTest, AFullTreeTakesNoMoreNames) {
  tree_ = StackTree(1);
  for (int* id : {&ids_[0], &ids_[1], &ids_[2], &ids_[0]}) Count({id});
  EXPECT_EQ(Stacks(), (Counts{{"app.Main.main()V", 2}, {"[stack table full]", 2}}));
  EXPECT_EQ(tree_.names().size(), 2u);
}

TEST_F(TablesTest, FailuresAreFramesNamedByTheirCode) {
  Count({}, -5);
  Count({}, -5);
  EXPECT_EQ(Stacks(), (Counts{{"[agct -5 unknown_Java]", 2}}));
}

TEST_F(TablesTest, UnknownMethodsHaveAPlace) {
  Count({&ids_[2], &ids_[0]});
  EXPECT_EQ(Stacks().begin()->first, "app.Main.main()V\n(unknown method)");
}

TEST_F(TablesTest, StacksThatBeginAlikeShareTheirFrames) {
  std::vector<void*> deep(400, &ids_[0]);
  for (int i = 0; i < 400; i++, deep.pop_back()) Count(deep);
  uint32_t nodes = 0;
  for (const auto& key : state().stacks.keys) nodes += key.load() != 0;
  EXPECT_EQ(nodes, 400u);  // and not 400 * 401 / 2
  EXPECT_EQ(Stacks().size(), 400u);
}

TEST_F(TablesTest, EachWalkIsHarvestedOnce) {
  Count({&ids_[1], &ids_[0]});
  EXPECT_EQ(Stacks()["app.Main.main()V\napp.Main.work()V"], 1u);
  Count({&ids_[1], &ids_[0]});
  Count({&ids_[0]});
  Count({}, -5);
  const Counts wanted = {{"app.Main.main()V\napp.Main.work()V", 2},
                         {"app.Main.main()V", 1},
                         {"[agct -5 unknown_Java]", 1}};
  EXPECT_EQ(Stacks(), wanted);
  EXPECT_EQ(Stacks(), wanted);
  // The agent's counts have 32 bits.
  for (auto& count : state().stacks.counts)
    if (count.load() == 2) count.store(UINT32_MAX);
  EXPECT_EQ(Stacks()["app.Main.main()V\napp.Main.work()V"], uint64_t{UINT32_MAX});
  Count({&ids_[1], &ids_[0]});
  EXPECT_EQ(Stacks()["app.Main.main()V\napp.Main.work()V"], uint64_t{UINT32_MAX} + 1);
}

TEST_F(TablesTest, WhatFindsNoRoomCountsAtItsDeepestFrameThatDoes) {
  Count({&ids_[0]});
  FillUp(state().stacks);
  Count({&ids_[1], &ids_[0]});
  Count({&ids_[2]});
  Count({}, -5);
  for (int i = 0; i < 3; i++) Count({&ids_[0]});
  EXPECT_EQ(Stacks(), (Counts{{"app.Main.main()V", 5}, {"[stack table full]", 2}}));
  EXPECT_EQ(state().dropped_stacks.load(), 3u);
  EXPECT_EQ(tree_.cut(), 0u);  // of which the supervisor's tree knows nothing
}

TEST_F(TablesTest, ATableThatADyingJvmWroteOverIsRead) {
  state().stacks.keys[5].store(StackNodes::Key(StackNodes::AtPlace(6), 1));
  state().stacks.keys[6].store(StackNodes::Key(StackNodes::AtPlace(5), 1));  // each above the other
  state().stacks.keys[7].store(StackNodes::Key(0xfffffff0, 0xffffffff));
  for (const int place : {4, 5, 6, 7}) state().stacks.counts[place].store(3);
  uint64_t all = 0;
  for (const auto& [frames, count] : Stacks()) all += count;
  EXPECT_EQ(all, 12u);
}

TEST_F(TablesTest, SecondProgramBeginsWithNothing) {
  Count({&ids_[0]});
  Stacks();
  ForgetStressed(state());
  harvest_ = {};
  EXPECT_EQ(Stacks(), (Counts{{"app.Main.main()V", 1}}));  // the first one's alone
  for (const auto& key : state().stacks.keys) ASSERT_EQ(key.load(), 0u);
  for (const auto& recent : state().stacks.recent) ASSERT_EQ(recent.load(), 0u);
}

TEST_F(TablesTest, ThreadsThatMeetTheSameStacksCountEachWalk) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (size_t i = 0; i < 2000; i++) {
        std::vector<void*> frames(1 + i % 50, &ids_[0]);
        frames.front() = &ids_[i % 3];
        Count(frames);
      }
    });
  for (std::thread& thread : threads) thread.join();
  uint64_t all = 0;
  for (const auto& [frames, count] : Stacks()) all += count;
  EXPECT_EQ(all, 8000u);
  EXPECT_EQ(state().dropped_stacks.load(), 0u);
}

TEST_F(TablesTest, CodeIsReplacedAndReused) {
  CodeRecorder recorder(state(), *methods_);
  recorder.Add(SymbolKind::kNmethod, "a.B.c()V", 0x1000, 0x1100, 4);
  recorder.Add(SymbolKind::kNmethod, "a.B.d()V", 0x1000, 0x1080, 1);
  ASSERT_EQ(state().code_count.load(), 1u);
  EXPECT_EQ(state().code[0].end, 0x1080u);
  EXPECT_STREQ(state().names + state().code[0].name, "a.B.d()V");
  recorder.Remove(0x1000);
  EXPECT_EQ(state().code[0].gone, 1);
  // A full table gives up entries whose code is gone, and no others.
  for (uint64_t i = 1; i < StressState::kMaxCode; i++)
    recorder.Add(SymbolKind::kStub, "stub", 0x10000 + 16 * i, 0x10000 + 16 * i + 8, -1);
  ASSERT_EQ(state().code_count.load(), StressState::kMaxCode);
  recorder.Add(SymbolKind::kStub, "late", 0x5000, 0x5010, -1);
  EXPECT_EQ(state().code[0].begin.load(), 0x5000u);
  recorder.Add(SymbolKind::kStub, "too late", 0x6000, 0x6010, -1);
  for (const CodeEntry& entry : state().code) EXPECT_NE(entry.begin.load(), 0x6000u);
}

TEST_F(TablesTest, RequestedIsNeverLessThanDelivered) {
  state().job.interval_min_ns = state().job.interval_max_ns = 100000;
  state().job.clock = SampleClock::kCpu;
  ThreadCounts& counts = state().threads[1];
  counts.tid.store(77);
  counts.java = 1;
  std::strcpy(counts.name, "main");
  counts.cpu_ns.store(1000000000);
  counts.delivered.store(9000);
  counts.coalesced.store(600);
  counts.idle.store(100);
  std::vector<CellThreadRow> threads;
  HarvestThreads(state(), 3, threads);
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].delivery.requested, 10000u);
  EXPECT_EQ(threads[0].delivery.delivered, 8900u);
  EXPECT_EQ(threads[0].delivery.coalesced, 600u);
  EXPECT_EQ(threads[0].delivery.missed, 500u);
  counts.delivered.store(20000);
  threads.clear();
  HarvestThreads(state(), 3, threads);
  EXPECT_EQ(threads[0].delivery.requested, 19900u);
  EXPECT_EQ(threads[0].delivery.missed, 0u);
}

TEST(DescribedCodeTest, TheFramesOfEachPcOfTheInlineRecord) {
  int ids[2] = {};
  jmethodID outer = reinterpret_cast<jmethodID>(&ids[0]),
            inner = reinterpret_cast<jmethodID>(&ids[1]);
  jmethodID chain[] = {inner, outer};
  jint bcis[] = {7, 3};
  PCStackInfo pcs[2] = {};
  pcs[0] = {reinterpret_cast<void*>(0x1020), 1, &outer, &bcis[1]};
  pcs[1] = {reinterpret_cast<void*>(0x1040), 2, chain, bcis};
  jvmtiCompiledMethodLoadInlineRecord record{};
  record.header.kind = JVMTI_CMLR_INLINE_INFO;
  record.numpcs = 2;
  record.pcinfo = pcs;
  jvmtiCompiledMethodLoadRecordHeader other{};
  other.kind = JVMTI_CMLR_DUMMY;
  other.next = &record.header;

  const auto code = std::make_unique<DescribedCode>();
  code->Add(0x1000, nullptr);
  EXPECT_FALSE(code->Find(0x1000, 0x1020));
  code->Add(0x1000, &other);
  ASSERT_TRUE(code->Find(0x1000, 0x1020));
  EXPECT_EQ(code->Find(0x1000, 0x1020)->method, outer);
  EXPECT_EQ(code->Find(0x1000, 0x1020)->bci, 3);
  EXPECT_EQ(code->Find(0x1000, 0x1020)->callers, 0);
  ASSERT_TRUE(code->Find(0x1000, 0x1040));
  EXPECT_EQ(code->Find(0x1000, 0x1040)->method, inner);
  EXPECT_EQ(code->Find(0x1000, 0x1040)->bci, 7);
  EXPECT_EQ(code->Find(0x1000, 0x1040)->callers, 1);
  EXPECT_EQ(code->Find(0x1000, 0x1040)->inlined, MixFrame(0, outer, 3));
  EXPECT_FALSE(code->Find(0x1000, 0x1041)) << "between two";
  EXPECT_FALSE(code->Find(0x1010, 0x1040)) << "other code stands there now";
  code->AddPc(0x1010, 0x1040, {outer, 9});
  EXPECT_EQ(code->Find(0x1010, 0x1040)->bci, 9);
}

TEST(DescribedCodeTest, NewOnesTakeThePlaceOfOldOnes) {
  const auto code = std::make_unique<DescribedCode>();
  constexpr uint64_t kPcs = 3 * DescribedCode::kMost;
  for (uint64_t i = 1; i <= kPcs; i++) {
    code->AddPc(1, 16 * i, {nullptr, static_cast<int32_t>(i)});
    ASSERT_EQ(code->Find(1, 16 * i)->bci, static_cast<int32_t>(i));
  }
  uint64_t kept = 0;
  for (uint64_t i = 1; i <= kPcs; i++) {
    const auto found = code->Find(1, 16 * i);
    if (!found) continue;
    EXPECT_EQ(found->bci, static_cast<int32_t>(i));
    kept++;
  }
  EXPECT_LE(kept, DescribedCode::kMost);
  EXPECT_GT(kept, DescribedCode::kMost / 2);
}

}  // namespace
}  // namespace walkhammer::stress
