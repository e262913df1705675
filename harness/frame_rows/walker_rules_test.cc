// SPDX-License-Identifier: Apache-2.0
// WalkerRules at each instruction of synthetic x86_64 code.
#include "harness/frame_rows/walker_rules.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using Ruled = RuledCode::Kind;
using Code = std::vector<uint8_t>;

// A method as C2 compiles it, with a poll at its return whose slow path is at the end.
const Code kC2Method = {
    0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,  // +0x00 mov [rsp - 0x14000], eax
    0x55,                                      // +0x07 push rbp
    0x48, 0x83, 0xec, 0x20,                    // +0x08 sub rsp, 0x20
    0x31, 0xc0,                                // +0x0c xor eax, eax
    0x48, 0x83, 0xc4, 0x20,                    // +0x0e add rsp, 0x20
    0x5d,                                      // +0x12 pop rbp
    0x49, 0x3b, 0x67, 0x28,                    // +0x13 cmp rsp, [r15 + 0x28]
    0x0f, 0x87, 0x01, 0x00, 0x00, 0x00,        // +0x17 ja +0x1e
    0xc3,                                      // +0x1d ret
    0x41, 0x52,                                // +0x1e push r10
    0xff, 0xe0,                                // +0x20 jmp rax
};
constexpr int kC2Words = 6, kC2Complete = 0x0c;

// A stub that begins as StubRoutines do.
const Code kFramedStub = {
    0x55,                    // +0x0 push rbp
    0x48, 0x8b, 0xec,        // +0x1 mov rbp, rsp
    0x48, 0x83, 0xec, 0x10,  // +0x4 sub rsp, 0x10
    0xff, 0xd0,              // +0x8 call rax
    0xc9,                    // +0xa leave
    0xc3,                    // +0xb ret
};
const Code kFramelessStub = {
    0x50,        // +0x0 push rax
    0x31, 0xc0,  // +0x1 xor eax, eax
    0x58,        // +0x3 pop rax
    0xc3,        // +0x4 ret
};
const Code kI2cAdapter = {
    0x58,                    // +0x0 pop rax
    0x48, 0x83, 0xec, 0x10,  // +0x1 sub rsp, 0x10
    0x50,                    // +0x5 push rax
    0xff, 0xe1,              // +0x6 jmp rcx
};

// The predictions for `code` whose bytes are entered at `how`, one a row.
std::vector<Prediction> Predict(const char* walker, RuledCode code,
                                FrameEntry how = FrameEntry::kCalled) {
  auto decoder = Must(FrameDecoder::For(EM_X86_64));
  FrameCode frames;
  frames.begin = 0x7f0000001000;
  frames.bytes = code.bytes;
  frames.entries = {{0, how}};
  std::vector<Prediction> out;
  for (const FrameRow& row : FrameRowsOf(decoder, frames))
    out.push_back(WalkerRules::Of(walker)->predict(code, row));
  return out;
}

// "R", "W", "N" (no answer) or "?" for each row.
std::string Short(const std::vector<Prediction>& predictions) {
  std::string text;
  for (const Prediction& one : predictions)
    text += one.predicted == Predicted::kRight      ? 'R'
            : one.predicted == Predicted::kWrong    ? 'W'
            : one.predicted == Predicted::kNoAnswer ? 'N'
                                                    : '?';
  return text;
}

RuledCode CodeOf(Ruled kind, const Code& bytes, int frame_words = 0, int complete = -1) {
  RuledCode code;
  code.kind = kind;
  code.bytes = bytes;
  code.frame_words = frame_words;
  code.complete = complete;
  return code;
}

const RuledCode kC2 = CodeOf(Ruled::kNmethod, kC2Method, kC2Words, kC2Complete);

TEST(AgctRules, AMethodIsRightBetweenPrologueAndEpilogue) {
  const auto all = Predict("agct", kC2);
  EXPECT_EQ(Short(all), "NNNRRWWWWWW");
  EXPECT_STREQ(all[0].rule, "refuses: the frame is not complete");
  EXPECT_STREQ(all[3].rule, "sp + frame size");
  EXPECT_STREQ(all[5].rule, "sp + frame size: part of the frame is not pushed, or popped again");
}

TEST(AgctRules, AMethodWhoseFrameIsNeverComplete) {
  RuledCode code = kC2;
  code.complete = -1;
  EXPECT_EQ(Short(Predict("agct", code)), "NNNNNNNNNNN");
}

// Between the pushes of a call's arguments.
TEST(AgctRules, MoreIsPushedThanTheFrame) {
  const auto all = Predict("agct", CodeOf(Ruled::kNmethod, kFramedStub, 3, 1));
  EXPECT_EQ(Short(all), "NWWWWW");
  EXPECT_STREQ(all[3].rule, "sp + frame size: more was pushed");
}

// The caller is found, but not always which methods are inlined there (WH-06).
TEST(AgctRules, OfStubsTheCallerIsFoundByTheirFrameSize) {
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kStub, kFramedStub))), "NNNNNN");
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kVtableStub, kFramelessStub))), "NNNN");
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kRuntimeStub, kFramedStub, 4))), "NNNNNN");
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kRuntimeStub, kFramedStub, 4, 8))), "NNN??W");
  // No other blob is asked whether its frame is complete.
  const auto all = Predict("agct", CodeOf(Ruled::kStub, kFramedStub, 4));
  EXPECT_EQ(Short(all), "WWW??W");
  EXPECT_STREQ(all[0].rule, "sp + frame size: nothing is pushed yet");
  EXPECT_STREQ(all[3].rule, "finds the caller, but may name other methods that are inlined there");
}

TEST(AgctRules, InJdk8AFrameThatIsNeverCompleteIsAlwaysComplete) {
  RuledCode code = CodeOf(Ruled::kRuntimeStub, kFramedStub, 4);
  code.feature = 8;
  EXPECT_EQ(Short(Predict("agct", code)), "WWW??W");
  code.feature = 11;
  EXPECT_EQ(Short(Predict("agct", code)), "NNNNNN");
}

TEST(AgctRules, AnAdapterIsRefused) {
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kAdapter, kI2cAdapter))), "NNNN");
}

TEST(AgctRules, WhereJavaReturnsToTheCallStub) {
  RuledCode code = CodeOf(Ruled::kStub, kFramedStub);
  code.entry_return = 0xa;
  EXPECT_EQ(Short(Predict("agct", code)), "NNNN?N");
  EXPECT_EQ(Short(Predict("asprof-vm", code)), "RRRR?R");
}

// A method's entry pushes ten words; the frame is valid once they are there.
const Code kMethodEntry = {
    0x55,                    // +0x0 push rbp
    0x48, 0x8b, 0xec,        // +0x1 mov rbp, rsp
    0x48, 0x83, 0xec, 0x40,  // +0x4 sub rsp, 0x40
    0x53,                    // +0x8 push rbx
    0x90,                    // +0x9 nop
    0xc9,                    // +0xa leave
    0xc3,                    // +0xb ret
};

TEST(AgctRules, AnInterpretedFrameMustBeFilled) {
  const auto all = Predict("agct", CodeOf(Ruled::kInterpreter, kMethodEntry));
  EXPECT_EQ(Short(all), "??NNRR?");
  EXPECT_STREQ(all[0].rule, "takes the caller's fp for its own: true below an interpreted caller");
  EXPECT_STREQ(all[3].rule, "refuses: the interpreted frame is not filled yet");
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kInterpreter, {0x90}), FrameEntry::kInterpreted)),
            "R");
}

// JDK 8 keeps no mirror of the method's class.
TEST(AgctRules, AnInterpretedFrameOfJdk8HasAWordLess) {
  RuledCode code = CodeOf(Ruled::kInterpreter, kMethodEntry);
  code.feature = 8;
  EXPECT_EQ(Short(Predict("agct", code)), "??NRRR?");
}

TEST(AgctRules, ReplacedFramesAreNotPredicted) {
  RuledCode code = CodeOf(Ruled::kStub, kFramedStub, 4);
  code.name = "DeoptimizationBlob";
  for (const char* walker : {"agct", "asprof-vm", "asgst"})
    EXPECT_EQ(Short(Predict(walker, code)), "??????") << walker;
}

TEST(AsprofRules, AMethodIsWrongInTheSlowPathOfItsPoll) {
  const auto all = Predict("asprof-vm", kC2);
  EXPECT_EQ(Short(all), "RRRRRRRRRWW");
  EXPECT_STREQ(all[0].rule, "the word at sp: the entry");
  EXPECT_STREQ(all[2].rule, "the word at sp + 8: behind push rbp");
  EXPECT_STREQ(all[5].rule, "the word at sp + 8: pop rbp");
  EXPECT_STREQ(all[6].rule, "the word at sp: an epilogue");
}

// With a frame that is complete later than its last push, as that of a native wrapper.
TEST(AsprofRules, APrologueThatIsNotKnown) {
  const auto all = Predict("asprof-vm", CodeOf(Ruled::kNmethod, kFramedStub, 4, 10));
  EXPECT_EQ(Short(all), "RRNRRR");
  EXPECT_STREQ(all[2].rule, "stops: a part of the prologue that it does not know");
  RuledCode late = kC2;
  late.complete = 0x20;
  late.entry = 0x0c;
  EXPECT_EQ(Short(Predict("asprof-vm", late)).substr(0, 5), "RRWWN");
}

// C1 and C2 put such stubs behind the code of a method that calls interpreted methods.
const Code kCallsOwnStub = {
    0x55,                          // +0x00 push rbp
    0x48, 0x83, 0xec, 0x10,        // +0x01 sub rsp, 0x10
    0xe8, 0x06, 0x00, 0x00, 0x00,  // +0x05 call +0x10
    0x48, 0x83, 0xc4, 0x10,        // +0x0a add rsp, 0x10
    0x5d,                          // +0x0e pop rbp
    0xc3,                          // +0x0f ret
    0x31, 0xdb,                    // +0x10 xor ebx, ebx
    0xff, 0xe0,                    // +0x12 jmp rax
};

TEST(AsprofRules, AStubThatTheMethodItselfHasCalled) {
  const auto all = Predict("asprof-vm", CodeOf(Ruled::kNmethod, kCallsOwnStub, 4, 5));
  EXPECT_EQ(Short(all), "RRRRRR??");
  EXPECT_STREQ(all[6].rule,
               "takes the saved fp for the return address, and goes on by the word below as fp");
  EXPECT_EQ(Short(Predict("agct", CodeOf(Ruled::kNmethod, kCallsOwnStub, 4, 5))), "NNRRWWWW");
}

TEST(AsprofRules, WhereTheRowIsUnknown) {
  FrameRow row;
  row.offset = 1;
  row.fp_place = FramePlace::kInRegister;
  row.fp_reg = 5;
  const auto* rules = WalkerRules::Of("asprof-vm");
  EXPECT_EQ(rules->predict(CodeOf(Ruled::kStub, kFramelessStub), row).predicted,
            Predicted::kDepends);
}

TEST(AsprofRules, StubsAreRightByFpOrSize) {
  EXPECT_EQ(Short(Predict("asprof-vm", CodeOf(Ruled::kStub, kFramedStub))), "RRRRRR");
  EXPECT_EQ(Short(Predict("asprof-vm", CodeOf(Ruled::kStub, kFramelessStub))), "RWWR");
  EXPECT_EQ(Short(Predict("asprof-vm", CodeOf(Ruled::kStub, kFramelessStub, 2))), "RRRR");
  EXPECT_EQ(Short(Predict("asprof-vm", CodeOf(Ruled::kVtableStub, kFramelessStub))), "RWWR");
}

TEST(AsprofRules, InAnAdapterFpIsNotItsOwn) {
  const auto all = Predict("asprof-vm", CodeOf(Ruled::kAdapter, kI2cAdapter));
  EXPECT_EQ(Short(all), "RWWW");
  EXPECT_STREQ(all[1].rule, "fp: the code has not set it up, or does not use it");
}

TEST(AsprofRules, StubsOfContinuationsEndTheWalk) {
  RuledCode code = CodeOf(Ruled::kStub, kFramedStub);
  code.name = "Cont thaw";
  EXPECT_EQ(Short(Predict("asprof-vm", code)), "NNNNNN");
}

// Its caller is found, but what lies behind that caller is not predicted.
TEST(AsprofRules, WhereTheCallersFrameIsNotAll) {
  RuledCode code = CodeOf(Ruled::kRuntimeStub, kFramelessStub);
  EXPECT_EQ(Short(Predict("asprof-vm", code)), "RWWR");
  for (const char* name : {"slow_subtype_check Runtime1 stub", "flush_icache_final_stub",
                           "C1 Runtime slow_subtype_check_blob", "flush_icache_stub"}) {
    code.name = name;
    EXPECT_EQ(Short(Predict("asprof-vm", code)), "?WW?") << name;
    EXPECT_EQ(Short(Predict("agct", code)), "NNNN") << name;
  }
}

TEST(AsprofRules, AnInterpretedFrameIsRightOnceItsByteCodeIsThere) {
  EXPECT_EQ(Short(Predict("asprof-vm", CodeOf(Ruled::kInterpreter, kMethodEntry))), "????RR?");
}

TEST(AsprofRules, AnInterpretedFrameOfJdk8HasAWordLess) {
  RuledCode code = CodeOf(Ruled::kInterpreter, kMethodEntry);
  code.feature = 8;
  EXPECT_EQ(Short(Predict("asprof-vm", code)), "???RRR?");
}

TEST(ReferenceRules, AllIsRight) { EXPECT_EQ(Short(Predict("asgst", kC2)), "RRRRRRRRRRR"); }

TEST(WalkerRules, NamesTellTheKindOfCode) {
  EXPECT_EQ(RuledKindOf("nmethod", "a.B.c()V", 4), Ruled::kNmethod);
  EXPECT_EQ(RuledKindOf("codelet", "iload", 0), Ruled::kInterpreter);
  EXPECT_EQ(RuledKindOf("adapter", "I2C/C2I adapters", 0), Ruled::kAdapter);
  EXPECT_EQ(RuledKindOf("stub", "itable stub", 0), Ruled::kVtableStub);
  EXPECT_EQ(RuledKindOf("stub", "resolve_static_call", 80), Ruled::kRuntimeStub);
  EXPECT_EQ(RuledKindOf("stub", "jint_arraycopy", 0), Ruled::kStub);
  EXPECT_EQ(RuledKindOf("stub", "SafepointBlob", 80), Ruled::kStub);
  EXPECT_EQ(RuledKindOf("stub", "polling_page_return_handler_blob (shared runtime)", 80),
            Ruled::kStub);
  EXPECT_EQ(RuledKindOf("stub", "exception_blob (C2 runtime)", 8), Ruled::kStub);
  EXPECT_EQ(RuledKindOf("stub", "throw_class_cast_exception_blob (C1 runtime)", 8),
            Ruled::kRuntimeStub);
  EXPECT_EQ(RuledKindOf("stub", "upcall_stub_(I)I", 20), Ruled::kStub);
}

TEST(WalkerRules, OfWhichWalkersAnythingIsPredicted) {
  EXPECT_EQ(WalkerRules::Of("iterator"), nullptr);
  ASSERT_NE(WalkerRules::Of("puzzle-no-caller"), nullptr);
  EXPECT_TRUE(WalkerRules::Of("puzzle-no-caller")->is_puzzle);
}

}  // namespace
}  // namespace walkhammer
