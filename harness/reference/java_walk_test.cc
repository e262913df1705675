// The whole reference walk on a JVM that a test made up, for both architectures on any host: code
// heap, compiled code with debug information, methods, a stack.
#include "harness/reference/java_walk.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/reference/testing/made_up_jvm.h"

namespace walkhammer {
namespace {

constexpr uint64_t kLeafSp = MadeUpJvm::kLeafSp, kThread = MadeUpJvm::kThread,
                   kMethods = MadeUpJvm::kMethods;

struct Seen {
  uint64_t method;
  int bci, level;
  FrameType type;
  bool operator==(const Seen&) const = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
  *out << "method " << seen.method << " @ " << seen.bci << " level " << seen.level << " type "
       << static_cast<int>(seen.type);
}

class JavaWalkTest : public testing::TestWithParam<const CodeRules*> {
 protected:
  JavaWalkTest() : jvm_(*GetParam()) {}

  std::vector<Seen> Walk(bool* broken = nullptr) {
    JavaWalk walk(layout_, memory_, start_);
    std::vector<Seen> seen;
    if (walk.Begin() != WalkStatus::kFound) return seen;
    for (JavaFrame frame; seen.size() < 100 && walk.Next(frame);)
      seen.push_back({(frame.method - kMethods) / 0x1000, frame.bci, frame.level, frame.type});
    if (broken != nullptr) *broken = walk.broken();
    return seen;
  }

  const Seen kLeaf{0, 7, 4, FrameType::kJava}, kInlined{2, 5, 4, FrameType::kInlined},
      kOuter{1, 3, 4, FrameType::kJava};
  MadeUpJvm jvm_;
  WalkLayout& layout_ = jvm_.layout;
  MadeUpMemory& memory_ = jvm_.memory;
  WalkStart& start_ = jvm_.start;
  const uint64_t leaf_ = jvm_.leaf, caller_ = jvm_.caller;
};

TEST_P(JavaWalkTest, CompiledInlinedAndTheEndOfTheStack) {
  bool broken = true;
  EXPECT_EQ(Walk(&broken), (std::vector<Seen>{kLeaf, kInlined, kOuter}));
  EXPECT_FALSE(broken);
}

TEST_P(JavaWalkTest, WhatIsDescribedAtAPcIsTheCodeBeforeIt) {
  start_.registers.pc = leaf_ + 0x20;
  EXPECT_EQ(Walk(), (std::vector<Seen>{{0, 11, 4, FrameType::kJava}, kInlined, kOuter}));
}

TEST_P(JavaWalkTest, AtItsEntryAMethodHasNoFrame) {
  start_.registers = {leaf_, kLeafSp + 24, 0x1234, 0};
  if (layout_.rules->has_link_register) {
    // Signed, as pointer authentication leaves it.
    start_.registers.lr = (caller_ + 0x30) | 0x00a5000000000000;
    start_.registers.sp = kLeafSp + 32;
  }
  EXPECT_EQ(Walk(), (std::vector<Seen>{{0, 0, 4, FrameType::kJava}, kInlined, kOuter}));
}

TEST_P(JavaWalkTest, InNativeCodeTheAnchorTells) {
  memory_.Put(kThread, 4);  // in_native
  memory_.Put(kThread + 8, kLeafSp);
  memory_.Put(kThread + 16, leaf_ + 0x20);
  start_.registers = {0x9999, 0x10, 0x20, 0};
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, kInlined, kOuter}));
  memory_.Put(kThread + 8, 0);
  EXPECT_EQ(Walk(), std::vector<Seen>{});
}

TEST_P(JavaWalkTest, AnInterpretedCaller) {
  jvm_.InterpretCaller();
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, {1, 9, 0, FrameType::kJava}}));
}

// Compiled code, which an interpreted method called, has called another interpreted one, with
// arguments between their frames. Its frame pointer is still its caller's.
class BetweenFramesTest : public JavaWalkTest {
 protected:
  static constexpr uint64_t kOlderFp = MadeUpJvm::kStack + 0x180, kSp = kLeafSp - 0x40;

  BetweenFramesTest() {
    jvm_.InterpretCaller();
    memory_.PutBytes(leaf_ + 0x1b, {0xe8});  // a call
    start_.sender_sp_register = kLeafSp;
    start_.registers = {MadeUpJvm::kInterpreter + 0x20, kSp, kOlderFp, 0};
  }
  const std::vector<Seen> wanted_ = {kLeaf, {1, 9, 0, FrameType::kJava}};
};

TEST_P(BetweenFramesTest, OnEntry) {
  memory_.Put(kSp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(BetweenFramesTest, WhileLocalsAreMadeRoomFor) {
  start_.return_register = leaf_ + 0x20;
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(BetweenFramesTest, WhileTheFrameIsBuilt) {
  start_.registers.fp = kSp + 8;
  memory_.Put(kSp + 8, kOlderFp);
  memory_.Put(kSp + 16, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(kSp, kLeafSp);  // the frame has its caller's sp now, the register another value
  start_.sender_sp_register = MadeUpJvm::Method(2);
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(BetweenFramesTest, OnReturn) {
  start_.registers.sp = kLeafSp;
  start_.sender_sp_register = leaf_ + 0x20;
  EXPECT_EQ(Walk(), wanted_);
}

// Back in the interpreter, whose caller is compiled: registers are what the callee left.
TEST_P(BetweenFramesTest, BehindACall) {
  const uint64_t fp = kLeafSp - 16, pc = MadeUpJvm::kInterpreter + 0x20;
  memory_.Put(fp, kOlderFp);
  memory_.Put(fp + 8, leaf_ + 0x20);
  memory_.Put(fp + layout_.sender_sp, kLeafSp);
  memory_.Put(fp + layout_.interpreter_method, MadeUpJvm::Method(2));
  memory_.Put(fp + 8 * layout_.rules->slots.interpreter_bcp, MadeUpJvm::Method(2) + 0x100 + 32 + 4);
  start_.registers = {pc, fp - 0x60, fp, 0};
  start_.sender_sp_register = start_.bcp_register = leaf_ + 0x20;  // a return of long ago
  const std::vector<Seen> all = {{2, 4, 0, FrameType::kJava}, wanted_[0], wanted_[1]};
  for (const std::vector<uint8_t>& code : {std::vector<uint8_t>{0x48, 0x8b, 0x65, 0xf0, 0, 0, 0, 0},
                                           {0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0},
                                           {0x4c, 0x8b, 0x6d, 0xc0, 0, 0, 0, 0}}) {
    memory_.PutBytes(pc, code);
    EXPECT_EQ(Walk(), all) << static_cast<int>(code[1]);
  }
  memory_.PutBytes(pc, {0x48, 0x8b, 0xe3, 0, 0, 0, 0, 0});  // mov rsp, rbx: on return
  start_.registers.sp = kLeafSp;
  start_.registers.fp = kOlderFp;
  EXPECT_EQ(Walk(), wanted_);
}

// The same on the way there, in a stub that keeps no rule.
TEST_P(BetweenFramesTest, InAnAdapter) {
  const uint64_t link = leaf_ + 0x20, below = kLeafSp - 8;
  start_.registers = {jvm_.stub + 0x20, below, kOlderFp, 0};
  start_.return_register = link;
  memory_.Put(below, link);
  start_.sender_sp_register = 0;
  EXPECT_EQ(Walk(), wanted_) << "on entry";
  start_.sender_sp_register = below;
  start_.registers.sp = kSp;
  EXPECT_EQ(Walk(), wanted_) << "registers are saved, the return address is on the stack";
  start_.return_register = 0;
  EXPECT_EQ(Walk(), wanted_) << "the same behind a call";
  start_.registers.sp = kLeafSp;
  start_.return_register = link;
  start_.sender_sp_register = kOlderFp;  // of long ago
  EXPECT_EQ(Walk(), wanted_) << "the return address was taken off";
  start_.sender_sp_register = kLeafSp;
  EXPECT_EQ(Walk(), wanted_) << "the caller's sp is noted";
  memory_.Put(below, 0);
  start_.registers.sp = kSp;
  EXPECT_EQ(Walk(), wanted_) << "there is room for arguments";
  memory_.Put(kLeafSp, MadeUpJvm::kInterpreter + 0x10);
  EXPECT_EQ(Walk(), wanted_) << "the caller's frame holds what is left of an older one";
}

TEST_P(BetweenFramesTest, APcThatIsGivenIsAReturnAddressIfItFollowsACall) {
  start_.registers = {leaf_ + 0x20, kLeafSp, kOlderFp, 0};
  JavaWalk walk(layout_, memory_, start_);
  JavaFrame frame;
  ASSERT_EQ(walk.BeginAtRegisters(), WalkStatus::kFound);
  ASSERT_TRUE(walk.Next(frame));
  EXPECT_EQ(frame.bci, 7);
  EXPECT_EQ(Walk()[0].bci, 11) << "interrupted there";
}

TEST_P(BetweenFramesTest, BehindACompiledCall) {
  // mov rbx; jmp
  memory_.PutBytes(leaf_ + 0x40, {0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0x40});
  start_.sender_sp_register = 0;
  start_.registers = {leaf_ + 0x40, kLeafSp - 8, kOlderFp, 0};
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  start_.registers.sp = kLeafSp;  // no return address: it was code of the method itself
  EXPECT_EQ(Walk().size(), 2U);
  EXPECT_NE(Walk(), wanted_) << "nothing is described behind the last description";
}

INSTANTIATE_TEST_SUITE_P(X86_64, BetweenFramesTest, testing::Values(&kX86_64Rules));

// The same where the return address stays in a register until there is a frame.
class ByLinkTest : public BetweenFramesTest {
 protected:
  ByLinkTest() {
    memory_.PutInt(leaf_ + 0x1c, 0x94000000);                // bl
    start_.registers.lr = (leaf_ + 0x20) | 0x00a5ULL << 48;  // signed
  }
};

TEST_P(ByLinkTest, OnEntry) { EXPECT_EQ(Walk(), wanted_); }

TEST_P(ByLinkTest, OnReturn) {
  start_.registers.sp = kLeafSp;
  start_.sender_sp_register = MadeUpJvm::Method(2);
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(ByLinkTest, InAFrameThatHasNotCalledYet) {
  const uint64_t fp = kLeafSp - 16;
  memory_.Put(fp, kOlderFp);
  memory_.Put(fp + 8, start_.registers.lr);
  memory_.Put(fp + layout_.sender_sp, kLeafSp);
  memory_.Put(fp + layout_.interpreter_method, MadeUpJvm::Method(2));
  memory_.Put(fp + 8 * layout_.rules->slots.interpreter_bcp, MadeUpJvm::Method(2) + 0x100 + 32 + 4);
  start_.registers.fp = fp;
  start_.registers.sp = fp - 0x60;
  EXPECT_EQ(Walk(), (std::vector<Seen>{{2, 4, 0, FrameType::kJava}, wanted_[0], wanted_[1]}));
}

// The frame pointer is an older frame's, whose return address would skip the stub's caller.
TEST_P(ByLinkTest, InAStubWithoutAFrame) {
  start_.registers.pc = jvm_.stub + 0x20;
  start_.registers.sp = kLeafSp;
  start_.sender_sp_register = 0;
  EXPECT_EQ(Walk(), wanted_);
}

INSTANTIATE_TEST_SUITE_P(Aarch64, ByLinkTest, testing::Values(&kAarch64Rules));

TEST_P(JavaWalkTest, AFrameToBeDeoptimisedHasItsPcElsewhere) {
  memory_.Put(caller_ - 0x1f0 + 80, caller_ + 0x100);
  memory_.PutInt(caller_ - 0x1f0 + 48, 8);
  memory_.Put(kLeafSp + 24, caller_ + 0x100);
  memory_.Put(kLeafSp + 32 + 8, caller_ + 0x30);
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, kInlined, kOuter}));
}

TEST_P(JavaWalkTest, ABrokenStackEndsTheWalkAndSaysSo) {
  bool broken = false;
  memory_.Put(kLeafSp + 24, 0x4242);
  EXPECT_EQ(Walk(&broken), std::vector<Seen>{kLeaf});
  EXPECT_TRUE(broken);
}

// Whatever words change, a walk ends, and reads nothing but through its MemoryReader.
TEST_P(JavaWalkTest, DamageOfAnyKindEnds) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> addresses, values;
  for (const auto& [address, word] : memory_.words()) {
    addresses.push_back(address);
    values.push_back(word);
  }
  int frames = 0;
  for (int round = 0; round < 20000; round++) {
    std::vector<size_t> changed;
    for (int changes = 1 + round % 4; changes > 0; changes--) {
      changed.push_back(random() % addresses.size());
      const uint64_t value = random() % 2 == 0 ? values[random() % values.size()] : random();
      memory_.Put(addresses[changed.back()], value);
    }
    frames += static_cast<int>(Walk().size());
    for (const size_t i : changed) memory_.Put(addresses[i], values[i]);
  }
  EXPECT_GT(frames, 20000);
}

INSTANTIATE_TEST_SUITE_P(Each, JavaWalkTest, testing::Values(&kX86_64Rules, &kAarch64Rules),
                         [](const auto& info) {
                           return info.param == &kX86_64Rules ? "x86_64" : "aarch64";
                         });

}  // namespace
}  // namespace walkhammer
