// SPDX-License-Identifier: Apache-2.0
// The reference walk from stubs of the JVM, on a synthetic JVM.
#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

// A stub has found where a compiled method handles an exception and jumps there. A call is right
// before this handler: the description at the handler's pc is the call's.
TEST_P(BetweenFramesTest, OnTheWayToAHandler) {
  const uint64_t pc = jvm_.stub + 0x20, sp = kLeafSp, handler = leaf_ + 0x20;
  const std::vector<Seen> handled = {{0, 11, 4, FrameType::kJava}, wanted_[1]};
  memory_.Put(sp, 0x1234);
  memory_.PutBytes(pc, {0xff, 0xe0, 0, 0});
  EXPECT_EQ(WalkAt(pc, sp, kOlderFp, {{kRax, handler}}), handled);
  memory_.PutBytes(pc, {0x59, 0xff, 0xe0, 0});
  EXPECT_EQ(WalkAt(pc, sp - 8, kOlderFp, {{kRax, handler}}), handled)
      << "the return address is still to be taken off";
  memory_.Put(sp - 8, handler);
  memory_.PutBytes(pc, {0x59, 0xff, 0xe1, 0});
  EXPECT_EQ(WalkAt(pc, sp - 8, kOlderFp), handled) << "where it stands now";
}

// The interpreter asks the JVM for the handler of an exception; the interpreter's own frame is
// gone, and fp is an older frame's.
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

// The interpreter returns: its frame is gone, then the return address, then the locals.
TEST_P(BetweenFramesTest, WhileTheInterpreterLeaves) {
  const uint64_t pc = MadeUpJvm::kInterpreter + 0x40, sp = kSp;
  // leave; pop r13; mov rsp, rbx; jmp r13
  PutCode(pc, {0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5});
  memory_.Put(sp, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(pc + 1, sp, kOlderFp, {{kRbx, kLeafSp}}), wanted_)
      << "the return address is on top";
  memory_.Put(sp, 0x78);
  EXPECT_EQ(WalkAt(pc + 3, sp + 8, kOlderFp, {{kRbx, kLeafSp}, {kR13, leaf_ + 0x20}}), wanted_)
      << "in a register, with the locals still on the stack";
  EXPECT_EQ(WalkAt(pc + 6, kLeafSp, kOlderFp, {{kRbx, kLeafSp}, {kR13, leaf_ + 0x20}}), wanted_)
      << "the locals are gone, too";
}

// A loop got hot: compiled code replaces the interpreted frame, which is gone already.
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
  EXPECT_EQ(WalkAt(pc, kSp, kOlderFp, {{kRbx, holder}, {kRsi, kLeafSp}}).size(), 3U)
      << "the method itself, by the code that will run";
  EXPECT_EQ(callers(), wanted_);
  memory_.Put(kSp, 0x78);
  Interrupt(pc + 1, kSp + 8, kOlderFp, {{kRbx, holder}, {kRsi, kLeafSp}, {kRdx, leaf_ + 0x20}});
  EXPECT_EQ(callers(), wanted_) << "the return address is in a register";
  memory_.Put(holder + 8, MadeUpJvm::kInterpreter + 0x10);
  EXPECT_NE(Walk(), wanted_) << "a step to the next bytecode";
}

// C1's stub puts the handler where its return address was, and then leaves.
TEST_P(BetweenFramesTest, BeforeItLeavesForAHandler) {
  const uint64_t fp = kLeafSp - 16, handler = leaf_ + 0x1f, pc = jvm_.stub + 4;
  // push rbp; mov rbp, rsp; mov [rbp+8], rax; leave; pop rcx; jmp rcx
  memory_.PutBytes(jvm_.stub, {0x55, 0x48, 0x8b, 0xec, 0x48, 0x89, 0x45, 0x08, 0xc9, 0x59, 0xff,
                               0xe1, 0x90, 0x90, 0x90, 0x90});
  memory_.PutRecord(fp, kOlderFp, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(pc, fp - 0x30, fp, {{kRax, handler}}), wanted_);
  memory_.Put(fp + 8, handler);
  EXPECT_EQ(WalkAt(pc + 4, fp - 0x30, fp), wanted_) << "it stands there";
  // call; mov [rbp+8], rax; leave; pop rcx; jmp rcx
  memory_.PutBytes(pc, {0xe8, 0, 0, 0, 0, 0x48, 0x89, 0x45, 0x08, 0xc9, 0x59, 0xff, 0xe1});
  memory_.Put(fp + 8, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(pc, fp - 0x30, fp), wanted_) << "the call is to tell";
  memory_.Put(fp + 8, 0x77);
  EXPECT_NE(Walk(), wanted_) << "no return address was there";
}

// fp is an older frame's; the return address of that frame would skip the stub's caller.
TEST_P(BetweenFramesTest, InAStubThatPushes) {
  // push rdi; push rax; nop; pop rax; pop rdi; ret
  memory_.PutBytes(jvm_.stub, {0x57, 0x50, 0x90, 0x58, 0x5f, 0xc3});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  for (const auto& [at, pushed] : {std::pair{0U, 0U}, {1, 1}, {2, 2}, {3, 2}, {4, 1}, {5, 0}}) {
    EXPECT_EQ(WalkAt(jvm_.stub + at, kLeafSp - 8 - 8 * pushed, kOlderFp), wanted_) << at;
  }
}

// Interrupted at a branch, the flags say whether the stub has a word to pop.
TEST_P(BetweenFramesTest, InAStubAtABranch) {
  constexpr uint64_t kZero = 0x40, kSet = 0x2;
  memory_.PutBytes(jvm_.stub, {0x74, 0x01, 0x58, 0xc3});  // je +1; pop rax; ret
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  // What is to be popped, and what is above, look like return addresses.
  for (const uint64_t slot : {kLeafSp - 16, kLeafSp}) memory_.Put(slot, caller_ + 0x30);
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  for (const bool pops : {false, true}) {
    Interrupt(jvm_.stub, kLeafSp - (pops ? 16 : 8), kOlderFp);
    start_.java.flags = pops ? kSet : kSet | kZero;
    EXPECT_EQ(Walk(), wanted_) << pops;
  }
}

// C1's stubs leave their frame to forward_exception, which asks for the handler of the exception
// and puts the handler where the return address was.
TEST_P(BetweenFramesTest, AFrameThatIsLeftToAnotherStub) {
  const uint64_t pc = jvm_.stub + 0x20, to = jvm_.other_stub + 0x20, fp = kLeafSp - 16;
  const auto distance = static_cast<uint32_t>(to - (pc + 5));
  memory_.PutBytes(pc,
                   {0xe9, static_cast<uint8_t>(distance), static_cast<uint8_t>(distance >> 8),
                    static_cast<uint8_t>(distance >> 16), static_cast<uint8_t>(distance >> 24)});
  // call; mov [rbp+8], rax; leave; ret
  memory_.PutBytes(to, {0xe8, 0, 0, 0, 0, 0x48, 0x89, 0x45, 0x08, 0xc9, 0xc3, 0x90});
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(fp - 0x30, caller_ + 0x30);  // left over
  memory_.PutRecord(fp, kOlderFp, leaf_ + 0x20);
  for (const uint64_t at : {pc, to, to + 9}) {
    EXPECT_EQ(WalkAt(at, fp - 0x30, fp), wanted_) << at;
  }
}

// C2's rethrow jumps to the blob that asks for the handler of the exception, with the pc in rdx.
TEST_P(BetweenFramesTest, AnExceptionThatIsHandedToAnotherStub) {
  const uint64_t pc = jvm_.stub + 0x20, to = jvm_.other_stub + 0x20;
  memory_.PutBytes(pc, {0x5a, 0x41, 0xff, 0xe2});  // pop rdx; jmp r10
  // mov [r15+0x70], rdx; call; mov rdx, [r15+0x70]; jmp rax
  memory_.PutBytes(to, {0x49, 0x89, 0x57, 0x70, 0xe8, 0, 0, 0, 0, 0x49, 0x8b, 0x57, 0x70, 0xff,
                        0xe0, 0x90, 0x90});
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(kLeafSp, caller_ + 0x30);  // left over
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(pc, kLeafSp - 8, kOlderFp, {{10, to}, {15, kThread}}), wanted_);
  EXPECT_EQ(WalkAt(pc + 1, kLeafSp, kOlderFp, {{10, to}, {15, kThread}, {kRdx, leaf_ + 0x20}}),
            wanted_);
  EXPECT_EQ(WalkAt(to, kLeafSp, kOlderFp, {{15, kThread}, {kRdx, leaf_ + 0x20}}), wanted_);
}

// A stub that resolves a call jumps to the callee with all arguments unchanged; rdx is an argument.
TEST_P(BetweenFramesTest, InAStubThatResolvesACall) {
  // push rdx; call; pop rdx; jmp rax
  memory_.PutBytes(jvm_.stub, {0x52, 0xe8, 0, 0, 0, 0, 0x5a, 0xff, 0xe0, 0x90});
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(jvm_.stub, kLeafSp - 8, kOlderFp, {{kRdx, caller_ + 0x30}}), wanted_);
}

// The jump's target is not known, and no call will return the target: the return address is on top,
// whatever is left over below that address and in rdx.
TEST_P(BetweenFramesTest, InAStubThatGoesNobodyKnowsWhere) {
  // imul rax, rbx; jmp rax
  memory_.PutBytes(jvm_.stub, {0x48, 0x0f, 0xaf, 0xc3, 0xff, 0xe0, 0x90, 0x90});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(kLeafSp - 16, caller_ + 0x30);
  EXPECT_EQ(WalkAt(jvm_.stub, kLeafSp - 8, kOlderFp, {{kRdx, caller_ + 0x30}}), wanted_);
}

// A stub of virtual calls jumps to the adapter of a method without compiled code. The adapter calls
// only if the method has compiled code after all. rdx is an argument.
TEST_P(BetweenFramesTest, InAStubThatJumpsToAnAdapter) {
  constexpr uint64_t kMethod = MadeUpJvm::kStack + 0x1c0;
  const uint64_t to = jvm_.other_stub + 0x20;
  PutCode(jvm_.stub, {0xff, 0x63, 0x40});  // jmp [rbx+0x40]
  // cmp qword [rbx+0x48], 0; je +7; push rdx; call; pop rdx; pop rax; sub rsp, 16; push rax
  // mov rcx, [rbx+0x50]; jmp rcx
  PutCode(to, {0x48, 0x81, 0x7b, 0x48, 0,    0,    0,    0,    0x74, 0x07, 0x52, 0xe8, 0,    0,   0,
               0,    0x5a, 0x58, 0x48, 0x83, 0xec, 0x10, 0x50, 0x48, 0x8b, 0x4b, 0x50, 0xff, 0xe1});
  memory_.Put(kMethod + 0x40, to);
  memory_.Put(kMethod + 0x50, MadeUpJvm::kInterpreter + 0x10);
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  for (const uint64_t compiled : {uint64_t{0}, leaf_}) {
    memory_.Put(kMethod + 0x48, compiled);
    EXPECT_EQ(WalkAt(jvm_.stub, kLeafSp - 8, kOlderFp, {{kRbx, kMethod}, {kRdx, caller_ + 0x30}}),
              wanted_)
        << compiled;
  }
}

// One blob holds many stubs; the interrupted stub has registers to pop.
TEST_P(BetweenFramesTest, InAStubAmongOthers) {
  const uint64_t pc = jvm_.stub + 0x20;
  memory_.PutBytes(pc - 2, {0xc9, 0xc3});  // the end of another stub
  // add rsp, 16; pop rbp; pop r12; ret
  memory_.PutBytes(pc, {0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x41, 0x5c, 0xc3});
  const uint64_t sp = kLeafSp - 8 - 32;
  Interrupt(pc, sp, 1);
  memory_.Put(sp, leaf_ + 0x21);  // left over: no call precedes leaf_ + 0x21
  memory_.Put(sp + 16, kOlderFp);
  memory_.Put(sp + 32, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  Interrupt(pc + 6, sp + 24, kOlderFp);  // add and pop rbp are done
  EXPECT_EQ(Walk(), wanted_);
}

// In a virtual thread: enterSpecial's frame is far older, and has not called the stub.
TEST_P(BetweenFramesTest, InAStubThatCallsInAVirtualThread) {
  const uint64_t begin = jvm_.stub + 0x20, sp = kLeafSp - 8, entry = sp + 0x60;
  // push rax; call; pop rax; ret
  memory_.PutBytes(begin, {0x50, 0xe8, 0, 0, 0, 0, 0x58, 0xc3, 0x90, 0x90});
  memory_.Put(sp, leaf_ + 0x20);
  memory_.Put(sp - 16, begin + 6);
  Interrupt(0x9999, sp - 16, kOlderFp);
  Enter(entry);
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(kContinuation, sp);
  const auto entered = Walk();
  EXPECT_EQ(entered.size(), 2U) << "the stub that brings more frames calls from there";
  EXPECT_NE(entered, wanted_);
  memory_.Put(kContinuation, entry);
  memory_.PutBytes(begin, {0x50, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc4, 0xc3});  // mov rsp, rax; ret
  memory_.Put(sp, 0x77);
  EXPECT_EQ(Walk(), entered) << "from above the room for these frames";
}

// StubRoutines::cont_returnBarrier, after it has made room for the frames that it will bring: words
// that older frames left in this room are not frames.
TEST_P(BetweenFramesTest, InTheStubThatBringsFramesOfAVirtualThread) {
  const uint64_t begin = jvm_.stub + 0x20, sp = kLeafSp - 0x80, entry = sp + 0x60;
  // cmp [rax], ecx; je +9; call; mov rsp, rax; ret, ret: the branch may go either way
  memory_.PutBytes(begin, {0x39, 0x08, 0x74, 0x09, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc4, 0xc3, 0xc3});
  memory_.Put(sp, leaf_ + 0x20);  // left over
  Enter(entry);
  Interrupt(begin, sp, kOlderFp);
  const auto entered = Walk();
  ASSERT_GE(entered.size(), 2U);
  EXPECT_EQ(entered[0], kInlined);
  EXPECT_EQ(entered[1], kOuter);
  memory_.Put(kContinuation, 0);
  EXPECT_NE(Walk(), entered) << "no virtual thread";
  // The interpreter, too, calls and then loads the stack pointer.
  const uint64_t codelet = MadeUpJvm::kInterpreter + 0x40, top = kSp;
  PutCode(codelet, {0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc4, 0xff, 0xe0});
  memory_.Put(top, leaf_ + 0x20);
  memory_.Put(kContinuation, entry);
  EXPECT_EQ(WalkAt(codelet, top, kOlderFp, {{kR13, kLeafSp}}), wanted_);
}

// The interpreter has called a function of the JVM that does not change fp, before there are unwind
// tables. [fp + 8] is the return address of the interpreted frame.
TEST_P(BetweenFramesTest, InAFunctionThatNoTableTellsOf) {
  const uint64_t fp = kLeafSp - 16, back = MadeUpJvm::kInterpreter + 0x60, sp = fp - 0x60;
  const UnwindTables none;
  PutInterpreted(fp, leaf_ + 0x20);
  PutCode(back, {0xff, 0xe0});  // jmp rax: it goes on with the next bytecode
  memory_.Put(sp, back);
  start_.unwind = &none;
  EXPECT_EQ(WalkAt(0x9999, sp, fp), interpreted_) << "on entry";
  memory_.Put(sp - 8, fp);
  EXPECT_EQ(WalkAt(0x9999, sp - 8, fp), interpreted_) << "the frame pointer is pushed";
  memory_.Put(sp, 0x78);
  EXPECT_EQ(Walk(), wanted_) << "no return address: a guess by the frame pointer";
}

// Math.sin of the interpreter calls a stub and has no frame.
TEST_P(BetweenFramesTest, InAStubOfAMathEntry) {
  const uint64_t entry = MadeUpJvm::kInterpreter + 0x40, sp = kSp;
  memory_.PutBytes(jvm_.stub + 0x20, {0xc3});
  PutCode(entry, {0x58, 0x49, 0x8b, 0xe5, 0xff, 0xe0});
  Interrupt(jvm_.stub + 0x20, sp - 8, kOlderFp, {{kR13, kLeafSp}});
  memory_.Put(sp - 8, entry);
  memory_.Put(sp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  memory_.PutBytes(entry, {0xf4});
  EXPECT_NE(Walk(), wanted_) << "an entry that goes on otherwise";
}

// Jumps into and out of the blob that asks for the handler of an exception.
TEST_P(BetweenFramesTest, WhileTheHandlerOfAnExceptionIsLookedFor) {
  const uint64_t begin = jvm_.stub;
  // push rdx; sub rsp, 8; mov [rsp], rbp; call; mov rbp, [rsp]; add rsp, 8; pop rdx; jmp rax
  memory_.PutBytes(begin,
                   {0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24, 0xe8, 0,    0,    0,
                    0,    0x48, 0x8b, 0x2c, 0x24, 0x48, 0x83, 0xc4, 0x08, 0x5a, 0xff, 0xe0, 0x90});
  EXPECT_EQ(WalkAt(begin, kLeafSp, kOlderFp, {{kRdx, leaf_ + 0x20}}), wanted_)
      << "its first instruction";
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(begin + 1, kLeafSp - 8, kOlderFp, {{kRdx, leaf_ + 0x20}}), wanted_)
      << "the pc is pushed";
  const uint64_t end = begin + 0x60;
  // mov r8, rax; mov rax, [r15+0x578]; jmp r8
  memory_.PutBytes(end, {0x4c, 0x8b, 0xc0, 0x49, 0x8b, 0x87, 0x78, 0x05, 0, 0, 0x41, 0xff, 0xe0});
  for (const uint64_t pc : {end, end + 3, end + 10}) {
    EXPECT_EQ(WalkAt(pc, kLeafSp, kOlderFp,
                     {{kRdx, leaf_ + 0x20}, {kRax, leaf_ + 0x1c}, {8, leaf_ + 0x1c}}),
              wanted_)
        << pc - end;
  }
  // The blob has called the function that answers: pop rdx; jmp rax. The caller's frame begins with
  // a word that was left over.
  memory_.PutBytes(end - 5, {0xe8, 0, 0, 0, 0, 0x5a, 0xff, 0xe0});
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  memory_.Put(kLeafSp, caller_ + 0x30);
  memory_.Put(kLeafSp - 16, end);
  EXPECT_EQ(WalkAt(0x9999, kLeafSp - 16, kOlderFp), wanted_) << "in the function that is called";
}

// Native code calls Java: fp is still C's, the thread's anchor is in the wrapper.
TEST_P(BetweenFramesTest, OnTheWayIntoJava) {
  const uint64_t wrapper = kSp - 0x20, pc = jvm_.stub + 0x20;
  PutWrapper(wrapper);
  memory_.Put(wrapper - 0x20, 0x9999);  // back to C
  start_.java = {};
  start_.java.first_argument = wrapper;
  start_.registers = {pc, wrapper - 0x20, 1, 0};
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(wrapper, start_.thread + 8);
  EXPECT_NE(Walk(), wanted_) << "another thread's";
}

// Compiled code has pushed a word for itself.
TEST_P(BetweenFramesTest, AWordThatCompiledCodePushed) {
  start_.java = {};
  memory_.PutBytes(leaf_ + 0x24, {0x90, 0x90, 0x90, 0x90});
  for (const uint64_t pushed : {0, 8, 16}) {
    start_.registers = {leaf_ + 0x24, kLeafSp - pushed, kOlderFp, 0};
    EXPECT_EQ(OnlyCaller(), wanted_[1]) << pushed;
  }
}

// C1 saves registers below its frame to ask for the thread; in JDK 8, all for sin, cos and so on.
TEST_P(BetweenFramesTest, WordsThatC1Pushed) {
  start_.java = {};
  start_.stack_floor = kLeafSp - 0x400;
  memory_.PutInt(leaf_ - 0x1f0 + 32, 3);  // the level
  memory_.PutBytes(leaf_ + 0x1c, {0xe8, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90});
  const auto expect = [this](uint64_t most) {
    for (const uint64_t words : {uint64_t{0}, uint64_t{1}, most - 1, most, most + 1}) {
      start_.registers = {leaf_ + 0x24, kLeafSp - 8 * words, kOlderFp, 0};
      EXPECT_EQ(OnlyCaller() == wanted_[1], words <= most) << words;
    }
  };
  // The same in a function that this code has called.
  const auto expect_called = [this](uint64_t most) {
    for (const uint64_t words : {uint64_t{0}, uint64_t{1}, most - 1, most, most + 1}) {
      const uint64_t sp = kLeafSp - 8 * words;
      memory_.Put(sp - 8, leaf_ + 0x21);
      Interrupt(0x9999, sp - 8, kOlderFp);
      EXPECT_EQ(OnlyCaller() == wanted_[1], words <= most) << words;
    }
  };
  layout_.feature = 8;
  expect(96);
  expect_called(96);
  layout_.feature = 9;
  expect(13);
  expect_called(4);
}

// While JDK 8 collects garbage, interpreted frames hold the number of their bytecode.
TEST_P(BetweenFramesTest, AByteCodeByItsNumber) {
  constexpr int kCodeSize = 50;
  start_.java = {};
  start_.registers = {leaf_ + 0x24, kLeafSp, kOlderFp, 0};
  memory_.PutBytes(leaf_ + 0x24, {0x90, 0x90, 0x90, 0x90});
  const auto bci = [&](int feature, uint64_t word) {
    layout_.feature = feature;
    memory_.Put(kOlderFp + static_cast<uint64_t>(layout_.interpreter_bcp), word);
    return OnlyCaller().bci;
  };
  EXPECT_EQ(bci(8, 9), 9);
  EXPECT_EQ(bci(8, kCodeSize - 1), kCodeSize - 1);
  EXPECT_EQ(bci(8, kCodeSize), 0);
  EXPECT_EQ(bci(9, 9), 0);
}

// Where C1 copies an array, two words lie below its frame. What an older frame has left there may
// look like a return address. It has the same fp, which C1 leaves alone.
TEST_P(BetweenFramesTest, ArraysThatC1Pushed) {
  start_.java = {};
  memory_.PutInt(leaf_ - 0x1f0 + 32, 3);  // the level
  // cmp rcx, rsi; je; pop rcx; pop rsi; nop
  memory_.PutBytes(leaf_ + 0x24, {0x48, 0x3b, 0xce, 0x74, 0x10, 0x59, 0x5e, 0x90, 0x90, 0x90});
  memory_.PutRecord(kLeafSp, kOlderFp, leaf_ + 0x20);
  for (const auto& [at, words] : {std::pair{0, 2}, {3, 2}, {5, 2}, {6, 1}, {7, 0}}) {
    start_.registers = {leaf_ + 0x24 + at, kLeafSp - 8 * words, kOlderFp, 0};
    EXPECT_EQ(OnlyCaller(), wanted_[1]) << at;
  }
}

// C2 saves registers below its frame around a call of a collector's barrier.
TEST_P(BetweenFramesTest, RegistersThatCompiledCodeKeeps) {
  constexpr uint64_t kKept = 0x60;
  const uint64_t pc = leaf_ + 0x24;
  start_.java = {};
  // sub rsp, 0x60; mov [rsp+8], rdx; vmovdqu [rsp+0x10], xmm1; call; mov rdx, [rsp+8];
  // add rsp, 0x60; jmp
  memory_.PutBytes(pc, {0x48, 0x83, 0xec, kKept, 0x48, 0x89, 0x54,  0x24, 0x08, 0xc5, 0xfa,
                        0x7f, 0x4c, 0x24, 0x10,  0xe8, 0,    0,     0,    0,    0x48, 0x8b,
                        0x54, 0x24, 0x08, 0x48,  0x83, 0xc4, kKept, 0xeb, 0});
  for (const uint64_t at : {0, 4, 9, 15, 20, 25, 29}) {
    const bool keeps = at != 0 && at != 29;
    start_.registers = {pc + at, kLeafSp - (keeps ? kKept : 0), kOlderFp, 0};
    EXPECT_EQ(OnlyCaller(), wanted_[1]) << at;
  }
  // In the function that was called.
  memory_.Put(kLeafSp - kKept - 8, pc + 20);
  Interrupt(0x9999, kLeafSp - kKept - 8, kOlderFp);
  for (const uint64_t kept : {uint64_t{0x77}, leaf_ + 0x20}) {
    memory_.Put(kLeafSp - kKept + 24, kept);  // where a frame at sp would have its return address
    EXPECT_EQ(OnlyCaller(), wanted_[1]) << kept;
  }
}

// C1 pushes the arguments of slow_subtype_check, and pops them after the call.
TEST_P(BetweenFramesTest, ArgumentsThatCompiledCodePushed) {
  memory_.PutBytes(jvm_.stub, {0x57, 0x50, 0x90, 0x58, 0x5f, 0xc3});
  const uint64_t back = leaf_ + 0x20;
  memory_.Put(kLeafSp - 24, back);
  Interrupt(jvm_.stub + 2, kLeafSp - 40, kOlderFp);
  memory_.PutBytes(back, {0x5e, 0x41, 0x5e, 0x90});  // pop rsi; pop r14
  EXPECT_EQ(Walk(), wanted_);
  // After the call, and between the two pops.
  const std::vector<Seen> interrupted = {{0, 11, 4, FrameType::kJava}, wanted_[1]};
  EXPECT_EQ(WalkAt(back, kLeafSp - 16, kOlderFp), interrupted);
  EXPECT_EQ(WalkAt(back + 1, kLeafSp - 8, kOlderFp), interrupted);
}

// An adapter between compiled and interpreted code ends in a jump with ret = [sp].
TEST_P(BetweenFramesTest, InAnAdapter) {
  const uint64_t link = leaf_ + 0x20, below = kLeafSp - 8, pc = jvm_.stub + 0x20;
  const uint64_t entry = MadeUpJvm::kInterpreter + 0x40;
  // pop rax; mov r13, rsp; sub rsp, 16; mov [rsp+8], rdi; push rax; jmp rcx
  memory_.PutBytes(pc, {0x58, 0x4c, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x7c, 0x24,
                        0x08, 0x50, 0xff, 0xe1, 0x90});
  constexpr int kRcx = 1;
  memory_.Put(below, link);
  EXPECT_EQ(WalkAt(pc, below, kOlderFp, {{kRcx, entry}}), wanted_) << "on entry";
  memory_.Put(below, 0x78);
  EXPECT_EQ(WalkAt(pc + 1, kLeafSp, kOlderFp, {{kRcx, entry}, {kRax, link}}), wanted_)
      << "the return address was taken off";
  EXPECT_EQ(WalkAt(pc + 4, kLeafSp, kOlderFp, {{kRcx, entry}, {kRax, link}, {kR13, kLeafSp}}),
            wanted_)
      << "the caller's sp is noted";
  EXPECT_EQ(WalkAt(pc + 8, kLeafSp - 16, kOlderFp, {{kRcx, entry}, {kRax, link}, {kR13, kLeafSp}}),
            wanted_)
      << "there is room for arguments";
  memory_.Put(kLeafSp - 24, link);
  EXPECT_EQ(WalkAt(pc + 14, kLeafSp - 24, kOlderFp, {{kRcx, entry}, {kR13, kLeafSp}}), wanted_)
      << "the return address is put back";
}

// OSR code is entered in a loop, in place of an interpreted frame.
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
  EXPECT_EQ(WalkAt(entry + 8, caller - 16, kOlderFp).size(), 3U) << "the frame pointer is pushed";
}

// A poll's blob puts the poll's pc where a return address would be, and later a pc past the poll.
// By branches on bytes of the poll the blob finds out whether that is 3 or 4 bytes long.
TEST_P(BetweenFramesTest, InTheBlobOfAPoll) {
  constexpr int kR15 = 15;
  constexpr uint64_t kSavedPc = kThread + 0x100;
  const uint64_t begin = jvm_.stub, poll = leaf_ + 0x20, fp = kLeafSp - 16;
  memory_.PutBytes(leaf_ + 0x1b, {0x90});  // no call
  // test [r10], eax; cmp ebx, [rsp+0x18]; from its second byte on: pop rsp
  memory_.PutBytes(poll, {0x41, 0x85, 0x02, 0x3b, 0x5c, 0x24, 0x18});
  // push rax; push rbp; mov rbp, rsp; mov rbx, [r15+0x100]; mov [rbp+8], rbx; call;
  // mov rbx, [rbp+8]; ja +4; add rbx, 1; add rbx, 3; mov [rbp+8], rbx; leave; ret
  memory_.PutBytes(
      begin, {0x50, 0x55, 0x48, 0x8b, 0xec, 0x49, 0x8b, 0x9f, 0x00, 0x01, 0x00, 0x00, 0x48, 0x89,
              0x5d, 0x08, 0xe8, 0,    0,    0,    0,    0x48, 0x8b, 0x5d, 0x08, 0x77, 0x04, 0x48,
              0x83, 0xc3, 0x01, 0x48, 0x83, 0xc3, 0x03, 0x48, 0x89, 0x5d, 0x08, 0xc9, 0xc3});
  memory_.Put(kSavedPc, poll);
  memory_.Put(kLeafSp - 8, 0x99);  // rax
  memory_.Put(fp, kOlderFp);
  EXPECT_EQ(WalkAt(begin, kLeafSp, kOlderFp, {{kR15, kThread}}), wanted_);
  EXPECT_EQ(WalkAt(begin + 1, kLeafSp - 8, kOlderFp, {{kR15, kThread}}), wanted_);
  EXPECT_EQ(WalkAt(begin + 5, fp, fp, {{kR15, kThread}}), wanted_);
  memory_.Put(kLeafSp - 8, poll);
  memory_.Put(kSavedPc, 0);
  for (const uint64_t at : {16, 21}) EXPECT_EQ(WalkAt(begin + at, fp, fp), wanted_) << at;
  EXPECT_EQ(WalkAt(begin + 31, fp, fp, {{kRbx, poll}}), wanted_);
  for (const uint64_t length : {3, 4}) {
    memory_.Put(kLeafSp - 8, poll + length);
    const auto past = WalkAt(begin + 39, fp, fp);
    ASSERT_EQ(past.size(), 2U) << length;
    EXPECT_EQ(past[1], wanted_[1]) << length;
  }
  memory_.Put(kLeafSp - 8, 0x77);
  EXPECT_NE(WalkAt(begin + 16, fp, fp), wanted_);
}

INSTANTIATE_TEST_SUITE_P(X86_64, BetweenFramesTest, testing::Values(&kX86_64Rules));

}  // namespace
}  // namespace walkhammer::asgst
