// SPDX-License-Identifier: Apache-2.0
// The walk line without a JVM: a synthetic JavaThread in plain memory, and walkers that do as the
// test says. What is presented is there while the walker runs, and gone afterwards, however the
// call ended.
#include "harness/child/walk_line.h"

#include <cxxabi.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/guard/guard_testing.h"
#include "harness/guard/system_calls.h"
#include "harness/ipc/shared_mapping.h"

namespace walkhammer {
namespace {

constexpr size_t kWords = 1024;  // of the stack; more than are compared after each walk
constexpr uint64_t kAnchorPc = 0xa2, kAnchorFp = 0xa3;

void Crash() { Write(0x10); }
void BlockASignal() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

struct MadeUpThread {
  volatile int32_t state = kStateInNative;
  uint64_t anchor_sp = 0, anchor_pc = kAnchorPc, anchor_fp = kAnchorFp;
};

JvmLayout MadeUpLayout() {
  JvmLayout layout{};
  layout.thread_state = offsetof(MadeUpThread, state);
  layout.anchor = offsetof(MadeUpThread, anchor_sp);
  layout.last_pc = 8;
  layout.last_fp = 16;
  return layout;
}

// Answers the scene's true stack, unless that call makes it do something else.
class ScriptedWalker : public Walker {
 public:
  using Act = std::function<void(Trace&)>;
  explicit ScriptedWalker(const std::vector<Frame>& truth) : truth_(truth) {}
  Status Bind(const WalkerHost&) override { return Ok(); }
  bool BufferIntact(const WalkInput&) const override { return true; }
  void Walk(const WalkInput&, Trace& trace) override {
    trace.num_frames = static_cast<int32_t>(truth_.size());
    trace.frames = truth_.data();
    const size_t call = calls++;
    if (call < script.size() && script[call]) script[call](trace);
  }

  std::vector<Act> script;  // by call
  size_t calls = 0;

 private:
  const std::vector<Frame>& truth_;
};

int ids[2];
const std::vector<Frame> kTruth = {{4, 0, &ids[0]}, {5, 0, &ids[1]}};
const std::vector<Frame> kLie = {{4, 0, &ids[0]}, {6, 0, &ids[1]}};

ParkedScene scene;  // its guard slot outlives the watchdog's interest

class WalkLineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    GuardOptions options{};
    options.hang_limit_ms = kHangLimitMs;
    ASSERT_TRUE(InstallGuard(options).ok());
    EnterGuardedThread(scene.guard);
  }

  WalkLineTest() {
    methods_.Add(&ids[0], "a.B.inner()V", 10, false);
    methods_.Add(&ids[1], "a.B.outer()V", 10, false);
    for (size_t i = 0; i < kWords; i++) stack_.push_back(0x1000 + i);
    thread_.anchor_sp = Low();
    scene.thread = JavaThreadView(&thread_, layout_);
    scene.stack_low = scene.stack_limit = Low();
    scene.stack_high = scene.edit_high = Low() + 8 * kWords;
    scene.anchor_pc = kAnchorPc;
    scene.anchor_fp = kAnchorFp;
    scene.truth = kTruth;
    scene.walked_truly = UINT32_MAX;
    scene.signal_mask = ThreadSignalMask();
    scene.TakeSnapshot();
    AddWalker();
  }

  uint64_t Low() const { return reinterpret_cast<uint64_t>(stack_.data()); }
  SharedState& state() { return shared_->state(); }
  ScriptedWalker& walker(size_t place = 0) {
    return static_cast<ScriptedWalker&>(*walkers_[place]);
  }
  void AddWalker() { walkers_.push_back(std::make_unique<ScriptedWalker>(kTruth)); }
  // From now on.
  void Script(std::vector<ScriptedWalker::Act> script) {
    walker().script = std::move(script);
    walker().calls = 0;
  }

  bool Walk(const WalkRequest& request = {}) {
    WalkLine line(state(), address_map_, methods_, walkers_);
    return line.Walk(scene, request, 7);
  }
  // All findings so far.
  std::vector<std::string> Findings() {
    std::vector<std::string> names;
    for (uint32_t at = 0; at != state().ring.head.load(); at++) {
      const RawFinding& finding = state().ring.slots[at % kRingSize];
      const Oracle& oracle = AllOracles()[finding.oracle];
      names.push_back(std::string(oracle.name) + "/" + oracle.outcomes[finding.outcome].name);
    }
    return names;
  }
  void ExpectAllPutBack(const char* after) {
    EXPECT_EQ(thread_.state, kStateInNative) << after;
    EXPECT_EQ(thread_.anchor_sp, Low()) << after;
    EXPECT_EQ(thread_.anchor_pc, kAnchorPc) << after;
    EXPECT_EQ(thread_.anchor_fp, kAnchorFp) << after;
    EXPECT_EQ(ThreadSignalMask(), scene.signal_mask) << after;
    for (size_t i = 0; i < kWords; i++) ASSERT_EQ(stack_[i], 0x1000 + i) << after;
  }

  const std::unique_ptr<SharedMapping> shared_ = std::move(SharedMapping::Create().value());
  const JvmLayout layout_ = MadeUpLayout();
  MadeUpThread thread_;
  std::vector<uint64_t> stack_;
  AddressMap address_map_;
  MethodRegistry methods_;
  std::vector<std::unique_ptr<Walker>> walkers_;
};

Value Literal(int64_t number) { return {number, SymbolTable::IdOf(SymbolKind::kLiteral)}; }

void AddEdit(WalkRequest& request, size_t word, EditOp op, int64_t number) {
  Edit edit;
  edit.slot = static_cast<int32_t>(8 * word);
  edit.op = op;
  edit.value = Literal(number);
  request.edits[request.edit_count++] = edit;
}

constexpr size_t kNear = 3, kFar = 900;  // words; what is compared after a walk ends between them

// Another state and anchor, and several edits of one word, so that their order counts.
WalkRequest MadeUpRequest() {
  WalkRequest request;
  request.state = kStateInVm;
  request.anchor = AnchorMode::kCustom;
  request.anchor_sp = Literal(0x51);
  request.anchor_pc = Literal(0x52);
  request.anchor_fp = Literal(0x53);
  for (const size_t word : {kNear, kFar}) {
    AddEdit(request, word, EditOp::kSet, 0x100);
    AddEdit(request, word, EditOp::kXor, 0x011);
    AddEdit(request, word, EditOp::kAdd, 0x200);
  }
  AddEdit(request, kWords - 1, EditOp::kSet, -1);
  return request;
}

TEST_F(WalkLineTest, WhatIsPresentedIsPutBackHoweverTheCallEnds) {
  const std::pair<const char*, void (*)()> endings[] = {
      {"returned", [] {}}, {"crashed", Crash}, {"hung", Spin}};
  for (const auto& [name, end] : endings) {
    bool was_presented = false;
    Script({[&, end = end](Trace&) {
      was_presented = thread_.state == kStateInVm && thread_.anchor_sp == 0x51 &&
                      thread_.anchor_pc == 0x52 && thread_.anchor_fp == 0x53 &&
                      stack_[kNear] == 0x311 && stack_[kFar] == 0x311 &&
                      stack_[kWords - 1] == ~uint64_t{0} && stack_[0] == 0x1000;
      end();
    }});
    EXPECT_TRUE(Walk(MadeUpRequest())) << name;
    EXPECT_TRUE(was_presented) << name;
    ExpectAllPutBack(name);
  }
  EXPECT_EQ(Findings(), (std::vector<std::string>{"crash/fault", "hang/hang"}));
  EXPECT_EQ(state().walks.load(), 3U);
  EXPECT_EQ(state().contained_crashes.load(), 2U);
}

// The walker's own doing is put back, too, before the walk that follows a crash; and is a finding.
TEST_F(WalkLineTest, WhatTheWalkerChangesIsPutBack) {
  const auto expect_stack_and_mask = [&](Trace&) {
    EXPECT_EQ(stack_[kNear], 0x1000 + kNear);
    EXPECT_EQ(ThreadSignalMask(), scene.signal_mask);
  };
  for (void (*const end)() : {+[] {}, +[] { Crash(); }}) {
    Script({[&, end](Trace&) {
              thread_.state = 77;
              thread_.anchor_sp = thread_.anchor_pc = thread_.anchor_fp = 78;
              stack_[kNear] = 79;
              BlockASignal();
              end();
            },
            expect_stack_and_mask});
    EXPECT_TRUE(Walk());
    ExpectAllPutBack("a walker that writes");
  }
  const std::vector<std::string> found = Findings();
  for (const char* name :
       {"thread-state/state-changed", "stack-kept/overwritten", "signal-mask/changed"})
    EXPECT_NE(std::find(found.begin(), found.end(), name), found.end()) << name;
}

// The kernel is asked only after a walker that has called it; what is found must not depend on
// that.
TEST_F(WalkLineTest, AChangedSignalMaskIsFoundWhereTheKernelWatches) {
  if (!WatchSystemCalls()) GTEST_SKIP() << "this kernel cannot watch system calls";
  const auto block = [](Trace&) { BlockASignal(); };
  Script({{}, block, {}, block});
  std::vector<size_t> findings;
  for (int i = 0; i < 5; i++) {
    EXPECT_TRUE(Walk());
    findings.push_back(Findings().size());
    ExpectAllPutBack("a changed mask");
  }
  EXPECT_EQ(findings, (std::vector<size_t>{0, 1, 1, 2, 2}));
  EXPECT_EQ(Findings(), std::vector<std::string>(2, "signal-mask/changed"));
}

// --- after a contained crash ---

TEST_F(WalkLineTest, AWalkThatReturnsIsNotCheckedAgain) {
  EXPECT_TRUE(Walk());
  EXPECT_EQ(walker().calls, 1U);
  EXPECT_EQ(Findings(), std::vector<std::string>{});
}

TEST_F(WalkLineTest, AWalkerThatWalksTrulyAfterItsCrashGoesOn) {
  for (void (*const end)() : {Crash, Spin}) {
    Script({[end](Trace&) { end(); }});
    EXPECT_TRUE(Walk());
    EXPECT_EQ(walker().calls, 2U);
  }
}

TEST_F(WalkLineTest, AWalkerThatLiesAfterItsCrashRetiresTheChild) {
  const ScriptedWalker::Act spoiled[] = {
      [](Trace& trace) { trace.frames = kLie.data(); },
      [](Trace& trace) { trace.num_frames = 1; },
      [](Trace& trace) { trace.num_frames = -1; },
      [](Trace&) { Crash(); },
      [](Trace&) { Spin(); },
  };
  for (const ScriptedWalker::Act& act : spoiled) {
    Script({[](Trace&) { Crash(); }, act});
    EXPECT_FALSE(Walk());
    ExpectAllPutBack("a spoiled walker");
    // One that has never walked this scene truly proves nothing.
    scene.walked_truly = 0;
    walker().calls = 0;
    EXPECT_TRUE(Walk());
    EXPECT_EQ(walker().calls, 2U);
    scene.walked_truly = UINT32_MAX;
  }
  for (const std::string& name : Findings()) EXPECT_EQ(name, "crash/fault") << "of the crash alone";
}

TEST_F(WalkLineTest, AWalkerMayReturnTheFramesInTheHeap) {
  const std::vector<Frame> whole = {kTruth[0], {7, 0, &ids[1]}, kTruth[1]};
  const std::vector<Frame> wrong = {kTruth[0], {7, 0, &ids[1]}, {9, 0, &ids[1]}};
  scene.truth_with_heap = whole;
  const auto answer = [](const std::vector<Frame>& frames) {
    return [of = &frames](Trace& trace) {
      trace.frames = of->data();
      trace.num_frames = static_cast<int32_t>(of->size());
    };
  };
  Script({answer(whole), answer(kTruth), answer(wrong), answer(kLie)});
  WalkLine line(state(), address_map_, methods_, walkers_);
  EXPECT_TRUE(line.WalkPristine(scene, nullptr, 0));  // two walks
  EXPECT_TRUE(Findings().empty());
  EXPECT_FALSE(line.WalkPristine(scene, nullptr, 0));
  EXPECT_EQ(std::ranges::count(Findings(), "truth/wrong-frames"), 2);
  // A wrong kind does not make the truth another.
  scene.truth[0].kind = 0x101;
  const std::vector<Frame> of_other_kind = {{kTruth[0].bci, 0x201, kTruth[0].method}, kTruth[1]};
  Script({answer(of_other_kind), answer(of_other_kind)});
  EXPECT_TRUE(line.WalkPristine(scene, nullptr, 0));
  EXPECT_EQ(std::ranges::count(Findings(), "truth/wrong-frames"), 2) << "as before";
  scene.truth_with_heap.clear();
}

// Begins the initialisation of a static variable. False: it is initialised.
bool Begin(WalkedStatics::Guard& guard) {
  return __cxxabiv1::__cxa_guard_acquire(reinterpret_cast<__cxxabiv1::__guard*>(&guard)) != 0;
}
void Initialise(WalkedStatics::Guard& guard, void (*work)()) {
  if (!Begin(guard)) return;
  work();
  __cxxabiv1::__cxa_guard_release(reinterpret_cast<__cxxabiv1::__guard*>(&guard));
}

// A static variable that stayed locked would let the next of these walks hang.
TEST_F(WalkLineTest, AStaticWhoseInitialisationWasLeftIsInitialisedAnew) {
  WalkedStatics::Guard guard = 0;
  WalkLine line(state(), address_map_, methods_, walkers_);
  line.GiveUpAfterCrashes(WalkedStatics({&guard}));
  int begun = 0;
  const ScriptedWalker::Act crashes = [&](Trace&) { Initialise(guard, Crash); };
  const ScriptedWalker::Act is_left = [&](Trace&) {
    begun += Begin(guard) ? 1 : 0;
    scene.guard.protected_faults = 1;
  };
  const ScriptedWalker::Act ends = [&](Trace&) { Initialise(guard, [] {}); };
  // The last finds the variable initialised.
  for (const ScriptedWalker::Act& act : {crashes, crashes, is_left, is_left, ends, crashes}) {
    Script({act});
    EXPECT_TRUE(line.Walk(scene, {}, 7));
  }
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(std::ranges::count(Findings(), "crash/fault"), 2);
  EXPECT_EQ(std::ranges::count(Findings(), "hang/hang"), 0);
}

TEST_F(WalkLineTest, EachWalkerIsMeasuredByItself) {
  AddWalker();
  state().job.other_count = 1;
  walker(1).script = {[](Trace&) { Crash(); }, [](Trace& trace) { trace.frames = kLie.data(); }};
  scene.walked_truly = 1;
  EXPECT_TRUE(Walk());
  walker(1).calls = 0;
  scene.walked_truly = 2;
  EXPECT_FALSE(Walk());
}

TEST_F(WalkLineTest, TheWalkerAfterACrashIsJudgedByTheRequest) {
  AddWalker();
  state().job.other_count = 1;
  const auto walk = [this](const WalkRequest& request) {
    Script({[](Trace&) { Crash(); }});
    walker(1).script = {[](Trace& trace) { trace.num_frames = 0; }};
    walker(1).calls = 0;
    EXPECT_TRUE(Walk(request));
    return std::ranges::count(Findings(), "truth/no-frames");
  };
  EXPECT_EQ(walk(MadeUpRequest()), 0) << "no stack was promised";
  EXPECT_EQ(walk({}), 1);
}

// --- whom a death is blamed on ---

TEST_F(WalkLineTest, TheJournalIsOpenUntilWhatIsLeftWasLookedAt) {
  WalkRequest killer = MadeUpRequest();
  std::vector<uint32_t> phases;
  const auto note = [&](Trace&) {
    EXPECT_TRUE(state().journal.Blames());
    EXPECT_EQ(state().journal.sequence.load(), 7U);
    EXPECT_EQ(state().journal.request, killer);
    phases.push_back(state().journal.phase.load());
    if (phases.size() == 1) Crash();
  };
  Script({note, note});
  EXPECT_TRUE(Walk(killer));
  EXPECT_EQ(phases, (std::vector<uint32_t>{Journal::kWalking, Journal::kWalked}));
  EXPECT_FALSE(state().journal.Blames()) << "between walks nobody is to blame";
}

TEST_F(WalkLineTest, AReplaysJournalStaysOpen) {
  state().job.mode = ChildMode::kReplay;
  EXPECT_TRUE(Walk());
  EXPECT_EQ(state().journal.phase.load(), Journal::kWalked);
  EXPECT_EQ(state().replay.done, 1U);
}

// --- where there is no room for a finding ---

TEST_F(WalkLineTest, AFullRingIsWaitedForAndThenCounted) {
  state().ring.head.store(kRingSize);
  Script({[](Trace&) { Crash(); }});
  EXPECT_TRUE(Walk());
  EXPECT_EQ(state().dropped_findings.load(), 1U);
  EXPECT_EQ(state().ring.head.load(), static_cast<uint32_t>(kRingSize)) << "nothing is overwritten";
  uint64_t count = 0, sent = 0;
  for (const CrashSite& site : state().crash_sites) {
    count += site.count.load();
    sent += site.sent.load();
  }
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(sent, 0U) << "the site keeps its quota";
  state().ring.tail.store(1);
  walker().calls = 0;
  EXPECT_TRUE(Walk());
  EXPECT_EQ(state().ring.head.load(), kRingSize + 1U);
  EXPECT_EQ(state().dropped_findings.load(), 1U);
}

}  // namespace
}  // namespace walkhammer
