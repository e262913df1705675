// SPDX-License-Identifier: Apache-2.0
// FrameMap over a synthetic StressState, whose code is bytes of the test process.
#include "harness/supervise/stress_runs/frame_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "harness/guard/arch.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

alignas(16) constexpr uint8_t kFramedMethod[] = {
    0x55,                    // +0x0 push rbp
    0x48, 0x83, 0xec, 0x10,  // +0x1 sub rsp, 0x10
    0x48, 0x83, 0xc4, 0x10,  // +0x5 add rsp, 0x10
    0x5d,                    // +0x9 pop rbp
    0xc3,                    // +0xa ret
};
constexpr uint8_t kMethodEntry[] = {
    0x55,                    // +0x0 push rbp
    0x48, 0x8b, 0xec,        // +0x1 mov rbp, rsp
    0x48, 0x83, 0xec, 0x40,  // +0x4 sub rsp, 0x40
    0x53,                    // +0x8 push rbx
    0xff, 0xe0,              // +0x9 jmp rax
};
constexpr uint8_t kShortAdapter[] = {
    0x58,        // +0x0 pop rax
    0xff, 0xe0,  // +0x1 jmp rax
};

struct UnmapState {
  void operator()(StressState* state) const { munmap(state, sizeof *state); }
};

class FrameMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, sizeof(StressState), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    state_.reset(static_cast<StressState*>(memory));
    if (kElfMachine != 62) GTEST_SKIP() << "its code is x86_64's";
    state_->job.walker_count = 2;
    state_->job.walkers[1] = 1;
    Code(SymbolKind::kNmethod, "a.B.c()V", kFramedMethod, sizeof kFramedMethod).frame_words = 4;
    Code(SymbolKind::kStub, "I2C/C2I adapters", kShortAdapter, sizeof kShortAdapter);
  }

  CodeEntry& Code(SymbolKind kind, const char* name, const uint8_t* bytes, uint64_t size) {
    CodeEntry& entry = state_->code[state_->code_count.fetch_add(1)];
    entry.end = reinterpret_cast<uint64_t>(bytes) + size;
    entry.name = names_;
    std::strcpy(state_->names + names_, name);
    names_ += static_cast<uint32_t>(std::strlen(name)) + 1;
    entry.kind = static_cast<uint8_t>(kind);
    entry.level = 4;
    entry.begin.store(reinterpret_cast<uint64_t>(bytes));
    return entry;
  }
  // An instruction at which the return address was seen `from_sp` above sp at all of 10 steps.
  SteppedPc& Stepped(const uint8_t* at, int32_t from_sp) {
    SteppedPc& pc = state_->pcs[pcs_++];
    pc.pc.store(reinterpret_cast<uint64_t>(at));
    pc.steps = 12;
    pc.word = CodeWordAt(pc.pc.load());
    pc.seen.steps = 10;
    pc.seen.from_sp = from_sp;
    return pc;
  }
  FrameMapRows Map(pid_t pid = getpid(), int feature = 17) {
    CodeIndex index(*state_);
    return FrameMap(index, pid, state_->job, feature, 3);
  }

  std::unique_ptr<StressState, UnmapState> state_;
  uint32_t names_ = 1, pcs_ = 0;
};

std::string Text(const FrameMapRows& rows) {
  std::string text;
  for (const FramePlaceRow& row : rows.places)
    text += row.code + " " + row.place + ": " + std::to_string(row.instructions) + " " +
            std::to_string(row.pcs) + " " + std::to_string(row.steps) + " " +
            std::to_string(row.judged) + " " + std::to_string(row.agreed) + " " +
            std::to_string(row.disagreed) + "\n";
  return text;
}

TEST_F(FrameMapTest, CountsInstructionsAndSteps) {
  Stepped(kFramedMethod, 0);
  Stepped(kFramedMethod + 5, 24);
  SteppedPc& away = Stepped(kShortAdapter + 1, 0);
  away.seen = {};
  away.seen.in_register = 7;
  away.seen.registers = 1;
  EXPECT_EQ(Text(Map()),
            "adapter in a register: 1 1 12 7 7 0\n"
            "adapter sp+0: 1 0 0 0 0 0\n"
            "nmethod sp+0: 1 1 12 10 10 0\n"
            "nmethod sp+0, frame popped: 1 0 0 0 0 0\n"
            "nmethod sp+8: 2 0 0 0 0 0\n"
            "nmethod sp+n: 1 1 12 10 10 0\n");
  EXPECT_TRUE(Map().differences.empty());
}

TEST_F(FrameMapTest, OtherCodeInItsPlaceIsNotRead) {
  static uint32_t id = 5;
  state_->code[0].id = 5;
  state_->code[0].id_at = reinterpret_cast<uint64_t>(&id);
  Stepped(kFramedMethod + 1, 16);
  EXPECT_EQ(Map().differences.size(), 1u);
  id = 6;
  const FrameMapRows rows = Map();
  EXPECT_TRUE(rows.differences.empty());
  EXPECT_NE(Text(rows).find("nmethod unknown: the code is gone: 0 1 12 0 0 0\n"), std::string::npos)
      << Text(rows);
}

TEST_F(FrameMapTest, ADifferenceIsListed) {
  Stepped(kFramedMethod + 1, 8);
  Stepped(kFramedMethod + 5, 16);
  const FrameMapRows rows = Map();
  ASSERT_EQ(rows.differences.size(), 1u);
  const FrameDifferenceRow& row = rows.differences[0];
  EXPECT_EQ(row.cell, 3);
  EXPECT_EQ(row.code + " " + row.name, "nmethod a.B.c()V");
  EXPECT_EQ(row.begin, 5u);
  EXPECT_EQ(row.place + " " + row.seen, "sp+24 sp+16");
  EXPECT_EQ(row.steps, 10u);
  EXPECT_EQ(row.instruction, "+0x5  add rsp, 0x10");
}

TEST_F(FrameMapTest, TheCallersStackPointerIsCompared) {
  SteppedPc& pc = Stepped(kFramedMethod + 5, 24);
  pc.sender.steps = 9;
  pc.sender.from_sp = 40;
  pc.sender.other_sp = 4;
  FrameMapRows rows = Map();
  ASSERT_EQ(rows.differences.size(), 1u);
  EXPECT_EQ(rows.differences[0].place + " " + rows.differences[0].seen,
            "caller's sp: sp+32 sp+40 and others");
  EXPECT_EQ(rows.differences[0].steps, 9u);
  pc.sender.from_sp = 32;
  rows = Map();
  EXPECT_EQ(rows.differences[0].steps, 4u);
  EXPECT_EQ(rows.places.back().place, "sp+n");
  EXPECT_EQ(rows.places.back().senders, 1u);
  EXPECT_EQ(rows.places.back().sender_agreed, 5u);
  EXPECT_EQ(rows.places.back().sender_disagreed, 4u);
  pc.word ^= 1;
  EXPECT_TRUE(Map().differences.empty());
}

// An instruction of older code began in the middle of one of today's.
TEST_F(FrameMapTest, OlderCodeSaysNothingOfWhereInstructionsBegin) {
  Stepped(kFramedMethod + 1, 8);
  const std::string text = Text(Map());
  EXPECT_NE(text.find("nmethod sp+8: 2 1 12 10 10 0\n"), std::string::npos) << text;
  Stepped(kFramedMethod + 2, 8).word ^= 1;
  const std::string later = Text(Map());
  EXPECT_NE(later.find("nmethod sp+8: 2 1 12 10 10 0\n"), std::string::npos) << later;
}

// What was seen in code that is no longer there says nothing of what is, wherever the two differ in
// the bytes from there on.
TEST_F(FrameMapTest, OtherCodeHasComeThere) {
  SteppedPc& pc = Stepped(kFramedMethod + 5, 16);
  for (size_t byte = 0; byte < sizeof kFramedMethod - 5; byte++) {
    ASSERT_EQ(Map().differences.size(), 1u);
    const uint64_t before = pc.word;
    pc.word ^= uint64_t{1} << (8 * byte);
    EXPECT_TRUE(Map().differences.empty()) << byte;
    EXPECT_NE(Text(Map()).find("nmethod sp+n: 1 1 12 0 0 0\n"), std::string::npos) << Text(Map());
    pc.word = before;
  }
}

TEST_F(FrameMapTest, AnswersOfEachWalkerByPlace) {
  SteppedPc& pc = Stepped(kFramedMethod + 1, 8);
  pc.answered = 11;
  pc.contradicted = 2;
  pc.others[0].failed = 12;
  const FrameMapRows rows = Map();
  ASSERT_EQ(rows.walkers.size(), 2u);
  EXPECT_EQ(rows.walkers[0].walker, AllWalkers()[0].name);
  EXPECT_EQ(rows.walkers[0].place, "sp+8");
  EXPECT_EQ(rows.walkers[0].answered, 11u);
  EXPECT_EQ(rows.walkers[0].contradicted, 2u);
  EXPECT_EQ(rows.walkers[1].walker, AllWalkers()[1].name);
  EXPECT_EQ(rows.walkers[1].failed, 12u);
}

TEST_F(FrameMapTest, AMethodWhereOtherCodeWasBefore) {
  Code(SymbolKind::kNmethod, "a.B.gone()V", kFramedMethod + 4, 4).gone = 1;
  Stepped(kFramedMethod + 5, 24);
  const FrameMapRows rows = Map();
  EXPECT_EQ(rows.places.back().place, "sp+n");
  EXPECT_EQ(rows.places.back().agreed, 10u);
}

// A blob has a row for each of the stubs in it, and none of its own.
TEST_F(FrameMapTest, ABlobOfStubs) {
  state_->code[0].kind = static_cast<uint8_t>(SymbolKind::kStub);
  Code(SymbolKind::kStub, "a stub", kFramedMethod + 9, 2);
  uint64_t instructions = 0;
  for (const FramePlaceRow& row : Map().places)
    if (row.code == "stub") instructions += row.instructions;
  EXPECT_EQ(instructions, 2u);
}

TEST_F(FrameMapTest, CodeThatIsGoneOrUnreadableIsUnknown) {
  Stepped(kFramedMethod + 5, 16);
  state_->code[0].gone = 1;
  FrameMapRows rows = Map();
  EXPECT_TRUE(rows.differences.empty());
  EXPECT_EQ(rows.places.back().place, "unknown: the code is gone");
  state_->code[0].gone = 0;
  state_->code[0].id_at = 8;  // not to be read
  rows = Map(0);
  EXPECT_TRUE(rows.differences.empty());
  EXPECT_EQ(rows.places.back().place, "unknown: not reached");
}

std::string PredictedText(const FrameMapRows& rows, const std::string& walker,
                          const std::string& code = "nmethod") {
  std::string text;
  for (const FramePredictionRow& row : rows.predictions)
    if (row.walker == walker && row.code == code)
      text += row.predicted + ": " + std::to_string(row.instructions) + " " +
              std::to_string(row.pcs) + " " + std::to_string(row.confirmed) + " " +
              std::to_string(row.refuted) + "\n";
  return text;
}

TEST_F(FrameMapTest, WhatRulesPredictOfWhatAlsoWasNotStepped) {
  state_->code[0].frame_complete = 5;
  EXPECT_EQ(PredictedText(Map(), "agct"), "no-answer: 2 0 0 0\nright: 1 0 0 0\nwrong: 2 0 0 0\n");
  EXPECT_EQ(PredictedText(Map(), "asgst"), "right: 5 0 0 0\n");
  EXPECT_NE(PredictedText(Map(), "asprof-vm"), "");  // not a walker of this run
  EXPECT_EQ(PredictedText(Map(), "puzzle-no-caller"), "");
}

TEST_F(FrameMapTest, WhatRulesPredictDependsOnTheJdk) {
  Code(SymbolKind::kCodelet, "method entry point (kind = zerolocals)", kMethodEntry,
       sizeof kMethodEntry);
  EXPECT_EQ(PredictedText(Map(), "agct", "codelet"),
            "depends: 2 0 0 0\nno-answer: 2 0 0 0\nright: 1 0 0 0\n");
  EXPECT_EQ(PredictedText(Map(getpid(), 8), "agct", "codelet"),
            "depends: 2 0 0 0\nno-answer: 1 0 0 0\nright: 2 0 0 0\n");
}

TEST_F(FrameMapTest, AnswersConfirmOrRefuteAPrediction) {
  state_->code[0].frame_complete = 5;
  Stepped(kFramedMethod, 0).failed = 4;
  SteppedPc& body = Stepped(kFramedMethod + 5, 16);
  body.caller_proven = 9;
  body.others[0].caller_proven = 8;
  body.others[0].caller_contradicted = 2;
  Stepped(kFramedMethod + 9, 8).caller_contradicted = 3;
  SteppedPc& lucky = Stepped(kFramedMethod + 10, 0);
  lucky.caller_proven = 1;
  lucky.caller_contradicted = 6;
  const FrameMapRows rows = Map();
  EXPECT_EQ(PredictedText(rows, "agct"), "no-answer: 2 1 4 0\nright: 1 1 9 0\nwrong: 2 2 9 1\n");
  EXPECT_EQ(PredictedText(rows, "asgst"), "right: 5 1 8 2\n");
  ASSERT_EQ(rows.refuted.size(), 2u);
  const FrameRefutedRow& row = rows.refuted[1];
  EXPECT_EQ(row.walker + " " + row.predicted + " " + row.place, "asgst right sp+24");
  EXPECT_EQ(row.instruction, "+0x5  add rsp, 0x10");
  EXPECT_EQ(row.proven, 8u);
  EXPECT_EQ(row.contradicted, 2u);
}

TEST_F(FrameMapTest, StepsInDoubtRefuteNothing) {
  state_->code[0].frame_complete = 5;
  const auto refuted = [&](uint32_t& in_doubt, uint32_t steps) {
    in_doubt = steps;
    uint64_t sum = 0;
    for (const FramePredictionRow& row : Map().predictions) sum += row.refuted;
    EXPECT_EQ(Map().refuted.size(), sum > 0 ? 1u : 0u);
    return sum;
  };
  // "wrong": the other word may hold the same address.
  SteppedPc& lucky = Stepped(kFramedMethod + 10, 0);
  lucky.caller_proven = 3;
  EXPECT_EQ(refuted(lucky.seen.replaced, 4), 3u);
  EXPECT_EQ(refuted(lucky.seen.ambiguous, 2), 1u);
  EXPECT_EQ(refuted(lucky.seen.ambiguous, 4), 0u);
  // "right": a walker that refuses a caller that is being deoptimised still finds it.
  SteppedPc& body = Stepped(kFramedMethod + 5, 16);
  body.caller_contradicted = 2;
  body.failed = 1;
  EXPECT_EQ(refuted(body.seen.ambiguous, 4), 3u);
  EXPECT_EQ(refuted(body.seen.replaced, 2), 1u);
  EXPECT_EQ(refuted(body.seen.replaced, 4), 0u);
}

// What was stepped there was other code.
TEST_F(FrameMapTest, AnswersInOtherCodeSayNothingOfAPrediction) {
  SteppedPc& body = Stepped(kFramedMethod + 5, 16);
  body.caller_contradicted = 9;
  ASSERT_EQ(Map().refuted.size(), 1u);
  body.word ^= 1;
  EXPECT_TRUE(Map().refuted.empty());
}

// Such a thread has an anchor, at which walkers begin.
TEST_F(FrameMapTest, AnswersOutsideOfJavaSayNothingOfAPrediction) {
  SteppedPc& body = Stepped(kFramedMethod + 5, 16);
  body.caller_contradicted = 9;
  body.outside = true;
  EXPECT_TRUE(Map().refuted.empty());
}

TEST(FrameComparisons, TheCallersStackPointer) {
  FrameRules rules{};
  rules.sp = 4;
  rules.fp = 5;
  rules.sender_slot = -8;
  const SeenSender seen{{10, 3, 1, 24, 16}, 6, 1U << 13};
  const auto agreed = [&](const FrameSender& sender) {
    const FrameComparison compared = CompareSender(sender, seen, rules);
    return compared.agreed + compared.disagreed == 10 ? static_cast<int>(compared.agreed) : -1;
  };
  constexpr FramePlace kReg = FramePlace::kInRegister, kMem = FramePlace::kInMemory;
  EXPECT_EQ(agreed({kReg, 4, 24, 0}), 7);
  EXPECT_EQ(agreed({kReg, 4, 16, 0}), 0);
  EXPECT_EQ(agreed({kReg, 5, 16, 0}), 9);
  EXPECT_EQ(agreed({kReg, 13, 0, 0}), 10);
  EXPECT_EQ(agreed({kReg, 12, 0, 0}), 0);
  EXPECT_EQ(agreed({kReg, 13, 8, 0}), -1);  // registers are compared as they are
  EXPECT_EQ(agreed({kMem, 5, -8, 0}), 6);
  EXPECT_EQ(agreed({kMem, 4, -8, 0}), -1);
  EXPECT_EQ(agreed({}), -1);
  EXPECT_EQ(SeenSenderText({{10, 0, 0, 24, 16}, 0, 0}), "sp+24");
}

TEST(FrameComparisons, StepsOfOneInstructionMayDiffer) {
  FrameRules rules{};
  rules.sp = 4;
  rules.fp = 5;
  FrameRow row;
  row.place = FramePlace::kInMemory;
  row.reg = 4;
  row.distance = 8;
  SeenPlace seen{};
  seen.steps = 10;
  seen.other_sp = 3;
  seen.from_sp = 8;
  seen.from_fp = 32;
  seen.last_sp = 16;
  EXPECT_EQ(Compare(row, seen, rules).agreed, 7u);
  EXPECT_EQ(Compare(row, seen, rules).disagreed, 3u);
  EXPECT_EQ(SeenText(seen), "sp+8 or sp+16");
  row.reg = 5;
  row.distance = 32;
  EXPECT_EQ(Compare(row, seen, rules).agreed, 10u);
  row.place = FramePlace::kInRegister;
  row.reg = 0;
  EXPECT_EQ(Compare(row, seen, rules).disagreed, 10u);
  row.replaced = true;
  EXPECT_EQ(Compare(row, seen, rules).disagreed, 0u);
  row.replaced = false;
  seen.registers = 1;
  EXPECT_EQ(Compare(row, seen, rules).agreed, 10u);
  row.reg = rules.sp;
  row.distance = 8;
  // Of kThroughMemory, the word at sp + 8 is an address, and no return address.
  for (const FramePlace place : {FramePlace::kUnknown, FramePlace::kThroughMemory}) {
    row.place = place;
    EXPECT_EQ(Compare(row, seen, rules).agreed + Compare(row, seen, rules).disagreed, 0u);
  }
}

}  // namespace
}  // namespace walkhammer
