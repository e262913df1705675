// The reference walk from stubs of the JVM, on a JVM that a test made up.
#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer {
namespace {

// A stub has found where a compiled method handles an exception and goes there.
TEST_P(BetweenFramesTest, OnTheWayToAHandler) {
  if (layout_.rules->jumps_by_return == nullptr) GTEST_SKIP() << "not asked there";
  const uint64_t pc = jvm_.stub + 0x20, sp = kLeafSp;
  start_.java.sender_sp = 0;
  start_.java.return_pc = leaf_ + 0x20;
  start_.registers = {pc, sp, kOlderFp, 0};
  memory_.Put(sp, 0x1234);
  memory_.PutBytes(pc, {0xff, 0xe0, 0, 0});
  EXPECT_EQ(Walk(), wanted_);
  memory_.PutBytes(pc, {0x59, 0xff, 0xe0, 0});
  start_.registers.sp = sp - 8;
  EXPECT_EQ(Walk(), wanted_) << "the return address is still to be taken off";
  memory_.PutBytes(pc, {0x59, 0xff, 0xe1, 0});
  EXPECT_EQ(Walk(), wanted_) << "by another register";
}

// The interpreter asks the JVM who handles an exception; its own frame is gone, the frame pointer
// is an older frame's.
TEST_P(BetweenFramesTest, AnActivationThatWasRemovedForAnException) {
  const uint64_t sp = kLeafSp - 16;
  start_.java.sender_sp = 0;
  start_.registers = {0x9999, sp - 8, kOlderFp, 0};
  memory_.Put(sp - 8, MadeUpJvm::kInterpreter + 0x20);
  memory_.Put(sp, leaf_ + 0x20);
  memory_.Put(sp + 8, 0x1234);  // the exception
  EXPECT_EQ(Walk(), wanted_);
  start_.registers.sp = sp - 16;  // aligned
  memory_.Put(sp - 16, MadeUpJvm::kInterpreter + 0x20);
  memory_.Put(sp - 8, 0x77);
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(sp, 0x78);
  EXPECT_EQ(Walk(), std::vector<Seen>{wanted_[1]}) << "a frame that is still there";
}

// C1's of JDK 17 puts the handler where its return address was, and then leaves.
TEST_P(BetweenFramesTest, BeforeItLeavesForAHandler) {
  const uint64_t fp = kLeafSp - 16, handler = leaf_ + 0x1f;
  memory_.PutInt(jvm_.stub - 0x1f0 + 8, 2);  // words of its frame
  memory_.PutInt(jvm_.stub - 0x1f0 + 12, 0xffffffff);
  memory_.PutBytes(jvm_.stub, {0x55, 0x48, 0x8b, 0xec, 0x90, 0x90, 0x90, 0x90});
  memory_.Put(fp, kOlderFp);
  memory_.Put(fp + 8, handler);
  start_.java.sender_sp = 0;
  start_.java.return_pc = handler;
  start_.registers = {jvm_.stub + 6, fp - 0x30, fp, 0};
  EXPECT_EQ(Walk(), wanted_);
  start_.java.return_pc = 0;
  EXPECT_NE(Walk(), wanted_) << "what stands there is not where it goes";
}

// The frame pointer is an older frame's, whose return address would skip the stub's caller.
TEST_P(BetweenFramesTest, InAStubThatPushes) {
  // push rdi; push rax; nop; pop rax; pop rdi; ret
  memory_.PutBytes(jvm_.stub, {0x57, 0x50, 0x90, 0x58, 0x5f, 0xc3});
  start_.java.sender_sp = 0;
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  for (const auto& [at, pushed] : {std::pair{0U, 0U}, {1, 1}, {2, 2}, {3, 2}, {4, 1}, {5, 0}}) {
    start_.registers = {jvm_.stub + at, kLeafSp - 8 - 8 * pushed, kOlderFp, 0};
    EXPECT_EQ(Walk(), wanted_) << at;
  }
}

// Many stubs lie in one piece of code; the one at hand has registers to take back.
TEST_P(BetweenFramesTest, InAStubAmongOthers) {
  if (layout_.rules->next_epilogue == nullptr) GTEST_SKIP() << "not asked there";
  const uint64_t pc = jvm_.stub + 0x20;
  memory_.PutInt(jvm_.stub - 0x1f0 + 8, 0);  // no frame of its own
  memory_.PutBytes(pc - 2, {0xc9, 0xc3});    // another's end
  memory_.PutBytes(pc, {0x90, 0x48, 0xc3, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x41, 0x5c, 0xc3});
  start_.java = {};
  const uint64_t sp = kLeafSp - 8 - 32;
  start_.registers = {pc, sp, 1, 0};
  memory_.Put(sp, leaf_ + 0x21);  // left over: no call is before it
  memory_.Put(sp + 16, kOlderFp);
  memory_.Put(sp + 32, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  start_.registers.pc = pc + 8;  // two of them are done
  start_.registers.sp = sp + 24;
  start_.registers.fp = kOlderFp;
  EXPECT_EQ(Walk(), wanted_);
}

// The same of one that keeps a frame pointer; what is left over in its frame looks like a return.
TEST_P(BetweenFramesTest, InAStubAmongOthersThatKeepsItsFp) {
  if (layout_.rules->keeps_fp == nullptr) GTEST_SKIP() << "not asked there";
  const uint64_t pc = jvm_.stub + 0x20, fp = kLeafSp - 16;
  memory_.PutInt(jvm_.stub - 0x1f0 + 8, 0);
  memory_.PutBytes(pc - 6, {0xc9, 0xc3, 0x55, 0x48, 0x8b, 0xec, 0x90, 0x90, 0x90, 0x90});
  start_.java = {};
  start_.registers = {pc, fp - 16, fp, 0};
  memory_.Put(fp - 16, MadeUpJvm::kInterpreter + 0x10);
  memory_.Put(fp, kOlderFp);
  memory_.Put(fp + 8, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
}

// Math.sin of the interpreter calls a stub and has no frame.
TEST_P(BetweenFramesTest, InAStubOfAMathEntry) {
  if (layout_.rules->leaves_entry == nullptr) GTEST_SKIP() << "not asked there";
  const uint64_t entry = MadeUpJvm::kInterpreter + 0x40, sp = kSp;
  memory_.PutInt(jvm_.stub - 0x1f0 + 8, 0);
  memory_.PutBytes(jvm_.stub + 0x20, {0xc3});
  memory_.PutBytes(entry, {0x58, 0x49, 0x8b, 0xe5, 0xff, 0xe0, 0x90, 0x90});
  start_.java = {};
  start_.java.sender_sp = kLeafSp;
  start_.registers = {jvm_.stub + 0x20, sp - 8, kOlderFp, 0};
  memory_.Put(sp - 8, entry);
  memory_.Put(sp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  memory_.PutBytes(entry, {0x90});
  EXPECT_NE(Walk(), wanted_) << "an entry that goes on otherwise";
}

// Into and out of the blob that asks who handles an exception, by jumps.
TEST_P(BetweenFramesTest, WhileTheHandlerOfAnExceptionIsLookedFor) {
  if (layout_.rules->jumps_with_pc == nullptr) GTEST_SKIP() << "not asked there";
  const uint64_t begin = jvm_.stub;
  memory_.PutBytes(begin, {0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24});
  start_.java = {};
  start_.java.exception_pc = leaf_ + 0x20;
  start_.registers = {begin, kLeafSp, kOlderFp, 0};
  EXPECT_EQ(Walk(), wanted_) << "its first instruction";
  start_.registers = {begin + 1, kLeafSp - 8, kOlderFp, 0};
  EXPECT_EQ(Walk(), wanted_) << "the pc is pushed";
  const uint64_t end = begin + 0x60;
  memory_.PutBytes(end, {0x4c, 0x8b, 0xc0, 0x49, 0x8b, 0x87, 0x78, 0x05, 0, 0, 0x41, 0xff, 0xe0});
  for (const uint64_t pc : {end, end + 3, end + 10}) {
    start_.registers = {pc, kLeafSp, kOlderFp, 0};
    EXPECT_EQ(Walk(), wanted_) << pc - end;
  }
}

// Native code calls Java: the frame pointer is C's still, the thread's anchor is in the wrapper.
TEST_P(BetweenFramesTest, OnTheWayIntoJava) {
  if (layout_.rules->has_link_register) GTEST_SKIP() << "not looked for there";
  const uint64_t wrapper = kSp - 0x20, pc = jvm_.stub + 0x20;
  layout_.call_stub_return = pc + 0x40;
  memory_.Put(wrapper, start_.thread);
  memory_.Put(wrapper + layout_.wrapper_anchor + layout_.jvm.last_sp, kLeafSp);
  memory_.Put(wrapper + layout_.wrapper_anchor + layout_.jvm.last_pc, leaf_ + 0x20);
  memory_.Put(wrapper + layout_.wrapper_anchor + layout_.jvm.last_fp, kOlderFp);
  start_.java = {};
  start_.java.first_argument = wrapper;
  start_.registers = {pc, wrapper - 0x20, 1, 0};
  memory_.Put(wrapper - 0x20, 0x9999);  // back to C
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(wrapper, start_.thread + 8);
  EXPECT_NE(Walk(), wanted_) << "another thread's";
}

// Compiled code has pushed a word for itself.
TEST_P(BetweenFramesTest, AWordThatCompiledCodePushed) {
  if (layout_.rules->takes_back == nullptr) GTEST_SKIP() << "not asked there";
  start_.java = {};
  memory_.PutBytes(leaf_ + 0x24, {0x90, 0x90, 0x90, 0x90});
  for (const uint64_t pushed : {0, 8, 16}) {
    start_.registers = {leaf_ + 0x24, kLeafSp - pushed, kOlderFp, 0};
    const auto walked = Walk();
    ASSERT_EQ(walked.size(), 2U) << pushed;
    EXPECT_EQ(walked[1], wanted_[1]) << pushed;
  }
}

// C1 pushes what it asks slow_subtype_check, and pops it behind the call.
TEST_P(BetweenFramesTest, ArgumentsThatCompiledCodePushed) {
  if (layout_.rules->takes_back == nullptr) GTEST_SKIP() << "not asked there";
  memory_.PutBytes(jvm_.stub, {0x57, 0x50, 0x90, 0x58, 0x5f, 0xc3});
  start_.java.sender_sp = 0;
  const uint64_t back = leaf_ + 0x20;
  memory_.Put(kLeafSp - 24, back);
  start_.registers = {jvm_.stub + 2, kLeafSp - 40, kOlderFp, 0};
  memory_.PutBytes(back, {0x5e, 0x41, 0x5e, 0x90});  // pop rsi; pop r14
  EXPECT_EQ(Walk(), wanted_);
  // Behind the call, and between the two.
  const std::vector<Seen> interrupted = {{0, 11, 4, FrameType::kJava}, wanted_[1]};
  start_.registers = {back, kLeafSp - 16, kOlderFp, 0};
  EXPECT_EQ(Walk(), interrupted);
  start_.registers = {back + 1, kLeafSp - 8, kOlderFp, 0};
  EXPECT_EQ(Walk(), interrupted);
}

// The same on the way there, in a stub that keeps no rule.
TEST_P(BetweenFramesTest, InAnAdapter) {
  const uint64_t link = leaf_ + 0x20, below = kLeafSp - 8;
  start_.registers = {jvm_.stub + 0x20, below, kOlderFp, 0};
  start_.java.return_pc = link;
  memory_.Put(below, link);
  start_.java.sender_sp = 0;
  EXPECT_EQ(Walk(), wanted_) << "on entry";
  start_.java.sender_sp = below;
  start_.registers.sp = kSp;
  EXPECT_EQ(Walk(), wanted_) << "registers are saved, the return address is on the stack";
  start_.java.return_pc = 0;
  EXPECT_EQ(Walk(), wanted_) << "the same behind a call";
  start_.registers.sp = kLeafSp;
  start_.java.return_pc = link;
  start_.java.sender_sp = kOlderFp;  // of long ago
  EXPECT_EQ(Walk(), wanted_) << "the return address was taken off";
  start_.java.sender_sp = kLeafSp;
  EXPECT_EQ(Walk(), wanted_) << "the caller's sp is noted";
  memory_.Put(below, 0);
  start_.registers.sp = kSp;
  EXPECT_EQ(Walk(), wanted_) << "there is room for arguments";
  memory_.Put(kLeafSp, MadeUpJvm::kInterpreter + 0x10);
  EXPECT_EQ(Walk(), wanted_) << "the caller's frame holds what is left of an older one";
}

INSTANTIATE_TEST_SUITE_P(X86_64, BetweenFramesTest, testing::Values(&kX86_64Rules));

}  // namespace
}  // namespace walkhammer
