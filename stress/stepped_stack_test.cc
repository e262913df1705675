// SPDX-License-Identifier: Apache-2.0
// The shadow stack of a stepped thread on a toy machine that calls and returns as HotSpot's code
// does, and what it says of true and of wrong answers.
#include "stress/stepped_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "stress/known_callers.h"
#include "stress/step_instruction.h"

namespace walkhammer::stress {
namespace {

using Methods = std::vector<uint64_t>;  // newest first

constexpr uint64_t kInterpreter = 0x1000000, kInterpreterEnd = 0x1100000;
constexpr uint64_t kEntry = kInterpreter + 0x80000;  // from here on: no bytecode's codelet
constexpr uint64_t kStub = 0x2000000, kAdapter = 0x2100000, kDeopt = 0x2200000;
constexpr uint64_t kNative = 0x9000000;
constexpr uint64_t kCall = 5;  // bytes of a call

// One thread. The nmethod of method m is at m * 0x1000.
class Machine : public CodeReader {
 public:
  Machine() {
    Store(0xdead);
    pc = 0x1000;
  }

  bool IsGenerated(uint64_t at) const override {
    return (at >= 0x1000 && at < 0x100000) || (at >= kInterpreter && at < kNative);
  }
  bool InInterpreter(uint64_t at) const override {
    return at >= kInterpreter && at < kInterpreterEnd;
  }
  bool InSameNmethod(uint64_t a, uint64_t b) const override {
    return a < kInterpreter && a / 0x1000 == b / 0x1000;
  }
  SteppedCall CallerAt(uint64_t return_pc, uint64_t frame) const override {
    SteppedCall call;
    if (InInterpreter(return_pc)) {
      call.caller = SteppedCall::Caller::kInterpreted;
      call.method = frame == 0 ? 0 : words_.at(frame - 24);
    } else if (return_pc < kInterpreter) {
      call.caller = SteppedCall::Caller::kCompiled;
      call.method = return_pc / 0x1000;
      const auto there = inlined.find(return_pc);
      const Methods frames = there == inlined.end() ? Methods{call.method} : there->second;
      call.frames = static_cast<int>(frames.size());
      if (!frames.empty()) call.newest = frames.front();
      call.may_lack = return_pc % 0x1000 >= 0xe00;
    }
    return call;
  }

  // One instruction that does nothing.
  void Other() {
    Step(StepOp::kOther);
    pc += 3;
  }
  void CallTo(uint64_t target) {
    Step(StepOp::kCall);
    Store(pc + kCall);
    pc = target;
  }
  void Return() {
    Step(StepOp::kReturn);
    pc = Load();
  }
  void Push(uint64_t word) {
    Step(StepOp::kPush);
    Store(word);
    pc += 2;
  }
  uint64_t Pop() {
    Step(StepOp::kPop);
    pc += 2;
    return Load();
  }
  void AddSp(uint64_t bytes) {
    Step(StepOp::kOther);
    sp += bytes;
    pc += 4;
  }
  void SetSp(uint64_t to) {
    Step(StepOp::kSetsSp);
    sp = to;
    pc += 3;
  }
  void Jump(uint64_t target) {
    Step(StepOp::kJumpIndirect);
    pc = target;
  }
  void Fault(uint64_t handler) {
    Step(StepOp::kOther);
    pc = handler;
  }
  // Builds the frame of interpreted method `method` over the return address on top.
  void BuildFrame(uint64_t method) {
    Push(fp);
    fp = sp;
    Push(0);
    Push(0);
    Push(method);
  }
  void Interpret() { Jump(kInterpreter + 0x100); }

  // The verdict on an answer at the current instruction.
  CallerVerdict Judge(const Methods& newest_first, bool goes_on = false) {
    SteppedStack looking = stack;
    looking.Step(Point(StepOp::kOther));
    AnsweredFrames frames;
    frames.count = static_cast<int>(newest_first.size());
    std::copy(newest_first.begin(), newest_first.end(), frames.methods);
    frames.goes_on = goes_on;
    const SteppedCode code = CodeOf();
    return JudgeCallers(code, code == SteppedCode::kCompiled ? pc / 0x1000 : 0, looking.calls(),
                        frames);
  }
  // True if `truth` is proven here, and each planted bug is contradicted: a caller left out, a
  // caller invented, the answer cut off before a caller. `own`: number of frames of the running
  // method. `callers`: number of the frames after them that are known from calls.
  testing::AssertionResult Tells(const Methods& truth, size_t own, size_t callers) {
    if (Judge(truth) != CallerVerdict::kProven) return testing::AssertionFailure() << "not proven";
    const auto place = [&](Methods& frames, size_t i) {
      return frames.begin() + static_cast<std::ptrdiff_t>(i);
    };
    for (size_t i = own; i < own + callers; i++) {
      Methods skips = truth, invents = truth, cut = truth;
      skips.erase(place(skips, i));
      invents.insert(place(invents, i), 77);
      cut.resize(i);
      for (const Methods& wrong : {skips, invents, cut})
        if (Judge(wrong) != CallerVerdict::kContradicted)
          return testing::AssertionFailure() << "passes: " << testing::PrintToString(wrong);
    }
    return testing::AssertionSuccess();
  }

  uint64_t pc = 0, sp = 0x700000, fp = 0;
  // Frames at a return address; empty: unknown. At other return addresses: the nmethod's own
  // method.
  std::map<uint64_t, Methods> inlined;
  SteppedStack stack{*this};

 private:
  void Store(uint64_t word) { words_[sp -= 8] = word; }
  uint64_t Load() {
    sp += 8;
    return words_[sp - 8];
  }
  SteppedCode CodeOf() const {
    if (pc >= kNative) return SteppedCode::kNative;
    if (pc >= kDeopt) return SteppedCode::kReframing;
    if (pc >= kAdapter) return SteppedCode::kAdapter;
    if (pc >= kStub) return SteppedCode::kStub;
    if (pc >= kEntry) return SteppedCode::kInterpreter;
    return pc >= kInterpreter ? SteppedCode::kByteCode : SteppedCode::kCompiled;
  }
  SteppedPoint Point(StepOp op) { return {pc, sp, fp, words_[sp], op, CodeOf()}; }
  void Step(StepOp op) { stack.Step(Point(op)); }

  std::map<uint64_t, uint64_t> words_;
};

class SteppedStackTest : public testing::Test {
 protected:
  Machine m;
};

// In method 3, which 2 has called, which 1 has called.
class TwoCallsDeep : public SteppedStackTest {
 protected:
  TwoCallsDeep() {
    m.CallTo(0x2000);
    m.CallTo(0x3000);
  }
};

TEST_F(SteppedStackTest, BeginsUnknown) {
  m.Other();
  EXPECT_EQ(m.Judge({1, 2, 3}), CallerVerdict::kUnknown);
  EXPECT_EQ(m.Judge({1}), CallerVerdict::kUnknown);
}

// Frames older than the oldest known call contradict no answer: any are accepted.
TEST_F(SteppedStackTest, WhatWasCalledBeforeIsUnknown) {
  m.CallTo(0x2000);
  EXPECT_EQ(m.Judge({2, 1}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({2, 1, 9, 8}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({2, 1, 1, 1}), CallerVerdict::kProven);
  m.Return();
  EXPECT_EQ(m.Judge({1, 9}), CallerVerdict::kUnknown);
  m.Return();  // to what called before the first step
  EXPECT_EQ(m.Judge({9}), CallerVerdict::kUnknown);
}

TEST_F(TwoCallsDeep, CompiledCode) {
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "first instruction";
  m.Push(0x77);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "prologue";
  m.AddSp(8);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "epilogue";
  m.Return();
  EXPECT_TRUE(m.Tells({2, 1, 9}, 1, 1)) << "returned";
}

TEST_F(SteppedStackTest, StubsAndNativeCodeHaveNoFrames) {
  m.CallTo(0x2000);
  m.CallTo(kStub);
  EXPECT_TRUE(m.Tells({2, 1, 9}, 0, 2));
  m.CallTo(kNative);
  m.CallTo(kNative + 0x100);
  EXPECT_TRUE(m.Tells({2, 1, 9}, 0, 2));
  m.Return();
  m.Return();
  m.Return();
  EXPECT_TRUE(m.Tells({2, 1, 9}, 1, 1));
}

// An nmethod calls an interpreted method through a stub behind its own code: that is only one
// frame.
TEST_F(SteppedStackTest, StubsBehindCompiledCode) {
  m.CallTo(0x2000);
  m.CallTo(0x2f00);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({1, 9}), CallerVerdict::kContradicted);
  EXPECT_EQ(m.Judge({2, 9}), CallerVerdict::kContradicted);
  m.Jump(0x3000);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2));
}

TEST_F(SteppedStackTest, InlinedFrames) {
  const Methods at_call = {21, 20, 2};
  m.CallTo(0x2000);
  m.inlined[0x2000 + kCall] = at_call;
  m.CallTo(0x3000);
  EXPECT_TRUE(m.Tells({3, 21, 20, 2, 1, 9}, 1, 1));
  EXPECT_EQ(m.Judge({31, 3, 21, 20, 2, 1, 9}), CallerVerdict::kProven) << "inlined where it runs";
  EXPECT_EQ(m.Judge({3, 21, 2, 1, 9}), CallerVerdict::kContradicted) << "one too few";
  EXPECT_EQ(m.Judge({3, 21, 20, 20, 2, 1, 9}), CallerVerdict::kContradicted) << "one too many";
  m.inlined[0x2000 + kCall] = {};
  m.Return();
  m.pc = 0x2000;
  m.CallTo(0x3000);
  EXPECT_EQ(m.Judge({3, 21, 2, 1, 9}), CallerVerdict::kProven) << "nothing tells the number";
  EXPECT_EQ(m.Judge({3, 21, 1, 9}), CallerVerdict::kContradicted);
}

// Among equal frames, one too few is noticed.
TEST_F(SteppedStackTest, Recursion) {
  for (int i = 0; i < 4; i++) {
    m.pc = 0x1000;
    m.inlined[0x1000 + kCall] = {1};
    m.CallTo(0x1000);
  }
  m.CallTo(0x2000);
  EXPECT_EQ(m.Judge({2, 1, 1, 1, 1, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({2, 1, 1, 1, 1, 9}), CallerVerdict::kContradicted);
}

// Enters interpreted method `method` from the interpreter: its return address is pushed, and the
// method's entry takes that off the stack while it makes room for locals.
void CallInterpreted(Machine& m, uint64_t method) {
  m.Push(kInterpreter + 0x50);
  m.Jump(kEntry);
  const uint64_t back = m.Pop();
  m.Other();
  m.AddSp(-uint64_t{32});
  m.Push(back);
  m.BuildFrame(method);
  m.Interpret();
}

TEST_F(SteppedStackTest, Interpreter) {
  m.CallTo(kEntry);
  m.BuildFrame(2);
  m.Interpret();
  CallInterpreted(m, 3);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2));
  CallInterpreted(m, 4);
  EXPECT_TRUE(m.Tells({4, 3, 2, 1, 9}, 1, 3));
  m.CallTo(kEntry + 0x500);  // within the interpreter
  m.CallTo(kNative);
  EXPECT_TRUE(m.Tells({4, 3, 2, 1, 9}, 0, 4));
  m.Return();
  m.Return();
  // Back to method 3, by a jump.
  m.SetSp(m.fp);
  m.fp = m.Pop();
  const uint64_t back = m.Pop();
  EXPECT_EQ(m.Judge({3, 2, 1, 9}), CallerVerdict::kProven) << "its caller is in a register";
  EXPECT_TRUE(m.Tells({4, 3, 2, 1, 9}, 1, 3)) << "its caller is in a register";
  m.Other();
  m.Jump(back);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2));
}

// Until the interpreter has built the frame, fp is the caller's, and the method is unknown.
TEST_F(SteppedStackTest, InterpreterWithoutFrame) {
  m.CallTo(kEntry);
  m.CallTo(kNative);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({3, 2, 1, 9}), CallerVerdict::kContradicted);
  EXPECT_EQ(m.Judge({9}), CallerVerdict::kContradicted);
}

TEST_F(SteppedStackTest, AdapterMovesTheReturnAddress) {
  m.CallTo(0x2000);
  m.CallTo(kAdapter);
  const uint64_t back = m.Pop();
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven) << "in a register";
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "in a register, the callee counts as begun";
  m.AddSp(-uint64_t{64});
  m.Other();
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "still there";
  m.Push(back);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven) << "back, further down";
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "back, further down";
  m.Jump(0x3000);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2));
  m.Return();
  m.AddSp(64);
  EXPECT_TRUE(m.Tells({2, 1, 9}, 1, 1));
}

// A fault leads to code that may build frames as if the faulting code had called it.
TEST_F(TwoCallsDeep, NothingIsSaidAboveAFault) {
  m.Fault(kStub);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({3, 2, 1, 9}), CallerVerdict::kProven) << "frames of the faulting code";
  EXPECT_EQ(m.Judge({3, 1, 9}), CallerVerdict::kContradicted) << "the callers stay";
  m.pc = 0x3000;
  m.Return();
  EXPECT_TRUE(m.Tells({2, 1, 9}, 1, 1)) << "with the call, the doubt ends";
}

TEST_F(TwoCallsDeep, DeoptimisationReplacesFrames) {
  m.Jump(kDeopt);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({6, 5, 2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({6, 5, 1, 9}), CallerVerdict::kContradicted);
  m.CallTo(kNative);
  EXPECT_EQ(m.Judge({6, 5, 2, 1, 9}), CallerVerdict::kProven);
  m.Return();
  m.AddSp(8);  // the return address to 2 is dropped, to be pushed again
  m.Push(0x2000 + kCall);
  m.Push(kInterpreter + 0x50);
  m.Return();
  EXPECT_EQ(m.Judge({6, 2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({6, 2, 9}), CallerVerdict::kContradicted);
}

// Such as the frames of a virtual thread that is mounted.
TEST_F(TwoCallsDeep, FramesThatWereCopied) {
  m.SetSp(m.sp - 8);  // in compiled code that says nothing
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2));
  m.AddSp(8);
  m.CallTo(kStub);
  m.SetSp(m.sp - 128);
  EXPECT_EQ(m.Judge({5, 4, 3, 2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({5, 4, 3, 1, 9}), CallerVerdict::kContradicted);
}

TEST_F(TwoCallsDeep, ReturnFromAFrameThatNobodyCalled) {
  m.AddSp(-uint64_t{16});
  m.Return();  // to whatever lies there
  m.pc = 0x4000;
  EXPECT_EQ(m.Judge({4, 5, 3, 2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({4, 5, 3, 1, 9}), CallerVerdict::kContradicted);
}

// The handler of a deoptimised nmethod pushes its own address by a call of the next instruction.
TEST_F(SteppedStackTest, CallOfTheNextInstruction) {
  m.CallTo(0x2000);
  m.CallTo(m.pc + kCall);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven) << "it is not a caller of itself";
  EXPECT_EQ(m.Judge({2, 9}), CallerVerdict::kContradicted);
}

TEST_F(TwoCallsDeep, ExceptionsDropFrames) {
  m.AddSp(8);
  m.Jump(0x2100);  // the handler in 2
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({3, 2, 9}), CallerVerdict::kContradicted);
}

// An nmethod goes to the ExceptionBlob with its frame still there.
TEST_F(TwoCallsDeep, AFrameThatIsLeftByAJump) {
  m.Push(0x77);
  m.Jump(0x3100);
  EXPECT_TRUE(m.Tells({3, 2, 1, 9}, 1, 2)) << "within the nmethod";
  m.Jump(kStub);
  EXPECT_EQ(m.Judge({3, 2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({3, 1, 9}), CallerVerdict::kContradicted) << "the callers stay";
  m.AddSp(8);
  m.Return();
  m.CallTo(0x3000);
  m.Jump(kStub);
  EXPECT_TRUE(m.Tells({2, 1, 9}, 0, 2)) << "without a frame";
}

// A stub may pop the callee's return address and jump elsewhere, with the caller's frame on top.
TEST_F(TwoCallsDeep, AnExceptionThatAStubHandlesInTheCallersFrame) {
  m.Jump(kStub);  // without a frame
  m.Pop();
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  m.Jump(kStub + 0x100);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({2, 9}), CallerVerdict::kContradicted);
  Machine n;
  n.CallTo(0x2000);
  n.CallTo(0x3000);
  n.Jump(kStub);
  n.Pop();
  n.Jump(0x2200);
  EXPECT_TRUE(n.Tells({2, 1, 9}, 1, 1)) << "in the caller's own code nothing is in doubt";
}

// An nmethod's entry barrier calls a stub: the nmethod's frame may count or not.
TEST_F(SteppedStackTest, CallsAtTheEntryOfAnNmethod) {
  m.CallTo(0x2000);
  m.CallTo(0x3e00);
  m.CallTo(kStub);
  EXPECT_EQ(m.Judge({3, 2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({2, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({1, 9}), CallerVerdict::kContradicted);
  EXPECT_EQ(m.Judge({3, 3, 2, 1, 9}), CallerVerdict::kContradicted);
}

TEST_F(SteppedStackTest, OfManyCallsTheOldestAreForgotten) {
  for (int i = 0; i < SteppedStack::kMostCalls + 1; i++) {
    m.pc = 0x1000 + 0x1000 * static_cast<uint64_t>(i % 7);
    m.CallTo(kNative);
  }
  EXPECT_LE(m.stack.calls().size(), size_t{SteppedStack::kMostCalls});
  for (int i = 0; i < SteppedStack::kMostCalls; i++) m.Return();
  m.Other();
  EXPECT_TRUE(m.stack.calls().empty());
}

// MethodHandle.linkToStatic takes an argument off the stack.
TEST_F(TwoCallsDeep, AReturnAddressThatIsPutBackHigher) {
  m.Push(0x99);
  const uint64_t sender = m.sp;
  m.CallTo(kStub);
  const uint64_t return_pc = m.Pop();
  m.Pop();
  m.Push(return_pc);
  m.Jump(0x4000);
  m.Other();
  EXPECT_TRUE(m.Tells({4, 3, 2, 1}, 1, 3));
  EXPECT_EQ(m.stack.calls().back().slot, sender);
  EXPECT_EQ(m.stack.calls().back().sender, sender);
}

// An adapter aligns the stack.
TEST_F(TwoCallsDeep, AReturnAddressThatAnAdapterPushesOnceMore) {
  m.CallTo(kAdapter);
  m.Other();
  const uint64_t return_pc = m.stack.calls().back().return_pc;
  m.SetSp(m.sp - 8);
  m.Push(return_pc);
  m.Jump(0x4000);
  m.Other();
  EXPECT_TRUE(m.Tells({4, 3, 2, 1}, 1, 3));
}

// An answer that fills its buffer is judged as far as it goes, and so is one of very many frames.
TEST_F(TwoCallsDeep, TruncatedAnswers) {
  EXPECT_EQ(m.Judge({3}, true), CallerVerdict::kUnknown);
  EXPECT_EQ(m.Judge({3}, false), CallerVerdict::kContradicted);
  Methods many(AnsweredFrames::kMost, 9);
  many[0] = 3, many[1] = 2;
  EXPECT_EQ(m.Judge(many, true), CallerVerdict::kContradicted);
  many[2] = 1;
  EXPECT_EQ(m.Judge(many, true), CallerVerdict::kProven);
  m.inlined[0x3000 + kCall] = Methods(AnsweredFrames::kMost, 30);
  m.CallTo(kNative);
  EXPECT_NE(m.Judge(Methods(AnsweredFrames::kMost - 1, 30), true), CallerVerdict::kContradicted);
}

TEST_F(TwoCallsDeep, FramesWithoutAMethodMayBeAny) {
  EXPECT_EQ(m.Judge({3, 0, 1, 9}), CallerVerdict::kProven);
  EXPECT_EQ(m.Judge({3, 0, 9}), CallerVerdict::kContradicted);
}

TEST_F(SteppedStackTest, ForgetsAtReset) {
  m.CallTo(0x3000);
  m.stack.Reset();
  EXPECT_EQ(m.Judge({3, 9}), CallerVerdict::kUnknown);
}

}  // namespace
}  // namespace walkhammer::stress
