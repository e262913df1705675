// SPDX-License-Identifier: Apache-2.0
// Frames by rules (pc_rules.h): a walk that finds rules returns what a walk without caches does.
#include <memory>
#include <tuple>

#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

// The caller of the leaf, with method 2 inlined into method 1, is the frame that gets rules.
class RulesTest : public JavaWalkTest {
 protected:
  using AFrame = std::tuple<FrameType, int, int, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                            uint64_t, bool>;

  struct Walked {
    std::vector<AFrame> frames;
    WalkEnd end;
    bool operator==(const Walked&) const = default;
  };

  Walked WalkFrames(WalkStart::Caches* caches) {
    start_.caches = caches;
    start_.uses_rules = caches != nullptr;
    JavaWalk walk(layout_, memory_, start_);
    Walked out;
    const bool found = walk.Begin() == WalkStatus::kFound;
    for (JavaFrame f; found && out.frames.size() < 100 && walk.Next(f);)
      out.frames.emplace_back(f.type, f.level, f.bci, f.method, f.facts.id, f.pc, f.sp, f.fp,
                              f.code, f.guessed);
    out.end = walk.end();
    return out;
  }
  Walked Fresh() { return WalkFrames(nullptr); }
  // Frames that are taken many at once are the same, also if there is room for some of them only.
  Walked Cached() {
    Walked out = WalkFrames(caches_.get());
    std::vector<ATakenFrame> all;
    for (const AFrame& f : out.frames)
      all.emplace_back(std::get<FrameType>(f), std::get<1>(f), std::get<2>(f), std::get<4>(f));
    EXPECT_EQ(Taken(static_cast<int>(all.size()) + 1, 100), all);
    EXPECT_EQ(taken_end_, out.end);
    for (size_t most = all.size() + 1; most-- > 0;) {
      if (most < all.size()) all.resize(most);
      EXPECT_EQ(Taken(static_cast<int>(most), 1), all) << most;
      EXPECT_EQ(Taken(static_cast<int>(most), 100), all) << most;
    }
    return out;
  }
  // Type, level, bytecode and jmethodID.
  using ATakenFrame = std::tuple<FrameType, int, int, uint64_t>;
  // At most `most` frames; `at_once` of them in one call of TakeUsual().
  std::vector<ATakenFrame> Taken(int most, int at_once) {
    std::vector<ATakenFrame> out;
    const auto left = [&] { return most - static_cast<int>(out.size()); };
    JavaWalk walk(layout_, memory_, start_);
    const bool found = walk.Begin() == WalkStatus::kFound;
    for (JavaFrame f; found && left() > 0; out.emplace_back(f.type, f.level, f.bci, f.facts.id)) {
      while (walk.TakeUsual(std::min(left(), at_once), [&](const JavaWalk::UsualFrame& u) {
        out.emplace_back(u.type, u.level, u.bci == PcRule::kNoBci ? -1 : u.bci, u.id);
      }) > 0) {
        taken_++;
      }
      if (left() == 0 || !walk.Next(f)) break;
    }
    taken_end_ = walk.end();
    return out;
  }

  // The rule of method `n` at the caller's return address; false if there is none.
  bool Rule(int n, PcRule& rule, uint64_t& id) const {
    return caches_->rules.FindAny(RuleKey(pc_, false, n), id, rule);
  }
  bool TopRule(PcRule& rule) const {
    uint64_t id = 0;
    return caches_->rules.FindAny(RuleKey(start_.registers.pc, true, 0), id, rule);
  }
  // Plants a rule that says another bytecode.
  void PlantOtherBci(int n) {
    PcRule rule{};
    uint64_t id = 0;
    ASSERT_TRUE(Rule(n, rule, id));
    rule.bci = static_cast<uint16_t>(rule.bci + 1);
    caches_->rules.Put(RuleKey(pc_, false, n), id, rule);
  }

  WalkEnd taken_end_ = WalkEnd::kUntold;
  int taken_ = 0;  // calls of TakeUsual() that took frames
  const uint64_t blob_ = caller_ - 0x1f0, pc_ = caller_ + 0x30;
  const std::unique_ptr<WalkStart::Caches> caches_ = std::make_unique<WalkStart::Caches>();
};

TEST_P(RulesTest, CachedEqualsUncached) {
  const Walked fresh = Fresh();
  ASSERT_EQ(fresh.frames.size(), 3U);
  EXPECT_EQ(Cached(), fresh) << "makes the rules";
  PcRule rule{};
  uint64_t id = 0;
  EXPECT_TRUE(Rule(0, rule, id) && Rule(1, rule, id) && TopRule(rule));
  EXPECT_GT(taken_, 0);
  EXPECT_EQ(Cached(), fresh) << "uses them";
}

// Code that was interrupted where it could also have called is described by what follows.
TEST_P(RulesTest, TheSameAddressOnTopAndAsACaller) {
  Cached();
  start_.registers.pc = pc_;
  start_.registers.sp = kLeafSp + 32;
  const Walked fresh = Fresh();
  ASSERT_FALSE(fresh.frames.empty());
  EXPECT_EQ(Cached(), fresh);
  EXPECT_EQ(Cached(), fresh);
}

// A comparison of cached and uncached walks notices a stale rule.
TEST_P(RulesTest, AStaleRuleShows) {
  for (const int n : {0, 1}) {
    Cached();
    PlantOtherBci(n);
    EXPECT_NE(Cached(), Fresh()) << n;
    memory_.PutInt(blob_ + 52, 100 + static_cast<uint32_t>(n));  // new code: no rule holds
    EXPECT_EQ(Cached(), Fresh()) << n;
  }
}

TEST_P(RulesTest, AStaleRuleOfTheInterruptedCodeShows) {
  Cached();
  PcRule rule{};
  uint64_t id = 0;
  const uint64_t key = RuleKey(start_.registers.pc, true, 0);
  ASSERT_TRUE(caches_->rules.FindAny(key, id, rule));
  rule.bci = static_cast<uint16_t>(rule.bci + 1);
  caches_->rules.Put(key, id, rule);
  EXPECT_NE(Cached(), Fresh());
  memory_.PutInt(leaf_ - 0x1f0 + 52, 4711);  // new code: no rule holds
  EXPECT_EQ(Cached(), Fresh());
}

// The nmethod was flushed, and other code has its address.
TEST_P(RulesTest, OtherCodeAtTheAddress) {
  Cached();
  memory_.PutInt(blob_ + 52, 4711);                // compile id
  memory_.PutBytes(blob_ + 0x160 + 1, {0, 1, 9});  // method 1 at bytecode 8
  const Walked fresh = Fresh();
  EXPECT_EQ(Cached(), fresh);
  EXPECT_EQ(Cached(), fresh) << "by the new rules";
}

TEST_P(RulesTest, FreedCode) {
  Cached();
  memory_.PutBytes(blob_ - 16 + 8, {0});
  EXPECT_EQ(Fresh().end, WalkEnd::kNoCaller);
  EXPECT_EQ(Cached(), Fresh());
}

// The class was redefined: the jmethodID leads to the new version of the method.
TEST_P(RulesTest, RedefinedMethod) {
  for (const uint64_t method : {1, 2}) {
    Cached();
    const uint64_t id = MadeUpJvm::Method(method) + 0x500;
    memory_.Put(id, MadeUpJvm::Method(3));
    EXPECT_EQ(Cached(), Fresh()) << method;
    memory_.Put(id, MadeUpJvm::Method(method));
  }
}

// A method without a jmethodID may get one at any time.
TEST_P(RulesTest, NoRuleWithoutAnId) {
  const uint64_t id_at = MadeUpJvm::Method(2) + 0x408;
  memory_.Put(id_at, 0);
  EXPECT_EQ(Cached(), Fresh());
  PcRule rule{};
  uint64_t compile_id = 0;
  EXPECT_FALSE(Rule(0, rule, compile_id));
  memory_.Put(id_at, MadeUpJvm::Method(2) + 0x500);
  EXPECT_EQ(Cached(), Fresh());
  EXPECT_TRUE(Rule(0, rule, compile_id));
}

// Other return addresses take the place of the rule of the method inlined into.
TEST_P(RulesTest, AReplacedRule) {
  Cached();
  const uint64_t place = PlaceOf(RuleKey(pc_, false, 1), kRuleBits);
  PcRule rule{};
  uint64_t id = 0;
  int others = 0;
  for (uint64_t other = 8; others < 4; other += 8)
    if (PlaceOf(other, kRuleBits) == place) caches_->rules.Put(other, 1, {}), others++;
  ASSERT_FALSE(Rule(1, rule, id));
  EXPECT_EQ(Cached(), Fresh());
  EXPECT_TRUE(Rule(1, rule, id)) << "made anew";
  EXPECT_EQ(Cached(), Fresh());
  // It may be code of another compilation that has left the rule.
  rule.bci = static_cast<uint16_t>(rule.bci + 1);
  caches_->rules.Put(RuleKey(pc_, false, 1), id + 1, rule);
  EXPECT_EQ(Cached(), Fresh());
}

// What the instructions at the interrupted pc say holds for the nmethod that they are of.
TEST_P(RulesTest, OtherCodeWhereTheThreadWasInterrupted) {
  const Walked fresh = Fresh();
  EXPECT_EQ(Cached(), fresh);
  CodeFacts facts{};
  uint64_t id = 0;
  ASSERT_FALSE(caches_->code.FindAny(start_.registers.pc, id, facts)) << "any pc";
  start_.from_context = true;
  EXPECT_EQ(Cached(), fresh);
  ASSERT_TRUE(caches_->code.FindAny(start_.registers.pc, id, facts));
  // A longer frame, of other code.
  memory_.PutInt(leaf_ - 0x1f0 + 52, 4711);
  memory_.PutInt(leaf_ - 0x1f0 + 8, static_cast<uint32_t>(facts.frame_words) + 2);
  EXPECT_NE(Fresh(), fresh);
  EXPECT_EQ(Cached(), Fresh());
  // The code was freed.
  memory_.PutBytes(leaf_ - 0x1f0 - 16 + 8, {0});
  EXPECT_EQ(Cached(), Fresh());
}

// An entry barrier that gives its nmethod up leaves an address of code where a frame keeps fp.
TEST_P(RulesTest, AnAddressOfCodeInPlaceOfFp) {
  jvm_.InterpretCaller();
  LeaveJava(kLeafSp, leaf_ + 0x20);
  memory_.Put(kThread + 24, MadeUpJvm::kStack + 0x180);
  EXPECT_EQ(Cached(), Fresh());
  memory_.Put(kLeafSp + 16, jvm_.stub);
  ASSERT_EQ(Fresh().frames.size(), 2U);
  EXPECT_EQ(Cached(), Fresh());
}

// The rest of an activation comes with queue elements later on.
TEST_P(RulesTest, PlacesOfScopesAreTheSame) {
  JavaWalk::ScopePlace places[2]{};
  Cached();
  for (const bool uses : {false, true}) {
    start_.uses_rules = uses;
    JavaWalk walk(layout_, memory_, start_);
    JavaFrame frame;
    ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
    ASSERT_TRUE(walk.Next(frame) && walk.Next(frame));
    EXPECT_EQ(frame.type, FrameType::kInlined);
    EXPECT_EQ(walk.end(), WalkEnd::kUntold);
    ASSERT_TRUE(walk.PlaceOfScopes(places[uses]));
  }
  EXPECT_EQ(places[0].pc, places[1].pc);
  EXPECT_EQ(places[0].code, places[1].code);
  EXPECT_EQ(places[0].offset, places[1].offset);
  EXPECT_EQ(places[0].compile_id, places[1].compile_id);
}

// The frame's return address leads to the handler, and its own pc is kept elsewhere in it.
TEST_P(RulesTest, AFrameToBeDeoptimisedHasNoRule) {
  const uint64_t handler = caller_ + 0x80, slot = kLeafSp + 32;
  Cached();
  memory_.Put(blob_ + 80, handler);
  memory_.PutInt(blob_ + 48, 8);
  memory_.Put(slot + 8, pc_);
  memory_.Put(kLeafSp + 24, handler);
  const Walked fresh = Fresh();
  ASSERT_EQ(fresh.frames.size(), 3U);
  EXPECT_EQ(Cached(), fresh);
  PcRule rule{};
  uint64_t id = 0;
  EXPECT_FALSE(caches_->rules.FindAny(RuleKey(handler, false, 0), id, rule));
  EXPECT_EQ(Cached(), fresh);
}

// A return address that is not an address of code, but a key of the cache.
TEST_P(RulesTest, WordsThatAreKeys) {
  Cached();
  // What an empty place of the cache would be compared with.
  for (const uint64_t address : {uint64_t{0}, uint64_t{48}, ~uint64_t{7}})
    memory_.Put(address, address == ~uint64_t{7} ? 1 : 0);
  for (const uint64_t word : {uint64_t{0}, RuleKey(pc_, false, 1)}) {
    memory_.Put(kLeafSp + 24, word);
    EXPECT_EQ(Cached(), Fresh()) << word;
  }
}

// A walk that begins at the anchor, and code that returns to address 0: no code is there, whatever
// code was looked up last.
TEST_P(RulesTest, NoCodeIsAtAddressZero) {
  LeaveJava(kLeafSp, leaf_ + 0x20);
  EXPECT_EQ(Fresh().end, WalkEnd::kWhole);
  memory_.Put(kLeafSp + 24, 0);
  const Walked fresh = Fresh();
  EXPECT_EQ(fresh.frames.size(), 1U);
  EXPECT_EQ(fresh.end, WalkEnd::kNoCaller);
}

// Rules are for live frames of the current thread alone.
TEST_P(RulesTest, OtherThreadsUseNone) {
  Cached();
  PlantOtherBci(0);
  start_.uses_rules = false;
  const auto seen = Walk();
  EXPECT_EQ(seen, kAll);
}

// Whatever words change, a walk by rules ends.
TEST_P(RulesTest, DamageOfAnyKindEnds) {
  size_t frames = 0;
  DamageAnyhow(memory_,
               [&] { frames += WalkFrames(caches_.get()).frames.size() + Taken(100, 100).size(); });
  EXPECT_GT(frames, 40000U);
}

INSTANTIATE_TEST_SUITE_P(Each, RulesTest, testing::Values(&kX86_64Rules, &kAarch64Rules),
                         [](const auto& info) {
                           return info.param == &kX86_64Rules ? "x86_64" : "aarch64";
                         });

}  // namespace
}  // namespace walkhammer::asgst
