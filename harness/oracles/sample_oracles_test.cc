// SPDX-License-Identifier: Apache-2.0
// The oracles that judge samples, each outcome provoked by written observations.
#include "harness/oracles/disagreement.h"
#include "harness/oracles/provocation_testing.h"

namespace walkhammer {
namespace {

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

const Frame run = At(50, kRun), outer = At(5, kOuter), inner = At(4, kInner),
            helper = At(1, kHelper);

// A sample of four frames that is right in every respect: run, outer, inner, helper.
struct SampleCase : Case {
  ShadowStack shadow{};

  SampleCase() {
    frames = others = {helper, inner, outer, run};
    shadow.magic.store(ShadowStack::kMagic);
    for (const uint32_t active : {0, 1, 2}) shadow.ids[active] = active;
    shadow.depth.store(3);
    facts.shadow = &shadow;
    facts.byte_code = [](void*, int) { return 0x60; };  // iadd
    sampled = true;
    seen.walker = &AllWalkers()[0];
    seen.methods = &Methods();
    seen.trace = seen.other.trace = {Ending::kReturned, 4, nullptr};
  }
};

// The outermost `count` methods of the shadow stack are active.
Change Active(uint32_t count) {
  return [=](Case& c) { static_cast<SampleCase&>(c).shadow.depth.store(count); };
}
template <int kSize>
Change CodeSize() {
  return [](Case& c) { c.facts.code_size = [](void*) { return kSize; }; };
}
template <int kCode>
Change ByteCode() {
  return [](Case& c) { c.facts.byte_code = [](void*, int) { return kCode; }; };
}
Change Compare() {
  return [](Case& c) { c.seen.other.walker = &AllWalkers()[0]; };
}
// Compares with another answer to a scene: unchanged if `pristine`, else edited.
Change CompareRequest(bool pristine) {
  return Compare() + [=](Case& c) {
    c.sampled = false;
    c.seen.pristine = pristine;
  };
}
Change CompareScene() { return CompareRequest(true); }
Change CompareEdited() { return CompareRequest(false); }
Change SameAgain() {
  return [](Case& c) { c.seen.other.same_again = true; };
}
Change OtherAnswer(int32_t code) {
  return [=](Case& c) { c.seen.other.trace.num_frames = code; };
}
// The answer of the second walker has no method in frame 1.
Change Unnamed() {
  return [](Case& c) { c.others[1].method = nullptr; };
}
// A frame of a method that the registry does not know.
int not_registered;
const Frame unknown = At(1, &not_registered);

// long: a table.
const std::vector<Provocation>& Provocations() {
  static const auto& table = *new std::vector<Provocation>{
      {"ReachesTheStart", "thread-start", "complete", Nothing()},
      {"CutOff", "thread-start", "cut-off", Return(helper, inner),
       "the outermost of 2 frames is app.Main.inner()V"},
      {"CutAtDepth", "thread-start", "complete", Depth(2) + Return(helper, inner)},
      {"FailedWalksHaveNoStart", "thread-start", "complete", Answers(-5)},

      {"MadeUp", "method-id", "never-existed",
       Return(unknown, run) +
           [](Case& c) { c.facts.keeps = [](void* id) { return id == kHelper; }; },
       "frame 0 of 2"},
      {"LoadedWithoutAnEvent", "method-id", "known",
       Return(unknown, run) + [](Case& c) { c.facts.keeps = [](void*) { return true; }; }},
      {"NobodyToAsk", "method-id", "never-existed", Return(unknown, run), "frame 0 of 2"},
      {"BehindTheEndAtFirst", "bci", "outside-at-first", Bci(1, 10), "which has 10 bytes"},
      {"BehindTheEndNow", "bci", "outside", CodeSize<10>() + Bci(1, 10)},
      {"BehindTheOldEnd", "bci", "inside", CodeSize<11>() + Bci(1, 10)},
      {"NegativeWhereNoEndIsKnown", "bci", "outside", Bci(1, -2)},

      {"Twice", "repeated-frame", "twice", Return(inner, inner, run),
       "frames 0 and 1 are both app.Main.inner()V @ 4"},
      {"TwiceByAGuess", "repeated-frame", "guessed", Return(inner, inner, run) + GuessFrom(1)},
      {"TwiceBeforeTheGuess", "repeated-frame", "twice", Return(inner, inner, run) + GuessFrom(2)},
      {"DeoptimizedRecursion", "repeated-frame", "no-place",
       Return(At(0, kInner), At(0, kInner), run), "app.Main.inner()V @ 0"},
      {"Recursion", "repeated-frame", "once", ByteCode<0xb8>() + Return(inner, inner)},
      {"RewrittenByteCode", "repeated-frame", "once", ByteCode<0xe9>() + Return(inner, inner)},
      {"OtherPlaceInTheMethod", "repeated-frame", "once", Return(At(3, kInner), inner)},

      {"Agrees", "shadow-stack", "agrees", Nothing()},
      {"OneIsEntering", "shadow-stack", "agrees", Active(2)},
      {"TwoTooMany", "shadow-stack", "frames-too-many", Active(1),
       "3 of the program's methods shown, 1 are active"},
      {"CallerSkipped", "shadow-stack", "wrong-frame", Return(inner, run),
       "which is not number 1 of the 3 active ones"},
      {"CallerSkippedByAGuess", "shadow-stack", "guessed", Return(inner, run) + GuessFrom(1)},
      {"CallerSkippedBeforeTheGuess", "shadow-stack", "wrong-frame",
       Return(helper, inner, run, helper) + GuessFrom(3)},
      {"NewestMissing", "shadow-stack", "frames-missing", Return(outer, run) + GuessFrom(1)},
      {"NewestMissingBeforeAGuess", "shadow-stack", "guessed",
       Return(helper, outer, run) + GuessFrom(1)},
      {"AsDeepAsItsBuffer", "shadow-stack", "agrees", Depth(3) + Return(helper, inner, outer)},
      {"OneShortOfItsBuffer", "shadow-stack", "wrong-frame",
       Depth(4) + Return(helper, inner, outer)},
      {"NoShadow", "shadow-stack", "agrees",
       Return(inner, run) + [](Case& c) { c.facts.shadow = nullptr; }},
      {"NotYetAShadow", "shadow-stack", "agrees",
       Return(inner) + [](Case& c) { static_cast<SampleCase&>(c).shadow.magic.store(0); }},

      {"Same", "agreement", "same", Compare()},
      {"TheFirstCrashed", "agreement", "same",
       Compare() + OtherAnswer(0) + [](Case& c) { c.seen.other.trace.ending = Ending::kCrashed; }},
      {"TheSecondHung", "agreement", "same",
       Compare() + Answers(0) + [](Case& c) { c.seen.trace.ending = Ending::kHung; }},
      {"OtherMethod", "agreement", "other-method", Compare() + Method(1, kOuter),
       "frame 1 is app.Main.outer()V @ 4, for agct app.Main.inner()V @ 4"},
      {"Truncated", "agreement", "truncated", Compare() + Answers(3), "3 frames, for agct 4"},
      {"CutWhereItWasToEnd", "agreement", "same", Compare() + Answers(3) + EndOnRequest()},
      {"CutBeforeItsFirstFrame", "agreement", "same", Compare() + Return() + EndOnRequest()},
      {"CutAndWrong", "agreement", "other-method",
       Compare() + Answers(3) + EndOnRequest() + Method(1, kOuter)},
      {"LongerThanOneThatWasToGoOn", "agreement", "truncated",
       Compare() + OtherAnswer(3) + EndOnRequest()},
      {"CutAgainButElsewhere", "agreement", "inconsistent",
       Compare() + SameAgain() + Answers(3) + EndOnRequest()},
      {"SkippedCaller", "agreement", "skipped-caller", Compare() + Return(helper, outer, run),
       "frame 1 is app.Main.outer()V @ 5, for agct app.Main.inner()V @ 4"},
      {"MadeUpCaller", "agreement", "skipped-caller",
       Compare() + Return(helper, inner, helper, outer, run)},
      {"SkippedTheNewest", "agreement", "skipped-caller", Compare() + Return(inner, outer, run)},
      {"OtherBci", "agreement", "other-bci", Compare() + Bci(2, 6),
       "frame 2 is app.Main.outer()V @ 6, for agct app.Main.outer()V @ 5"},
      {"MethodsMatterMoreThanByteCodes", "agreement", "truncated",
       Compare() + Bci(0, 9) + Answers(3)},
      {"OtherLevel", "agreement", "other-level",
       Compare() + Kind(1, 0x401) + [](Case& c) { c.others[1].kind = 0x301; }, "frame 1 is"},
      {"Unnamed", "agreement", "unnamed", Compare() + Unnamed(), "frame 1 is"},
      {"UnnamedAndTruncated", "agreement", "truncated", Compare() + Unnamed() + Answers(3)},
      {"LevelsOfOneAlone", "agreement", "same", Compare() + Kind(1, 0x401)},
      {"Inconsistent", "agreement", "inconsistent", Compare() + SameAgain() + Bci(1, 0)},
      {"InconsistentError", "agreement", "inconsistent", Compare() + SameAgain() + Answers(-5),
       "answered 4, then -5"},
      {"ErrorOfOne", "agreement", "one-failed", Compare() + Answers(-5),
       "agct answered 4, then -5"},
      {"ErrorsOfBoth", "agreement", "same", Compare() + Answers(-5) + OtherAnswer(-3)},
      {"OtherErrorOfTheSame", "agreement", "inconsistent",
       Compare() + SameAgain() + Answers(-5) + OtherAnswer(-3)},
      {"SceneAlike", "agreement", "same", CompareScene()},
      {"SceneOtherBci", "agreement", "scene-differs", CompareScene() + Bci(2, 6),
       "frame 2 is app.Main.outer()V @ 6, for agct app.Main.outer()V @ 5"},
      {"SceneGuessedByTheOther", "agreement", "guessed",
       CompareScene() + Bci(2, 6) + [](Case& c) { c.seen.other.trace.guessed_from = 2; },
       "frame 2"},
      {"SceneDiffersBeforeTheGuess", "agreement", "scene-differs",
       CompareScene() + Bci(2, 6) + GuessFrom(3)},
      {"AGuessWhereTheOtherFailed", "agreement", "one-failed",
       Compare() + OtherAnswer(-5) + GuessFrom(0)},
      {"InconsistentGuesses", "agreement", "inconsistent",
       Compare() + SameAgain() + Bci(2, 6) + GuessFrom(0)},
      {"SceneOfOne", "agreement", "scene-failed", CompareScene() + Answers(-5),
       "agct answered 4, then -5"},
      {"SceneTruncated", "agreement", "truncated", CompareScene() + Answers(3)},
      {"RequestOtherBci", "agreement", "other-bci", CompareEdited() + Bci(2, 6)},
      {"RequestOfOne", "agreement", "one-failed", CompareEdited() + Answers(-5)},
      {"NothingToCompareWith", "agreement", "same", Bci(1, 0)},
  };
  return table;
}

class SampleOracleTest : public testing::TestWithParam<Provocation> {};

TEST_P(SampleOracleTest, IsProvoked) {
  SampleCase c;
  ExpectProvoked(GetParam(), c);
}

INSTANTIATE_TEST_SUITE_P(Table, SampleOracleTest, testing::ValuesIn(Provocations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SampleOracles, EachOutcomeIsProvokedByACase) {
  const std::set<std::string> provoked = Provoked(Provocations());
  for (const char* name : {"thread-start", "repeated-frame", "shadow-stack", "agreement"})
    for (const OutcomeInfo& outcome : FindOracle(name)->outcomes)
      EXPECT_EQ(provoked.count(std::string(name) + "/" + outcome.name), 1u) << name << outcome.name;
}

// Both ends of each range of bytecodes that may call: 0xb6 .. 0xba, and HotSpot's own above 0xc9.
TEST(SampleOracles, OnlyCallsExplainAFrameTwice) {
  static int code;
  const auto judged = [](int byte_code) {
    code = byte_code;
    SampleCase c;
    c.facts.byte_code = [](void*, int) { return code; };
    c.Return({inner, inner, run});
    return c.Word("repeated-frame");
  };
  for (const int calls : {-1, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xca, 0xff})
    EXPECT_EQ(judged(calls), "once") << calls;
  for (const int calls_nobody : {0, 0xb5, 0xbb, 0xc9})
    EXPECT_EQ(judged(calls_nobody), "twice") << calls_nobody;
}

// Synthetic walks have no shadow and no start; a single walker has no other one to agree with.
TEST(SampleOracles, SayNothingAboutSyntheticWalks) {
  for (const char* name : {"thread-start", "repeated-frame", "shadow-stack", "agreement"}) {
    SampleCase c;
    c.Return({inner, inner});
    c.sampled = false;
    char text[256];
    EXPECT_EQ(FindOracle(name)->judge(c.Whole(), text, sizeof text), 0) << name;
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
