// SPDX-License-Identifier: Apache-2.0
// Each outcome of each oracle, provoked by written observations.
#include "harness/findings/finding_record.h"
#include "harness/oracles/provocation_testing.h"

namespace walkhammer {
namespace {

// Stand-ins for jmethodIDs: only their addresses matter.
int ids[5];
void* const kMain = &ids[0];
void* const kCallee = &ids[1];
void* const kNative = &ids[2];
void* const kGone = &ids[3];
void* const kNeverExisted = &ids[4];

const MethodRegistry& Methods() {
  static MethodRegistry& registry = *[] {
    auto* made = new MethodRegistry;
    made->Add(kMain, "app.Main.main([Ljava/lang/String;)V", 100, false);
    made->Add(kCallee, "app.Main.callee()V", 10, false);
    made->Add(kNative, "app.Main.native()V", 0, true);
    made->Add(kGone, "gone.Plugin.run()V", 10, false);
    made->MarkUnloaded("gone.Plugin");
    return made;
  }();
  return registry;
}

// An undisturbed walk of three frames that is right in every respect.
struct PristineCase : Case {
  PristineCase() {
    truth = frames = {At(-3, kNative), At(4, kCallee), At(50, kMain)};
    seen.walker = &AllWalkers()[0];
    seen.methods = &Methods();
    seen.pristine = true;
    seen.buffer_intact = true;
    seen.trace = {Ending::kReturned, 3, nullptr};
    seen.before = seen.after = {0, 8, 0x7000, 0x100, 0x7010, 0x5};
  }
};

Change Crash() {
  return [](Case& c) {
    c.seen.trace = {Ending::kCrashed, 0, nullptr};
    c.fault.signal = 11;
    c.fault.code = 1;
    c.fault.address = 0x10;
  };
}
// The load of the instruction at `pc` was made to fail, and what ended the walk, if anything did,
// is there.
Change LoadFailedAt(uint64_t pc) {
  return [=](Case& c) {
    c.request.fault = 3;
    c.seen.pristine = false;
    c.seen.failed_load = c.fault.registers.pc = pc;
    c.seen.undisturbed = c.truth;
  };
}
Change Hang() {
  return [](Case& c) { c.seen.trace = {Ending::kHung, 0, nullptr}; };
}
// Returns these frames of the truth.
template <typename... Index>
Change ReturnTrue(Index... index) {
  return [=](Case& c) { c.Return({c.truth[static_cast<size_t>(index)]...}); };
}
Change TrueKind(size_t frame, int kind) {
  return [=](Case& c) { c.truth[frame].kind = static_cast<decltype(Frame::kind)>(kind); };
}
// Sets what the walker says of the first frames.
template <typename... Text>
Change Describe(Text... names) {
  return [=](Case& c) {
    static DescribedFrame described[4];
    int count = 0;
    for (const char* name : {names...})
      std::snprintf(described[count++].text, sizeof described->text, "%s", name);
    c.seen.trace.described = described;
    c.seen.trace.described_count = count;
  };
}
Change Disturbed() {
  return [](Case& c) { c.seen.pristine = false; };
}
Change BreakOff() {
  return [](Case& c) { c.seen.trace.broke_off = true; };
}
Change Overwrite() {
  return [](Case& c) { c.seen.buffer_intact = false; };
}
Change ProtectedFault() {
  return [](Case& c) { c.seen.trace.protected_faults = 1; };
}
Change WriteStack(uint64_t before, uint64_t after) {
  return [=](Case& c) { c.seen.stack_write = {true, 0x48, before, after}; };
}
Change ClearPcBefore() {
  return [](Case& c) { c.seen.before.anchor_pc = 0; };
}
Change CallUnsafe(const char* function) {
  return [=](Case& c) { c.unsafe_call.function = function; };
}

// long: a table.
const std::vector<Provocation>& Provocations() {
  static const auto& table = *new std::vector<Provocation>{
      {"Fault", "crash", "fault", Crash(), "signal 11, si_code 1, address 0x10"},
      {"FailedCheck", "crash", "failed-check",
       Crash() + [](Case& c) { std::strcpy(c.fault.failed_check, "(x.cpp:1) assert(x) failed"); },
       "(x.cpp:1) assert(x) failed"},
      {"DoubtfulFault", "crash", "fault-or-safefetch",
       Crash() + [](Case& c) { c.fault.doubtful = 1; }, "SafeFetch may have met"},
      {"HangIsNoFault", "crash", "returned", Hang()},
      {"Hang", "hang", "hang", Hang(), "hang limit"},
      {"FaultIsNoHang", "hang", "ended", Crash()},

      {"NoJavaFrame", "return-code", "declared", Answers(0)},
      {"LastDeclaredCode", "return-code", "declared", Answers(-10)},
      {"FirstUndeclaredCode", "return-code", "undeclared", Answers(-11),
       "returned -11, which agct"},
      {"SmallestCode", "return-code", "undeclared", Answers(INT32_MIN)},
      {"NoCodeOfACrash", "return-code", "declared", Crash() + Answers(-42)},

      {"ExactDepth", "frame-count", "within-depth", Depth(3)},
      {"OneTooMany", "frame-count", "beyond-depth", Depth(2), "3 frames returned for a depth of 2"},

      {"Overflow", "buffer", "overwritten", Overwrite(), "128 frames"},
      {"BufferOfACrashIsNotJudged", "buffer", "intact", Crash() + Overwrite()},

      {"KnownMethodElsewhere", "method-id", "known",
       Return(At(0, kMain), At(0, kCallee), At(0, kMain), At(0, kMain))},
      {"NeverExisted", "method-id", "never-existed", Method(1, kNeverExisted), "frame 1 of 3"},
      {"Unloaded", "method-id", "unloaded", Method(2, kGone), "once gone.Plugin.run()V"},
      {"NoMethod", "method-id", "none", Method(0, nullptr), "frame 0"},
      {"WorstMethodWins", "method-id", "never-existed",
       Method(0, nullptr) + Method(1, kNeverExisted) + Method(2, kGone)},
      {"FramesBeyondDepthAreNotRead", "method-id", "known", Depth(2) + Method(2, kNeverExisted)},

      {"RightName", "method-info", "right", Describe("app/Main.native()V", "app/Main.callee()V")},
      {"WrongName", "method-info", "wrong-name",
       Describe("app/Main.native()V", "app/Main.caller()V"),
       "frame 1 is said to be app/Main.caller()V, and is app.Main.callee()V"},
      {"NoName", "method-info", "wrong-name", Describe(""), "frame 0"},
      {"NameIsShorter", "method-info", "wrong-name", Describe("app/Main.native()")},
      {"NameIsLonger", "method-info", "wrong-name", Describe("app/Main.native()VV")},
      {"NamesOfMethodsThatAreGone", "method-info", "right",
       Method(0, kGone) + Method(1, nullptr) + Describe("", "")},
      {"NamesBeyondTheFrames", "method-info", "right",
       Describe("app/Main.native()V", "", "") + Answers(1)},
      {"Contradiction", "method-info", "contradiction",
       [](Case& c) { c.seen.trace.complaint = "both yes and no"; }, "both yes and no"},

      {"OwnProtectionIdles", "own-protection", "not-needed", Nothing()},
      {"OwnProtectionEndedTheWalk", "own-protection", "contained-fault", ProtectedFault(),
       "ended by the walker itself"},
      {"OwnProtectionDidNotHold", "own-protection", "not-needed",
       ProtectedFault() + [](Case& c) { c.seen.trace.ending = Ending::kCrashed; }},

      {"OwnProtectionIsThereForFailedLoads", "own-protection", "not-needed",
       ProtectedFault() + LoadFailedAt(0x5000)},

      {"NoLoadFailed", "failing-load", "contained", Crash()},
      {"AFailedLoadCostsTheRest", "failing-load", "contained", LoadFailedAt(0x5000) + Return()},
      {"AFailedLoadEndsTheStack", "failing-load", "contained",
       LoadFailedAt(0x5000) + ReturnTrue(0, 1)},
      {"AFailedLoadLosesAMethod", "failing-load", "contained",
       LoadFailedAt(0x5000) + Method(1, kNeverExisted)},
      {"NothingProtectsTheLoad", "failing-load", "unprotected", Crash() + LoadFailedAt(0x5000),
       "load 3 of the walk failed at address 0x10"},
      {"ThatIsNoCrashOfItsOwn", "crash", "returned", Crash() + LoadFailedAt(0x5000)},
      {"ACrashElsewhereIs", "crash", "fault",
       Crash() + LoadFailedAt(0x5000) + [](Case& c) { c.fault.registers.pc++; }},
      {"AndNotTheLoads", "failing-load", "contained",
       Crash() + LoadFailedAt(0x5000) + [](Case& c) { c.fault.registers.pc++; }},
      {"SafeFetchMayHaveMetTheLoad", "failing-load", "contained",
       Crash() + LoadFailedAt(0x5000) + [](Case& c) { c.fault.doubtful = 1; }},
      {"AFailedLoadMakesAByteCodeUp", "failing-load", "wrong-frames",
       LoadFailedAt(0x5000) + Bci(1, 5),
       "load 3 failed, and frame 1 is app.Main.callee()V @ 5, not app.Main.callee()V @ 4"},
      {"AFailedLoadMakesAFrameUp", "failing-load", "wrong-frames",
       LoadFailedAt(0x5000) + ReturnTrue(0, 1, 2, 2), "frame 3 is app.Main.main"},

      {"LastByte", "bci", "inside", Bci(1, 9)},
      {"BehindTheEnd", "bci", "outside", Bci(1, 10),
       "frame 1: bci 10 of app.Main.callee()V, which has 10 bytes"},
      {"Negative", "bci", "outside", Bci(1, -2)},
      {"NativeBciOfAJavaMethod", "bci", "outside", Bci(1, -3)},
      {"JavaBciOfANativeMethod", "bci", "outside", Bci(0, 0)},
      {"UnknownBci", "bci", "unknown", Bci(2, -1), "bci -1"},
      {"WorstBciWins", "bci", "outside", Bci(1, -1) + Bci(2, 100)},
      {"UnknownMethodHasNoBci", "bci", "inside", Bci(1, 70000) + Method(1, kNeverExisted)},
      {"TruthMayHoldAnyBci", "bci", "inside",
       [](Case& c) { c.truth[1].bci = c.frames[1].bci = -1; }},

      {"WrongMethod", "truth", "wrong-frames", Method(1, kMain), "frame 1 is app.Main.main"},
      {"WrongMethodOfAGuess", "truth", "guessed-frames", Method(1, kMain) + GuessFrom(1),
       "frame 1"},
      {"WrongMethodBeforeTheGuess", "truth", "wrong-frames", Method(1, kMain) + GuessFrom(2)},
      {"AGuessThatIsTrue", "truth", "true", GuessFrom(0)},
      {"GuessesTooMany", "truth", "guessed-frames",
       Return(At(-3, kNative), At(4, kCallee), At(50, kMain), At(1, kMain)) + GuessFrom(3)},
      {"MethodMissing", "truth", "wrong-frames", Method(1, nullptr),
       "frame 1 is an unknown method"},
      {"MethodMissingInASample", "truth", "wrong-frames",
       Method(1, nullptr) + [](Case& c) { c.sampled = true; }},
      {"WrongBci", "truth", "wrong-frames", Bci(2, 51), "@ 51"},
      {"FrameLeftOut", "truth", "wrong-frames", ReturnTrue(0, 2)},
      {"FrameTooMany", "truth", "wrong-frames", ReturnTrue(0, 1, 2, 2), "4 frames, should be 3"},
      {"Truncated", "truth", "truncated", ReturnTrue(0, 1), "2 frames, should be 3"},
      {"NoFrames", "truth", "no-frames", Answers(-5), "answered -5 instead of 3 frames"},
      {"NoFramesAndSaysSo", "truth", "no-frames", Answers(-3) + BreakOff(),
       "answered -3 instead of 3 frames"},
      {"BrokenOff", "truth", "truncated", ReturnTrue(0, 1) + BreakOff(), "2 frames, should be 3"},
      {"CodeOfAFullBuffer", "truth", "no-frames", Answers(-3) + EndOnRequest(),
       "answered -3 instead of 3 frames"},
      {"CutAtDepth", "truth", "true", Depth(2) + ReturnTrue(0, 1)},
      {"FullOfFramesInCCode", "truth", "true", ReturnTrue(0) + EndOnRequest()},
      {"FullOfThemAlone", "truth", "true", Return() + EndOnRequest()},
      {"FullAndWrong", "truth", "wrong-frames", ReturnTrue(1) + EndOnRequest()},
      {"DisturbedWalksHaveNoTruth", "truth", "true", Disturbed() + ReturnTrue(2)},
      {"CrashedWalksHaveNoTruth", "truth", "true", Crash()},

      {"KindsThatNobodyTells", "frame-kind", "right", Nothing()},
      {"KindOfTheTruthAlone", "frame-kind", "right", TrueKind(1, KindOfFrame(1, 4))},
      {"WrongType", "frame-kind", "wrong-type",
       TrueKind(1, KindOfFrame(1, 4)) + Kind(1, KindOfFrame(2, 4)),
       "frame 1 is of type 2 at level 4, should be 1 at 4"},
      {"WrongLevel", "frame-kind", "wrong-level",
       TrueKind(2, KindOfFrame(1, 4)) + Kind(2, KindOfFrame(1, 3)),
       "frame 2 is of type 1 at level 3, should be 1 at 4"},
      {"LevelOfAGuess", "frame-kind", "guessed",
       TrueKind(2, KindOfFrame(1, 4)) + Kind(2, KindOfFrame(1, 3)) + GuessFrom(2)},
      {"KindOfAnotherFrame", "frame-kind", "right",
       TrueKind(1, KindOfFrame(1, 4)) + Kind(1, KindOfFrame(1, 0)) + Method(0, kMain)},
      {"KindOfADisturbedWalk", "frame-kind", "right",
       Disturbed() + TrueKind(1, KindOfFrame(1, 4)) + Kind(1, KindOfFrame(1, 0))},

      {"State", "thread-state", "state-changed", [](Case& c) { c.seen.after.thread_state = 11; },
       "thread state 8 became 11"},
      {"AnchorSp", "thread-state", "anchor-changed", [](Case& c) { c.seen.after.anchor_sp ^= 8; },
       "sp 0x7000"},
      {"AnchorFp", "thread-state", "anchor-changed", [](Case& c) { c.seen.after.anchor_fp = 0; }},
      {"AnchorPc", "thread-state", "anchor-changed", [](Case& c) { c.seen.after.anchor_pc = 1; }},
      {"AnchorPcCleared", "thread-state", "anchor-changed",
       [](Case& c) { c.seen.after.anchor_pc = 0; }},
      {"AnchorPcFilled", "thread-state", "anchor-pc-filled", ClearPcBefore()},
      {"AnchorPcFilledAndSpChanged", "thread-state", "anchor-changed",
       ClearPcBefore() + [](Case& c) { c.seen.after.anchor_sp++; }},

      {"Errno", "errno", "changed", [](Case& c) { c.seen.after.error_number = 25; },
       "errno 0 became 25"},
      {"SignalMask", "signal-mask", "changed", [](Case& c) { c.seen.after.signal_mask = 0x205; },
       "0x205"},

      {"StackOverwritten", "stack-kept", "overwritten", WriteStack(0x11, 0x10),
       "stack+0x48 was 0x11 and became 0x10"},
      {"StackWordFilledIn", "stack-kept", "filled-in", WriteStack(0, 0x10), "was 0x0"},
      {"StackOfACrashIsNotJudged", "stack-kept", "kept", Crash() + WriteStack(1, 0)},

      {"UnsafeCall", "signal-safety", "unsafe-call", CallUnsafe("malloc"), "called malloc"},
      {"UnsafeCallBeforeACrash", "signal-safety", "unsafe-call", Crash() + CallUnsafe("free")},
  };
  return table;
}

class OracleTest : public testing::TestWithParam<Provocation> {};

TEST_P(OracleTest, IsProvoked) {
  PristineCase c;
  ExpectProvoked(GetParam(), c);
}

INSTANTIATE_TEST_SUITE_P(Table, OracleTest, testing::ValuesIn(Provocations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Oracles, ARightWalkIsCleanForAll) {
  for (const Oracle& oracle : AllOracles()) {
    PristineCase c;
    std::string detail;
    EXPECT_EQ(c.Judge(oracle, detail), 0) << oracle.name << ": " << detail;
  }
}

// What lies behind the buffer is nobody's frame.
TEST(Oracles, OnlyTheCountOfTooManyFramesIsJudged) {
  for (const Oracle& oracle : AllOracles()) {
    PristineCase c;
    c.seen.pristine = false;
    c.request.depth = 2;
    for (Frame& frame : c.frames) frame = {1 << 20, 0, kNeverExisted};
    std::string detail;
    EXPECT_EQ(c.Judge(oracle, detail) != 0, std::string_view(oracle.name) == "frame-count")
        << oracle.name << ": " << detail;
  }
}

// Frames are compared by bytecode index and method, and by kind if both have one.
TEST(Oracles, TrueFramesAreCountedToTheFirstDifference) {
  const std::vector<Frame> truth = {{1, 0x10, kNative}, {2, 0, kCallee}, {3, 0x30, kMain}};
  const auto count = [&](const std::vector<Frame>& frames) {
    return TrueFrames({Ending::kReturned, static_cast<int32_t>(frames.size()), frames.data()},
                      truth, 3);
  };
  EXPECT_EQ(count(truth), 3u);
  EXPECT_EQ(count({{1, 0, kNative}, {2, 0, kCallee}, {3, 0, kMain}}), 3u) << "without kinds";
  EXPECT_EQ(count({{1, 0x10, kNative}, {2, 0x20, kCallee}, {3, 0, kMain}}), 3u) << "with some";
  EXPECT_EQ(count({{1, 0x10, kNative}, {2, 0, kCallee}}), 2u);
  EXPECT_EQ(count({{1, 0x10, kNative}, {2, 0, kCallee}, {3, 0x31, kMain}}), 2u) << "another kind";
  EXPECT_EQ(count({{1, 0x10, kNative}, {9, 0, kCallee}, {3, 0x30, kMain}}), 1u);
  EXPECT_EQ(count({{1, 0x10, kCallee}, {2, 0, kCallee}, {3, 0x30, kMain}}), 0u);
  EXPECT_EQ(count({}), 0u);
  EXPECT_EQ(count({truth[0], truth[1], truth[2], truth[2]}), 0u) << "more than were asked for";
}

TEST(Oracles, ADeathIsSurvivalsAndTheParentSaysSo) {
  auto symbols = NewSymbolTable();
  const WalkRequest killer;
  const FindingRecord record = MakeDeathRecord({6, ""}, &killer, *symbols, 1, 1, "x86_64");
  EXPECT_EQ(record.oracle, "survival");
  EXPECT_EQ(record.outcome, "death");
  EXPECT_EQ(record.grade, Grade::kForbidden);
}

// Oracles whose outcomes are provoked in sample_oracles_test.cc, request_answers_test.cc and
// witness_findings_test.cc.
bool IsForSamples(const std::string& oracle) {
  return oracle == "thread-start" || oracle == "repeated-frame" || oracle == "shadow-stack" ||
         oracle == "agreement" || oracle == "trace-request" || oracle == "witness";
}

// An outcome that no case provokes might as well be dead code.
TEST(Oracles, EachOutcomeIsProvokedByACase) {
  // Above; of samples, in sample_oracles_test.cc; of a walk after another, in faults.bats.
  std::set<std::string> provoked = Provoked(Provocations());
  provoked.insert({"survival/death", "bci/outside-at-first", "failing-load/wrong-next-walk"});
  for (const Oracle& oracle : AllOracles()) {
    if (IsForSamples(oracle.name)) continue;
    for (size_t i = 1; i < oracle.outcomes.size(); i++) {
      const std::string name = std::string(oracle.name) + "/" + oracle.outcomes[i].name;
      EXPECT_EQ(provoked.count(name), 1u) << name << " has no case in the table above";
    }
  }
}

TEST(Oracles, RowsAreWellFormed) {
  std::set<std::string> names;
  for (const Oracle& oracle : AllOracles()) {
    EXPECT_TRUE(names.insert(oracle.name).second) << oracle.name << " stands there twice";
    EXPECT_EQ(FindOracle(oracle.name), &oracle);
    EXPECT_GT(std::strlen(oracle.what), 0u) << oracle.name;
    ASSERT_GE(oracle.outcomes.size(), 2u) << oracle.name;
    EXPECT_EQ(oracle.outcomes[0].grade, Grade::kAcceptable) << oracle.name;
    std::set<std::string> outcomes;
    bool reports = false;
    for (const OutcomeInfo& outcome : oracle.outcomes) {
      EXPECT_TRUE(outcomes.insert(outcome.name).second) << oracle.name << "/" << outcome.name;
      EXPECT_GT(std::strlen(outcome.reason), 0u) << oracle.name << "/" << outcome.name;
      reports |= outcome.grade != Grade::kAcceptable;
    }
    EXPECT_TRUE(reports) << oracle.name << " can report nothing";
  }
  EXPECT_EQ(FindOracle("no-such-oracle"), nullptr);
  EXPECT_STREQ(AllOracles()[0].name, "survival");  // the parent relies on it
}

TEST(Oracles, DetailFitsTheBuffer) {
  for (const Provocation& p : Provocations()) {
    PristineCase c;
    p.change(c);
    char small[17];
    small[8] = '#';
    (void)FindOracle(p.oracle)->judge(c.Whole(), small, 8);
    EXPECT_EQ(small[8], '#') << p.name;
  }
}

}  // namespace
}  // namespace walkhammer
