// SPDX-License-Identifier: Apache-2.0
// Stacks as a tree, in memory and in run.db.
#include "harness/store/stack_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/store/record_testing.h"
#include "harness/store/run_writer.h"

namespace walkhammer {
namespace {

using Frames = std::vector<std::string_view>;
using StacksByText = std::map<std::string, uint64_t>;

TEST(StackTree, FindsEachNodeAgainAsItGrows) {
  StackTree tree;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 3000; i++) {
      const std::string outer = std::to_string(i % 30), inner = std::to_string(i);
      tree.Add(Frames{outer, inner, outer}, 2);
    }
  EXPECT_EQ(tree.nodes().size(), 1u + 30 + 3000 + 3000);
  for (uint32_t i = 1; i < tree.nodes().size(); i++) EXPECT_LT(tree.nodes()[i].parent, i);
  EXPECT_EQ(tree.Stacks().size(), 3000u);
  EXPECT_EQ(tree.Stacks()["7\n37\n7"], 4u);
  EXPECT_EQ(tree.cut(), 0u);
  tree.Add({}, 5);  // no stack
  EXPECT_EQ(tree.Stacks().size(), 3000u);
}

TEST(StackTree, WhatIsBeyondItsRoomIsCut) {
  StackTree tree(2);
  for (const Frames& stack : {Frames{"a", "b"}, Frames{"a", "b", "c"}, Frames{"a", "c"},
                              Frames{"d", "e"}, Frames{"a", "b"}})
    tree.Add(stack, 1);
  EXPECT_EQ(tree.Stacks(), (StacksByText{{"a\nb", 3}, {"a", 1}, {"[stack table full]", 1}}));
  EXPECT_EQ(tree.cut(), 3u);
}

class StackTreeStore : public NewRunTest {
 protected:
  StackTreeStore() {
    for (const int position : {0, 1}) EXPECT_TRUE(run_.SaveCell(TestCell(position)).ok());
  }
  void Sql(const char* sql) { ExecSql(run_.dir(), sql); }
};

TEST_F(StackTreeStore, SavingACellAgainDoesNotSearchItsStacks) {
  // SQLite searches them if `position`, to which they refer, is among the columns to update.
  Sql("CREATE TRIGGER searches BEFORE UPDATE OF position ON cell "
      "BEGIN SELECT RAISE(ABORT, 'all stacks are searched'); END");
  const Status again = run_.SaveCell(TestCell(0));
  EXPECT_TRUE(again.ok()) << again.failure().message;
}

TEST_F(StackTreeStore, OnlyWhatIsNewIsWritten) {
  StackTree first{{"a.B.c()V\n[agct -5 unknown_Java]", 3}, {"x", 4}}, second{{"x", 1}};
  ASSERT_TRUE(run_.SaveStacks(0, first).ok());
  ASSERT_TRUE(run_.SaveStacks(1, second).ok());
  Sql("UPDATE stack SET count = 100 WHERE cell = 0 AND count = 4");  // would be written over
  first.Add(Frames{"a.B.c()V", "y\ny"}, 9);
  first.Add(Frames{"a.B.c()V", "[agct -5 unknown_Java]"}, 2);
  ASSERT_TRUE(run_.SaveStacks(0, first).ok());
  EXPECT_EQ(
      Read(run_).Stacks(0).value().Stacks(),
      (StacksByText{{"a.B.c()V\n[agct -5 unknown_Java]", 5}, {"a.B.c()V\ny y", 9}, {"x", 100}}));
  EXPECT_EQ(Read(run_).Stacks(1).value().Stacks(), second.Stacks());
  EXPECT_TRUE(Read(run_).Stacks(9).value().empty());
  // a.B.c()V alone was not seen.
  EXPECT_EQ(Read(run_).CountStacks().value(), (std::vector<StackTotals>{{0, 3, 114}, {1, 1, 1}}));
}

TEST_F(StackTreeStore, ARoundTakesAsManyCallsAsItsRowsNeed) {
  StackTree stacks{{"a\nb", 3}, {"c", 4}, {"a\nd", 5}};
  EXPECT_FALSE(run_.SaveStacks(0, stacks, 3).value());
  EXPECT_EQ(Read(run_).Stacks(0).value().Stacks(), (StacksByText{{"a\nb", 3}, {"c", 4}}));
  stacks.Add(Frames{"c"}, 10);  // behind the round
  EXPECT_TRUE(run_.SaveStacks(0, stacks, 3).value());
  EXPECT_EQ(Read(run_).Stacks(0).value().Stacks(),
            (StacksByText{{"a\nb", 3}, {"c", 4}, {"a\nd", 5}}));
  EXPECT_TRUE(run_.SaveStacks(0, stacks, 3).value());
  EXPECT_EQ(Read(run_).Stacks(0).value().Stacks(), stacks.Stacks());
  stacks.Add(Frames{"c"}, 10);
  stacks.Add(Frames{"a", "b"}, 10);
  EXPECT_FALSE(run_.SaveStacks(0, stacks, 1).value());
  stacks.Add(Frames{"a", "b"}, 10);
  stacks.BeginRound();
  EXPECT_TRUE(run_.SaveStacks(0, stacks).value());
  EXPECT_EQ(Read(run_).Stacks(0).value().Stacks(), stacks.Stacks());
}

TEST_F(StackTreeStore, RowsThatLeadNowhereAreNoStacks) {
  StackTree stacks{{"a\nb", 3}, {"c", 4}};
  ASSERT_TRUE(run_.SaveStacks(0, stacks).ok());
  Sql("UPDATE stack SET parent = 99 WHERE count = 3; UPDATE stack SET frame = 99 WHERE count = 4");
  EXPECT_EQ(Read(run_).Stacks(0).value().Stacks(), StacksByText());
  Sql("UPDATE stack SET parent = id");
  EXPECT_TRUE(Read(run_).Stacks(0).ok());
}

}  // namespace
}  // namespace walkhammer
