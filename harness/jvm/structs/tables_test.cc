// SPDX-License-Identifier: Apache-2.0
// ThreadStates and MethodTable: HotSpot's numbers and tables, without a JVM.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/flags.h"
#include "harness/jvm/structs/method_table.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {
namespace {

constexpr uint8_t kInNative = 4, kInNativeTrans = 5, kInVm = 6, kInJava = 8, kBlocked = 10;

// The numbers of JDK 28.
ThreadStates Renumbered() {
  ThreadStates states;
  const int8_t values[] = {0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1};
  std::copy(std::begin(values), std::end(values), states.values);
  return states;
}

TEST(ThreadStatesTest, OursAreThoseOfJdk8To27) {
  const ThreadStates states;
  for (int state = 0; state < 256; state++) {
    EXPECT_EQ(states.ValueOf(static_cast<uint8_t>(state)), state);
    EXPECT_EQ(states.StateOf(state), state);
  }
}

TEST(ThreadStatesTest, RenumberedOnesKeepOurNumber) {
  const ThreadStates states = Renumbered();
  EXPECT_EQ(states.ValueOf(kInNative), 2);
  EXPECT_EQ(states.ValueOf(kInJava), 4);
  EXPECT_EQ(states.ValueOf(kBlocked), 5);
  for (int state = 0; state < ThreadStates::kCount; state++)
    EXPECT_EQ(states.StateOf(states.ValueOf(static_cast<uint8_t>(state))), state);
}

TEST(ThreadStatesTest, WhereNoStateTellsOfTheWayTheAnchorDoes) {
  const ThreadStates old, renumbered = Renumbered();
  for (const uint8_t state : {kInVm, kInJava}) {
    EXPECT_TRUE(old.StandsStill(state, 0));
    EXPECT_TRUE(old.StandsStill(state, 0x7000));
    EXPECT_TRUE(renumbered.StandsStill(state, 0));
    EXPECT_FALSE(renumbered.StandsStill(state, 0x7000));
  }
  for (const uint8_t state : {kInNative, kInNativeTrans, kBlocked}) {
    EXPECT_FALSE(old.StandsStill(state, 0));
    EXPECT_FALSE(renumbered.StandsStill(state, 0x7000));
  }
}

// A state that this JVM lacks must not get the number of a state that this JVM has.
TEST(ThreadStatesTest, AStateThatIsGoneIsNone) {
  const ThreadStates states = Renumbered();
  EXPECT_GT(states.ValueOf(kInNativeTrans), 5);
  EXPECT_EQ(states.ValueOf(200), 200);
  // A number that is not a state in this JVM is none of walkhammer's states either.
  EXPECT_GE(states.StateOf(8), ThreadStates::kCount);
}

TEST(JavaThreadViewTest, HasJavaFramesInJavaOrBelowAnAnchor) {
  struct {
    uint64_t last_sp = 0;
    int32_t state = 0;
  } thread;
  JvmLayout layout{};
  layout.thread_state = 8;
  layout.states = Renumbered();
  const JavaThreadView view(&thread, layout);
  constexpr uint8_t kNew = 2;
  for (const uint8_t state : {kNew, kInNative, kInVm, kBlocked}) {
    view.SetState(state);
    thread.last_sp = 0;
    EXPECT_FALSE(view.HasJavaFrames()) << int{state};
    thread.last_sp = 0x1000;
    EXPECT_TRUE(view.HasJavaFrames()) << int{state};
  }
  thread.last_sp = 0;
  view.SetState(kInJava);
  EXPECT_TRUE(view.HasJavaFrames());
}

TEST(JavaThreadViewTest, OfAJvmWithoutVmStructsNothingIsKnown) {
  const JavaThreadView thread = UndescribedThread();
  EXPECT_EQ(thread.State(), kUnknownState);
  EXPECT_EQ(*thread.last_sp(), 0u);
  EXPECT_EQ(*thread.last_pc(), 0u);
  EXPECT_EQ(*thread.last_fp(), 0u);
  EXPECT_EQ(thread.stack_base(), 0u);
  EXPECT_EQ(thread.stack_limit(), 0u);
  EXPECT_FALSE(thread.HasJavaFrames());
  EXPECT_FALSE(thread.states().StandsStill(thread.State(), 0)) << "it may run on";
}

TEST(CodeFinderTest, OfAJvmWithoutVmStructsFindsNothing) {
  const CodeFinder finder;
  EXPECT_FALSE(finder.finds_code());
  for (const uint64_t pc : {uint64_t{0}, uint64_t{1}, reinterpret_cast<uint64_t>(&finder),
                            std::numeric_limits<uint64_t>::max()}) {
    EXPECT_EQ(finder.Find(pc).kind, CodeKind::kNone) << pc;
    EXPECT_FALSE(finder.IsInCache(pc)) << pc;
    EXPECT_FALSE(finder.InInterpreter(pc)) << pc;
  }
}

// A scene of compiled code waits for seconds where nothing compiles.
TEST(CompilerFlagsTest, EachLevelNeedsItsCompiler) {
  struct {
    CompilerFlags flags;
    std::vector<int> levels;
  } const kCases[] = {
      {{}, {1, 2, 3, 4}},
      {{.use_compiler = false}, {}},
      {{.tiered = false}, {4}},
      {{.tiered = false, .tiered_stop_at_level = 1}, {4}},
      {{.tiered_stop_at_level = 0}, {}},
      {{.tiered_stop_at_level = 1}, {1}},
      {{.tiered_stop_at_level = 2}, {1, 2}},
      {{.tiered_stop_at_level = 3}, {1, 2, 3}},
  };
  for (const auto& [flags, levels] : kCases)
    for (int level = 1; level <= 4; level++)
      EXPECT_EQ(CanCompile(flags, level),
                std::find(levels.begin(), levels.end(), level) != levels.end())
          << level << " of " << flags.tiered_stop_at_level;
}

// A class at 0x1000 with three methods, whose numbers are 2, 0 and 1. The jmethodIDs of the numbers
// 0, 1 and 2 are 7, 8 and 9.
class MethodTableTest : public ::testing::Test {
 protected:
  MethodTableTest() {
    memory_.Put(0x1000, 0x2000);  // _methods
    memory_.Put(0x1008, 0x3000);  // _methods_jmethod_ids
    memory_.Put(0x2000, 3);
    const uint64_t numbers[] = {2, 0, 1};
    for (uint64_t i = 0; i < 3; i++) {
      const uint64_t method = 0x4000 + 0x100 * i, constant = 0x5000 + 0x100 * i;
      memory_.Put(0x2008 + 8 * i, method);
      memory_.Put(method, constant);
      memory_.Put(constant, numbers[i]);
      memory_.Put(constant + 8, 0x6000);
    }
    memory_.Put(0x6010, 0x1000);
    memory_.Put(0x3000, 3);
    for (uint64_t i = 0; i < 3; i++) memory_.Put(0x3008 + 8 * i, 7 + i);
  }
  const MethodTable table_{.methods = 0,
                           .ids = 8,
                           .methods_data = 8,
                           .method_const = 0,
                           .const_idnum = 0,
                           .const_pool = 8,
                           .pool_holder = 16};
  asgst::MadeUpMemory memory_;
};

TEST_F(MethodTableTest, AMethodIsFoundByItsId) {
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 7), 0x4100U);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 8), 0x4200U);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 9), 0x4000U);
}

TEST_F(MethodTableTest, WhatIsNoIdIsNone) {
  for (uint64_t id : {0, 1, 6, 10}) EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, id), 0U);
  EXPECT_EQ(MethodOfId(table_, memory_, 0, 7), 0U);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x9990, 7), 0U);
}

TEST_F(MethodTableTest, ACountThatNoClassCanHaveIsNotBelieved) {
  memory_.Put(0x3000, 65535);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 9), 0x4000U);
  memory_.Put(0x3000, 65536);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 9), 0U);
}

TEST_F(MethodTableTest, ANumberBeyondTheIdsHasNone) {
  memory_.Put(0x3000, 2);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 9), 0U);
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 8), 0x4200U);
  EXPECT_EQ(PlaceOfId(table_, memory_, 0x1000, 2), 0U);
  EXPECT_EQ(PlaceOfId(table_, memory_, 0x1000, 1), 0x3010U);
}

TEST_F(MethodTableTest, AnIdIsKeptByTheClassOfItsMethod) {
  memory_.Put(0x7000, 0x4000);  // the Method* with number 2
  EXPECT_FALSE(IsKeptId(table_, memory_, 0x7000)) << "its class keeps another";
  memory_.Put(0x3018, 0x7000);
  EXPECT_TRUE(IsKeptId(table_, memory_, 0x7000));
  for (uint64_t no_id : {0ULL, 7ULL, 0x7001ULL, 0x4000ULL, 0x9990ULL, ~0ULL})
    EXPECT_FALSE(IsKeptId(table_, memory_, no_id)) << std::hex << no_id;
  memory_.Put(0x7000, 0);  // as HotSpot clears it
  EXPECT_FALSE(IsKeptId(table_, memory_, 0x7000));
  memory_.Put(0x7000, 0x4001);
  EXPECT_FALSE(IsKeptId(table_, memory_, 0x7000));
}

TEST(KernelMemoryTest, SurvivesAnyAddress) {
  const KernelMemory memory;
  uint64_t word = 0;
  const uint64_t here = 0x1234567890;
  if (!memory.ReadWord(reinterpret_cast<uint64_t>(&here), word))
    GTEST_SKIP() << "the kernel permits no process_vm_readv";
  EXPECT_EQ(word, here);
  errno = 77;
  for (uint64_t address : {uint64_t{0}, uint64_t{16}, ~uint64_t{7}})
    EXPECT_FALSE(memory.ReadWord(address, word)) << address;
  EXPECT_EQ(errno, 77);
}

TEST_F(MethodTableTest, AClassThatWasFreedEndsNothing) {
  memory_.Put(0x2000, uint64_t{1} << 31);  // a negative length
  EXPECT_EQ(MethodOfId(table_, memory_, 0x1000, 7), 0U);
}

// A stale segment map leads to a block at the very end of the committed memory.
TEST(CodeFinderTest, ReadsNothingBeyondAHeapsCommittedMemory) {
  constexpr size_t kPage = 4096;
  auto* low = static_cast<char*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(low, MAP_FAILED);
  ASSERT_EQ(mprotect(low + kPage, kPage, PROT_NONE), 0);
  const auto address = [](const void* at) { return reinterpret_cast<uint64_t>(at); };
  constexpr int kLog2 = 6;
  uint8_t map[kPage >> kLog2] = {};
  uint64_t heap[5] = {address(low), address(low + kPage), kLog2, address(map),
                      address(map + sizeof map)};
  uint64_t bounds[2] = {address(low), address(low + kPage)};
  CodeLayout l{};
  l.cache_low = address(&bounds[0]);
  l.cache_high = address(&bounds[1]);
  l.heaps[0] = address(heap);
  l.heap_count = 1;
  l.memory_high = 8;
  l.log2_segment = 16;
  l.map_low = 24;
  l.map_high = 32;
  l.frame_complete = 64;
  l.blob_name = 32;
  l.frame_size = 8;
  l.code_begin = 16;
  l.code_end = 24;
  l.header_bytes = 72;
  const PlainMemory memory;
  for (const uint64_t block : {kPage - 64, kPage - 128}) {
    low[block] = 1;  // used
    char* blob = low + block;
    const uint64_t code[2] = {address(low + block + 48), address(low + kPage)};
    std::memcpy(blob + 16, code, sizeof code);
    const bool fits = block == kPage - 128;
    EXPECT_EQ(FindLiveCode(l, memory, address(blob + 50)).kind,
              fits ? CodeKind::kStub : CodeKind::kNone);
  }
  munmap(low, 2 * kPage);
}

}  // namespace
}  // namespace walkhammer
