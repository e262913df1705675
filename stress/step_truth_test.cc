// SPDX-License-Identifier: Apache-2.0
// StepTruth on a toy machine that calls and returns as HotSpot's code does; each test says where
// its walker is wrong.
#include "stress/step_truth.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace walkhammer::stress {
namespace {

using Code = StepPoint::Code;
using Methods = std::vector<int>;  // newest first

constexpr int kDepth = 100;
int ids[2000];

// One thread. Methods are numbers; the code of method m is at m * 0x1000.
class Machine {
 public:
  explicit Machine(bool has_link_register = false)
      : link_register_(has_link_register), truth_(new StepTruth(has_link_register)) {
    truth_->Reset(kDepth);
    Push(0xdead);
  }

  // One step at `pc`, where the walker answers `frames`, of which those from `guessed_from` on are
  // guesses. Empty: an error; -1: a method without an id.
  void At(uint64_t pc, const Methods& frames, Code code = Code::kCompiled) {
    pc_ = pc;
    std::vector<Frame> answer;
    for (int method : frames) answer.push_back({0, 0, method < 0 ? nullptr : &ids[method]});
    Trace trace{Ending::kReturned, static_cast<int32_t>(answer.size()), answer.data()};
    if (frames.empty()) trace.num_frames = -5;
    if (trace.num_frames > kDepth) trace.num_frames = kDepth;
    trace.guessed_from = guessed_from;
    const uint64_t link = link_register_ ? lr_ : Word(sp_);
    const StepVerdict verdict =
        truth_->Step({pc, sp_, link, code, interpreter_.contains(link), anchor_sp}, trace);
    if (verdict == StepVerdict::kWrong) wrong.insert(pc);
    if (verdict == StepVerdict::kOpen) open.insert(pc);
    const JudgedStep* steps = nullptr;
    for (int i = truth_->TakeProven(steps); i-- > 0;) wrong.insert(steps[i].pc);
  }
  void Push(uint64_t word) { stack_[sp_ -= 8] = word; }
  uint64_t Pop() {
    sp_ += 8;
    return Word(sp_ - 8);
  }
  // The call instruction at the current pc, 5 bytes long (4 with a link register).
  void Call() {
    if (link_register_)
      lr_ = pc_ + 4;
    else
      Push(pc_ + 5);
  }
  uint64_t Ret() { return link_register_ ? lr_ : Pop(); }
  void Interprets(uint64_t return_entry) { interpreter_.insert(return_entry); }
  uint64_t& sp() { return sp_; }
  uint64_t& lr() { return lr_; }

  // Nothing speaks against the walker, and nothing is in doubt.
  bool IsQuiet() const { return wrong.empty() && open.empty(); }

  uint64_t anchor_sp = 0;
  int guessed_from = -1;
  std::set<uint64_t> wrong, open;

 private:
  uint64_t Word(uint64_t address) { return stack_[address]; }

  bool link_register_;
  uint64_t pc_ = 0, sp_ = 0x100000, lr_ = 0;
  std::map<uint64_t, uint64_t> stack_;
  std::set<uint64_t> interpreter_;
  std::unique_ptr<StepTruth> truth_;
};

// Calls a method, runs its prologue, `body` steps and its epilogue, and returns. The walker answers
// `in_prologue` before the frame is complete and in the epilogue.
void CallCompiled(Machine& m, uint64_t entry, const Methods& caller, const Methods& in_prologue,
                  const Methods& in_body, int body = 6) {
  m.Call();
  m.At(entry, in_prologue);
  m.Push(0);  // rbp
  m.At(entry + 1, in_prologue);
  m.sp() -= 32;
  for (int i = 0; i < body; i++) m.At(entry + 8 + static_cast<uint64_t>(i) * 4, in_body);
  m.sp() += 32;
  m.At(entry + 0x80, in_prologue);
  m.Pop();
  m.At(entry + 0x81, in_prologue);
  const uint64_t back = m.Ret();
  m.At(back, caller);
}

class StepTruthTest : public testing::Test {
 protected:
  Machine m;
};

// Method 1, which 0 has called, has called another.
class InACallee : public StepTruthTest {
 protected:
  InACallee() {
    m.At(0x1000, {1, 0});
    m.Call();
  }
};

TEST_F(StepTruthTest, ACorrectWalkerIsNeverWrong) {
  m.At(0x1000, {1});
  CallCompiled(m, 0x2000, {1}, {2, 1}, {2, 1});
  m.At(0x1010, {1});
  CallCompiled(m, 0x3000, {1}, {3, 1}, {3, 1});
  EXPECT_TRUE(m.IsQuiet());
}

TEST_F(StepTruthTest, ASkippedCallerIsWrongOnceTheBodyProvesIt) {
  m.At(0x1000, {1, 0});
  CallCompiled(m, 0x2000, {1, 0}, {2, 0}, {2, 1, 0});
  EXPECT_EQ(m.wrong, (std::set<uint64_t>{0x2000, 0x2001, 0x2080, 0x2081}));
}

// Too short a body proves nothing, but a return with the same stack does.
TEST_F(StepTruthTest, TheReturnProvesWhatTheBodyCouldNot) {
  m.At(0x1000, {1, 0});
  CallCompiled(m, 0x2000, {1, 0}, {2, 0}, {2, 1, 0}, 1);
  EXPECT_EQ(m.wrong, (std::set<uint64_t>{0x2000, 0x2001, 0x2080, 0x2081}));
  // A return with another stack: which of the two is true is not known.
  Machine n;
  n.At(0x1000, {1, 0});
  CallCompiled(n, 0x2000, {1, 5, 0}, {2, 0}, {2, 1, 0}, 1);
  EXPECT_TRUE(n.wrong.empty());
  EXPECT_FALSE(n.open.empty());
}

// A virtual thread leaves its carrier, in the JVM: its frames are still on the stack, and the
// anchor moves past them, or not yet.
TEST_F(StepTruthTest, FramesThatTheAnchorMovesPastAreGone) {
  for (const bool has_left : {false, true}) {
    m = Machine();
    m.At(0x1000, {1, 0});
    const uint64_t carrier = m.sp();
    m.Call();
    for (uint64_t i = 0; i < 20; i++) m.At(0x2000 + i, {2, 1, 0});
    m.anchor_sp = m.sp();
    m.At(0x2100, {2, 1, 0}, Code::kOther);
    if (has_left) m.anchor_sp = carrier;
    m.At(0x2101, {0}, Code::kOther);
    EXPECT_EQ(m.wrong, has_left ? std::set<uint64_t>{} : std::set<uint64_t>{0x2101});
  }
}

// C code runs below the anchor; its callers are still there.
TEST_F(StepTruthTest, CallersOfCCodeBelowTheAnchorAreKept) {
  m.At(0x1000, {1, 0}, Code::kInterpreter);
  m.anchor_sp = m.sp();
  m.At(0x1001, {1, 0}, Code::kInterpreter);
  m.Call();
  for (uint64_t i = 0; i < 20; i++) m.At(0x2000 + i, {1, 0}, Code::kOther);
  m.At(0x2100, {0}, Code::kOther);
  EXPECT_EQ(m.wrong, std::set<uint64_t>{0x2100});
}

TEST_F(StepTruthTest, AWrongStackAtTheCallAccusesNobody) {
  m.At(0x1000, {1, 7, 0});  // there is no 7
  CallCompiled(m, 0x2000, {1, 0}, {2, 1, 0}, {2, 1, 0}, 60);
  EXPECT_TRUE(m.wrong.empty());
  // Nor if the callee's first answers are wrong in the same way.
  Machine n;
  n.At(0x1000, {1, 7, 0});
  CallCompiled(n, 0x2000, {1, 0}, {1, 7, 0}, {2, 1, 0}, 60);
  EXPECT_TRUE(n.wrong.empty());
}

TEST_F(StepTruthTest, ErrorsNeitherAccuseNorAreAccused) {
  m.At(0x1000, {});
  CallCompiled(m, 0x2000, {1, 0}, {2, 0}, {2, 1, 0});
  m.At(0x1010, {1, 0});
  CallCompiled(m, 0x2000, {1, 0}, {}, {2, 1, 0});
  EXPECT_TRUE(m.wrong.empty());
}

// As ASkippedCallerIsWrongOnceTheBodyProvesIt, but the walker says where it has guessed.
TEST_F(InACallee, GuessesNeitherAccuseNorAreAccused) {
  m.guessed_from = 1;
  m.At(0x2000, {2, 0});
  m.guessed_from = 2;  // no frame of two
  m.At(0x2001, {2, 0});
  m.guessed_from = -1;
  for (uint64_t i = 0; i < 6; i++) m.At(0x2008 + i * 4, {2, 1, 0});
  EXPECT_EQ(m.wrong, std::set<uint64_t>{0x2001});
  // At the call: what was guessed there says nothing about later answers.
  Machine n;
  n.guessed_from = 1;
  n.At(0x1000, {1, 7, 0});
  n.guessed_from = -1;
  CallCompiled(n, 0x2000, {1, 0}, {1, 7, 0}, {2, 1, 7, 0}, 60);
  CallCompiled(n, 0x2000, {1, 0}, {2, 1, 0}, {2, 1, 0}, 60);
  EXPECT_TRUE(n.IsQuiet());
}

TEST_F(StepTruthTest, AnExceptionUnwindsSeveralFrames) {
  m.At(0x1000, {1});
  const uint64_t sp_of_1 = m.sp();
  uint64_t pc = 0x2000;
  Methods frames = {1};
  for (int method = 2; method < 6; method++, pc += 0x1000) {
    m.Call();
    frames.insert(frames.begin(), method);
    m.At(pc, frames);
    m.Push(0);
    for (int i = 0; i < 6; i++) m.At(pc + 4 + static_cast<uint64_t>(i), frames);
  }
  m.sp() = sp_of_1;
  for (int i = 0; i < 30; i++) m.At(0x1800 + static_cast<uint64_t>(i), {1});  // its handler
  m.Call();
  m.At(0x2000, {2, 1});
  EXPECT_TRUE(m.IsQuiet());
}

// An exception handler may be in an outer inlined method: inner frames that were there at the call
// are then rightly gone.
TEST_F(StepTruthTest, AHandlerInTheCallerMayHaveFewerInlinedFrames) {
  m.At(0x1000, {9, 1});
  m.Call();
  for (uint64_t i = 0; i < 8; i++) m.At(0x2000 + i, {2, 9, 1});
  m.Pop();
  m.At(0x8000, {1}, Code::kOther);  // the stub that looks for a handler
  for (uint64_t i = 0; i < 8; i++) m.At(0x1400 + i, {1});
  m.Call();
  for (uint64_t i = 0; i < 8; i++) m.At(0x3000 + i, {3, 1});
  EXPECT_TRUE(m.IsQuiet());
}

TEST_F(StepTruthTest, RecursionBeyondAllThatIsKept) {
  Methods frames = {1};
  std::vector<uint64_t> returns;
  m.At(0x1000, frames);
  const int deep = StepTruth::kMostCallers + 100;
  for (int i = 0; i < deep; i++) {
    m.Call();
    frames.insert(frames.begin(), 1);
    m.At(0x0ff0, frames);
    m.At(0x1000, frames);
  }
  for (int i = 0; i < deep; i++) {
    frames.erase(frames.begin());
    m.At(m.Ret(), frames);
  }
  EXPECT_TRUE(m.IsQuiet());
}

// Stacks that reach the walker's depth may be truncated at their outer end, and cannot be compared.
TEST_F(StepTruthTest, CutOffStacksAreNotCompared) {
  Methods frames;
  for (int i = 0; i < kDepth - 2; i++) frames.push_back(i + 1);
  m.At(0x1000, frames);
  for (int i = 0; i < 5; i++) {
    m.Call();
    frames.insert(frames.begin(), 500 + i);
    for (uint64_t k = 0; k < 6; k++) m.At(0x2000 + static_cast<uint64_t>(i) * 64 + k * 4, frames);
  }
  EXPECT_TRUE(m.IsQuiet());
}

TEST_F(InACallee, AMethodWithoutAnIdIsNotCompared) {
  for (uint64_t i = 0; i < 8; i++) m.At(0x2000 + i, {2, 1, 0});
  for (uint64_t i = 8; i < 16; i++) m.At(0x2000 + i, {2, -1, 0});  // 1 was redefined
  EXPECT_TRUE(m.wrong.empty());
}

// The interpreter pushes its return address and jumps; the callee's entry pops that address and
// pushes it again below the callee's locals.
TEST_F(StepTruthTest, InterpretedCallsAreCalls) {
  for (bool lies : {false, true}) {
    m = Machine();
    const uint64_t back = 0x50000;
    m.Interprets(back);
    m.At(0x40000, {1, 0}, Code::kInterpreter);
    m.Push(back);
    m.At(0x40008, {1, 0}, Code::kInterpreter);
    m.At(0x60000, {1, 0}, Code::kInterpreter);  // the entry
    m.Pop();
    m.At(0x60001, {1, 0}, Code::kInterpreter);
    for (uint64_t local = 0; local < 3; local++) {
      m.Push(0);
      m.At(0x60002, {1, 0}, Code::kInterpreter);
    }
    m.Push(back);
    m.At(0x60003, {1, 0}, Code::kInterpreter);
    m.Push(0);  // rbp
    for (uint64_t i = 0; i < 8; i++) m.At(0x60010 + i, {2, 1, 0}, Code::kInterpreter);
    m.At(0x60020, lies ? Methods{2, 0} : Methods{2, 1, 0}, Code::kInterpreter);
    m.sp() += 8 * 5;
    m.At(back, {1, 0}, Code::kInterpreter);
    m.At(0x40010, {1, 0}, Code::kInterpreter);
    EXPECT_EQ(m.wrong, lies ? std::set<uint64_t>{0x60020} : std::set<uint64_t>{});
    EXPECT_TRUE(m.open.empty());
  }
}

// Compiled code calls the interpreter: an adapter moves the return address down.
TEST_F(InACallee, AdaptersMoveTheReturnAddress) {
  m.At(0x70000, {}, Code::kOther);
  const uint64_t back = m.Pop();
  m.At(0x70001, {}, Code::kOther);
  m.sp() -= 32;
  m.At(0x70002, {}, Code::kOther);
  m.Push(back);
  m.At(0x70003, {}, Code::kOther);
  m.At(0x60000, {0}, Code::kInterpreter);  // the caller is skipped
  for (uint64_t i = 0; i < 8; i++) m.At(0x60010 + i, {2, 1, 0}, Code::kInterpreter);
  m.Pop();
  m.sp() += 32;
  m.At(back, {1, 0});
  EXPECT_EQ(m.wrong, std::set<uint64_t>{0x60000});
}

// At calls of stubs, compiled code may not say what is inlined: answers in the stub are not to
// blame.
TEST_F(StepTruthTest, StubsMayLoseInlinedCallers) {
  m.At(0x1000, {9, 1, 0});
  m.Call();
  for (uint64_t i = 0; i < 8; i++) m.At(0x70000 + i, {1, 0}, Code::kOther);
  m.At(m.Ret(), {9, 1, 0});
  EXPECT_TRUE(m.wrong.empty());
  EXPECT_FALSE(m.open.empty());
}

// A call by way of a stub that ends in Java is exact.
TEST_F(InACallee, VirtualCallsGoThroughStubs) {
  m.At(0x70000, {0}, Code::kOther);  // a vtable stub, its caller skipped
  for (uint64_t i = 0; i < 8; i++) m.At(0x2000 + i, {2, 1, 0});
  EXPECT_EQ(m.wrong, std::set<uint64_t>{0x70000});
}

// The interpreter's frame becomes a compiled one: its return address moves up, then down.
TEST_F(StepTruthTest, OnStackReplacement) {
  const uint64_t back = 0x50000;
  m.Interprets(back);
  m.At(0x40000, {1}, Code::kInterpreter);
  m.Push(back);
  m.At(0x60000, {1}, Code::kInterpreter);
  m.sp() -= 80;
  for (uint64_t i = 0; i < 6; i++) m.At(0x60010 + i, {2, 1}, Code::kInterpreter);
  m.sp() += 80;  // leave
  m.At(0x60030, {1}, Code::kInterpreter);
  m.Pop();
  m.sp() += 24;  // its locals
  m.At(0x60031, {1}, Code::kInterpreter);
  m.Push(back);
  m.At(0x60032, {1}, Code::kInterpreter);
  m.sp() -= 48;
  for (uint64_t i = 0; i < 6; i++) m.At(0x2000 + i, {2, 1});
  EXPECT_TRUE(m.IsQuiet());
}

// The return to a deoptimised caller goes elsewhere, and the caller's frame is made anew.
TEST_F(StepTruthTest, Deoptimisation) {
  m.At(0x1000, {9, 1, 0});
  m.Call();
  for (uint64_t i = 0; i < 8; i++) m.At(0x2000 + i, {2, 9, 1, 0});
  m.Pop();
  m.At(0x1900, {}, Code::kCompiled);  // the deoptimisation handler
  m.Push(0x1905);
  m.At(0x90000, {}, Code::kOther);
  m.sp() += 96;
  for (uint64_t i = 0; i < 6; i++) m.At(0x90010 + i, {0}, Code::kOther);
  m.sp() -= 200;
  for (uint64_t i = 0; i < 6; i++) m.At(0x60010 + i, {9, 1, 0}, Code::kInterpreter);
  EXPECT_TRUE(m.IsQuiet());
}

// Native code calls Java: the frames that are older than the native code stay.
TEST_F(StepTruthTest, CallsBackIntoJava) {
  m.At(0x7f0000, {1, 0}, Code::kOther);
  m.Call();
  m.At(0x80000, {1, 0}, Code::kOther);  // the call stub
  m.sp() -= 64;
  for (uint64_t i = 0; i < 4; i++) m.At(0x80001 + i, {1, 0}, Code::kOther);
  m.Call();
  for (uint64_t i = 0; i < 8; i++) m.At(0x2000 + i, {2, 1, 0});
  m.At(0x2010, {2});  // the call stub's frame was not passed
  EXPECT_EQ(m.wrong, std::set<uint64_t>{0x2010});
}

TEST_F(InACallee, OpenVerdictsHaveAnEnd) {
  for (uint64_t i = 0; i < 30; i++) m.At(0x2000 + i, {0});
  for (uint64_t i = 30; i < 45; i++) m.At(0x2000 + i, {2, 1, 0});
  m.At(m.Ret(), {1, 0});
  EXPECT_EQ(m.wrong.size(), size_t{StepTruth::kMostOpen});
}

// Call and return alone do not outweigh all answers between them.
TEST_F(StepTruthTest, ManyAnswersOutweighTheReturn) {
  m.At(0x1000, {1, 7, 0});
  m.Call();
  for (uint64_t i = 0; i < 30; i++) m.At(0x2000 + i, {2, 1, 0});
  m.At(m.Ret(), {1, 7, 0});
  EXPECT_TRUE(m.wrong.empty());
}

TEST_F(StepTruthTest, LinkRegister) {
  m = Machine(true);
  m.At(0x1000, {1, 0});
  m.Call();
  m.At(0x2000, {0});  // before its frame is there
  m.sp() -= 32;
  for (uint64_t i = 0; i < 8; i++) m.At(0x2004 + 4 * i, {2, 1, 0});
  m.sp() += 32;
  m.At(0x2040, {2, 0});
  m.At(m.Ret(), {1, 0});
  m.At(0x1008, {1, 0});
  EXPECT_EQ(m.wrong, (std::set<uint64_t>{0x2000, 0x2040}));
  // A leaf, which calls no method.
  m.Call();
  for (uint64_t i = 0; i < 8; i++) m.At(0x3000 + 4 * i, {3, 1, 0});
  m.At(m.Ret(), {1, 0});
  m.sp() += 64;
  m.At(0x900, {0});
  EXPECT_EQ(m.wrong.size(), 2u);
}

}  // namespace
}  // namespace walkhammer::stress
