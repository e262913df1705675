// SPDX-License-Identifier: Apache-2.0
// Each outcome of each oracle, provoked by hand-made observations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/findings/finding_record.h"
#include "harness/oracles/observation.h"
#include "harness/oracles/oracle.h"
#include "harness/oracles/shortcuts_testing.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

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

// A pristine walk of three frames that is right in every respect.
struct Case {
  WalkRequest request;
  std::vector<Frame> truth = {{-3, 0, kNative}, {4, 0, kCallee}, {50, 0, kMain}};
  std::vector<Frame> frames = truth;
  Fault fault{};
  UnsafeCall unsafe_call{};
  Observation seen{};

  Case() {
    seen.walker = &AllWalkers()[0];
    seen.methods = &Methods();
    seen.pristine = true;
    seen.buffer_intact = true;
    seen.trace = {Ending::kReturned, 3, nullptr};
    seen.before = seen.after = {0, 8, 0x7000, 0x100, 0x7010, 0x5};
  }

  // Runs one oracle; `detail` gets what it says.
  uint8_t Judge(const Oracle& oracle, std::string& detail) {
    seen.request = &request;
    seen.truth = truth;
    seen.trace.frames = frames.data();
    seen.fault = &fault;
    seen.unsafe_call = &unsafe_call;
    char text[256];
    std::memset(text, '#', sizeof text);
    const uint8_t outcome = JudgeBothWays(oracle, seen, text, sizeof text);
    detail = outcome == 0 ? "" : std::string(text, strnlen(text, sizeof text));
    return outcome;
  }
};

struct Provocation {
  const char* name;
  const char* oracle;
  const char* outcome;
  std::function<void(Case&)> change;
  const char* detail = "";  // part of what the oracle says
};
void PrintTo(const Provocation& p, std::ostream* out) { *out << p.oracle << "/" << p.outcome; }

void Crash(Case& c) {
  c.seen.trace = {Ending::kCrashed, 0, nullptr};
  c.fault.signal = 11;
  c.fault.code = 1;
  c.fault.address = 0x10;
}
void Hang(Case& c) { c.seen.trace = {Ending::kHung, 0, nullptr}; }
void Answer(Case& c, int32_t code) { c.seen.trace.num_frames = code; }
void Return(Case& c, std::vector<Frame> frames) {
  c.seen.trace.num_frames = static_cast<int32_t>(frames.size());
  c.frames = std::move(frames);
}
// Sets what the walker says of the first frames.
void Describe(Case& c, const std::vector<std::string>& names) {
  static DescribedFrame described[4];
  for (size_t i = 0; i < names.size(); i++)
    std::snprintf(described[i].text, sizeof described[i].text, "%s", names[i].c_str());
  c.seen.trace.described = described;
  c.seen.trace.described_count = static_cast<int32_t>(names.size());
}
void Disturbed(Case& c) { c.seen.pristine = false; }

// long: a table.
const std::vector<Provocation>& Provocations() {
  static const auto& table = *new std::vector<Provocation>{
      {"Fault", "crash", "fault", Crash, "signal 11, si_code 1, address 0x10"},
      {"FailedCheck", "crash", "failed-check",
       [](Case& c) {
         Crash(c);
         std::strcpy(c.fault.failed_check, "(frame.cpp:1) assert(x) failed");
       },
       "(frame.cpp:1) assert(x) failed"},
      {"DoubtfulFault", "crash", "fault-or-safefetch",
       [](Case& c) {
         Crash(c);
         c.fault.doubtful = 1;
       },
       "SafeFetch may have met"},
      {"HangIsNoFault", "crash", "returned", Hang},
      {"Hang", "hang", "hang", Hang, "hang limit"},
      {"FaultIsNoHang", "hang", "ended", Crash},

      {"NoJavaFrame", "return-code", "declared", [](Case& c) { Answer(c, 0); }},
      {"LastDeclaredCode", "return-code", "declared", [](Case& c) { Answer(c, -10); }},
      {"FirstUndeclaredCode", "return-code", "undeclared", [](Case& c) { Answer(c, -11); },
       "returned -11, which agct"},
      {"SmallestCode", "return-code", "undeclared", [](Case& c) { Answer(c, INT32_MIN); }},
      {"NoCodeOfACrash", "return-code", "declared",
       [](Case& c) {
         Crash(c);
         c.seen.trace.num_frames = -42;
       }},

      {"ExactDepth", "frame-count", "within-depth", [](Case& c) { c.request.depth = 3; }},
      {"OneTooMany", "frame-count", "beyond-depth", [](Case& c) { c.request.depth = 2; },
       "3 frames returned for a depth of 2"},

      {"Overflow", "buffer", "overwritten", [](Case& c) { c.seen.buffer_intact = false; },
       "128 frames"},
      {"BufferOfACrashIsNotJudged", "buffer", "intact",
       [](Case& c) {
         Crash(c);
         c.seen.buffer_intact = false;
       }},

      {"KnownMethodElsewhere", "method-id", "known",
       [](Case& c) {
         Return(c, {{0, 0, kMain}, {0, 0, kCallee}, {0, 0, kMain}, {0, 0, kMain}});
       }},
      {"NeverExisted", "method-id", "never-existed",
       [](Case& c) { c.frames[1].method = kNeverExisted; }, "frame 1 of 3"},
      {"Unloaded", "method-id", "unloaded", [](Case& c) { c.frames[2].method = kGone; },
       "once gone.Plugin.run()V"},
      {"NoMethod", "method-id", "none", [](Case& c) { c.frames[0].method = nullptr; }, "frame 0"},
      {"WorstMethodWins", "method-id", "never-existed",
       [](Case& c) {
         c.frames[0].method = nullptr;
         c.frames[1].method = kNeverExisted;
         c.frames[2].method = kGone;
       }},
      {"FramesBeyondDepthAreNotRead", "method-id", "known",
       [](Case& c) {
         c.request.depth = 2;
         c.frames[2].method = kNeverExisted;
       }},

      {"RightName", "method-info", "right",
       [](Case& c) {
         Describe(c, {"app/Main.native()V", "app/Main.callee()V"});
       }},
      {"WrongName", "method-info", "wrong-name",
       [](Case& c) {
         Describe(c, {"app/Main.native()V", "app/Main.caller()V"});
       },
       "frame 1 is said to be app/Main.caller()V, and is app.Main.callee()V"},
      {"NoName", "method-info", "wrong-name", [](Case& c) { Describe(c, {""}); }, "frame 0"},
      {"NameIsShorter", "method-info", "wrong-name",
       [](Case& c) { Describe(c, {"app/Main.native()"}); }},
      {"NameIsLonger", "method-info", "wrong-name",
       [](Case& c) { Describe(c, {"app/Main.native()VV"}); }},
      {"NamesOfMethodsThatAreGone", "method-info", "right",
       [](Case& c) {
         c.frames[0].method = kGone;
         c.frames[1].method = nullptr;
         Describe(c, {"", ""});
       }},
      {"NamesBeyondTheFrames", "method-info", "right",
       [](Case& c) {
         Describe(c, {"app/Main.native()V", "", ""});
         Answer(c, 1);
       }},
      {"Contradiction", "method-info", "contradiction",
       [](Case& c) { c.seen.trace.complaint = "both yes and no"; }, "both yes and no"},

      {"OwnProtectionIdles", "own-protection", "not-needed", [](Case&) {}},
      {"OwnProtectionEndedTheWalk", "own-protection", "contained-fault",
       [](Case& c) { c.seen.trace.protected_faults = 1; }, "ended by the walker itself"},
      {"OwnProtectionDidNotHold", "own-protection", "not-needed",
       [](Case& c) {
         c.seen.trace.protected_faults = 1;
         c.seen.trace.ending = Ending::kCrashed;
       }},

      {"LastByte", "bci", "inside", [](Case& c) { c.frames[1].bci = 9; }},
      {"BehindTheEnd", "bci", "outside", [](Case& c) { c.frames[1].bci = 10; },
       "frame 1: bci 10 of app.Main.callee()V, which has 10 bytes"},
      {"Negative", "bci", "outside", [](Case& c) { c.frames[1].bci = -2; }},
      {"NativeBciOfAJavaMethod", "bci", "outside", [](Case& c) { c.frames[1].bci = -3; }},
      {"JavaBciOfANativeMethod", "bci", "outside", [](Case& c) { c.frames[0].bci = 0; }},
      {"UnknownBci", "bci", "unknown", [](Case& c) { c.frames[2].bci = -1; }, "bci -1"},
      {"WorstBciWins", "bci", "outside",
       [](Case& c) {
         c.frames[1].bci = -1;
         c.frames[2].bci = 100;
       }},
      {"UnknownMethodHasNoBci", "bci", "inside",
       [](Case& c) {
         c.frames[1] = {70000, 0, kNeverExisted};
       }},
      {"TruthMayHoldAnyBci", "bci", "inside",
       [](Case& c) { c.truth[1].bci = c.frames[1].bci = -1; }},

      {"WrongMethod", "truth", "wrong-frames", [](Case& c) { c.frames[1].method = kMain; },
       "frame 1 is app.Main.main"},
      {"WrongMethodOfAGuess", "truth", "guessed-frames",
       [](Case& c) {
         c.frames[1].method = kMain;
         c.seen.trace.guessed_from = 1;
       },
       "frame 1"},
      {"WrongMethodBeforeTheGuess", "truth", "wrong-frames",
       [](Case& c) {
         c.frames[1].method = kMain;
         c.seen.trace.guessed_from = 2;
       }},
      {"AGuessThatIsTrue", "truth", "true", [](Case& c) { c.seen.trace.guessed_from = 0; }},
      {"GuessesTooMany", "truth", "guessed-frames",
       [](Case& c) {
         auto frames = c.truth;
         frames.push_back({1, 0, kMain});
         Return(c, frames);
         c.seen.trace.guessed_from = 3;
       }},
      {"WrongBci", "truth", "wrong-frames", [](Case& c) { c.frames[2].bci = 51; }, "@ 51"},
      {"FrameLeftOut", "truth", "wrong-frames",
       [](Case& c) {
         Return(c, {c.truth[0], c.truth[2]});
       }},
      {"FrameTooMany", "truth", "wrong-frames",
       [](Case& c) {
         Return(c, {c.truth[0], c.truth[1], c.truth[2], c.truth[2]});
       },
       "4 frames, should be 3"},
      {"Truncated", "truth", "truncated",
       [](Case& c) {
         Return(c, {c.truth[0], c.truth[1]});
       },
       "2 frames, should be 3"},
      {"NoFrames", "truth", "no-frames", [](Case& c) { Answer(c, -5); },
       "answered -5 instead of 3 frames"},
      {"NoFramesAndSaysSo", "truth", "no-frames",
       [](Case& c) {
         Answer(c, -3);
         c.seen.trace.broke_off = true;
       },
       "answered -3 instead of 3 frames"},
      {"BrokenOff", "truth", "truncated",
       [](Case& c) {
         Return(c, {c.truth[0], c.truth[1]});
         c.seen.trace.broke_off = true;
       },
       "2 frames, should be 3"},
      {"CodeOfAFullBuffer", "truth", "no-frames",
       [](Case& c) {
         Answer(c, -3);
         c.seen.trace.ended_on_request = true;
       },
       "answered -3 instead of 3 frames"},
      {"CutAtDepth", "truth", "true",
       [](Case& c) {
         c.request.depth = 2;
         Return(c, {c.truth[0], c.truth[1]});
       }},
      {"FullOfFramesInCCode", "truth", "true",
       [](Case& c) {
         Return(c, {c.truth[0]});
         c.seen.trace.ended_on_request = true;
       }},
      {"FullOfThemAlone", "truth", "true",
       [](Case& c) {
         Return(c, {});
         c.seen.trace.ended_on_request = true;
       }},
      {"FullAndWrong", "truth", "wrong-frames",
       [](Case& c) {
         Return(c, {c.truth[1]});
         c.seen.trace.ended_on_request = true;
       }},
      {"DisturbedWalksHaveNoTruth", "truth", "true",
       [](Case& c) {
         Disturbed(c);
         Return(c, {c.truth[2]});
       }},
      {"CrashedWalksHaveNoTruth", "truth", "true", Crash},

      {"KindsThatNobodyTells", "frame-kind", "right", [](Case&) {}},
      {"KindOfTheTruthAlone", "frame-kind", "right",
       [](Case& c) { c.truth[1].kind = KindOfFrame(1, 4); }},
      {"WrongType", "frame-kind", "wrong-type",
       [](Case& c) {
         c.truth[1].kind = KindOfFrame(1, 4);
         c.frames[1].kind = KindOfFrame(2, 4);
       },
       "frame 1 is of type 2 at level 4, should be 1 at 4"},
      {"WrongLevel", "frame-kind", "wrong-level",
       [](Case& c) {
         c.truth[2].kind = KindOfFrame(1, 4);
         c.frames[2].kind = KindOfFrame(1, 3);
       },
       "frame 2 is of type 1 at level 3, should be 1 at 4"},
      {"LevelOfAGuess", "frame-kind", "guessed",
       [](Case& c) {
         c.truth[2].kind = KindOfFrame(1, 4);
         c.frames[2].kind = KindOfFrame(1, 3);
         c.seen.trace.guessed_from = 2;
       }},
      {"KindOfAnotherFrame", "frame-kind", "right",
       [](Case& c) {
         c.truth[1].kind = KindOfFrame(1, 4);
         c.frames[1].kind = KindOfFrame(1, 0);
         c.frames[0].method = kMain;
       }},
      {"KindOfADisturbedWalk", "frame-kind", "right",
       [](Case& c) {
         c.seen.pristine = false;
         c.truth[1].kind = KindOfFrame(1, 4);
         c.frames[1].kind = KindOfFrame(1, 0);
       }},

      {"State", "thread-state", "state-changed", [](Case& c) { c.seen.after.thread_state = 11; },
       "thread state 8 became 11"},
      {"AnchorSp", "thread-state", "anchor-changed", [](Case& c) { c.seen.after.anchor_sp ^= 8; },
       "sp 0x7000"},
      {"AnchorFp", "thread-state", "anchor-changed", [](Case& c) { c.seen.after.anchor_fp = 0; }},
      {"AnchorPc", "thread-state", "anchor-changed", [](Case& c) { c.seen.after.anchor_pc = 1; }},
      {"AnchorPcCleared", "thread-state", "anchor-changed",
       [](Case& c) { c.seen.after.anchor_pc = 0; }},
      {"AnchorPcFilled", "thread-state", "anchor-pc-filled",
       [](Case& c) { c.seen.before.anchor_pc = 0; }},
      {"AnchorPcFilledAndSpChanged", "thread-state", "anchor-changed",
       [](Case& c) {
         c.seen.before.anchor_pc = 0;
         c.seen.after.anchor_sp++;
       }},

      {"Errno", "errno", "changed", [](Case& c) { c.seen.after.error_number = 25; },
       "errno 0 became 25"},
      {"SignalMask", "signal-mask", "changed", [](Case& c) { c.seen.after.signal_mask = 0x205; },
       "0x205"},

      {"StackOverwritten", "stack-kept", "overwritten",
       [](Case& c) {
         c.seen.stack_write = {true, 0x48, 0x11, 0x10};
       },
       "stack+0x48 was 0x11 and became 0x10"},
      {"StackWordFilledIn", "stack-kept", "filled-in",
       [](Case& c) {
         c.seen.stack_write = {true, 0x48, 0, 0x10};
       },
       "was 0x0"},
      {"StackOfACrashIsNotJudged", "stack-kept", "kept",
       [](Case& c) {
         Crash(c);
         c.seen.stack_write = {true, 0x48, 1, 0};
       }},

      {"UnsafeCall", "signal-safety", "unsafe-call",
       [](Case& c) { c.unsafe_call.function = "malloc"; }, "called malloc"},
      {"UnsafeCallBeforeACrash", "signal-safety", "unsafe-call",
       [](Case& c) {
         Crash(c);
         c.unsafe_call.function = "free";
       }},
  };
  return table;
}

class OracleTest : public testing::TestWithParam<Provocation> {};

TEST_P(OracleTest, IsProvoked) {
  const Provocation& wanted = GetParam();
  const Oracle* oracle = FindOracle(wanted.oracle);
  ASSERT_NE(oracle, nullptr);
  Case c;
  wanted.change(c);
  std::string detail;
  const uint8_t outcome = c.Judge(*oracle, detail);
  ASSERT_LT(outcome, oracle->outcomes.size());
  EXPECT_STREQ(oracle->outcomes[outcome].name, wanted.outcome) << detail;
  EXPECT_THAT(detail, HasSubstr(wanted.detail));
  if (outcome != 0) {
    EXPECT_THAT(detail, testing::Not(testing::AnyOf("", HasSubstr("#"))));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, OracleTest, testing::ValuesIn(Provocations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Oracles, ARightWalkIsCleanForAll) {
  for (const Oracle& oracle : AllOracles()) {
    Case c;
    std::string detail;
    EXPECT_EQ(c.Judge(oracle, detail), 0) << oracle.name << ": " << detail;
  }
}

// What lies behind the buffer is nobody's frame.
TEST(Oracles, OnlyTheCountOfTooManyFramesIsJudged) {
  for (const Oracle& oracle : AllOracles()) {
    Case c;
    Disturbed(c);
    c.request.depth = 2;
    for (Frame& frame : c.frames) frame = {1 << 20, 0, kNeverExisted};
    std::string detail;
    EXPECT_EQ(c.Judge(oracle, detail) != 0, std::string_view(oracle.name) == "frame-count")
        << oracle.name << ": " << detail;
  }
}

TEST(Oracles, ADeathIsSurvivalsAndTheParentSaysSo) {
  auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  const WalkRequest killer;
  const FindingRecord record = MakeDeathRecord({6, ""}, &killer, *symbols, 1, 1, "x86_64");
  EXPECT_EQ(record.oracle, "survival");
  EXPECT_EQ(record.outcome, "death");
  EXPECT_EQ(record.grade, Grade::kForbidden);
}

// Oracles whose outcomes are provoked in sample_oracles_test.cc and request_answers_test.cc.
bool IsForSamples(const std::string& oracle) {
  return oracle == "thread-start" || oracle == "repeated-frame" || oracle == "shadow-stack" ||
         oracle == "agreement" || oracle == "trace-request";
}

// An outcome that no case provokes might as well be dead code.
TEST(Oracles, EachOutcomeIsProvokedByACase) {
  // Above, and of samples: in sample_oracles_test.cc.
  std::set<std::string> provoked = {"survival/death", "bci/outside-at-first"};
  for (const Provocation& p : Provocations())
    provoked.insert(std::string(p.oracle) + "/" + p.outcome);
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
    Case c;
    p.change(c);
    std::string ignored;
    (void)c.Judge(*FindOracle(p.oracle), ignored);
    char small[17];
    small[8] = '#';
    (void)FindOracle(p.oracle)->judge(c.seen, small, 8);
    EXPECT_EQ(small[8], '#') << p.name;
  }
}

}  // namespace
}  // namespace walkhammer
