// SPDX-License-Identifier: Apache-2.0
#include "harness/request/walker_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace walkhammer {
namespace {

std::string NameOf(std::string_view given) {
  const auto index = FindWalker(given);
  return index ? AllWalkers()[static_cast<size_t>(*index)].name : "none";
}

TEST(WalkerTable, AWalkerIsNamedWithOrWithoutItsProvider) {
  EXPECT_EQ(NameOf("agct"), "agct");
  EXPECT_EQ(NameOf("agct@jdk"), "agct");
  EXPECT_EQ(NameOf("agct@ref"), "none");
  for (const std::string name : {"asgst", "iterator", "iterator-frame"}) {
    EXPECT_EQ(NameOf(name), name);
    EXPECT_EQ(NameOf(name + "@ref"), name);
    EXPECT_EQ(NameOf(name + "@jdk"), name + "@jdk");
    EXPECT_EQ(NameOf(name + "@"), "none");
    EXPECT_EQ(NameOf(name + "@jdk@jdk"), "none");
  }
}

TEST(WalkerTable, NamesAreUniqueAndTellTheProvider) {
  std::set<std::string> names;
  for (const WalkerInfo& walker : AllWalkers()) {
    const std::string name = walker.name;
    EXPECT_TRUE(names.insert(name).second) << name;
    const size_t at = name.find('@');
    if (at == name.npos) continue;
    EXPECT_EQ(name.substr(at + 1), walker.provider);
  }
}

TEST(WalkerTable, CodesOfAnImplementationsOwnAreDeclared) {
  const WalkerInfo& iterator = AllWalkers()[static_cast<size_t>(*FindWalker("iterator@jdk"))];
  EXPECT_STREQ(CodeName(iterator, -17), "implementation_specific");
  EXPECT_EQ(CodeName(iterator, -15), nullptr);
  EXPECT_EQ(CodeName(AllWalkers()[0], -17), nullptr);
  const WalkerInfo& asgst = AllWalkers()[static_cast<size_t>(*FindWalker("asgst@jdk"))];
  for (int code = -14; code <= 0; code++)
    EXPECT_EQ(CodeName(asgst, code) != nullptr, code != -6) << code;
}

}  // namespace
}  // namespace walkhammer
