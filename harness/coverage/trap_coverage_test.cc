// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/trap_coverage.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "harness/base/testing/fails_with.h"
#include "harness/guard/arch.h"
#include "harness/guard/guard.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

constexpr char kBranches[] = WALKHAMMER_BRANCHES;  // testing/branches.cc, built
constexpr unsigned kInputs = 4096;

// By bit of TakeTaken's result.
constexpr const char* kMarks[] = {
    "MarkThen()",        "MarkElse()",           "MarkLoop()",  "MarkCaseA()",   "MarkCaseB()",
    "MarkCaseC()",       "MarkCaseD()",          "MarkCaseE()", "MarkDefault()", "MarkCold()",
    "MarkVirtualBase()", "MarkVirtualDerived()", "MarkTail()",  "MarkPointer()"};
constexpr unsigned kColdInput = 64;

std::atomic<TrapCoverage*> active{nullptr};
bool OnTrap(ucontext_t* context, bool walking) {
  TrapCoverage* coverage = active.load();
  return coverage != nullptr && coverage->OnTrap(*context, walking);
}

GuardSlot main_slot;

class TrapCoverageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    library_ = dlopen(kBranches, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    branches_ = reinterpret_cast<int (*)(unsigned)>(dlsym(library_, "Branches"));
    take_taken_ = reinterpret_cast<uint32_t (*)()>(dlsym(library_, "TakeTaken"));
    Dl_info info{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(branches_), &info), 0);
    bias_ = reinterpret_cast<uint64_t>(info.dli_fbase);
    for (unsigned i = 0; i < kInputs; i++) {
      answers_[i] = branches_(i);
      taken_[i] = take_taken_();
    }
    GuardOptions options{};
    options.hang_limit_ms = 10000;
    options.on_trap = OnTrap;
    ASSERT_TRUE(InstallGuard(options).ok());
    EnterGuardedThread(main_slot);
  }

  void SetUp() override {
    auto map = FindBlocks(kBranches, {"Branches"});
    ASSERT_TRUE(map.ok()) << map.failure().message;
    map_ = std::move(map.value());
    Prepare();
  }
  void TearDown() override {
    if (coverage_ != nullptr) coverage_->Disarm();
    ExpectOriginal();
    active.store(nullptr);
  }

  void Prepare(bool run_sink = true) {
    run_.assign(run_sink ? map_.blocks.size() : 0, 0);
    covered_.assign(map_.blocks.size(), 0);
    auto coverage = TrapCoverage::Prepare(
        map_, bias_,
        {run_sink ? run_.data() : nullptr, static_cast<uint32_t>(run_.size()), covered_.data()});
    ASSERT_TRUE(coverage.ok()) << coverage.failure().message;
    coverage_ = std::move(coverage.value());
    active.store(coverage_.get());
  }

  // Calls branches_(input) guarded, as a walk. The blocks hit are in run_.
  void Walk(unsigned input) {
    int answer = 0;
    std::fill(run_.begin(), run_.end(), 0);
    coverage_->Arm();
    const Ending ending = GuardedCall(main_slot, [&] { answer = branches_(input); });
    coverage_->Disarm();
    EXPECT_EQ(ending, Ending::kReturned);
    EXPECT_EQ(answer, answers_[input]) << input;
    EXPECT_EQ(take_taken_(), taken_[input]) << input;
  }

  const BlockFunction& Named(const std::string& name) const {
    for (const BlockFunction& f : map_.functions)
      if (f.name == name) return f;
    ADD_FAILURE() << name;
    return map_.functions[0];
  }
  bool EntryHit(const std::string& name) const { return run_[Named(name).first_block] != 0; }
  uint64_t InMemory(uint64_t address) const { return address + bias_; }
  bool Armed(size_t block) const {
    CodeUnit code;
    std::memcpy(&code, reinterpret_cast<void*>(InMemory(map_.blocks[block].address)), sizeof code);
    return code == kTrapCode;
  }
  size_t CountArmed() const {
    size_t armed = 0;
    for (size_t i = 0; i < map_.blocks.size(); i++) armed += Armed(i);
    return armed;
  }
  void ExpectOriginal() const {
    for (const Block& b : map_.blocks)
      EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(InMemory(b.address)), &b.code,
                            std::min<size_t>(b.size, sizeof b.code)),
                0);
  }

  static inline void* library_ = nullptr;
  static inline int (*branches_)(unsigned) = nullptr;
  static inline uint32_t (*take_taken_)() = nullptr;
  static inline uint64_t bias_ = 0;
  static inline int answers_[kInputs];
  static inline uint32_t taken_[kInputs];
  BlockMap map_;
  std::vector<uint8_t> run_, covered_;
  std::unique_ptr<TrapCoverage> coverage_;
};

TEST_F(TrapCoverageTest, BlocksHitAreThoseOfTheBranchesTaken) {
  for (unsigned input = 0; input < kInputs; input++) {
    coverage_->Forget();
    Walk(input);
    for (size_t bit = 0; bit < std::size(kMarks); bit++) {
      // See BlockMapTest.FollowsWhatTheSourceCalls.
      if (kHasLinkRegister && std::string_view(kMarks[bit]) == "MarkPointer()") continue;
      ASSERT_EQ(EntryHit(kMarks[bit]), (taken_[input] >> bit & 1) != 0)
          << kMarks[bit] << ", input " << input;
    }
    if (HasFailure()) break;
  }
  // All inputs together hit every block: none is where nothing runs.
  for (size_t i = 0; i < map_.blocks.size(); i++) {
    const BlockFunction& f = map_.functions[map_.blocks[i].function];
    if (f.name.starts_with("Branches") || f.name.starts_with("Mark")) {
      EXPECT_EQ(covered_[i], 1) << f.name << " + " << map_.blocks[i].address - f.address;
    }
  }
}

TEST_F(TrapCoverageTest, EachBlockOnceUntilForgotten) {
  Walk(5);
  const std::vector<uint8_t> first = run_;
  const size_t covered = coverage_->covered();
  EXPECT_GT(covered, 3u);
  Walk(5);
  EXPECT_EQ(std::count(run_.begin(), run_.end(), 1), 0);
  Walk(5 | kColdInput);
  EXPECT_TRUE(EntryHit("MarkCold()"));
  EXPECT_FALSE(EntryHit("MarkThen()"));
  EXPECT_GT(coverage_->covered(), covered);
  coverage_->Forget();
  Walk(5);
  EXPECT_EQ(run_, first);
}

TEST_F(TrapCoverageTest, RunSinkMayBeMissing) {
  Prepare(false);
  Walk(0);
  EXPECT_GT(coverage_->covered(), 3u);
}

TEST_F(TrapCoverageTest, HitsOfOthersAreRestoredAndDoNotCount) {
  coverage_->Arm();
  EXPECT_EQ(CountArmed(), map_.blocks.size());
  std::thread([&] { EXPECT_EQ(branches_(1), answers_[1]); }).join();
  const size_t armed = CountArmed();
  EXPECT_LT(armed, map_.blocks.size());
  EXPECT_EQ(branches_(1), answers_[1]);  // this thread, too, is not walking now
  take_taken_();
  EXPECT_EQ(CountArmed(), armed);
  EXPECT_EQ(coverage_->covered(), 0u);
  Walk(1);  // arms the traps again
  EXPECT_TRUE(EntryHit("MarkThen()"));
}

TEST_F(TrapCoverageTest, SignalThatComesAfterDisarmIsAnswered) {
  ucontext_t context{};
  Registers registers{};
  for (const Block& block : map_.blocks) {
    registers.pc = InMemory(block.address) + kTrapPcAhead;
    WriteContext(registers, context);
    EXPECT_TRUE(coverage_->OnTrap(context, false));
    EXPECT_EQ(ReadContext(context).pc, InMemory(block.address));
  }
  EXPECT_EQ(coverage_->covered(), 0u);
  registers.pc = InMemory(map_.blocks[0].address) + map_.blocks[0].size + 1 + kTrapPcAhead;
  while (map_.Find(registers.pc - kTrapPcAhead - bias_) >= 0) registers.pc++;
  WriteContext(registers, context);
  EXPECT_FALSE(coverage_->OnTrap(context, true));
  EXPECT_EQ(ReadContext(context).pc, registers.pc);
}

TEST_F(TrapCoverageTest, SentSignalsAreNotTakenForTraps) {
  EXPECT_EQ(GuardedCall(main_slot, [] { raise(SIGTRAP); }), Ending::kCrashed);
}

TEST_F(TrapCoverageTest, ErrnoIsKept) {
  coverage_->Arm();
  errno = EXDEV;
  branches_(3);
  EXPECT_EQ(errno, EXDEV);
  take_taken_();
}

TEST_F(TrapCoverageTest, HandlersThatBlockEverythingMayRunTheCode) {
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  static int answer;
  action.sa_handler = [](int) { answer = branches_(2); };
  sigaction(SIGUSR1, &action, nullptr);
  Prepare();  // which changes the handler's mask
  coverage_->Arm();
  raise(SIGUSR1);
  EXPECT_EQ(answer, answers_[2]);
  take_taken_();
  sigaction(SIGUSR1, nullptr, &action);
  EXPECT_EQ(sigismember(&action.sa_mask, SIGTRAP), 0);
  EXPECT_EQ(sigismember(&action.sa_mask, SIGTERM), 1);
}

TEST_F(TrapCoverageTest, OtherCodeInMemoryIsRefused) {
  BlockMap other = map_;
  other.blocks.back().code ^= 0x01010101;
  EXPECT_THAT(TrapCoverage::Prepare(other, bias_, {nullptr, 0, nullptr}),
              FailsWith(ExitCode::kUnable, HasSubstr("not the file")));
}

TEST_F(TrapCoverageTest, DyingJvmMeetsNoTraps) {
  const BlockFunction& cold = Named("MarkCold()");
  map_.deaths.push_back({cold.address, map_.blocks[cold.first_block].code});
  Prepare();
  coverage_->Arm();
  std::thread([&] { EXPECT_EQ(branches_(kColdInput), answers_[kColdInput]); }).join();
  EXPECT_EQ(CountArmed(), 0u);
  coverage_->Arm();
  EXPECT_EQ(CountArmed(), 0u);
  take_taken_();
}

// A failure here ends the process: by a signal without handler, or by half an instruction.
TEST_F(TrapCoverageTest, ThreadsRaceForTraps) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> calls{0}, wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; t++)
    threads.emplace_back([&, t] {
      for (unsigned i = t; !stop.load(); i += 7) {
        wrong += branches_(i % kInputs) != answers_[i % kInputs];
        calls++;
      }
    });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  int rounds = 0;
  for (; std::chrono::steady_clock::now() < until; rounds++) {
    coverage_->Arm();
    std::this_thread::yield();
    coverage_->Disarm();
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_GT(calls.load(), 100u);
  EXPECT_GT(rounds, 10);
  EXPECT_EQ(coverage_->covered(), 0u);
  take_taken_();
}

}  // namespace
}  // namespace walkhammer
