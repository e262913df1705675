// SPDX-License-Identifier: Apache-2.0
// Snapshots of samples that a test has made.
#include "harness/findings/sample_request.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "harness/findings/sample_request_testing.h"
#include "harness/request/request_testing.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

constexpr uint64_t kBase = 0x7f0000200000, kLimit = kBase - (1 << 20), kSp = kBase - 0x3000;
constexpr uint64_t kCode = 0x7f1000000000, kLib = 0x7f2000000000, kMeta = 0x7f3000000000;
constexpr uint64_t kHeap = 0x7f4000000000, kThread = 0x7f5000000000, kGuard = 0x7f6000000000;

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() {
    StressState& s = world_.state();
    s.job.depth = 77;
    world_.AddCode(SymbolKind::kStub, "StubRoutines (1)", kCode, kCode + 0x10000);
    world_.AddCode(SymbolKind::kStub, "call_stub", kCode + 0x100, kCode + 0x200);
    // Not in order of address.
    world_.AddCode(SymbolKind::kStub, "adapter", kCode + 0x20800, kCode + 0x20900);
    world_.AddCode(SymbolKind::kStub, "adapter", kCode + 0x20000, kCode + 0x20100);
    world_.AddCode(SymbolKind::kStub, "adapter", kCode + 0x20400, kCode + 0x20500).gone = 1;
    world_.AddCode(SymbolKind::kCodelet, "aload_0", kCode + 0x30000, kCode + 0x30040);
    world_.AddCode(SymbolKind::kNmethod, "a.B.old()V", kCode + 0x40000, kCode + 0x40200).gone = 1;
    world_.AddCode(SymbolKind::kNmethod, "a.B.run()V", kCode + 0x40100, kCode + 0x40300);
    world_.AddMethod("a.B.run()V", kMeta + 0x1000, kMeta + 0x2030, 20);
    world_.AddModule("/opt/jdk/lib/server/libjvm.so", kLib, kLib + 0x1000000);
    world_.AddArea(kHeap, kHeap + 0x1000000, true);
    world_.AddArea(kGuard, kGuard + 0x1000, false);
    sample_.walker = 0;
    sample_.state = kStateInJava;
    sample_.stack_base = kBase;
    sample_.stack_limit = kLimit;
    sample_.thread = kThread;
    sample_.registers = {kCode + 0x30010, kSp, kSp + 0x40, 0};
  }

  void Push(uint64_t word) { sample_.stack[sample_.words++] = word; }

  WalkRequest Make() { return RequestOfSample(sample_, world_.state(), *symbols_); }
  std::string Text() { return ToText({Make(), ""}, *symbols_); }
  // The text of the value that `word` on the stack becomes.
  std::string Named(uint64_t word) {
    sample_.words = 0;
    Push(word);
    const WalkRequest request = Make();
    return request.edit_count == 0 ? "no edit" : ValueText(request.edits[0].value, *symbols_);
  }

  SampledWorld world_;
  Sample& sample_ = world_.sample();
  std::unique_ptr<SymbolTable> symbols_ = NewSymbolTable();
};

TEST_F(SnapshotTest, AnInterpretedFrame) {
  Push(3);                // expression stack
  Push(kSp + 8);          // initial sp
  Push(kMeta + 0x2035);   // bcp
  Push(kSp + 0x58);       // locals
  Push(kMeta + 0x3460);   // constant pool cache
  Push(0);                // method data
  Push(kHeap + 0x12340);  // mirror
  Push(kMeta + 0x1000);   // Method*
  Push(kSp + 0x80);       // link
  Push(kCode + 0x150);    // returns into call_stub
  Push(kThread + 0x2f0);  //
  Push(kLib + 0x123456);  //
  Push(0x7fabcdef0010);   // nothing is mapped there
  Push(~uint64_t{0});     //
  EXPECT_EQ(Text(),
            "walk 1\nwalker agct\nscene sampled\norigin sample\nstate in_Java\ndepth 77\n"
            "pc codelet \"aload_0\"+0x10\n"
            "sp stack+0x8000\n"
            "fp stack+0x8040\n"
            "edit stack+0x8000 = 0x3\n"
            "edit stack+0x8008 = stack+0x8008\n"
            "edit stack+0x8010 = bytecodes \"a.B.run()V\"+0x5\n"
            "edit stack+0x8018 = stack+0x8058\n"
            "edit stack+0x8020 = metaspace+0x3460\n"
            "edit stack+0x8030 = zero-page+0x12340\n"
            "edit stack+0x8038 = method \"a.B.run()V\"\n"
            "edit stack+0x8040 = stack+0x8080\n"
            "edit stack+0x8048 = stub \"call_stub\"+0x50\n"
            "edit stack+0x8050 = thread+0x2f0\n"
            "edit stack+0x8058 = library \"libjvm.so\"+0x123456\n"
            "edit stack+0x8060 = unmapped+0x70010\n"
            "edit stack+0x8068 = -0x1\n");
  EXPECT_EQ(RealismOf(Make()), Realism::kGenuine);
  EXPECT_TRUE(IsValid(Make(), *symbols_));
}

TEST_F(SnapshotTest, CodeIsNumberedByAddressOverWhatLives) {
  EXPECT_EQ(Named(kCode + 0x20010), "stub \"adapter\"+0x10");
  EXPECT_EQ(Named(kCode + 0x20810), "stub \"adapter#1\"+0x10");
  EXPECT_EQ(Named(kCode + 0x20410), "stub \"adapter\"+0x10");        // gone: any number will do
  EXPECT_EQ(Named(kCode + 0x40180), "nmethod \"a.B.run()V\"+0x80");  // existing code comes first
  EXPECT_EQ(Named(kCode + 0x40080), "nmethod \"a.B.old()V\"+0x80");
  EXPECT_EQ(Named(kCode + 0x8000), "stub \"StubRoutines (1)\"+0x8000");
  EXPECT_EQ(Named(kCode + 0x38000), "code-cache+0x38000");
}

TEST_F(SnapshotTest, TheCodeCacheEndsWithItsLastLivingCode) {
  world_.AddCode(SymbolKind::kStub, "last", kCode + 0x50000, kCode + 0x50010);
  world_.AddCode(SymbolKind::kStub, "dead", kCode + 0x60000, kCode + 0x60010).gone = 1;
  EXPECT_EQ(Named(kCode + 0x4fff0), "code-cache+0x4fff0");
  EXPECT_EQ(Named(kCode + 0x50008), "stub \"last\"+0x8");
  EXPECT_EQ(Named(kCode + 0x50010), "unmapped+0x50010");
  EXPECT_EQ(Named(kCode + 0x60008), "stub \"dead\"+0x8");
}

TEST_F(SnapshotTest, StackKeepsItsDistances) {
  EXPECT_EQ(Named(kSp - 0x10), "stack+0x7ff0");
  EXPECT_EQ(Named(kBase - 0x48), "stack+0xafb8");
  EXPECT_EQ(Named(kBase - 0x40), "stack-base-0x40");  // at the end of the stack
  EXPECT_EQ(Named(kBase - 8), "stack-base-0x8");
  EXPECT_EQ(Named(kBase), "unmapped");
  EXPECT_EQ(Named(kLimit + 0x20), "stack-limit+0x20");
  sample_.registers.sp = kLimit + 0x100;  // close to the guard pages
  EXPECT_EQ(Named(kBase - 0x48), "stack+0x107eb8");
  sample_.stack_base += 8 << 20;  // more than there is room for
  EXPECT_EQ(Named(sample_.stack_base - 8), "stack-base-0x8");
  sample_.registers.sp = 0x10;  // not on the stack at all
  EXPECT_EQ(Named(kLimit + 0x20), "stack-limit+0x20");
}

TEST_F(SnapshotTest, Numbers) {
  EXPECT_EQ(Named(0), "no edit");  // the room is full of zeros
  EXPECT_EQ(Named(0xffff), "0xffff");
  EXPECT_EQ(Named(0x80001234), "0x80001234");
  EXPECT_EQ(Named(0xffff800000000000), "0xffff800000000000");
  EXPECT_EQ(Named(0xffffffff), "0xffffffff");
  EXPECT_EQ(Named(0x100000000), "unmapped");
  EXPECT_EQ(Named(kGuard + 8), "no-access+0x8");
  EXPECT_EQ(Named(kMeta + 0x1008), "method \"a.B.run()V\"+0x8");
  EXPECT_EQ(Named(kMeta + 0x2044), "metaspace+0x2044");  // after the bytecodes
}

// Once the ring of methods has come round, what stands at its end is older than what is at its
// beginning.
TEST_F(SnapshotTest, OfTwoMethodsAtOneAddressTheNewerOneCounts) {
  constexpr uint32_t kMost = StressState::kMaxMethods;
  const auto add_at = [&](uint32_t place, const char* name) {
    world_.state().method_count.store(place);
    world_.AddMethod(name, kMeta + 0x8000, kMeta + 0x9000, 20);
  };
  add_at(5, "a.B.low()V");
  add_at(kMost - 3, "a.B.high()V");
  for (const uint32_t count : {kMost, 2 * kMost, kMost + 5}) {
    world_.state().method_count.store(count);
    EXPECT_EQ(Named(kMeta + 0x8000), "method \"a.B.high()V\"") << count;
    EXPECT_EQ(Named(kMeta + 0x9001), "bytecodes \"a.B.high()V\"+0x1") << count;
  }
  for (const uint32_t count : {kMost + 6, 2 * kMost - 3}) {
    world_.state().method_count.store(count);
    EXPECT_EQ(Named(kMeta + 0x8000), "method \"a.B.low()V\"") << count;
    EXPECT_EQ(Named(kMeta + 0x9001), "bytecodes \"a.B.low()V\"+0x1") << count;
  }
}

// Keys differ from process to process, so the request says only that an address was signed.
TEST_F(SnapshotTest, SignedReturnAddresses) {
  constexpr uint64_t kSignature = 0x5d000000000000;
  EXPECT_EQ(Named((kCode + 0x150) | kSignature), "signed stub \"call_stub\"+0x50");
  EXPECT_EQ(Named((kLib + 0x10) | kSignature), "signed library \"libjvm.so\"+0x10");
  EXPECT_EQ(Named((kCode + 0x38000) | 0x1000000000000), "signed code-cache+0x38000");
  EXPECT_EQ(Named((kSp + 8) | kSignature), "0x5d7f00001fd008");              // no code
  EXPECT_EQ(Named((kCode + 0x150) | 0x80000000000000), "0x807f1000000150");  // the kernel's half
}

TEST_F(SnapshotTest, TheAnchorIsTheSamples) {
  EXPECT_EQ(Make().anchor, AnchorMode::kCleared);
  sample_.anchor_sp = kSp + 0x100;
  sample_.anchor_pc = kCode + 0x40180;
  const WalkRequest request = Make();
  EXPECT_EQ(request.anchor, AnchorMode::kCustom);
  EXPECT_EQ(ValueText(request.anchor_sp, *symbols_), "stack+0x8100");
  EXPECT_EQ(ValueText(request.anchor_pc, *symbols_), "nmethod \"a.B.run()V\"+0x80");
  EXPECT_EQ(ValueText(request.anchor_fp, *symbols_), "0x0");
}

TEST_F(SnapshotTest, AFullWindowFitsAndReadsBack) {
  for (int i = 0; i < kSampleWords; i++) Push(kSp + 8 * static_cast<uint64_t>(i));
  const WalkRequest request = Make();
  EXPECT_EQ(request.edit_count, kSampleWords);
  WalkFile again;
  EXPECT_EQ(ParseText(Text(), "s", *symbols_, again), "");
  EXPECT_EQ(again.request, request);
}

TEST_F(SnapshotTest, NearTheEndOfTheStackTheDistanceFromThereCounts) {
  EXPECT_EQ(Named(kBase - 64), "stack-base-0x40");
  EXPECT_EQ(Named(kBase - 65), "stack+0xafbf");
}

TEST_F(SnapshotTest, OfManyWordsThoseThatWalkersFollowAreKept) {
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < 600; i++) words.push_back(kHeap + 0x100 * i);
  words.push_back(kCode + 0x40110);  // beyond the words that a request has room for
  words.push_back(7);
  const WalkRequest request =
      RequestOfWords(sample_, {words, kSp - 0x10}, kSp, world_.state(), *symbols_);
  ASSERT_EQ(request.edit_count, WalkRequest::kMaxEdits);
  EXPECT_EQ(request.edits[0].slot, kSampledSp - 0x10);
  const Edit& code = request.edits[WalkRequest::kMaxEdits - 2];
  EXPECT_EQ(code.slot, kSampledSp - 0x10 + 8 * 600);
  EXPECT_EQ(ValueText(code.value, *symbols_), "nmethod \"a.B.run()V\"+0x10");
  EXPECT_EQ(ValueText(request.edits[WalkRequest::kMaxEdits - 1].value, *symbols_), "0x7");
}

TEST_F(SnapshotTest, WithoutAnOriginTheStackIsToldByItsBounds) {
  const WalkRequest request = RequestOfWords(sample_, {{}, 0}, 0, world_.state(), *symbols_);
  EXPECT_EQ(request.edit_count, 0);
  EXPECT_EQ(ValueText(request.sp, *symbols_), "stack-base-0x3000");
}

TEST_F(SnapshotTest, DamagedMemoryIsReadWithinItsBounds) {
  StressState& s = world_.state();
  s.code_count.store(UINT32_MAX);
  s.method_count.store(UINT32_MAX);
  s.area_count.store(UINT32_MAX);
  s.module_count.store(UINT32_MAX);
  s.code[1].name = UINT32_MAX;
  s.job.depth = UINT16_MAX;
  sample_.walker = 255;
  sample_.words = UINT32_MAX;
  std::memset(sample_.stack, 0x7e, sizeof sample_.stack);
  EXPECT_TRUE(IsValid(Make(), *symbols_));
}

}  // namespace
}  // namespace walkhammer
