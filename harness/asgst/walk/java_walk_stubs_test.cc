// SPDX-License-Identifier: Apache-2.0
// The reference walk from stubs of the JVM, on a JVM that a test made up.
#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer {
namespace {

// A stub has found where a compiled method handles an exception and goes there.
TEST_P(BetweenFramesTest, OnTheWayToAHandler) {
  const uint64_t pc = jvm_.stub + 0x20, sp = kLeafSp, handler = leaf_ + 0x20;
  memory_.Put(sp, 0x1234);
  memory_.PutBytes(pc, {0xff, 0xe0, 0, 0});
  Interrupt(pc, sp, kOlderFp, {{kRax, handler}});
  EXPECT_EQ(Walk(), wanted_);
  memory_.PutBytes(pc, {0x59, 0xff, 0xe0, 0});
  Interrupt(pc, sp - 8, kOlderFp, {{kRax, handler}});
  EXPECT_EQ(Walk(), wanted_) << "the return address is still to be taken off";
  memory_.Put(sp - 8, handler);
  memory_.PutBytes(pc, {0x59, 0xff, 0xe1, 0});
  Interrupt(pc, sp - 8, kOlderFp);
  EXPECT_EQ(Walk(), wanted_) << "where it stands now";
}

// The interpreter asks the JVM who handles an exception; its own frame is gone, the frame pointer
// is an older frame's.
TEST_P(BetweenFramesTest, AnActivationThatWasRemovedForAnException) {
  const uint64_t back = MadeUpJvm::kInterpreter + 0x20, sp = kLeafSp - 16;
  // mov rbx, rax; pop rdx; pop rax; jmp rbx
  PutCode(back, {0x48, 0x8b, 0xd8, 0x5a, 0x58, 0xff, 0xe3});
  Interrupt(0x9999, sp - 8, kOlderFp);
  memory_.Put(sp - 8, back);
  memory_.Put(sp, leaf_ + 0x20);
  memory_.Put(sp + 8, 0x1234);  // the exception
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(sp, 0x78);
  EXPECT_EQ(Walk(), std::vector<Seen>{wanted_[1]}) << "a frame that is still there";
}

// The interpreter returns: its frame is gone, and bit by bit what it knew of its caller's sp.
TEST_P(BetweenFramesTest, WhileTheInterpreterLeaves) {
  const uint64_t pc = MadeUpJvm::kInterpreter + 0x40, sp = kSp;
  // leave; pop r13; mov rsp, rbx; jmp r13
  PutCode(pc, {0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5});
  memory_.Put(sp, leaf_ + 0x20);
  Interrupt(pc + 1, sp, kOlderFp, {{kRbx, kLeafSp}});
  EXPECT_EQ(Walk(), wanted_) << "the return address is on top";
  memory_.Put(sp, 0x78);
  Interrupt(pc + 3, sp + 8, kOlderFp, {{kRbx, kLeafSp}, {kR13, leaf_ + 0x20}});
  EXPECT_EQ(Walk(), wanted_) << "in a register, with the locals still on the stack";
  Interrupt(pc + 6, kLeafSp, kOlderFp, {{kRbx, kLeafSp}, {kR13, leaf_ + 0x20}});
  EXPECT_EQ(Walk(), wanted_) << "the locals are gone, too";
}

// A loop got hot: compiled code goes on in place of the interpreted frame, which is gone already.
TEST_P(BetweenFramesTest, OnTheWayIntoALoop) {
  const uint64_t pc = MadeUpJvm::kInterpreter + 0x40, holder = kSp - 0x20;
  constexpr int kRsi = 6;
  // pop rdx; mov rsp, rsi; and rsp, -16; push rdx; jmp [rbx+8]
  PutCode(pc, {0x5a, 0x48, 0x8b, 0xe6, 0x48, 0x83, 0xe4, 0xf0, 0x52, 0xff, 0x63, 0x08});
  memory_.Put(kSp, leaf_ + 0x20);
  memory_.Put(holder + 8, leaf_ + 0x10);
  const auto callers = [&] {
    const auto walked = Walk();
    return walked.empty() ? walked : std::vector<Seen>(walked.begin() + 1, walked.end());
  };
  Interrupt(pc, kSp, kOlderFp, {{kRbx, holder}, {kRsi, kLeafSp}});
  EXPECT_EQ(Walk().size(), 3U) << "the method itself, by the code that will run";
  EXPECT_EQ(callers(), wanted_);
  memory_.Put(kSp, 0x78);
  Interrupt(pc + 1, kSp + 8, kOlderFp, {{kRbx, holder}, {kRsi, kLeafSp}, {kRdx, leaf_ + 0x20}});
  EXPECT_EQ(callers(), wanted_) << "the return address is in a register";
  memory_.Put(holder + 8, MadeUpJvm::kInterpreter + 0x10);
  EXPECT_NE(Walk(), wanted_) << "a step to the next byte code";
}

// C1's puts the handler where its return address was, and then leaves.
TEST_P(BetweenFramesTest, BeforeItLeavesForAHandler) {
  const uint64_t fp = kLeafSp - 16, handler = leaf_ + 0x1f, pc = jvm_.stub + 4;
  // push rbp; mov rbp, rsp; mov [rbp+8], rax; leave; pop rcx; jmp rcx
  memory_.PutBytes(jvm_.stub, {0x55, 0x48, 0x8b, 0xec, 0x48, 0x89, 0x45, 0x08, 0xc9, 0x59, 0xff,
                               0xe1, 0x90, 0x90, 0x90, 0x90});
  memory_.Put(fp, kOlderFp);
  memory_.Put(fp + 8, leaf_ + 0x20);
  Interrupt(pc, fp - 0x30, fp, {{kRax, handler}});
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(fp + 8, handler);
  Interrupt(pc + 4, fp - 0x30, fp);
  EXPECT_EQ(Walk(), wanted_) << "it stands there";
  // call; mov [rbp+8], rax; leave; pop rcx; jmp rcx
  memory_.PutBytes(pc, {0xe8, 0, 0, 0, 0, 0x48, 0x89, 0x45, 0x08, 0xc9, 0x59, 0xff, 0xe1});
  memory_.Put(fp + 8, leaf_ + 0x20);
  Interrupt(pc, fp - 0x30, fp);
  EXPECT_EQ(Walk(), wanted_) << "the call is to tell";
  memory_.Put(fp + 8, 0x77);
  EXPECT_NE(Walk(), wanted_) << "no return address was there";
}

// The frame pointer is an older frame's, whose return address would skip the stub's caller.
TEST_P(BetweenFramesTest, InAStubThatPushes) {
  // push rdi; push rax; nop; pop rax; pop rdi; ret
  memory_.PutBytes(jvm_.stub, {0x57, 0x50, 0x90, 0x58, 0x5f, 0xc3});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  for (const auto& [at, pushed] : {std::pair{0U, 0U}, {1, 1}, {2, 2}, {3, 2}, {4, 1}, {5, 0}}) {
    Interrupt(jvm_.stub + at, kLeafSp - 8 - 8 * pushed, kOlderFp);
    EXPECT_EQ(Walk(), wanted_) << at;
  }
}

// Many stubs lie in one piece of code; the one at hand has registers to take back.
TEST_P(BetweenFramesTest, InAStubAmongOthers) {
  const uint64_t pc = jvm_.stub + 0x20;
  memory_.PutInt(jvm_.stub - 0x1f0 + 8, 0);  // no frame of its own
  memory_.PutBytes(pc - 2, {0xc9, 0xc3});    // another's end
  // add rsp, 16; pop rbp; pop r12; ret
  memory_.PutBytes(pc, {0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x41, 0x5c, 0xc3});
  const uint64_t sp = kLeafSp - 8 - 32;
  Interrupt(pc, sp, 1);
  memory_.Put(sp, leaf_ + 0x21);  // left over: no call is before it
  memory_.Put(sp + 16, kOlderFp);
  memory_.Put(sp + 32, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  Interrupt(pc + 6, sp + 24, kOlderFp);  // two of them are done
  EXPECT_EQ(Walk(), wanted_);
}

// Math.sin of the interpreter calls a stub and has no frame.
TEST_P(BetweenFramesTest, InAStubOfAMathEntry) {
  const uint64_t entry = MadeUpJvm::kInterpreter + 0x40, sp = kSp;
  memory_.PutInt(jvm_.stub - 0x1f0 + 8, 0);
  memory_.PutBytes(jvm_.stub + 0x20, {0xc3});
  PutCode(entry, {0x58, 0x49, 0x8b, 0xe5, 0xff, 0xe0});
  Interrupt(jvm_.stub + 0x20, sp - 8, kOlderFp, {{kR13, kLeafSp}});
  memory_.Put(sp - 8, entry);
  memory_.Put(sp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  memory_.PutBytes(entry, {0xf4});
  EXPECT_NE(Walk(), wanted_) << "an entry that goes on otherwise";
}

// Into and out of the blob that asks who handles an exception, by jumps.
TEST_P(BetweenFramesTest, WhileTheHandlerOfAnExceptionIsLookedFor) {
  const uint64_t begin = jvm_.stub;
  // push rdx; sub rsp, 8; mov [rsp], rbp; call; mov rbp, [rsp]; add rsp, 8; pop rdx; jmp rax
  memory_.PutBytes(begin,
                   {0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24, 0xe8, 0,    0,    0,
                    0,    0x48, 0x8b, 0x2c, 0x24, 0x48, 0x83, 0xc4, 0x08, 0x5a, 0xff, 0xe0, 0x90});
  Interrupt(begin, kLeafSp, kOlderFp, {{kRdx, leaf_ + 0x20}});
  EXPECT_EQ(Walk(), wanted_) << "its first instruction";
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  Interrupt(begin + 1, kLeafSp - 8, kOlderFp, {{kRdx, leaf_ + 0x20}});
  EXPECT_EQ(Walk(), wanted_) << "the pc is pushed";
  const uint64_t end = begin + 0x60;
  // mov r8, rax; mov rax, [r15+0x578]; jmp r8
  memory_.PutBytes(end, {0x4c, 0x8b, 0xc0, 0x49, 0x8b, 0x87, 0x78, 0x05, 0, 0, 0x41, 0xff, 0xe0});
  for (const uint64_t pc : {end, end + 3, end + 10}) {
    Interrupt(pc, kLeafSp, kOlderFp,
              {{kRdx, leaf_ + 0x20}, {kRax, leaf_ + 0x1c}, {8, leaf_ + 0x1c}});
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
  memory_.PutBytes(jvm_.stub, {0x57, 0x50, 0x90, 0x58, 0x5f, 0xc3});
  const uint64_t back = leaf_ + 0x20;
  memory_.Put(kLeafSp - 24, back);
  Interrupt(jvm_.stub + 2, kLeafSp - 40, kOlderFp);
  memory_.PutBytes(back, {0x5e, 0x41, 0x5e, 0x90});  // pop rsi; pop r14
  EXPECT_EQ(Walk(), wanted_);
  // Behind the call, and between the two.
  const std::vector<Seen> interrupted = {{0, 11, 4, FrameType::kJava}, wanted_[1]};
  Interrupt(back, kLeafSp - 16, kOlderFp);
  EXPECT_EQ(Walk(), interrupted);
  Interrupt(back + 1, kLeafSp - 8, kOlderFp);
  EXPECT_EQ(Walk(), interrupted);
}

// A way between compiled and interpreted code, which ends in a jump with the return address on top.
TEST_P(BetweenFramesTest, InAnAdapter) {
  const uint64_t link = leaf_ + 0x20, below = kLeafSp - 8, pc = jvm_.stub + 0x20;
  const uint64_t entry = MadeUpJvm::kInterpreter + 0x40;
  // pop rax; mov r13, rsp; sub rsp, 16; mov [rsp+8], rdi; push rax; jmp rcx
  memory_.PutBytes(pc, {0x58, 0x4c, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x7c, 0x24,
                        0x08, 0x50, 0xff, 0xe1, 0x90});
  constexpr int kRcx = 1;
  memory_.Put(below, link);
  Interrupt(pc, below, kOlderFp, {{kRcx, entry}});
  EXPECT_EQ(Walk(), wanted_) << "on entry";
  memory_.Put(below, 0x78);
  Interrupt(pc + 1, kLeafSp, kOlderFp, {{kRcx, entry}, {kRax, link}});
  EXPECT_EQ(Walk(), wanted_) << "the return address was taken off";
  Interrupt(pc + 4, kLeafSp, kOlderFp, {{kRcx, entry}, {kRax, link}, {kR13, kLeafSp}});
  EXPECT_EQ(Walk(), wanted_) << "the caller's sp is noted";
  Interrupt(pc + 8, kLeafSp - 16, kOlderFp, {{kRcx, entry}, {kRax, link}, {kR13, kLeafSp}});
  EXPECT_EQ(Walk(), wanted_) << "there is room for arguments";
  memory_.Put(kLeafSp - 24, link);
  Interrupt(pc + 14, kLeafSp - 24, kOlderFp, {{kRcx, entry}, {kR13, kLeafSp}});
  EXPECT_EQ(Walk(), wanted_) << "the return address is put back";
}

// Code that is entered in the midst of a loop, in place of an interpreted frame.
TEST_P(BetweenFramesTest, WhereALoopIsEntered) {
  const uint64_t entry = leaf_ + 0x40, caller = kLeafSp;
  // mov [rsp-0x14000], eax; push rbp; sub rsp, of the frame's size
  memory_.PutBytes(entry, {0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 16, 0x90,
                           0x90, 0x90, 0x90});
  memory_.Put(caller - 8, leaf_ + 0x20);
  for (const uint64_t at : {0, 7}) {
    Interrupt(entry + at, caller - 8, kOlderFp);
    const auto walked = Walk();
    ASSERT_EQ(walked.size(), 3U) << at;
    EXPECT_EQ(walked[1], wanted_[0]) << at;
    EXPECT_EQ(walked[2], wanted_[1]) << at;
  }
  memory_.Put(caller - 16, kOlderFp);
  Interrupt(entry + 8, caller - 16, kOlderFp);
  EXPECT_EQ(Walk().size(), 3U) << "the frame pointer is pushed";
}

INSTANTIATE_TEST_SUITE_P(X86_64, BetweenFramesTest, testing::Values(&kX86_64Rules));

}  // namespace
}  // namespace walkhammer
