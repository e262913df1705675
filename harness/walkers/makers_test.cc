// SPDX-License-Identifier: Apache-2.0
// The walkers are what the table of requests says.
#include "harness/walkers/makers.h"

#include <gtest/gtest.h>

#include <set>
#include <typeinfo>

#include "harness/walkers/asgst_layout.h"
#include "harness/walkers/iterator_drift.h"
#include "harness/walkers/profiler_frames.h"

namespace walkhammer {
namespace {

const WalkerInfo& Row(std::string_view name) {
  return AllWalkers()[static_cast<size_t>(FindWalker(name).value())];
}

TEST(Makers, EachRowHasItsWalker) {
  for (const WalkerInfo& row : AllWalkers()) EXPECT_NE(MakeWalker(row), nullptr) << row.name;
  const auto type = [](std::string_view name) {
    const std::unique_ptr<Walker> walker = MakeWalker(Row(name));
    const Walker& made = *walker;
    return std::string(typeid(made).name());
  };
  EXPECT_EQ(type("asgst"), type("asgst@jdk"));
  EXPECT_EQ(type("iterator"), type("iterator-frame@jdk"));
  EXPECT_EQ(type("ids"), type("ids@jdk"));
  EXPECT_EQ(type("queue@jdk"), type("marks@jdk"));
  EXPECT_EQ(type("agct"), type("puzzle-honest"));
  EXPECT_EQ(type("agct"), type("puzzle-strand"));
  EXPECT_EQ(type("ddprof-fp"), type("asprof-dwarf"));
  std::set<std::string> types;
  for (const char* name : {"agct", "asgst", "iterator", "ids", "queue", "queue@jdk", "request",
                           "asprof-vm", "ddprof-vm", "ddprof-fp", "puzzle-sample-crash",
                           "puzzle-fickle", "puzzle-contradiction", "puzzle-no-callers"})
    EXPECT_TRUE(types.insert(type(name)).second) << name;
}

TEST(Makers, TheTableNamesTheCodesThatWalkersReturn) {
  EXPECT_STREQ(CodeName(Row("iterator@jdk"), kOlderNoClassLoad), "no_class_load");
  EXPECT_STREQ(CodeName(Row("ids@jdk"), kOlderNoClassLoad), "no_class_load");
  EXPECT_STREQ(CodeName(Row("queue@jdk"), ASGST_ENQUEUE_OTHER_ERROR), "other_error");
  EXPECT_STREQ(CodeName(Row("asgst@jdk"), kAsgstNoThread), "no_thread");
  EXPECT_STREQ(CodeName(Row("asgst@jdk"), kAsgstUnsafeState), "unsafe_state");
  EXPECT_STREQ(CodeName(Row("asgst@jdk"), kAsgstWrongState), "wrong_state");
  EXPECT_STREQ(CodeName(Row("asgst@jdk"), kAsgstWrongKind), "wrong_kind");
  EXPECT_EQ(CodeName(Row("asgst"), kAsgstNoThread), nullptr);
  EXPECT_STREQ(CodeName(Row("asprof-vm"), kNoLock), "skipped");
}

}  // namespace
}  // namespace walkhammer
