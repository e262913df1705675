// SPDX-License-Identifier: Apache-2.0
// The oracles that judge samples, each outcome provoked by hand-made observations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/oracles/disagreement.h"
#include "harness/oracles/observation.h"
#include "harness/oracles/shortcuts_testing.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

// Stand-ins for jmethodIDs: only their addresses matter.
int ids[4];
void* const kRun = &ids[0];
void* const kOuter = &ids[1];
void* const kInner = &ids[2];
void* const kHelper = &ids[3];

const MethodRegistry& Methods() {
  static MethodRegistry& registry = *[] {
    auto* made = new MethodRegistry;
    made->Add(kRun, "app.Main.run()V", 100, false);
    made->Add(kOuter, "app.Main.outer()V", 10, false);
    made->Add(kInner, "app.Main.inner()V", 10, false);
    made->Add(kHelper, "java.util.List.helper()V", 10, false);
    made->SetShadowId(kRun, 1);
    made->SetShadowId(kOuter, 2);
    made->SetShadowId(kInner, 3);
    return made;
  }();
  return registry;
}

// A sample of four frames that is right in every respect: run, outer, inner, helper.
struct Case {
  WalkRequest request;
  std::vector<Frame> frames = {{1, 0, kHelper}, {4, 0, kInner}, {5, 0, kOuter}, {50, 0, kRun}};
  std::vector<Frame> others = frames;
  ShadowStack shadow{};
  SampleFacts facts{};
  bool synthetic = false;
  Observation seen{};

  Case() {
    shadow.magic.store(ShadowStack::kMagic);
    Active({0, 1, 2});
    facts.shadow = &shadow;
    facts.byte_code = [](void*, int) { return 0x60; };  // iadd
    seen.walker = &AllWalkers()[0];
    seen.methods = &Methods();
    seen.trace = {Ending::kReturned, 4, nullptr};
    seen.other.trace = {Ending::kReturned, 4, nullptr};
  }

  void Active(std::vector<uint32_t> methods) {
    for (size_t i = 0; i < methods.size(); i++) shadow.ids[i] = methods[i];
    shadow.depth.store(static_cast<uint32_t>(methods.size()));
  }
  void Return(std::vector<Frame> returned) {
    frames = std::move(returned);
    seen.trace.num_frames = static_cast<int32_t>(frames.size());
  }
  void Compare() { seen.other.walker = &AllWalkers()[0]; }
  // Compares with another answer to a scene: unchanged if `pristine`, else edited.
  void CompareRequest(bool pristine) {
    Compare();
    synthetic = true;
    seen.pristine = pristine;
  }

  std::string Judge(const char* name, std::string& detail) {
    seen.request = &request;
    seen.sample = synthetic ? nullptr : &facts;
    seen.trace.frames = frames.data();
    seen.other.trace.frames = others.data();
    char text[256] = "";
    const Oracle* oracle = FindOracle(name);
    const uint8_t outcome = JudgeBothWays(*oracle, seen, text, sizeof text);
    detail = text;
    return oracle->outcomes[outcome].name;
  }
};

struct Provocation {
  const char* name;
  const char* oracle;
  const char* outcome;
  std::function<void(Case&)> change;
  const char* detail = "";
};
void PrintTo(const Provocation& p, std::ostream* out) { *out << p.oracle << "/" << p.outcome; }

// long: a table.
const std::vector<Provocation>& Provocations() {
  static const auto& table = *new std::vector<Provocation>{
      {"ReachesTheStart", "thread-start", "complete", [](Case&) {}},
      {"CutOff", "thread-start", "cut-off",
       [](Case& c) {
         c.Return({{1, 0, kHelper}, {4, 0, kInner}});
       },
       "the outermost of 2 frames is app.Main.inner()V"},
      {"CutAtDepth", "thread-start", "complete",
       [](Case& c) {
         c.request.depth = 2;
         c.Return({{1, 0, kHelper}, {4, 0, kInner}});
       }},
      {"FailedWalksHaveNoStart", "thread-start", "complete",
       [](Case& c) { c.seen.trace.num_frames = -5; }},

      {"MadeUp", "method-id", "never-existed",
       [](Case& c) {
         c.facts.keeps = [](void* id) { return id == kHelper; };
         c.Return({{1, 0, &c.seen}, {50, 0, kRun}});
       },
       "frame 0 of 2"},
      {"LoadedWithoutAnEvent", "method-id", "known",
       [](Case& c) {
         c.facts.keeps = [](void*) { return true; };
         c.Return({{1, 0, &c.seen}, {50, 0, kRun}});
       }},
      {"NobodyToAsk", "method-id", "never-existed",
       [](Case& c) {
         c.Return({{1, 0, &c.seen}, {50, 0, kRun}});
       },
       "frame 0 of 2"},
      {"BehindTheEndAtFirst", "bci", "outside-at-first", [](Case& c) { c.frames[1].bci = 10; },
       "which has 10 bytes"},
      {"BehindTheEndNow", "bci", "outside",
       [](Case& c) {
         c.facts.code_size = [](void*) { return 10; };
         c.frames[1].bci = 10;
       }},
      {"BehindTheOldEnd", "bci", "inside",
       [](Case& c) {
         c.facts.code_size = [](void*) { return 11; };
         c.frames[1].bci = 10;
       }},
      {"NegativeWhereNoEndIsKnown", "bci", "outside", [](Case& c) { c.frames[1].bci = -2; }},

      {"Twice", "repeated-frame", "twice",
       [](Case& c) {
         c.Return({{4, 0, kInner}, {4, 0, kInner}, {50, 0, kRun}});
       },
       "frames 0 and 1 are both app.Main.inner()V @ 4"},
      {"TwiceByAGuess", "repeated-frame", "guessed",
       [](Case& c) {
         c.Return({{4, 0, kInner}, {4, 0, kInner}, {50, 0, kRun}});
         c.seen.trace.guessed_from = 1;
       }},
      {"TwiceBeforeTheGuess", "repeated-frame", "twice",
       [](Case& c) {
         c.Return({{4, 0, kInner}, {4, 0, kInner}, {50, 0, kRun}});
         c.seen.trace.guessed_from = 2;
       }},
      {"DeoptimizedRecursion", "repeated-frame", "no-place",
       [](Case& c) {
         c.Return({{0, 0, kInner}, {0, 0, kInner}, {50, 0, kRun}});
       },
       "app.Main.inner()V @ 0"},
      {"Recursion", "repeated-frame", "once",
       [](Case& c) {
         c.facts.byte_code = [](void*, int) { return 0xb8; };  // invokestatic
         c.Return({{4, 0, kInner}, {4, 0, kInner}});
       }},
      {"RewrittenByteCode", "repeated-frame", "once",
       [](Case& c) {
         c.facts.byte_code = [](void*, int) { return 0xe9; };
         c.Return({{4, 0, kInner}, {4, 0, kInner}});
       }},
      {"OtherPlaceInTheMethod", "repeated-frame", "once",
       [](Case& c) {
         c.Return({{3, 0, kInner}, {4, 0, kInner}});
       }},

      {"Agrees", "shadow-stack", "agrees", [](Case&) {}},
      {"OneIsEntering", "shadow-stack", "agrees",
       [](Case& c) {
         c.Active({0, 1});
       }},
      {"TwoTooMany", "shadow-stack", "frames-too-many", [](Case& c) { c.Active({0}); },
       "3 of the program's methods shown, 1 are active"},
      {"CallerSkipped", "shadow-stack", "wrong-frame",
       [](Case& c) {
         c.Return({{4, 0, kInner}, {50, 0, kRun}});
       },
       "which is not number 1 of the 3 active ones"},
      {"CallerSkippedByAGuess", "shadow-stack", "guessed",
       [](Case& c) {
         c.Return({{4, 0, kInner}, {50, 0, kRun}});
         c.seen.trace.guessed_from = 1;
       }},
      {"CallerSkippedBeforeTheGuess", "shadow-stack", "wrong-frame",
       [](Case& c) {
         c.Return({{1, 0, kHelper}, {4, 0, kInner}, {50, 0, kRun}, {1, 0, kHelper}});
         c.seen.trace.guessed_from = 3;
       }},
      {"NewestMissing", "shadow-stack", "frames-missing",
       [](Case& c) {
         c.Return({{5, 0, kOuter}, {50, 0, kRun}});
         c.seen.trace.guessed_from = 1;
       }},
      {"NewestMissingBeforeAGuess", "shadow-stack", "guessed",
       [](Case& c) {
         c.Return({{1, 0, kHelper}, {5, 0, kOuter}, {50, 0, kRun}});
         c.seen.trace.guessed_from = 1;
       }},
      {"AsDeepAsItsBuffer", "shadow-stack", "agrees",
       [](Case& c) {
         c.request.depth = 3;
         c.Return({{1, 0, kHelper}, {4, 0, kInner}, {5, 0, kOuter}});
       }},
      {"OneShortOfItsBuffer", "shadow-stack", "wrong-frame",
       [](Case& c) {
         c.request.depth = 4;
         c.Return({{1, 0, kHelper}, {4, 0, kInner}, {5, 0, kOuter}});
       }},
      {"NoShadow", "shadow-stack", "agrees",
       [](Case& c) {
         c.facts.shadow = nullptr;
         c.Return({{4, 0, kInner}, {50, 0, kRun}});
       }},
      {"NotYetAShadow", "shadow-stack", "agrees",
       [](Case& c) {
         c.shadow.magic.store(0);
         c.Return({{4, 0, kInner}});
       }},

      {"Same", "agreement", "same", [](Case& c) { c.Compare(); }},
      {"TheFirstCrashed", "agreement", "same",
       [](Case& c) {
         c.Compare();
         c.seen.other.trace.ending = Ending::kCrashed;
         c.seen.other.trace.num_frames = 0;
       }},
      {"TheSecondHung", "agreement", "same",
       [](Case& c) {
         c.Compare();
         c.seen.trace.ending = Ending::kHung;
         c.seen.trace.num_frames = 0;
       }},
      {"OtherMethod", "agreement", "other-method",
       [](Case& c) {
         c.Compare();
         c.frames[1].method = kOuter;
       },
       "frame 1 is app.Main.outer()V @ 4, for agct app.Main.inner()V @ 4"},
      {"Truncated", "agreement", "truncated",
       [](Case& c) {
         c.Compare();
         c.seen.trace.num_frames = 3;
       },
       "3 frames, for agct 4"},
      {"CutWhereItWasToEnd", "agreement", "same",
       [](Case& c) {
         c.Compare();
         c.seen.trace.num_frames = 3;
         c.seen.trace.ended_on_request = true;
       }},
      {"CutBeforeItsFirstFrame", "agreement", "same",
       [](Case& c) {
         c.Compare();
         c.Return({});
         c.seen.trace.ended_on_request = true;
       }},
      {"CutAndWrong", "agreement", "other-method",
       [](Case& c) {
         c.Compare();
         c.seen.trace.num_frames = 3;
         c.seen.trace.ended_on_request = true;
         c.frames[1].method = kOuter;
       }},
      {"LongerThanOneThatWasToGoOn", "agreement", "truncated",
       [](Case& c) {
         c.Compare();
         c.seen.other.trace.num_frames = 3;
         c.seen.trace.ended_on_request = true;
       }},
      {"CutAgainButElsewhere", "agreement", "inconsistent",
       [](Case& c) {
         c.Compare();
         c.seen.other.same_again = true;
         c.seen.trace.num_frames = 3;
         c.seen.trace.ended_on_request = true;
       }},
      {"SkippedCaller", "agreement", "skipped-caller",
       [](Case& c) {
         c.Compare();
         c.Return({{1, 0, kHelper}, {5, 0, kOuter}, {50, 0, kRun}});
       },
       "frame 1 is app.Main.outer()V @ 5, for agct app.Main.inner()V @ 4"},
      {"MadeUpCaller", "agreement", "skipped-caller",
       [](Case& c) {
         c.Compare();
         c.Return(
             {{1, 0, kHelper}, {4, 0, kInner}, {1, 0, kHelper}, {5, 0, kOuter}, {50, 0, kRun}});
       }},
      {"SkippedTheNewest", "agreement", "skipped-caller",
       [](Case& c) {
         c.Compare();
         c.Return({{4, 0, kInner}, {5, 0, kOuter}, {50, 0, kRun}});
       }},
      {"OtherBci", "agreement", "other-bci",
       [](Case& c) {
         c.Compare();
         c.frames[2].bci = 6;
       },
       "frame 2 is app.Main.outer()V @ 6, for agct app.Main.outer()V @ 5"},
      {"MethodsMatterMoreThanByteCodes", "agreement", "truncated",
       [](Case& c) {
         c.Compare();
         c.frames[0].bci = 9;
         c.seen.trace.num_frames = 3;
       }},
      {"OtherLevel", "agreement", "other-level",
       [](Case& c) {
         c.Compare();
         c.frames[1].kind = 0x401;
         c.others[1].kind = 0x301;
       },
       "frame 1 is"},
      {"Unnamed", "agreement", "unnamed",
       [](Case& c) {
         c.Compare();
         c.others[1].method = nullptr;
       },
       "frame 1 is"},
      {"UnnamedAndTruncated", "agreement", "truncated",
       [](Case& c) {
         c.Compare();
         c.others[1].method = nullptr;
         c.seen.trace.num_frames = 3;
       }},
      {"LevelsOfOneAlone", "agreement", "same",
       [](Case& c) {
         c.Compare();
         c.frames[1].kind = 0x401;
       }},
      {"Inconsistent", "agreement", "inconsistent",
       [](Case& c) {
         c.Compare();
         c.seen.other.same_again = true;
         c.frames[1].bci = 0;
       }},
      {"InconsistentError", "agreement", "inconsistent",
       [](Case& c) {
         c.Compare();
         c.seen.other.same_again = true;
         c.seen.trace.num_frames = -5;
       },
       "answered 4, then -5"},
      {"ErrorOfOne", "agreement", "one-failed",
       [](Case& c) {
         c.Compare();
         c.seen.trace.num_frames = -5;
       },
       "agct answered 4, then -5"},
      {"ErrorsOfBoth", "agreement", "same",
       [](Case& c) {
         c.Compare();
         c.seen.trace.num_frames = -5;
         c.seen.other.trace.num_frames = -3;
       }},
      {"OtherErrorOfTheSame", "agreement", "inconsistent",
       [](Case& c) {
         c.Compare();
         c.seen.other.same_again = true;
         c.seen.trace.num_frames = -5;
         c.seen.other.trace.num_frames = -3;
       }},
      {"SceneAlike", "agreement", "same", [](Case& c) { c.CompareRequest(true); }},
      {"SceneOtherBci", "agreement", "scene-differs",
       [](Case& c) {
         c.CompareRequest(true);
         c.frames[2].bci = 6;
       },
       "frame 2 is app.Main.outer()V @ 6, for agct app.Main.outer()V @ 5"},
      {"SceneGuessedByTheOther", "agreement", "guessed",
       [](Case& c) {
         c.CompareRequest(true);
         c.frames[2].bci = 6;
         c.seen.other.trace.guessed_from = 2;
       },
       "frame 2"},
      {"SceneDiffersBeforeTheGuess", "agreement", "scene-differs",
       [](Case& c) {
         c.CompareRequest(true);
         c.frames[2].bci = 6;
         c.seen.trace.guessed_from = 3;
       }},
      {"AGuessWhereTheOtherFailed", "agreement", "one-failed",
       [](Case& c) {
         c.Compare();
         c.seen.other.trace.num_frames = -5;
         c.seen.trace.guessed_from = 0;
       }},
      {"InconsistentGuesses", "agreement", "inconsistent",
       [](Case& c) {
         c.Compare();
         c.seen.other.same_again = true;
         c.frames[2].bci = 6;
         c.seen.trace.guessed_from = 0;
       }},
      {"SceneOfOne", "agreement", "scene-failed",
       [](Case& c) {
         c.CompareRequest(true);
         c.seen.trace.num_frames = -5;
       },
       "agct answered 4, then -5"},
      {"SceneTruncated", "agreement", "truncated",
       [](Case& c) {
         c.CompareRequest(true);
         c.seen.trace.num_frames = 3;
       }},
      {"RequestOtherBci", "agreement", "other-bci",
       [](Case& c) {
         c.CompareRequest(false);
         c.frames[2].bci = 6;
       }},
      {"RequestOfOne", "agreement", "one-failed",
       [](Case& c) {
         c.CompareRequest(false);
         c.seen.trace.num_frames = -5;
       }},
      {"NothingToCompareWith", "agreement", "same", [](Case& c) { c.frames[1].bci = 0; }},
  };
  return table;
}

class SampleOracleTest : public testing::TestWithParam<Provocation> {};

TEST_P(SampleOracleTest, IsProvoked) {
  const Provocation& wanted = GetParam();
  Case c;
  wanted.change(c);
  std::string detail;
  EXPECT_EQ(c.Judge(wanted.oracle, detail), wanted.outcome) << detail;
  EXPECT_THAT(detail, HasSubstr(wanted.detail));
}

INSTANTIATE_TEST_SUITE_P(Table, SampleOracleTest, testing::ValuesIn(Provocations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SampleOracles, EachOutcomeIsProvokedByACase) {
  std::set<std::string> provoked;
  for (const Provocation& p : Provocations())
    provoked.insert(std::string(p.oracle) + "/" + p.outcome);
  for (const char* name : {"thread-start", "repeated-frame", "shadow-stack", "agreement"})
    for (const OutcomeInfo& outcome : FindOracle(name)->outcomes)
      EXPECT_EQ(provoked.count(std::string(name) + "/" + outcome.name), 1u) << name << outcome.name;
}

// Both ends of each range of byte codes that may call: 0xb6 .. 0xba, and HotSpot's own above 0xc9.
TEST(SampleOracles, OnlyCallsExplainAFrameTwice) {
  static int code;
  const auto judged = [](int byte_code) {
    code = byte_code;
    Case c;
    c.facts.byte_code = [](void*, int) { return code; };
    c.Return({{4, 0, kInner}, {4, 0, kInner}, {50, 0, kRun}});
    std::string detail;
    return c.Judge("repeated-frame", detail);
  };
  for (const int calls : {-1, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xca, 0xff})
    EXPECT_EQ(judged(calls), "once") << calls;
  for (const int calls_nobody : {0, 0xb5, 0xbb, 0xc9})
    EXPECT_EQ(judged(calls_nobody), "twice") << calls_nobody;
}

// Synthetic walks have no shadow and no start; a single walker has no other one to agree with.
TEST(SampleOracles, SayNothingAboutSyntheticWalks) {
  for (const char* name : {"thread-start", "repeated-frame", "shadow-stack", "agreement"}) {
    Case c;
    c.Return({{4, 0, kInner}, {4, 0, kInner}});
    c.seen.request = &c.request;
    c.seen.trace.frames = c.frames.data();
    char text[256];
    EXPECT_EQ(FindOracle(name)->judge(c.seen, text, sizeof text), 0) << name;
  }
}

// If a walk may show garbage, no oracle can say which of the two walkers is wrong.
TEST(SampleOracles, OnlyAnUntouchedSceneForbidsDisagreement) {
  for (const OutcomeInfo& outcome : FindOracle("agreement")->outcomes) {
    const std::string name = outcome.name;
    EXPECT_EQ(outcome.grade == Grade::kForbidden, name == "inconsistent" || name == "scene-differs")
        << name;
  }
}

}  // namespace
}  // namespace walkhammer
