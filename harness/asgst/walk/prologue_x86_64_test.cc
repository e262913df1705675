// SPDX-License-Identifier: Apache-2.0
// The frame's shape at each instruction of each sequence that the compilers emit, and the rules
// about calls and polls: on x86_64.
#include "harness/asgst/walk/prologue_testing.h"

namespace walkhammer::asgst {
namespace {

class PrologueX86 : public Prologue {
 protected:
  PrologueX86() : Prologue(kX86_64Rules, {0x90}) {}

  const Bytes kNop = {0x90}, kBang = {0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff}, kPush = {0x55},
              kPop = {0x5d}, kMoveFp = {0x48, 0x8b, 0xec}, kSub = {0x48, 0x83, 0xec, 0x20},
              kSubLong = {0x48, 0x81, 0xec, 0x20, 0, 0, 0}, kAdd = {0x48, 0x83, 0xc4, 0x20},
              kStoreFp = {0x48, 0x89, 0x6c, 0x24, 0x20},
              kStoreFpFar = {0x48, 0x89, 0xac, 0x24, 0, 1, 0, 0}, kRet = {0xc3},
              kPoll = {0x49, 0x3b, 0xa7, 0x50, 4, 0, 0}, kJa = {0x0f, 0x87, 0x10, 0, 0, 0},
              kJump = {0xe9, 0x10, 0, 0, 0}, kJumpOut = {0xe9, 0, 0x10, 0, 0},
              kCall = {0xe8, 0, 0, 0, 0};
};

TEST_F(PrologueX86, EntryWithAPush) {
  code_.frame_complete = 12;
  EXPECT_EQ(ShapesAt(0, {kBang, kPush, kSub, kNop}), "NNPWW");
  code_.frame_complete = 18;
  EXPECT_EQ(ShapesAt(0, {kBang, kPush, kMoveFp, kSubLong, kNop}), "NNPPWW");
}

TEST_F(PrologueX86, EntryThatStoresFp) {
  code_.frame_complete = 12;
  EXPECT_EQ(ShapesAt(0, {kSubLong, kStoreFp, kNop}), "NFWW");
  code_.frame_complete = 20;
  EXPECT_EQ(ShapesAt(0, {kBang, kSubLong, kStoreFp, kNop}), "NNFWW");
  EXPECT_EQ(ShapesAt(0, {kBang, kSub, kStoreFpFar, kNop}), "NNFWW");
}

TEST_F(PrologueX86, EntryThatIsNotSetUpWhenItShouldBe) {
  code_.frame_complete = 8;
  EXPECT_EQ(ShapesAt(0, {kBang, kPush}), "NNW");
}

// An OSR entry builds a frame of the nmethod's size, 6 words: 32 bytes below fp and ret.
TEST_F(PrologueX86, EntryOfALoopSaysNotWhereItEnds) {
  EXPECT_EQ(ShapesAt(0x100, {kBang, kPush, kSub}), "NNPW");
  EXPECT_EQ(ShapesAt(0x140, {kPush, kMoveFp, kSubLong}), "NWWW");
  EXPECT_EQ(ShapesAt(0x180, {kPush, {0x48, 0x83, 0xec, 0x18}}), "WWW") << "another size";
  code_.frame_words = 2;
  EXPECT_EQ(ShapesAt(0x1c0, {kPush, {0x48, 0x83, 0xec, 0}}), "WWW");
}

TEST_F(PrologueX86, Exit) {
  EXPECT_EQ(ShapesAt(0x100, {kAdd, kPop, kPoll, kJa, kRet}), "WPNNNW");
  EXPECT_EQ(ShapesAt(0x140, {kAdd, kPop, {0xc5, 0xf8, 0x77}, kRet}), "WPNNW");
  EXPECT_EQ(ShapesAt(0x180, {kAdd, kPop, {0x74, 0x06}, kNop, kNop, kNop, kNop, kNop, kNop, kRet}),
            "WPNWWWWWWNW")
      << "past a slow path";
  EXPECT_EQ(ShapesAt(0x1c0, {kPop, kNop, kRet}), "WWNW") << "a pop that ends no frame";
}

// leave, an exception? With a poll, jumps over its slow path.
TEST_F(PrologueX86, ExitOfANativeWrapper) {
  const Bytes kLeave = {0xc9}, kJe = {0x74, 0x05}, kSlow = {0xe9, 0, 0, 0, 0};
  EXPECT_EQ(ShapesAt(0x100, {kLeave, {0x49, 0x81, 0x7f, 8, 0, 0, 0, 0}, {0x75, 5}, kRet}), "WNNNW");
  EXPECT_EQ(ShapesAt(0x140, {kLeave,
                             {0x41, 0xf6, 0x47, 0x28, 1},
                             kJe,
                             kSlow,
                             {0x49, 0x83, 0x7f, 8, 0},
                             {0x0f, 0x85, 0, 0, 0, 0},
                             kRet}),
            "WNNWNNNW");
  EXPECT_EQ(ShapesAt(0x180, {kLeave, {0x41, 0xf6, 0x87, 0x50, 4, 0, 0, 1}, kJe, kSlow, kRet}),
            "WNNWNW")
      << "the displacement of the poll does not fit in a byte";
}

// Each check between the pop and the return has its own length.
TEST_F(PrologueX86, EachCheckOfAnExit) {
  for (const Bytes& check : std::initializer_list<Bytes>{{0x49, 0x3b, 0xa7, 1, 1, 1, 1},
                                                         {0x49, 0x3b, 0x67, 1},
                                                         {0x0f, 0x87, 1, 1, 1, 1},
                                                         {0x0f, 0x85, 1, 1, 1, 1},
                                                         {0xc5, 0xf8, 0x77},
                                                         {0x41, 0x85, 0x02},
                                                         {0x85, 0x05, 1, 1, 1, 1},
                                                         {0x41, 0xf6, 0x47, 1, 1},
                                                         {0x41, 0xf6, 0x87, 1, 1, 1, 1, 1},
                                                         {0x49, 0x83, 0x7f, 1, 1},
                                                         {0x49, 0x81, 0x7f, 1, 1, 1, 1, 1},
                                                         {0x75, 1},
                                                         {0x4d, 0x8b, 0x97, 1, 1, 1, 1}}) {
    EXPECT_EQ(ShapesAt(0x100, {kPop, check, kRet, kNop, kNop}), "PNNWWW")
        << static_cast<int>(check[0]) << " " << static_cast<int>(check[1]);
    Put(0x100, {kNop, kNop, kNop, kNop, kNop, kNop, kNop, kNop, kNop, kNop, kNop, kNop});
  }
}

// jb past the code that handles a used reserved zone: once, and forwards.
TEST_F(PrologueX86, ExitOfReservedStackAccess) {
  Put(0x140, {kRet});
  EXPECT_EQ(ShapesAt(0x100, {kPop, {0x0f, 0x82, 0x39, 0, 0, 0}, kNop}), "PNWW");
  EXPECT_EQ(ShapesAt(0x100, {kPop, {0x0f, 0x82, 0x38, 0, 0, 0}, kNop}), "WWWW") << "to no return";
  Put(0x140, {{0x0f, 0x82, 0x10, 0, 0, 0}});
  Put(0x156, {kRet});
  EXPECT_EQ(ShapesAt(0x100, {kPop, {0x0f, 0x82, 0x39, 0, 0, 0}, kNop}), "WWWW") << "twice";
  Put(0xf0, {kRet});
  EXPECT_EQ(ShapesAt(0x100, {kPop, {0x0f, 0x82, 0xe9, 0xff, 0xff, 0xff}, kNop}), "WWWW")
      << "backwards";
  EXPECT_EQ(ShapesAt(0x24c, {kPoll, kJa, kRet}), "NNNW");
  EXPECT_EQ(ShapesAt(0x200, {kNop, kPop, kPoll, {0x0f, 0x82, 0x3d, 0, 0, 0}}), "WPNNW");
  Put(0x24c, {kPoll, kJa, kNop});
  EXPECT_EQ(ShapeAt(0x201), 'W') << "no return";
}

TEST_F(PrologueX86, JumpsWithoutAFrame) {
  EXPECT_EQ(ShapesAt(0x100, {kPop, kJumpOut}), "PNW");
  EXPECT_EQ(ShapesAt(0x140, {kPop, kJump}), "WWW") << "within the code";
  EXPECT_EQ(ShapesAt(0x180, {kNop, kJumpOut}), "WWW");
  EXPECT_EQ(ShapesAt(0x1c0, {kPop, {0x5a}, {0xff, 0xe0}}), "PNWW");
  EXPECT_EQ(ShapesAt(0x200, {kPop, {0x5a}, {0x41, 0xff, 0xe3}}), "PNWW");
  // mov byte [rax], 0x5d
  EXPECT_EQ(ShapesAt(0x280, {{0xc6, 0, 0x5d}, kJump}), "WWW");
  code_.level = 0;
  EXPECT_EQ(ShapesAt(0x280, {{0xc6, 0, 0x5d}, kJump}), "WWW");
  EXPECT_EQ(ShapesAt(0x240, {kNop, kJumpOut}), "WNW") << "a native wrapper's only jump out";
}

// A patched call's way into the interpreter: mov rbx, Method*  jmp
TEST_F(PrologueX86, StubOfACall) {
  const Bytes kMove = {0x48, 0xbb, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(ShapesAt(0x300, {kNop, kMove, kJumpOut}), "WCCW");
  EXPECT_EQ(ShapesAt(0x320, {kMove, kJump}), "WWW");
  code_.kind = CodeKind::kStub;
  EXPECT_EQ(ShapesAt(0x340, {kMove, kJumpOut}), "WWW");
}

TEST_F(PrologueX86, SlowPathOfThePoll) {
  const Bytes kStore = {0x4d, 0x89, 0x97, 0x60, 4, 0, 0};
  EXPECT_EQ(ShapesAt(0x300, {kNop, {0x4c, 0x8d, 0x15, 1, 0, 0, 0}, kStore, kJump}), "WNNNW");
  EXPECT_EQ(ShapesAt(0x320, {kNop, {0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8}, kStore, kJump}), "WNNNW");
  EXPECT_EQ(ShapesAt(0x340, {kStore, kNop}), "WWW");
}

TEST_F(PrologueX86, UnreadableCodeHasAnUnknownShape) { EXPECT_EQ(ShapeAt(2 * kSize), '?'); }

TEST_F(PrologueX86, StubThatDoesNotSayWhereItsFrameIsComplete) {
  code_.kind = CodeKind::kStub;
  code_.frame_complete = -1;
  // push rbp; mov rbp, rsp; push rax; leave; ret
  EXPECT_EQ(ShapesAt(0, {kPush, kMoveFp, {0x50}, {0xc9}, kRet}), "NPBBNB");
  // Without fp, by its size. sub; nop; add; pop rbp; pop rdx; jmp r10
  EXPECT_EQ(ShapesAt(0, {kSub, kNop, kAdd, kPop, {0x5a}, {0x41, 0xff, 0xe2}}), "NWWPNWW");
}

TEST_F(PrologueX86, StubsSetUpFp) {
  EXPECT_EQ(SetUpBy({kPush, kMoveFp}), "1 4");
  EXPECT_EQ(SetUpBy({kPush, {0x48, 0x89, 0xe5}}), "1 4");
  EXPECT_EQ(SetUpBy({kPush, kNop}), "none");
  EXPECT_EQ(SetUpBy({kNop, kMoveFp}), "none");
}

TEST_F(PrologueX86, Calls) {
  // call  call rax  call r10  call [rax + 8]  call [rsp + 1]
  ExpectOfEach(rules_.follows_call, true, true,
               {{0xe8, 1, 0, 0, 0},
                {0xff, 0xd0},
                {0x41, 0xff, 0xd2},
                {0xff, 0x50, 8},
                {0xff, 0x94, 0x24, 1, 0, 0, 0}});
  // jmp  jmp rax  one instruction before
  ExpectOfEach(rules_.follows_call, true, false,
               {{0xe9, 1, 0, 0, 0},
                {0xff, 0xe0},
                {0xe8, 1, 0, 0, 0, 0x90},
                {0xff, 0xd0, 0x90},
                {0xff, 0xd0, 0x90, 0x90, 0x90, 0x90},
                {0xff, 0x50, 8, 0x90}});
}

TEST_F(PrologueX86, Polls) {
  ExpectOfEach(rules_.is_poll, false, true,
               {{0x85, 0x01},
                {0x41, 0x85, 0x02},
                {0x85, 0x05, 1, 2, 3, 4},
                {0x85, 0x45, 0},
                {0x41, 0x85, 0x45, 0},
                {0x41, 0x85, 0x04, 0x24}});
  // test eax, eax  test eax, [rax + 8]  test eax, [rbp + 8]  test eax, [rsp]  test ecx, [rax]  cmp
  // eax, [r10]
  ExpectOfEach(rules_.is_poll, false, false,
               {{0x85, 0xc0},
                {0x85, 0x40, 8},
                {0x85, 0x45, 8},
                {0x85, 0x04, 0x24},
                {0x85, 0x08},
                {0x41, 0x3b, 0x02}});
}

TEST_F(PrologueX86, InterpreterGoesOn) {
  ExpectOfEach(rules_.goes_on, false, true,
               {{0x48, 0x8b, 0x65, 0xf0},                          // mov rsp, [rbp-N]
                {0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd},  // with rcx
                {0x4c, 0x8b, 0x55, 0xf0, 0x4a, 0x8d, 0x64, 0xd5},  // with r10
                {0x48, 0x8d, 0x64, 0xcd, 0x00},                    // its lea
                {0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0},
                {0x4c, 0x8b, 0x6d, 0xc0}});  // mov r13, [rbp-M]
  ExpectOfEach(rules_.goes_on, false, false,
               {{0x48, 0xc7, 0x45, 0xf0, 1, 0, 0, 0},
                {0x48, 0x8b, 0x4d, 0xf0},  // without the lea
                {0x4c, 0x8b, 0x75, 0xc0}});
}

TEST_F(PrologueX86, WordsPushedForACall) {
  const Bytes kPopRsi = {0x5e}, kPopRdi = {0x5f};
  // push rsi  push rdi
  EXPECT_EQ(TakenBackAt(0, {{0x56}, {0x57}, kCall, kPopRdi, kPopRdi, kNop}), "0122100");
  EXPECT_EQ(TakenBackAt(0x40, {{0x41, 0x50}, kCall, {0x41, 0x58}, kNop}), "01100");
  EXPECT_EQ(TakenBackAt(0x80, {kCall, kPop, kNop}), "0000") << "pop rbp ends a frame";
  // movsd [rsp], xmm0  call  pop rax
  EXPECT_EQ(TakenBackAt(0xc0, {{0xf2, 0x0f, 0x11, 0x04, 0x24}, kCall, {0x58}, kNop}), "11100");
  EXPECT_EQ(TakenBackAt(0x100, {{0xc5, 0xfb, 0x11, 0x04, 0x24}, kCall, {0x58}, kNop}), "11100");
  Put(0x105, {{0x90, 0x90, 0x90, 0x90, 0x90}});
  EXPECT_EQ(rules_.takes_back(memory_, code_, kCode + 0x100), 0u) << "no call follows";
  EXPECT_EQ(TakenBackAt(0x140, {kNop, kPopRsi, {0x41, 0x5e}, kNop, kPop, kRet}), "0210000");
  EXPECT_EQ(TakenBackAt(0x180, {kPopRsi, kPop, kRet}), "1000") << "the second is the frame's own";
  // pop r13 has the same three bits
  EXPECT_EQ(TakenBackAt(0x1c0, {kPopRsi, {0x41, 0x5d}, kNop}), "2100");
}

// push rsi  push rcx  cmp  je  push rsi  push rcx  call  pop rcx  pop rsi  jne  pop rcx  pop rsi
TEST_F(PrologueX86, WordsPushedAroundBranchesOfC1) {
  const Bytes kPushRsi = {0x56}, kPushRcx = {0x51}, kPopRsi = {0x5e}, kPopRcx = {0x59},
              kCompareThem = {0x48, 0x3b, 0xce}, kJe = {0x0f, 0x84, 0x20, 0, 0, 0};
  code_.level = 3;
  code_.end = kCode + 0x400;
  EXPECT_EQ(TakenBackAt(0, {kNop, kPushRsi, kPushRcx, kCompareThem, kJe, kPushRsi, kPushRcx, kCall,
                            kPopRcx, kPopRsi, kJe, kPopRcx, kPopRsi, kNop}),
            "001222344322100");
  code_.level = 4;
  EXPECT_EQ(TakenBackAt(0x80, {kCompareThem, kJe, kPopRcx, kPopRsi, kNop}), "002100");
  code_.level = 1;
  EXPECT_EQ(TakenBackAt(0x100, {kCompareThem, kJe, kPopRcx, kPopRsi, kNop}), "222100");
  EXPECT_EQ(TakenBackAt(0x140, {kNop, kJump, kPopRsi, kNop}), "00100");
  EXPECT_EQ(TakenBackAt(0x180, {kNop, kAdd, kPopRsi, kNop}), "00100") << "the frame ends";
  EXPECT_EQ(TakenBackAt(0x1c0, {kPopRsi, kPop, kPopRsi, kRet}), "10100");
  EXPECT_EQ(TakenBackAt(0x300, {kPopRsi, kPushRsi, kJump}), "1000") << "pushed later";
  EXPECT_EQ(TakenBackAt(0x200, {{0x9c}, kCall, {0x9d}, kNop}), "01100") << "pushfq, popfq";
  // pop r11  pop rsp  pop r10: rsp was aligned before
  EXPECT_EQ(TakenBackAt(0x240, {{0x41, 0x5b}, {0x5c}, {0x41, 0x5a}, kNop}), "00100");
  // pop rsi  and rsp, -16
  EXPECT_EQ(TakenBackAt(0x280, {kPopRsi, {0x48, 0x83, 0xe4, 0xf0}, kPopRsi, kNop}), "10100");
}

TEST_F(PrologueX86, BytesGivenBackAfterABarrier) {
  const Bytes kKeep = {0x48, 0x89, 0x04, 0x24}, kReload = {0x48, 0x8b, 0x04, 0x24};
  EXPECT_EQ(AtEach(0, {kSub, kKeep, kCall, kReload, kAdd, kNop},
                   [&](uint64_t at) {
                     return rules_.gives_back(memory_, code_, kCode + at) == 0x20 ? '2' : '0';
                   }),
            "0222200");
  EXPECT_EQ(rules_.adds_to_sp(memory_, kCode + 17), 0x20u);
  EXPECT_EQ(rules_.adds_to_sp(memory_, kCode + 13), 0u);
  EXPECT_EQ(rules_.adds_to_sp(memory_, kCode), 0u) << "sub";
  const auto given = [&](std::initializer_list<Bytes> code) {
    Put(0x100, {Bytes(32, 0x90)});
    Put(0x100, code);
    return rules_.gives_back(memory_, code_, kCode + 0x100);
  };
  EXPECT_EQ(given({kNop, {0x48, 0x81, 0xc4, 0, 1, 0, 0}, kNop}), 0x100u);
  EXPECT_EQ(given({kCall, kReload, kAdd, kPop}), 0u) << "its frame ends";
  EXPECT_EQ(given({kAdd, kPop, kRet}), 0u) << "the frame's own";
  EXPECT_EQ(given({kCall, kReload, kSub, kNop}), 0u) << "not subtracted yet";
  EXPECT_EQ(given({kCall, {0x74, 0x02}, kAdd}), 0u) << "a branch is before";
  EXPECT_EQ(given({{0x0f, 0x84, 0, 0, 0, 0}, kAdd, kNop}), 0u) << "a far branch";
  EXPECT_EQ(given({{0xeb, 0x00}, kAdd, kNop}), 0u) << "behind a jump";
  EXPECT_EQ(given({{0x50}, kAdd, kNop}), 0u) << "behind a push";
  EXPECT_EQ(given({{0x83, 0xc4, 0x30}, kNop}), 0u) << "esp";
}

TEST_F(PrologueX86, StackPointerLoadedFromTheThread) {
  const auto from = [&](std::initializer_list<Bytes> code) {
    Put(0, code);
    return rules_.loads_sp_from(memory_, kCode);
  };
  EXPECT_EQ(from({{0x49, 0x8b, 0xa7, 0x38, 5, 0, 0}, {0x50}}), 0x538);
  EXPECT_EQ(from({{0x50}, {0x49, 0x8b, 0x67, 0x38}, kNop, kNop, kNop}), 0x38) << "behind a push";
  EXPECT_EQ(from({{0x48, 0x8b, 0xa7, 0x38, 5, 0, 0}}), -1) << "from rdi";
  EXPECT_EQ(from({{0x49, 0x89, 0xa7, 0x38, 5, 0, 0}}), -1) << "a store";
  EXPECT_EQ(from({{0x49, 0x8b, 0x87, 0x38, 5, 0, 0}}), -1) << "to rax";
  Put(0x40, {{0x49, 0x8b, 0x67, 0x18}});
  EXPECT_EQ(rules_.loads_sp_from(memory_, kCode + 0x40 - 7), 0x18);
  EXPECT_EQ(rules_.loads_sp_from(memory_, kCode + 0x40 - 8), -1) << "not among the first eight";
  EXPECT_EQ(rules_.loads_sp_from(memory_, kCode + 2 * kSize), -1) << "not to be read";
}

}  // namespace
}  // namespace walkhammer::asgst
