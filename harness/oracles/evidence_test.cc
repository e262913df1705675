// SPDX-License-Identifier: Apache-2.0
// Which of two walkers each witness contradicts, on synthetic samples.
#include "harness/oracles/evidence.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace walkhammer {
namespace {

constexpr int kAload0 = 42, kIadd = 96, kGoto = 167, kIreturn = 172, kGetfield = 180,
              kMonitorenter = 194, kWide = 196;
constexpr int kFastAccess = 0xd8, kFastGetfield = 0xcc;
constexpr uint64_t kNothing = 0x123456789;  // in the register of the next bytecode: no bytecode

// Bytecodes of the only method.
std::vector<int> method_codes;
int id;

std::vector<Codelet> Codelets() {
  return {{0x500, 0x540, "fast_agetfield", kFastGetfield},
          {0x100, 0x140, "iadd", kIadd},
          {0x140, 0x180, "goto", kGoto},
          {0x180, 0x200, "monitorenter", kMonitorenter},
          {0x200, 0x240, "ireturn", kIreturn},
          {0x240, 0x280, "getfield", kGetfield},
          {0x280, 0x2c0, "fast_aaccess_0", kFastAccess},
          {0x2c0, 0x300, "aload_0", kAload0},
          {0x300, 0x400, "return entry points", -1}};
}

class EvidenceTest : public testing::Test {
 protected:
  EvidenceTest() {
    codelets_.Set(Codelets());
    method_codes = {kAload0, kIadd, kGetfield, kGoto, kIreturn, kFastGetfield, kWide, kIadd};
    facts_.byte_code = [](void*, int bci) { return method_codes[static_cast<size_t>(bci)]; };
    facts_.code_size = [](void*) { return static_cast<int>(method_codes.size()); };
    seen_.request = &request_;
    seen_.sample = &facts_;
    seen_.methods = &methods_;
  }

  // Evidence for newest frames at `bci` and `other_bci`, with the interpreter at `pc`.
  std::optional<Against> At(uint64_t pc, int bci, int other_bci, uint64_t next = kNothing) {
    mine_ = {bci, 0, &id};
    others_ = {other_bci, 0, &id};
    Answer({&mine_, 1}, {&others_, 1});
    return ByteCodeEvidence(seen_, codelets_, pc, next);
  }

  // The answers of the two walkers.
  void Answer(std::span<Frame> mine, std::span<Frame> others) {
    seen_.trace = {Ending::kReturned, static_cast<int32_t>(mine.size()), mine.data()};
    seen_.other.trace = {Ending::kReturned, static_cast<int32_t>(others.size()), others.data()};
  }

  std::optional<Against> Described(const std::vector<CodeDescription>& activations) {
    DebugInfoEvidence evidence(seen_);
    for (const CodeDescription& there : activations)
      if (!evidence.Add(there)) break;
    return evidence.verdict();
  }

  CodeletCodes codelets_;
  WalkRequest request_{};
  MethodRegistry methods_;
  SampleFacts facts_{};
  Observation seen_{};
  Frame mine_{}, others_{};
};

TEST_F(EvidenceTest, TheByteCodeThatIsExecutedStandsThere) {
  EXPECT_EQ(At(0x100, 1, 0), Against::kOther);
  EXPECT_EQ(At(0x13f, 0, 1), Against::kWalker);
  EXPECT_EQ(At(0x100, 1, 1), Against::kNeither);
  EXPECT_EQ(At(0x100, 0, 2), Against::kBoth);
  EXPECT_EQ(At(0x100, 1, -1), Against::kOther);
  EXPECT_EQ(At(0x100, 1, 1000), Against::kOther);
}

TEST_F(EvidenceTest, RewrittenAndWideOnes) {
  EXPECT_EQ(At(0x240, 5, 0), Against::kOther);  // rewritten while its old codelet runs
  EXPECT_EQ(At(0x500, 2, 0), Against::kOther);  // written back while its fast codelet runs
  EXPECT_EQ(At(0x100, 6, 0), Against::kOther);  // wide iadd, if there were one
  EXPECT_EQ(At(0x280, 0, 5), Against::kNeither);
  EXPECT_EQ(At(0x280, 2, 1), Against::kOther);
}

TEST_F(EvidenceTest, TheNextOneMayBeToldAlready) {
  EXPECT_EQ(At(0x100, 2, 0, kGetfield), Against::kOther);
  EXPECT_EQ(At(0x100, 5, 0, kFastGetfield), Against::kOther);
}

TEST_F(EvidenceTest, LocksFromBehind) {
  method_codes = {kAload0, kMonitorenter, kIadd};
  EXPECT_EQ(At(0x180, 2, 0), Against::kOther);
  EXPECT_EQ(At(0x180, 1, 2), Against::kNeither);
}

TEST_F(EvidenceTest, SaysNothingWhereNothingIsKnown) {
  EXPECT_EQ(At(0x200, 4, 0), std::nullopt);       // may have left its frame
  EXPECT_EQ(At(0x300, 4, 0), std::nullopt);       // between two bytecodes
  EXPECT_EQ(At(0x600, 4, 0), std::nullopt);       // no codelet
  EXPECT_EQ(At(0x140, 1, 0), Against::kNeither);  // on the way to the target
  EXPECT_EQ(At(0x140, 3, 0), Against::kOther);
  method_codes[4] = method_codes[5] = 0xff;  // the jump at 3 leads to 2
  EXPECT_EQ(At(0x140, 3, 2), Against::kNeither);
  EXPECT_EQ(At(0x140, 2, 3), Against::kNeither);
  EXPECT_EQ(At(0x140, 1, 3), Against::kWalker);
  // A second jump, at 6, leads to 1: the one at 3 was saved before.
  method_codes = {kAload0, kIadd, kGetfield, kGoto, 0xff, 0xff, kGoto, 0xff, 0xfb};
  EXPECT_EQ(At(0x140, 1, 3), Against::kNeither);
  EXPECT_EQ(At(0x140, 3, 1), Against::kNeither);
  EXPECT_EQ(At(0x140, 0, 3), Against::kWalker);
  others_.method = &facts_;
  EXPECT_EQ(ByteCodeEvidence(seen_, codelets_, 0x100, kNothing), std::nullopt);
  seen_.other.trace.num_frames = -5;
  EXPECT_EQ(ByteCodeEvidence(seen_, codelets_, 0x100, kNothing), std::nullopt);
}

// Both may name an id that leads nowhere: then there is no bytecode to look at.
TEST_F(EvidenceTest, AMethodThatNobodyKnowsHasNoByteCode) {
  EXPECT_EQ(At(0x100, 1, 0), Against::kOther);
  facts_.code_size = [](void*) { return -1; };
  facts_.byte_code = [](void*, int) -> int {
    ADD_FAILURE() << "asked for the bytecode of no method";
    return -1;
  };
  EXPECT_EQ(At(0x100, 1, 0), std::nullopt);
  EXPECT_EQ(At(0x140, 3, 3), std::nullopt);
  mine_.method = others_.method = nullptr;
  EXPECT_EQ(ByteCodeEvidence(seen_, codelets_, 0x100, kNothing), std::nullopt);
}

TEST_F(EvidenceTest, WhoIsBeingResolvedStandsAtACall) {
  constexpr int kInvokestatic = 184, kInvokehandle = 0xe9;
  std::vector<Codelet> codelets = Codelets();
  codelets.push_back({0x600, 0x640, "invokehandle", kInvokehandle});
  codelets_.Set(codelets);
  method_codes = {kAload0, kInvokestatic, kInvokehandle};
  methods_.Add(&id, "app.Main.run()V", 3, false);
  const auto at = [&](int bci, int other_bci, std::string_view stub) {
    At(0, bci, other_bci);
    return CallEvidence(seen_, codelets_, stub);
  };
  EXPECT_EQ(at(1, 0, "resolve_static_call"), Against::kOther);
  EXPECT_EQ(at(1, 0, "Shared Runtime ic_miss_blob"), Against::kOther);
  EXPECT_EQ(at(1, 0, "wrong_method_stub"), std::nullopt) << "may be called in a native's stead";
  EXPECT_EQ(at(1, 0, ""), std::nullopt);
  EXPECT_EQ(at(0, 2, "ic_miss_stub"), Against::kWalker);
  EXPECT_EQ(at(-1, 1000, "ic_miss_stub"), Against::kBoth);
  EXPECT_EQ(at(1, 2, "ic_miss_stub"), Against::kNeither);
  method_codes.push_back(kAload0);
  EXPECT_EQ(at(1, 0, "ic_miss_stub"), std::nullopt) << "redefined";
}

// Ids that the JVM never handed out are not followed.
TEST_F(EvidenceTest, OfMethodsThatAreNotKnownNothingIsAsked) {
  facts_.code_size = [](void*) -> int { throw "it was asked"; };
  for (void* unknown : {static_cast<void*>(nullptr), static_cast<void*>(&facts_)}) {
    At(0, 1, 1);
    mine_.method = unknown;
    EXPECT_EQ(CallEvidence(seen_, codelets_, "ic_miss_stub"), std::nullopt);
  }
  int native = 0;
  methods_.Add(&native, "app.Main.outside()V", 0, true);
  At(0, -3, -3);
  mine_.method = others_.method = &native;
  EXPECT_EQ(CallEvidence(seen_, codelets_, "ic_miss_stub"), std::nullopt);
  seen_.trace.num_frames = 0;
  EXPECT_EQ(CallEvidence(seen_, codelets_, "ic_miss_stub"), std::nullopt);
}

TEST_F(EvidenceTest, WhereThreadsStart) {
  int ids[2] = {};
  methods_.Add(&ids[0], "java.lang.Thread.run()V", 100, false);
  methods_.Add(&ids[1], "app.Main.work()V", 100, false);
  Frame whole[] = {{0, 0, &ids[1]}, {0, 0, &ids[0]}};
  request_.depth = 8;
  Answer(whole, {whole, 1});
  EXPECT_EQ(ThreadStartEvidence(seen_), Against::kOther);
  std::swap(seen_.trace, seen_.other.trace);
  EXPECT_EQ(ThreadStartEvidence(seen_), Against::kWalker);
  request_.depth = 1;
  EXPECT_EQ(ThreadStartEvidence(seen_), Against::kNeither) << "its buffer ends there";
  request_.depth = 8;
  seen_.trace.ended_on_request = true;
  EXPECT_EQ(ThreadStartEvidence(seen_), std::nullopt);
  std::swap(seen_.trace, seen_.other.trace);
  EXPECT_EQ(ThreadStartEvidence(seen_), std::nullopt) << "the other one is cut";
  std::swap(seen_.trace, seen_.other.trace);
  seen_.trace = seen_.other.trace;
  EXPECT_EQ(ThreadStartEvidence(seen_), std::nullopt) << "they end alike";
  seen_.other.trace = {Ending::kReturned, -5, nullptr};
  EXPECT_EQ(ThreadStartEvidence(seen_), std::nullopt);
  std::swap(seen_.trace, seen_.other.trace);
  EXPECT_EQ(ThreadStartEvidence(seen_), std::nullopt);
}

TEST_F(EvidenceTest, TheShadowStackOfTheProgram) {
  int ids[2] = {};
  methods_.Add(&ids[0], "app.Main.run()V", 100, false);
  methods_.Add(&ids[1], "app.Main.work()V", 100, false);
  methods_.SetShadowId(&ids[0], 1);
  methods_.SetShadowId(&ids[1], 2);
  Frame whole[] = {{0, 0, &ids[1]}, {0, 0, &ids[0]}};
  Answer(whole, {whole + 1, 1});
  EXPECT_EQ(ShadowEvidence(seen_), std::nullopt);
  ShadowStack shadow{};
  shadow.magic.store(ShadowStack::kMagic);
  shadow.depth.store(2);
  shadow.ids[1] = 1;
  facts_.shadow = &shadow;
  EXPECT_EQ(ShadowEvidence(seen_), Against::kOther);
  std::swap(seen_.trace, seen_.other.trace);
  EXPECT_EQ(ShadowEvidence(seen_), Against::kWalker);
  seen_.other.trace = seen_.trace;
  EXPECT_EQ(ShadowEvidence(seen_), Against::kBoth);
  shadow.depth.store(1);
  EXPECT_EQ(ShadowEvidence(seen_), Against::kNeither);
}

TEST_F(EvidenceTest, TheInterpretedFrameAtTheAnchor) {
  constexpr uint64_t kMine = 0x7000, kOthers = 0x8000;
  int ids[2] = {};
  mine_ = {0, 0, &ids[0]};
  others_ = {0, 0, &ids[1]};
  Answer({&mine_, 1}, {&others_, 1});
  EXPECT_EQ(AnchorEvidence(seen_, kMine), std::nullopt) << "nobody knows the methods of ids";
  static void* first;
  first = &ids[0];
  facts_.method_of = [](void* id) { return id == first ? kMine : kOthers; };
  EXPECT_EQ(AnchorEvidence(seen_, kMine), Against::kOther);
  EXPECT_EQ(AnchorEvidence(seen_, kOthers), Against::kWalker);
  EXPECT_EQ(AnchorEvidence(seen_, 0x9000), Against::kBoth);
  EXPECT_EQ(AnchorEvidence(seen_, 0), std::nullopt) << "no such frame";
  others_.method = nullptr;
  EXPECT_EQ(AnchorEvidence(seen_, kMine), std::nullopt) << "a frame without a method";
  others_ = mine_;
  EXPECT_EQ(AnchorEvidence(seen_, kOthers), std::nullopt) << "they say the same";
  seen_.other.trace.num_frames = -5;
  EXPECT_EQ(AnchorEvidence(seen_, kMine), std::nullopt);
}

TEST_F(EvidenceTest, WhatTheJvmTellsOfItsCode) {
  int ids[2] = {};
  mine_ = {7, 0, &ids[0]};
  others_ = {9, 0, &ids[0]};
  Answer({&mine_, 1}, {&others_, 1});
  EXPECT_EQ(Described({}), std::nullopt) << "nothing is described";
  EXPECT_EQ(Described({{&ids[0], 7}}), Against::kOther);
  EXPECT_EQ(Described({{&ids[0], 9}}), Against::kWalker);
  EXPECT_EQ(Described({{&ids[1], 7}}), Against::kBoth);
  mine_.bci = others_.bci = 0;
  EXPECT_EQ(Described({{&ids[0], -1}}), Against::kNeither) << "on entry";
  others_.method = nullptr;
  EXPECT_EQ(Described({{&ids[0], 0}}), std::nullopt) << "not named";
  others_.method = &ids[0];
  seen_.other.trace.num_frames = -5;
  EXPECT_EQ(Described({{&ids[0], 7}}), std::nullopt);
}

// A method is inlined in itself, and one walker leaves out one of its two frames.
TEST_F(EvidenceTest, WhatTheJvmTellsOfInlinedCallers) {
  int ids[3] = {};
  Frame all[] = {{1, 0, &ids[0]}, {5, 0, &ids[1]}, {5, 0, &ids[1]}, {9, 0, &ids[2]}};
  Frame fewer[] = {all[0], all[1], all[3]};
  Answer(all, fewer);
  CodeDescription there{&ids[0], 1};
  EXPECT_EQ(Described({there}), Against::kNeither) << "nothing is said of callers";
  there.AddCaller(&ids[1], 5);
  EXPECT_EQ(Described({there}), Against::kNeither);
  there.AddCaller(&ids[1], 5);
  EXPECT_EQ(Described({there}), Against::kOther);
  all[2].bci = 6;
  EXPECT_EQ(Described({there}), Against::kBoth);
  all[2].bci = 5;
  // An answer that ends too soon is wrong, unless there was no room for more.
  seen_.other.trace.num_frames = 2;
  EXPECT_EQ(Described({there}), Against::kOther);
  WalkRequest shallow = *seen_.request;
  shallow.depth = 2;
  seen_.request = &shallow;
  EXPECT_EQ(Described({there}), std::nullopt);
}

// A method calls itself: the answers differ only where the recursion ends.
TEST_F(EvidenceTest, WhatTheJvmTellsOfOlderActivations) {
  int ids[2] = {};
  const Frame self = {9, 0, &ids[0]}, caller = {3, 0, &ids[1]};
  std::vector<Frame> all = {self, self, self, self, caller}, fewer = {self, self, self, caller};
  Answer(all, fewer);
  CodeDescription two{&ids[0], 9};
  two.AddCaller(&ids[0], 9);
  EXPECT_EQ(Described({two}), Against::kNeither);
  EXPECT_EQ(Described({two, two}), Against::kOther);
  EXPECT_EQ(Described({two, two, {&ids[1], 3}}), Against::kOther);
  EXPECT_EQ(Described({two, {&ids[0], 9}, {&ids[1], 3}}), Against::kWalker);
  all[2].method = nullptr;  // a frame without a method ends the comparison
  EXPECT_EQ(Described({two, two}), Against::kOther);
  fewer[2].method = nullptr;
  EXPECT_EQ(Described({two, two}), Against::kNeither);
}

// --- either of the two walkers may be the one that has nothing to say ---

class EitherSideTest : public EvidenceTest {
 protected:
  static constexpr uint64_t kMethod = 0x7000;
  EitherSideTest() {
    method_codes = {kAload0, 184, kIadd};  // invokestatic
    methods_.Add(&id, "app.Main.run()V", 3, false);
    methods_.Add(&other_id_, "app.Main.other()V", 3, false);
    facts_.method_of = [](void*) { return kMethod; };
    At(0x100, 1, 0);
  }
  std::optional<Against> ByteCode() { return ByteCodeEvidence(seen_, codelets_, 0x100, kNothing); }
  std::optional<Against> Call() { return CallEvidence(seen_, codelets_, "ic_miss_stub"); }
  // The anchor is about two methods.
  std::optional<Against> Anchor() {
    others_.method = &other_id_;
    const auto verdict = AnchorEvidence(seen_, kMethod);
    others_.method = &id;
    return verdict;
  }
  std::optional<Against> DebugInfo() { return Described({{&id, 1}}); }
  void ExpectEvidence(bool there) {
    EXPECT_EQ(ByteCode().has_value(), there);
    EXPECT_EQ(Call().has_value(), there);
    EXPECT_EQ(Anchor().has_value(), there);
    EXPECT_EQ(DebugInfo().has_value(), there);
  }
  void Swap() {
    std::swap(mine_, others_);
    std::swap(seen_.trace.num_frames, seen_.other.trace.num_frames);
    std::swap(seen_.trace.ending, seen_.other.trace.ending);
  }

  int other_id_ = 0;
};

TEST_F(EitherSideTest, WithoutAnAnswerThereIsNoEvidence) {
  for (Trace* side : {&seen_.trace, &seen_.other.trace}) {
    const Trace answer = *side;
    for (const auto& [ending, frames] :
         {std::pair(Ending::kReturned, -5), {Ending::kReturned, 0}, {Ending::kCrashed, 1}}) {
      *side = {ending, frames, answer.frames};
      ExpectEvidence(false);
    }
    *side = answer;
  }
  ExpectEvidence(true);
}

TEST_F(EitherSideTest, WithoutAMethodThereIsNoEvidence) {
  others_.method = nullptr;
  for (int side = 0; side < 2; side++, Swap()) {
    EXPECT_EQ(ByteCode(), std::nullopt);
    EXPECT_EQ(Call(), std::nullopt);
    EXPECT_EQ(AnchorEvidence(seen_, kMethod), std::nullopt);
    EXPECT_EQ(DebugInfo(), std::nullopt);
  }
  mine_.method = others_.method = nullptr;
  facts_.code_size = [](void*) -> int { throw "it was asked"; };
  EXPECT_EQ(ByteCode(), std::nullopt);
}

TEST_F(EitherSideTest, WithoutFactsThereIsNoEvidence) {
  const SampleFacts all = facts_;
  facts_.byte_code = nullptr;
  EXPECT_EQ(ByteCode(), std::nullopt);
  EXPECT_EQ(Call(), std::nullopt);
  facts_ = all;
  facts_.code_size = nullptr;
  EXPECT_EQ(ByteCode(), std::nullopt);
  EXPECT_EQ(Call(), std::nullopt);
}

// The description goes on while one of the two is right so far.
TEST_F(EitherSideTest, TheOneThatIsWrongFirstDoesNotSpareTheOther) {
  Frame first[] = {{9, 0, &id}, {5, 0, &id}}, later[] = {{1, 0, &id}, {9, 0, &id}};
  Answer(first, later);
  EXPECT_EQ(Described({{&id, 1}}), Against::kWalker);
  EXPECT_EQ(Described({{&id, 1}, {&id, 5}}), Against::kBoth);
  std::swap(seen_.trace, seen_.other.trace);
  EXPECT_EQ(Described({{&id, 1}}), Against::kOther);
  EXPECT_EQ(Described({{&id, 1}, {&id, 5}}), Against::kBoth);
}

}  // namespace
}  // namespace walkhammer
