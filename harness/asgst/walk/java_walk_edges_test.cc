// SPDX-License-Identifier: Apache-2.0
// The reference walk where the usual rules of frames do not hold, on a synthetic JVM: leaf calls,
// blobs that save registers, handlers of deoptimisation, calls of Java from C.
#include <initializer_list>

#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

constexpr uint64_t kBlobBytes = 0x1f0;  // from a synthetic CodeBlob to its code

class ArmWalkTest : public BetweenFramesTest {
 protected:
  ArmWalkTest() { PutArm(leaf_ + 0x1c, {0xd63f0100}); }  // blr x8

  void PutArm(uint64_t at, std::initializer_list<uint32_t> code) {
    for (const uint32_t i : code) {
      memory_.PutInt(at, i);
      at += 4;
    }
  }
};

constexpr uint32_t kCrumb = 0xa9bf27ff;  // stp xzr, x9, [sp, #-16]!
constexpr uint32_t kAddSp16 = 0x910043ff, kNop = 0xd503201f, kMovkXzr = 0xf280001f;

// C2 leaves two words on the stack while it calls a function of the JVM as a leaf.
TEST_P(ArmWalkTest, ALeafCallWithTwoWordsBelowTheFrame) {
  const UnwindTables none;
  const UnwindRow rows[] = {{0, 32, -32, -24, UnwindRow::kSp}};
  const UnwindModule module{0x9000, 0x9fff, rows};
  const std::span<const UnwindModule> modules(&module, 1);
  UnwindTables tables;
  tables.Publish(&modules);
  const uint64_t below = kLeafSp - 16, record = below - 32;
  memory_.Put(below + 8, leaf_ + 0x20);
  memory_.PutRecord(record, kOlderFp, leaf_ + 0x20);
  for (const bool crumb : {true, false}) {
    PutArm(leaf_ + 0x18, {crumb ? kCrumb : kNop});
    const uint64_t up = crumb ? 0 : 16;  // without the two words all is higher
    memory_.PutRecord(record + up, kOlderFp, leaf_ + 0x20);
    start_.unwind = &tables;
    start_.registers = {0x9100, record + up, 0x77, 0};
    EXPECT_EQ(Walk(), wanted_) << "by tables " << crumb;
    start_.unwind = &none;
    memory_.PutRecord(below + up - 16, kOlderFp, leaf_ + 0x20);
    start_.registers = {0x9100, record + up - 16, below + up - 16, leaf_ + 0x20};
    EXPECT_EQ(Walk(), wanted_) << "by the frame pointer " << crumb;
  }
}

TEST_P(ArmWalkTest, CompiledCodeAroundALeafCall) {
  // stp; blr; nop, movk, movk (where frames are distinguished since JDK 20); add; nop
  PutArm(leaf_ + 0x18, {kCrumb, 0xd63f0100, kNop, kMovkXzr, kMovkXzr, kAddSp16, kNop});
  start_.java = {};
  for (const uint64_t at : {0x18, 0x1c, 0x20, 0x24, 0x28, 0x2c, 0x30}) {
    const bool pushed = at > 0x18 && at < 0x30;
    start_.registers = {leaf_ + at, kLeafSp - (pushed ? 16 : 0), kOlderFp, 0};
    EXPECT_EQ(OnlyCaller(), wanted_[1]) << at;
  }
  PutArm(leaf_ + 0x18, {kNop});  // another call
  start_.registers = {leaf_ + 0x20, kLeafSp, kOlderFp, 0};
  EXPECT_EQ(Walk().size(), 2U);
}

// Stubs of C2 do not say where their frame is complete.
TEST_P(ArmWalkTest, AStubOfC2) {
  SizeStub(4, 0xffffffff);
  // sub sp, sp, #0x20; stp x29, x30, [sp, #0x10]; nop; ldp; add; mov x3, x30; br x1
  PutArm(jvm_.stub, {0xd10083ff, 0xa9017bfd, kNop, 0xa9417bfd, 0x910083ff, 0xaa1e03e3, 0xd61f0020});
  const uint64_t sp = kLeafSp - 32, back = leaf_ + 0x20;
  for (const uint64_t at : {0, 4, 8, 12, 16, 20, 24}) {
    const bool moved = at > 0 && at<20, saved = at> 4;
    memory_.PutRecord(sp + 16, saved ? kOlderFp : 0x77,
                      saved ? back : caller_ + 0x30);  // left over
    const bool has_fp = at <= 8 || at > 12;
    start_.registers = {jvm_.stub + at, moved ? sp : kLeafSp, has_fp ? kOlderFp : 0x77,
                        at == 8 || at == 12 ? 0x99 : back};
    start_.java = {};
    EXPECT_EQ(Walk(), wanted_) << at;
  }
}

// A blob that saves all registers above its frame record, and pops them again.
TEST_P(ArmWalkTest, ABlobThatSavesRegisters) {
  SizeStub(4, 12);
  // stp x29, x30, [sp, #-16]!; mov x29, sp; stp x0, x1, [sp, #-16]!; blr x9; ldp x0, x1, [sp], #16;
  // ldp x29, x30, [sp], #16; br x8
  PutArm(jvm_.stub,
         {0xa9bf7bfd, 0x910003fd, 0xa9bf07e0, 0xd63f0120, 0xa8c107e0, 0xa8c17bfd, 0xd61f0100});
  const uint64_t record = kLeafSp - 16, back = leaf_ + 0x20;
  memory_.PutRecord(record, kOlderFp, back);
  memory_.Put(record + 24, caller_ + 0x30);  // [sp + size - 8] once registers are popped
  memory_.Put(record + 16, 0x78);
  for (const auto& [at, sp, fp] : {std::tuple{0, kLeafSp, kOlderFp},
                                   {4, record, kOlderFp},
                                   {8, record, record},
                                   {12, record - 16, record},
                                   {16, record - 16, record},
                                   {20, record, record},
                                   {24, kLeafSp, kOlderFp}}) {
    const bool has_called = at > 12 && at < 24;
    start_.registers = {jvm_.stub + static_cast<uint64_t>(at), sp, fp,
                        has_called ? jvm_.stub + 16 : back};
    start_.java = {};
    EXPECT_EQ(Walk(), wanted_) << at;
  }
}

// The interpreter has left its frame; compiled callers with a frame pointer have it close to sp.
TEST_P(ArmWalkTest, OnReturnToCompiledCodeWithAFramePointer) {
  start_.java = {};
  start_.registers = {MadeUpJvm::kInterpreter + 0x20, kLeafSp, kLeafSp + 16, leaf_ + 0x20};
  EXPECT_EQ(Walk(), wanted_);
}

// Where the interpreter goes on after a call, x22 is what the callee left: in recursion it points
// into the same method.
TEST_P(ArmWalkTest, BehindACallTheRegisterOfByteCodesIsStale) {
  const uint64_t fp = kLeafSp - 16, pc = MadeUpJvm::kInterpreter + 0x20;
  const uint64_t codes = MadeUpJvm::Method(2) + 0x100 + 32;
  PutInterpreted(fp, leaf_ + 0x20);
  start_.registers = {pc, fp - 0x60, fp, MadeUpJvm::kInterpreter + 0x10};
  start_.java = {};
  start_.java.byte_code = codes + 9;
  const auto bci = [&] {
    const auto walked = Walk();
    return walked.size() == 3 ? walked[0].bci : -2;
  };
  // ldr x8, [x29, #-16]; add x20, x29, x8, lsl #3; str xzr, [x29, #-16]; ldr x22, [x29, #-72];
  // up to JDK 19, instead of the first two: ldr x20, [x29, #-16]
  for (const uint32_t i : {0xf85f03a8, 0x8b080fb4, 0xf81f03bf, 0xf85b83b6, 0xf85f03b4}) {
    PutArm(pc, {i});
    EXPECT_EQ(bci(), 4) << std::hex << i;
  }
  // nop; ldr x24, [x29, #-56]: local variables, after x22; str x20, [x29, #-16]; ldr x22, [x28]
  for (const uint32_t i : {kNop, 0xf85c83b8, 0xf81f03b4, 0xf9400396}) {
    PutArm(pc, {i});
    EXPECT_EQ(bci(), 9) << std::hex << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Aarch64, ArmWalkTest, testing::Values(&kAarch64Rules));

// No exit is found in this code: a stub may be longer than the simulation goes.
TEST_P(BetweenFramesTest, AStubThatSetsItsFrameUp) {
  const uint64_t begin = jvm_.stub + 0x40, back = kLeafSp - 8;
  memory_.PutBytes(begin, {0x55, 0x48, 0x8b, 0xec});  // push rbp; mov rbp, rsp
  memory_.PutBytes(jvm_.stub + 0x0b, {0xe8});         // before the call stub's return address
  memory_.PutRecord(back - 8, kOlderFp, leaf_ + 0x20);
  EXPECT_EQ(WalkAt(begin, back, kOlderFp), wanted_);
  EXPECT_EQ(WalkAt(begin + 1, back - 8, kOlderFp), wanted_) << "pushed: fp is an older frame's";
  EXPECT_EQ(WalkAt(begin + 4, back - 8, back - 8), wanted_) << "set up";
  memory_.PutBytes(begin + 1, {0x48, 0x89, 0xe5});  // mov rbp, rsp otherwise
  EXPECT_EQ(WalkAt(begin + 1, back - 8, kOlderFp), wanted_) << "the other encoding";
}

// The stub through which C calls Java sets its frame up in the same way, and returns to C.
TEST_P(BetweenFramesTest, AtTheEntryOfTheCallStub) {
  const uint64_t wrapper = kSp - 0x20, pc = jvm_.stub + 0x20, back = wrapper - 0x20;
  PutWrapper(wrapper);
  memory_.PutBytes(pc, {0x55, 0x48, 0x8b, 0xec});
  memory_.Put(back, 0x9999);
  EXPECT_EQ(WalkAt(pc, back, 1, {{kRdi, wrapper}}), wanted_);
  memory_.Put(back - 8, 1);
  EXPECT_EQ(WalkAt(pc + 1, back - 8, 1, {{kRdi, wrapper}}), wanted_)
      << "the frame pointer is pushed";
}

TEST_P(BetweenFramesTest, AStubOfC2) {
  SizeStub(4, 0xffffffff);
  // sub rsp, 0x18; mov [rsp+0x10], rbp; nop ...; add rsp, 0x10; pop rbp; jmp rax
  memory_.PutBytes(jvm_.stub,
                   {0x48, 0x81, 0xec, 0x18, 0,    0,    0,    0x48, 0x89, 0x6c, 0x24, 0x10,
                    0x90, 0x90, 0x90, 0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xff, 0xe0});
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  const uint64_t sp = kLeafSp - 32;
  memory_.Put(sp + 16, kOlderFp);
  for (const auto& [at, at_sp, fp] : {std::tuple{0, kLeafSp - 8, kOlderFp},
                                      {7, sp, kOlderFp},
                                      {12, sp, uint64_t{0x77}},
                                      {16, sp, uint64_t{0x77}},
                                      {20, sp + 16, uint64_t{0x77}},
                                      {21, kLeafSp - 8, kOlderFp}}) {
    EXPECT_EQ(WalkAt(jvm_.stub + static_cast<uint64_t>(at), at_sp, fp), wanted_) << at;
  }
}

TEST_P(BetweenFramesTest, ABlobThatResolvesACall) {
  SizeStub(20, 9);
  // push rbp; pushf; sub rsp, 0x80; nop ...; add rsp, 0x80; popf; pop rbp; jmp rax
  memory_.PutBytes(jvm_.stub, {0x55, 0x9c, 0x48, 0x81, 0xec, 0x80, 0, 0,    0,    0x90, 0x90, 0x90,
                               0x48, 0x81, 0xc4, 0x80, 0,    0,    0, 0x9d, 0x5d, 0xff, 0xe0});
  const uint64_t back = kLeafSp - 8;
  memory_.PutRecord(back - 8, kOlderFp, leaf_ + 0x20);
  for (const auto& [at, pushed] :
       {std::pair{0, 0}, {1, 8}, {2, 16}, {9, 144}, {12, 144}, {19, 16}, {20, 8}, {21, 0}}) {
    EXPECT_EQ(WalkAt(jvm_.stub + static_cast<uint64_t>(at), back - static_cast<uint64_t>(pushed),
                     at > 1 && at < 21 ? 0x77 : kOlderFp),
              wanted_)
        << at;
  }
}

// Compiled callers with a frame pointer have it close to sp.
TEST_P(BetweenFramesTest, OnReturnToCompiledCodeWithAFramePointer) {
  const uint64_t pc = MadeUpJvm::kInterpreter + 0x40;
  PutCode(pc, {0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5});  // mov rsp, rbx; jmp r13
  EXPECT_EQ(WalkAt(pc, kLeafSp - 16, kLeafSp + 16, {{kRbx, kLeafSp}, {kR13, leaf_ + 0x20}}),
            wanted_);
  EXPECT_EQ(WalkAt(pc + 3, kLeafSp, kLeafSp + 16, {{kRbx, kLeafSp}, {kR13, leaf_ + 0x20}}),
            wanted_);
}

// An nmethod's last code: it pushes its own address and leaves for the blob of deoptimisation.
// x86_64: call next; sub [rsp], 5; jmp. aarch64: adr lr; b
TEST_P(JavaWalkTest, InTheHandlerOfDeoptimisation) {
  const uint64_t handler = leaf_ + 0x100;
  memory_.Put(leaf_ - kBlobBytes + 80, handler);
  memory_.PutInt(leaf_ - kBlobBytes + 48, 8);
  memory_.Put(kLeafSp + 8, leaf_ + 0x20);
  start_.registers = {handler, kLeafSp, 0x1234, 0};
  EXPECT_EQ(Walk(), kAll);
  if (layout_.rules->has_link_register) {
    start_.registers = {handler + 4, kLeafSp, 0x1234, handler};
    EXPECT_EQ(Walk(), kAll);
    return;
  }
  memory_.PutBytes(handler, {0xe8, 0, 0, 0, 0, 0x48, 0x83, 0x2c, 0x24, 5, 0xe9, 0, 0, 0, 0x40});
  for (const uint64_t at : {5, 10}) {
    memory_.Put(kLeafSp - 8, handler + (at == 5 ? 5 : 0));
    start_.registers = {handler + at, kLeafSp - 8, 0x1234, 0};
    EXPECT_EQ(Walk(), kAll) << at;
  }
  start_.registers = {handler - 1, kLeafSp, 0x1234, 0};
  EXPECT_NE(Walk(), kAll) << "the method's own code";
}

// C calls Java through a blob of the foreign function interface, which holds the anchor of the
// older Java frames.
TEST_P(JavaWalkTest, OlderThanACallFromC) {
  constexpr uint64_t kName = MadeUpJvm::kNames + 0x80;
  const uint64_t frame = kLeafSp + 32, data = frame + 16, fp = frame + 0x30, older = fp + 0x30;
  memory_.PutText(kName, "upcall_stub_(I)V");
  memory_.Put(jvm_.stub - kBlobBytes, kName);
  memory_.PutInt(jvm_.stub - kBlobBytes + 40, data - frame);
  layout_.upcall_data = 40;
  layout_.feature = 22;
  memory_.PutRecord(kLeafSp + 16, fp, jvm_.stub + 0x40);
  memory_.PutRecord(fp, 0x5678, 0x9999);  // C code
  memory_.Put(data + layout_.jvm.last_sp, older);
  memory_.Put(data + layout_.jvm.last_pc, caller_ + 0x30);
  memory_.Put(data + layout_.jvm.last_fp, 0x1234);
  memory_.Put(older + 32, MadeUpJvm::kStack + 0x200);
  layout_.call_stub_return = jvm_.other_stub + 0x10;
  memory_.Put(older + 40, layout_.call_stub_return);
  EXPECT_EQ(Walk(), kAll);
  EXPECT_FALSE(broken_);
  start_.non_java = true;
  const auto with_c = Walk();
  ASSERT_GE(with_c.size(), 5U);
  EXPECT_EQ(with_c[3], kInlined);
  EXPECT_EQ(with_c[1], (Seen{~0ULL, -1, -1, FrameType::kStub}));
  EXPECT_EQ(with_c[2], (Seen{~0ULL, -1, -1, FrameType::kCpp}));
  start_.non_java = false;
  memory_.Put(data + layout_.jvm.last_sp, 0);  // the thread's first Java code
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf});
  EXPECT_FALSE(broken_);
  memory_.Put(data + layout_.jvm.last_sp, frame);  // below the blob's frame
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf});
  EXPECT_TRUE(broken_);
  layout_.upcall_data = -1;  // JDK 17 to 19
  memory_.Put(data + layout_.jvm.last_sp, older);
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf});
  EXPECT_TRUE(broken_);
  EXPECT_EQ(end_, WalkEnd::kUpcall);
}

// Interpreted recursion: only the newest activation may have its bytecode in the register.
TEST_P(JavaWalkTest, TheRegisterOfByteCodesIsTheNewestFrames) {
  const uint64_t fp = kLeafSp, older = kLeafSp + 0x80, codes = MadeUpJvm::Method(2) + 0x100 + 32;
  jvm_.InterpretCaller();
  for (const uint64_t at : {fp, older}) {
    memory_.Put(at + 8, at == fp ? MadeUpJvm::kInterpreter + 0x10 : layout_.call_stub_return);
    memory_.Put(at, at == fp ? older : MadeUpJvm::kStack + 0x200);
    memory_.Put(at + layout_.sender_sp, at + 16);
    memory_.Put(at + layout_.interpreter_method, MadeUpJvm::Method(2));
    memory_.Put(at + layout_.interpreter_bcp, codes + (at == fp ? 4 : 6));
  }
  start_.java = {};
  start_.java.byte_code = codes + 9;
  start_.registers = {MadeUpJvm::kInterpreter + 0x20, fp - 0x60, fp, 0};
  const Seen newest{2, 9, 0, FrameType::kJava}, caller{2, 6, 0, FrameType::kJava};
  EXPECT_EQ(Walk(), (std::vector<Seen>{newest, caller}));
  start_.java.byte_code = 0;
  EXPECT_EQ(Walk(), (std::vector<Seen>{{2, 4, 0, FrameType::kJava}, caller}));
}

// To call the JVM, a codelet calls code of its own, which saves the bytecode pointer first. Until
// then, only the register is right.
TEST_P(BetweenFramesTest, InACodeletsCallOfItsOwnTheRegisterIsRight) {
  const uint64_t fp = kLeafSp - 16, sp = fp - 0x68, codes = MadeUpJvm::Method(2) + 0x100 + 32;
  const uint64_t pc = MadeUpJvm::kInterpreter + 0x20;
  PutInterpreted(fp, leaf_ + 0x20);
  memory_.Put(sp, pc + 5);
  // nop...; call +5; jmp +9; mov [rbp-0x40], r13; mov rdi, r15; ret
  PutCode(pc - 16, {});
  PutCode(pc, {0xe8, 5, 0, 0, 0, 0xe9, 9, 0, 0, 0, 0x4c, 0x89, 0x6d, 0xc0, 0x49, 0x8b, 0xff, 0xc3});
  const auto bci = [&](uint64_t at, uint64_t r13) {
    const auto walked = WalkAt(at, sp, fp, {{kR13, r13}});
    return walked.size() == 3 ? walked[0].bci : -2;
  };
  for (const int at : {10, 14, 17})
    EXPECT_EQ(bci(pc + static_cast<uint64_t>(at), codes + 9), 9) << at;
  EXPECT_EQ(bci(pc + 10, kLeafSp), 4) << "the register has another use: what was saved";
}

TEST_P(JavaWalkTest, SaysWhyItEnded) {
  EXPECT_EQ(End(), WalkEnd::kWhole);
  JavaWalk walk(layout_, memory_, start_);
  JavaFrame frame;
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  EXPECT_EQ(walk.end(), WalkEnd::kUntold);
  ASSERT_TRUE(walk.Next(frame));
  EXPECT_EQ(walk.end(), WalkEnd::kUntold) << "there are more";
  const auto with = [&](uint64_t at, uint64_t word) {
    const uint64_t before = memory_.words().at(at);
    memory_.Put(at, word);
    const WalkEnd end = End();
    memory_.Put(at, before);
    return end;
  };
  const uint64_t entry_fp = MadeUpJvm::kStack + 0x200, wrapper = MadeUpJvm::kStack + 0x300;
  EXPECT_EQ(with(kLeafSp + 24, 0x4242), WalkEnd::kNoCaller);
  EXPECT_EQ(with(kLeafSp + 24, jvm_.other_stub + 0x40), WalkEnd::kUnknownStub);
  EXPECT_EQ(with(kLeafSp + 24, MadeUpJvm::kInterpreter + 0x10), WalkEnd::kNoMethod);
  EXPECT_EQ(with(entry_fp + layout_.call_wrapper, 0x4242), WalkEnd::kUnreadable);
  EXPECT_EQ(with(wrapper + layout_.wrapper_anchor, kLeafSp), WalkEnd::kAnchor) << "not above";
  EXPECT_EQ(with(kThread, 2), WalkEnd::kState) << "_thread_new";
  EXPECT_EQ(with(kThread, 4), WalkEnd::kNoJava) << "in native, without an anchor";
  memory_.Put(kThread, 4);
  EXPECT_EQ(with(kThread + 8, MadeUpJvm::kStackEnd), WalkEnd::kAnchor);
  LeaveJava(kLeafSp, leaf_ + 0x20);
  EXPECT_EQ(End(), WalkEnd::kWhole);
  memory_.Put(kThread + 0x110, 1);
  layout_.unpacked_frames = 0x110;
  EXPECT_EQ(with(kThread + 8, 0), WalkEnd::kDeopt);
  layout_.unpacked_frames = 0;
  memory_.Put(kThread, 8);
  start_.registers.sp = 8;
  EXPECT_EQ(End(), WalkEnd::kNoTop);
}

// In C code of which no table tells.
TEST_P(JavaWalkTest, SaysWhatItSearchedFor) {
  const UnwindTables none;
  for (const uint64_t pc : {leaf_ + 0x20, caller_ + 0x30}) {  // calls come before
    memory_.PutBytes(pc - 5, {0xe8});
    memory_.PutInt(pc - 4, layout_.rules->has_link_register ? 0x94000000 : 0);
  }
  EXPECT_EQ(Walk(), kAll);
  EXPECT_EQ(guesses_, std::vector<bool>(3, false));
  start_.unwind = &none;
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  start_.registers = {0x9999, kLeafSp - 0x40, 0x77, 0};
  EXPECT_EQ(Walk(), kAll);
  EXPECT_EQ(guesses_, std::vector<bool>(3, true));
  EXPECT_EQ(end_, WalkEnd::kGuessed);
  memory_.Put(kLeafSp - 0x38, leaf_ + 0x20);
  EXPECT_EQ(Walk(), kAll) << "a return address that a former frame has left behind";
  memory_.Put(kLeafSp + 24, 0x4242);
  EXPECT_EQ(End(), WalkEnd::kNoCaller) << "what the walk ran into says more";
}

// A thread that is about to call Java for the first time is in Java already. A return address that
// an earlier call has left behind is none of a frame.
TEST_P(JavaWalkTest, CFunctionsAloneAreNoJavaFrame) {
  const UnwindRow rows[] = {{0, 32, UnwindRow::kSame, -8, UnwindRow::kSp},
                            {0x800, 32, UnwindRow::kSame, UnwindRow::kGone, UnwindRow::kSp},
                            {0x900, 32, UnwindRow::kSame, UnwindRow::kSame, UnwindRow::kSp}};
  const UnwindModule module{0x9000, 0x9fff, rows};
  const std::span<const UnwindModule> modules(&module, 1);
  UnwindTables tables;
  tables.Publish(&modules);
  start_.unwind = &tables;
  const uint64_t sp = kLeafSp - 0x40;
  memory_.Put(sp + 24, 0x9810);
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  memory_.PutBytes(leaf_ + 0x1b, {0xe8});
  start_.registers = {0x9100, sp, 0x77, 0};
  EXPECT_EQ(End(), WalkEnd::kNoJava);
  EXPECT_EQ(JavaWalk(layout_, memory_, start_).Begin(), WalkStatus::kNoJavaFrame);
  start_.non_java = true;
  EXPECT_EQ(Walk(), std::vector<Seen>(2, {~0ULL, -1, -1, FrameType::kCpp}));
  start_.non_java = false;
  memory_.Put(sp + 24, 0x9910);  // nothing says that this function has no caller
  EXPECT_NE(End(), WalkEnd::kNoJava);
}

}  // namespace
}  // namespace walkhammer::asgst
