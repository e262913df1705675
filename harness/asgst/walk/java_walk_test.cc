// SPDX-License-Identifier: Apache-2.0
// The whole reference walk on a synthetic JVM, for both architectures on any host: code
// heap, compiled code with debug information, methods, a stack.
#include "harness/asgst/walk/java_walk.h"

#include <memory>

#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

TEST_P(JavaWalkTest, CompiledInlinedAndTheEndOfTheStack) {
  EXPECT_EQ(Walk(), kAll);
  EXPECT_FALSE(broken_);
}

TEST_P(JavaWalkTest, WhatIsDescribedAtAPcIsTheCodeBeforeIt) {
  start_.registers.pc = leaf_ + 0x20;
  EXPECT_EQ(Walk(), (std::vector<Seen>{{0, 11, 4, FrameType::kJava}, kInlined, kOuter}));
}

TEST_P(JavaWalkTest, APollIsDescribedWhereItBegins) {
  start_.registers.pc = leaf_ + 0x20;
  if (layout_.rules->has_link_register)
    memory_.PutInt(leaf_ + 0x20, 0xb940011f);  // ldr wzr, [x8]
  else
    memory_.PutBytes(leaf_ + 0x20, {0x41, 0x85, 0x02});  // test eax, [r10]
  EXPECT_EQ(Walk(), kAll);
  auto caches = std::make_unique<WalkStart::Caches>();
  start_.caches = caches.get();
  for (int i = 0; i < 3; i++) EXPECT_EQ(Walk(), kAll) << i;
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

// What comes next in memory is described with an inlined method.
TEST_P(JavaWalkTest, OnReturnNothingIsInlined) {
  const uint64_t sp = kLeafSp + 32, pc = caller_ + 0x28;
  start_.registers = {pc, sp, 0x1234, layout_.call_stub_return};
  EXPECT_EQ(Walk(), (std::vector<Seen>{kInlined, kOuter})) << "in its frame";
  if (layout_.rules->has_link_register) {
    memory_.PutInt(pc, 0xd65f03c0);  // ret
    start_.registers.sp = sp + 48;
  } else {
    memory_.PutBytes(pc, {0xc3});  // ret
    start_.registers.sp = sp + 40;
  }
  EXPECT_EQ(Walk(), std::vector<Seen>{kOuter});
  auto caches = std::make_unique<WalkStart::Caches>();
  start_.caches = caches.get();
  for (int i = 0; i < 3; i++) EXPECT_EQ(Walk(), std::vector<Seen>{kOuter}) << i;
}

TEST_P(JavaWalkTest, InNativeCodeTheAnchorTells) {
  LeaveJava(kLeafSp, leaf_ + 0x20);
  start_.registers = {0x9999, 0x10, 0x20, 0};
  EXPECT_EQ(Walk(), kAll);
  memory_.Put(kThread + 8, 0);
  EXPECT_EQ(Walk(), std::vector<Seen>{});
}

// In the stub through which native code calls Java: the walk goes on at the native code's own
// caller.
TEST_P(JavaWalkTest, InTheCallStub) {
  const uint64_t fp = kLeafSp - 0x80, wrapper = kLeafSp - 0x60;
  memory_.PutRecord(fp, kLeafSp, 0x9999);  // native code
  memory_.Put(fp + layout_.call_wrapper, wrapper);
  memory_.Put(wrapper + layout_.wrapper_anchor, kLeafSp);
  memory_.Put(wrapper + layout_.wrapper_anchor + 8, leaf_ + 0x20);
  for (const uint64_t pc : {layout_.call_stub_return - 5, layout_.call_stub_return + 5}) {
    start_.registers = {pc, fp - 0x40, fp, 0};
    EXPECT_EQ(Walk(), kAll) << pc;
  }
  memory_.Put(fp + layout_.call_wrapper, 0x1234);
  EXPECT_NE(Walk(), kAll) << "the frame is not built yet";
}

TEST_P(JavaWalkTest, AnInterpretedCaller) {
  jvm_.InterpretCaller();
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, {1, 9, 0, FrameType::kJava}}));
}

TEST_P(BetweenFramesTest, OnEntry) {
  memory_.Put(kSp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(BetweenFramesTest, WhileLocalsAreMadeRoomFor) {
  start_.java.return_pc = leaf_ + 0x20;
  EXPECT_EQ(Walk(), wanted_);
  start_.registers.sp = kLeafSp;  // before there is room for any
  memory_.PutBytes(caller_ + 0x2b, {0xe8});
  memory_.Put(kLeafSp, caller_ + 0x30);  // the leaf's own, no return address of a callee
  EXPECT_EQ(Walk(), wanted_);
  EXPECT_EQ(guesses_, std::vector<bool>(2, false));
}

TEST_P(BetweenFramesTest, WhileTheFrameIsBuilt) {
  start_.registers.fp = kSp + 8;
  memory_.PutRecord(kSp + 8, kOlderFp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(kSp, kLeafSp);  // the frame has its caller's sp now, the register another value
  start_.java.sender_sp = MadeUpJvm::Method(2);
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(BetweenFramesTest, OnReturn) {
  start_.registers.sp = kLeafSp;
  start_.java.sender_sp = leaf_ + 0x20;
  EXPECT_EQ(Walk(), wanted_);
}

// The interpreter's own frame is gone; the return address is still on the stack, below the locals.
TEST_P(BetweenFramesTest, BeforeTheReturnAddressIsTaken) {
  start_.java.sender_sp = MadeUpJvm::Method(2);
  start_.registers.fp = 1;
  start_.registers.sp = kSp - 8;
  memory_.Put(kSp - 8, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  start_.registers.sp = kLeafSp - 8;  // a method without locals
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
}

// Back in the interpreter, whose caller is compiled: registers are what the callee left.
TEST_P(BetweenFramesTest, BehindACall) {
  const uint64_t fp = kLeafSp - 16, pc = MadeUpJvm::kInterpreter + 0x20;
  PutInterpreted(fp, leaf_ + 0x20);
  start_.registers = {pc, fp - 0x60, fp, 0};
  start_.java.sender_sp = start_.java.byte_code = leaf_ + 0x20;  // left by an earlier return
  for (const std::vector<uint8_t>& code : {std::vector<uint8_t>{0x48, 0x8b, 0x65, 0xf0, 0, 0, 0, 0},
                                           {0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0},
                                           {0x4c, 0x8b, 0x6d, 0xc0, 0, 0, 0, 0},
                                           {0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd},
                                           {0x48, 0x8d, 0x64, 0xcd, 0, 0, 0, 0}}) {
    memory_.PutBytes(pc, code);
    EXPECT_EQ(Walk(), interpreted_) << static_cast<int>(code[1]);
  }
  memory_.PutBytes(pc, {0x48, 0x8b, 0xe3, 0, 0, 0, 0, 0});  // mov rsp, rbx: on return
  start_.registers.sp = kLeafSp;
  start_.registers.fp = kOlderFp;
  EXPECT_EQ(Walk(), wanted_);
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
  start_.java.sender_sp = 0;
  start_.registers = {leaf_ + 0x40, kLeafSp - 8, kOlderFp, 0};
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  start_.registers.sp = kLeafSp;  // no return address on top: the pc is in the method's own code
  EXPECT_EQ(Walk().size(), 2U);
  EXPECT_NE(Walk(), wanted_) << "nothing is described behind the last description";
}

// BetweenFramesTest where the return address stays in lr until there is a frame.
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
  start_.java.sender_sp = MadeUpJvm::Method(2);
  EXPECT_EQ(Walk(), wanted_);
}

TEST_P(ByLinkTest, InAFrameThatHasNotCalledYet) {
  const uint64_t fp = kLeafSp - 16;
  PutInterpreted(fp, start_.registers.lr);
  start_.registers.fp = fp;
  start_.registers.sp = fp - 0x60;
  EXPECT_EQ(Walk(), interpreted_);
}

// fp is an older frame's; the return address of that frame would skip the stub's caller.
TEST_P(ByLinkTest, InAStubWithoutAFrame) {
  start_.registers.pc = jvm_.stub + 0x20;
  start_.registers.sp = kLeafSp;
  start_.java.sender_sp = 0;
  EXPECT_EQ(Walk(), wanted_);
}

INSTANTIATE_TEST_SUITE_P(Aarch64, ByLinkTest, testing::Values(&kAarch64Rules));

TEST_P(JavaWalkTest, AFrameToBeDeoptimisedHasItsPcElsewhere) {
  memory_.Put(caller_ - 0x1f0 + 80, caller_ + 0x100);
  memory_.PutInt(caller_ - 0x1f0 + 48, 8);
  memory_.Put(kLeafSp + 24, caller_ + 0x100);
  memory_.Put(kLeafSp + 32 + 8, caller_ + 0x30);
  EXPECT_EQ(Walk(), kAll);
}

// Interpreted frames are laid out in place of the compiled frame, and have no methods yet.
TEST_P(JavaWalkTest, WhileFramesAreUnpackedThereIsNoStack) {
  constexpr uint64_t kArray = kThread + 0x110, kBlobSp = kLeafSp - 32;
  const auto status = [&] { return JavaWalk(layout_, memory_, start_).Begin(); };
  SizeStub(4);
  LeaveJava(kBlobSp, jvm_.stub + 0x40);
  memory_.Put(kBlobSp + 24, leaf_ + 0x20);
  memory_.Put(kArray, 0x7000);
  layout_.unpacked_frames = 0x110;
  EXPECT_EQ(Walk(), kAll) << "the compiled one is still there";
  memory_.Put(kBlobSp + 24, MadeUpJvm::kInterpreter + 0x10);
  EXPECT_EQ(status(), WalkStatus::kDeoptimization);
  layout_.unpacked_frames = 0;
  EXPECT_EQ(status(), WalkStatus::kFound) << "nobody knows";
  layout_.unpacked_frames = 0x110;
  memory_.Put(kArray, 0);
  EXPECT_EQ(status(), WalkStatus::kFound);
}

// The oldest frame on the stack of a virtual thread returns to a stub; older frames are in the
// heap.
TEST_P(JavaWalkTest, BelowAMountedVirtualThreadIsWhatEnteredIt) {
  const uint64_t entry = kLeafSp + 32, return_at = kThread + 0x100;
  memory_.Put(kLeafSp + 24, jvm_.stub + 0x40);
  memory_.Put(kThread + 0x108, entry);
  memory_.Put(return_at, caller_ + 0x30);
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf});
  layout_.cont_entry = 0x108;
  layout_.cont_entry_size = 32;
  layout_.cont_return_at = return_at;
  EXPECT_EQ(Walk(), kAll);
  layout_.cont_entry_size = 0;
  EXPECT_EQ(Walk(), kAll) << "as long as the frame of what entered it";
  memory_.Put(kThread + 0x108, entry - 8);
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf}) << "an inner one";
}

// A virtual thread leaves its carrier: sp is where the continuation was entered, pc is still in the
// method whose frame is gone.
TEST_P(JavaWalkTest, WhereAVirtualThreadLeftIsWhatEnteredIt) {
  constexpr uint64_t kEntry = kLeafSp, kAbove = kEntry + 6 * 8;  // end of a caller-sized frame
  memory_.Put(kLeafSp + 24, 0x4242);                             // the leaf's frame is in the heap
  memory_.PutRecord(kAbove - 16, 0x1234, caller_ + 0x30);
  memory_.PutRecord(kAbove + 32, MadeUpJvm::kStack + 0x200, layout_.call_stub_return);
  memory_.Put(kThread + 0x100, caller_ + 0x30);
  memory_.Put(kThread + 0x108, kEntry);
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf});
  layout_.cont_entry = 0x108;
  layout_.cont_return_at = kThread + 0x100;
  EXPECT_EQ(Walk(), kAll);
  memory_.Put(kThread + 0x108, kEntry + 8);
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf}) << "it is still there";
  if (layout_.rules->adds_to_sp == nullptr) return;
  // In doYield, which has level 0: add rsp, 0x20; pop rbp
  memory_.Put(kThread + 0x108, 0);
  memory_.PutBytes(start_.registers.pc, {0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3, 0x90, 0x90});
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf}) << "compiled";
  memory_.PutInt(leaf_ - 0x1f0 + 32, 0);
  const Seen wrapper{kLeaf.method, -1, 0, kLeaf.type};
  EXPECT_EQ(Walk(), (std::vector<Seen>{wrapper, kInlined, kOuter}));
  memory_.PutBytes(start_.registers.pc, {0x48, 0x83, 0xc4, 0x28});
  EXPECT_EQ(Walk(), std::vector<Seen>{wrapper}) << "a frame of another size";
}

TEST_P(JavaWalkTest, ABrokenStackEndsTheWalkAndSaysSo) {
  memory_.Put(kLeafSp + 24, 0x4242);
  EXPECT_EQ(Walk(), std::vector<Seen>{kLeaf});
  EXPECT_TRUE(broken_);
}

// A walk ends whatever words change, and reads only through its MemoryReader.
TEST_P(JavaWalkTest, DamageOfAnyKindEnds) {
  size_t frames = 0;
  DamageAnyhow(memory_, [&] { frames += Walk().size(); });
  EXPECT_GT(frames, 20000U);
}

// From JDK 26 on. A class is unloaded and a class of the same shape takes its place: its methods
// have the same addresses, its ids are in a new array, and the old array is in memory that was
// freed.
TEST_P(JavaWalkTest, AnIdInFreedMemoryIsNobodys) {
  constexpr uint64_t kId = 4711, kOther = 4712;
  auto caches = std::make_unique<WalkStart::Caches>();
  start_.caches = caches.get();
  layout_.ids_are_numbers = true;
  const uint64_t holder = MadeUpJvm::Method(0) + 0x300, array = MadeUpJvm::Method(0) + 0x600;
  memory_.Put(MadeUpJvm::Method(0) + 0x408, kId);
  EXPECT_EQ(FirstId(), 0U) << "no class has the method";
  ListInClass(MadeUpJvm::Method(0));
  EXPECT_EQ(FirstId(), kId);
  memory_.Put(array, 1);
  memory_.Put(array + 8, kOther);
  memory_.Put(holder + 40, array);
  EXPECT_EQ(FirstId(), kOther);
  memory_.Put(array + 8, kId);
  EXPECT_EQ(FirstId(), kId) << "another id in the same place";
  memory_.Put(holder + 40, 0);
  EXPECT_EQ(FirstId(), 0U) << "a class without ids";
}

// From JDK 26 on. A class is redefined: its former method keeps its address and gets another
// number, and the place of its id, which the new version has from now on.
TEST_P(JavaWalkTest, ARedefinedMethodHasNotTheIdOfItsNewVersion) {
  constexpr uint64_t kId = 4711;
  auto caches = std::make_unique<WalkStart::Caches>();
  start_.caches = caches.get();
  layout_.ids_are_numbers = true;
  memory_.Put(MadeUpJvm::Method(0) + 0x408, kId);
  ListInClass(MadeUpJvm::Method(0));
  EXPECT_EQ(FirstId(), kId);
  EXPECT_EQ(FirstId(), kId) << "from the cache";
  memory_.Put(MadeUpJvm::Method(0) + 0x100 + 16, 50 << 16 | 7);
  EXPECT_EQ(FirstId(), 0U);
}

// Intrinsics of method handles have number 0 in their class, as one of the methods of the class
// has.
TEST_P(JavaWalkTest, AnIntrinsicHasNotTheIdOfAnotherMethod) {
  constexpr uint64_t kNative = 0x100;
  const uint64_t method = MadeUpJvm::Method(0), id = method + 0x500;
  memory_.Put(MadeUpJvm::Method(1) + 0x200 + 24, method + 0x300);  // of the same class
  memory_.Put(method + 16, kNative);
  EXPECT_EQ(FirstId(), id);
  memory_.Put(id, MadeUpJvm::Method(1));
  EXPECT_EQ(FirstId(), 0U);
  memory_.Put(method + 16, 0);
  EXPECT_EQ(FirstId(), id) << "an old version of a redefined method";
  memory_.Put(MadeUpJvm::Method(1) + 16, kNative);
  EXPECT_EQ(FirstId(), 0U) << "the intrinsic was asked for its id first";

  // From JDK 26 on.
  constexpr uint64_t kId = 4711;
  layout_.ids_are_numbers = true;
  memory_.Put(method + 0x408, kId);
  ListInClass(MadeUpJvm::Method(1));
  EXPECT_EQ(FirstId(), 0U) << "the class has a native method of this number";
  memory_.Put(MadeUpJvm::Method(1) + 16, 0);
  EXPECT_EQ(FirstId(), kId) << "an old version of a redefined method";
  memory_.Put(method + 16, kNative);
  EXPECT_EQ(FirstId(), 0U);
  ListInClass(method);
  EXPECT_EQ(FirstId(), kId);
}

// A former version may come from the CDS archive, and has a virtual table of its own then.
TEST_P(JavaWalkTest, AnOldVersionHasTheIdOfTheNewestOfItsClass) {
  const uint64_t method = MadeUpJvm::Method(0), id = method + 0x500;
  memory_.Put(id, MadeUpJvm::Method(1));
  EXPECT_EQ(FirstId(), 0U) << "a method of another class";
  memory_.Put(MadeUpJvm::Method(1) + 0x200 + 24, method + 0x300);
  EXPECT_EQ(FirstId(), id);
  memory_.Put(method, 0x99);
  EXPECT_EQ(FirstId(), 0U) << "a word that no Method begins with";
  VirtualTables known;
  layout_.method_tables = &known;
  known.Learn(0x77);
  EXPECT_EQ(FirstId(), 0U);
  known.Learn(0x99);
  EXPECT_EQ(FirstId(), id) << "that of the archive";
  memory_.Put(MadeUpJvm::Method(1) + 0x100 + 16, 50 << 16 | 7);
  EXPECT_EQ(FirstId(), 0U) << "another number";
}

INSTANTIATE_TEST_SUITE_P(Each, JavaWalkTest, testing::Values(&kX86_64Rules, &kAarch64Rules),
                         [](const auto& info) {
                           return info.param == &kX86_64Rules ? "x86_64" : "aarch64";
                         });

}  // namespace
}  // namespace walkhammer::asgst
