// SPDX-License-Identifier: Apache-2.0
// MethodRegistry, and what the oracle method-id says of the ids that it knows.
#include "harness/jvm/live/methods.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/oracles/provocation_testing.h"

namespace walkhammer {
namespace {

// The outcome of the oracle method-id for an answer with these frames.
std::string JudgeIds(const MethodRegistry& registry, std::vector<Frame> frames) {
  Case c;
  c.seen.walker = &AllWalkers()[0];
  c.seen.methods = &registry;
  c.Return(std::move(frames));
  return c.Word("method-id");
}

TEST(Methods, FindWhatWasAdded) {
  MethodRegistry registry;
  int first = 0, second = 0, other = 0;
  registry.Add(&first, "app.Main.main([Ljava/lang/String;)V", 100, false);
  registry.Add(&second, "app.Main.native()V", 0, true);
  ASSERT_NE(registry.Find(&first), nullptr);
  EXPECT_STREQ(registry.Find(&first)->name, "app.Main.main([Ljava/lang/String;)V");
  EXPECT_EQ(registry.Find(&first)->code_size, 100);
  EXPECT_FALSE(registry.Find(&first)->is_native);
  ASSERT_NE(registry.Find(&second), nullptr);
  EXPECT_TRUE(registry.Find(&second)->is_native);
  EXPECT_EQ(registry.Find(&other), nullptr);
  EXPECT_EQ(registry.Find(nullptr), nullptr);
}

TEST(Methods, AreUnloadedWithExactlyTheirClass) {
  MethodRegistry registry;
  int more[3];
  registry.Add(&more[0], "a.B.m()V", 1, false);
  registry.Add(&more[1], "a.B.C.m()V", 1, false);
  registry.Add(&more[2], "a.Bc.m(La.B;)V", 1, false);
  registry.MarkUnloaded("a.B");
  EXPECT_TRUE(registry.Find(&more[0])->unloaded.load());
  EXPECT_FALSE(registry.Find(&more[1])->unloaded.load());
  EXPECT_FALSE(registry.Find(&more[2])->unloaded.load());
}

TEST(Methods, GiveUpPlacesOfUnloadedOnesAndFindTheRest) {
  static uint64_t words[3] = {0x700000001000, 0, 0x700000002000};  // jmethodIDs point to these
  MethodRegistry registry;
  for (uint64_t& word : words) registry.Add(&word, "a.B.c()V", 1, false);
  registry.SweepUnloaded(nullptr);
  ASSERT_NE(registry.Find(&words[1]), nullptr);
  EXPECT_TRUE(registry.Find(&words[1])->unloaded.load());
  EXPECT_FALSE(registry.Find(&words[0])->unloaded.load());
  for (int i = 0; i < 10; i++) registry.SweepUnloaded(nullptr);
  EXPECT_EQ(registry.Find(&words[1]), nullptr);
  EXPECT_NE(registry.Find(&words[0]), nullptr);
  EXPECT_NE(registry.Find(&words[2]), nullptr);
  EXPECT_TRUE(registry.MayBeFreed(&words[1]));
  EXPECT_FALSE(registry.MayBeFreed(&words[0]));
  // That it once existed is known without its entry; what never did is something else.
  EXPECT_EQ(JudgeIds(registry, {{0, 0, &words[1]}}), "unloaded");
  EXPECT_EQ(JudgeIds(registry, {{0, 0, &registry}, {0, 0, &words[1]}}), "never-existed");
  registry.Add(&words[1], "a.B.d()V", 1, false);
  ASSERT_NE(registry.Find(&words[1]), nullptr);
  EXPECT_STREQ(registry.Find(&words[1])->name, "a.B.d()V");
}

TEST(Methods, NamesOfHiddenClassesRepeat) {
  MethodRegistry registry;
  int first = 0, second = 0;
  registry.Add(&first, "a.B$$Lambda/0x00007f1234.run()V", 1, false);
  registry.Add(&second, "a.B$$Lambda/0x00007f5678.run()V", 1, false);
  EXPECT_EQ(registry.Find(&first)->name, registry.Find(&second)->name);
  EXPECT_STREQ(registry.Find(&first)->name, "a.B$$Lambda/0x.run()V");
}

// Several loaders may have a class of the name; the event names no loader.
TEST(Methods, AreNotUnloadedWithOneOfSeveralClassesOfTheName) {
  MethodRegistry registry;
  int more[3];
  registry.Add(&more[0], "a.B.m()V", 1, false, /*holder=*/0x1000);
  registry.Add(&more[1], "a.B.n()V", 1, false, 0x1000);
  registry.Add(&more[2], "a.B.m()V", 1, false, 0x2000);
  registry.MarkUnloaded("a.B");
  for (const int& id : more) EXPECT_FALSE(registry.Find(&id)->unloaded.load());
  // As SweepUnloaded does.
  const_cast<MethodEntry*>(registry.Find(&more[2]))->unloaded.store(true);
  registry.MarkUnloaded("a.B");
  for (const int& id : more) EXPECT_TRUE(registry.Find(&id)->unloaded.load());
}

TEST(Methods, ThoseThatWeCallStartThreads) {
  EXPECT_TRUE(StartsThreads("jdk.internal.misc.Unsafe.getLong(Ljava/lang/Object;J)J"));
  EXPECT_FALSE(StartsThreads("jdk.internal.misc.Unsafe.getLongUnaligned(Ljava/lang/Object;J)J"));
}

TEST(Methods, ThoseThatAgentsInJavaBeginWithStartThreads) {
  EXPECT_TRUE(StartsThreads("sun.instrument.InstrumentationImpl.<init>(JZZ)V"));
  EXPECT_TRUE(StartsThreads("java.lang.InternalError.<init>(Ljava/lang/String;)V"));
  EXPECT_TRUE(
      StartsThreads("jdk.internal.loader.ClassLoaders$AppClassLoader."
                    "appendToClassPathForInstrumentation(Ljava/lang/String;)V"));
  EXPECT_FALSE(StartsThreads("java.lang.Error.<init>(Ljava/lang/String;)V"));
}

TEST(Methods, SayWhenTheyAreFull) {
  MethodRegistry registry;
  static char places[MethodRegistry::kMostMethods + 1];
  for (uint32_t i = 0; i < MethodRegistry::kMostMethods; i++)
    registry.Add(&places[i], "a.B.c()V", 1, false);
  EXPECT_TRUE(registry.IsComplete());
  registry.Add(&places[MethodRegistry::kMostMethods], "a.B.c()V", 1, false);
  EXPECT_FALSE(registry.IsComplete());
  EXPECT_EQ(registry.unknown(), 1U);
  EXPECT_NE(registry.Find(&places[77]), nullptr);
}

}  // namespace
}  // namespace walkhammer
