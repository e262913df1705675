// SPDX-License-Identifier: Apache-2.0
#include "harness/base/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walkhammer {
namespace {

// A key of so many parts.
std::string Key(int parts) {
  std::string key = "a";
  for (int i = 1; i < parts; i++) key += ".a";
  return key;
}

void ExpectRefused(const std::string& text, const std::string& place) {
  const auto table = ParseToml(text, "store.toml");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.failure().message, "store.toml:" + place + ": a key has more than 16 parts");
}

// Each part is a table in a table, and the parser recurses over them.
TEST(ParseToml, KeysOfTooManyPartsAreRefused) {
  ExpectRefused("x = 1\n" + Key(17) + " = 1\n", "2");
  ExpectRefused(Key(100000) + " = 1\n", "1");
  ExpectRefused("[" + Key(100000) + "]\n", "1");
  ExpectRefused("[[" + Key(100000) + "]]\n", "1");
  ExpectRefused("x = {y = 1, " + Key(100000) + " = 1}\n", "1");
  // Behind what may be taken for a string or its end.
  for (const std::string before : {"'\"', ", "\"\\\"'\", ", "\"\"\"\"\"\", ", "\"\"\"a\"\"\"\"\", ",
                                   "'''a'''''\n, ", "'''\n\n\"''', ", "\"\"\"\\\"\"\"'\"\"\", "})
    EXPECT_FALSE(ParseToml("x = [" + before + "{" + Key(100000) + " = 1}]", "x").ok()) << before;
}

TEST(ParseToml, OtherPointsAreNoParts) {
  const std::string points = Key(100000);
  for (const std::string& text : std::vector<std::string>{
           Key(16) + " = 1\n", "[" + Key(16) + "]\n", "x = '" + points + "' # " + points + "\n",
           "x = \"\\\"" + points + "\"\n", "x = '''\n'\n" + points + "\n''\n'''\n",
           "x = \"\"\"\n\\\"\"\"" + points + "\"\"\"\n",
           "# '\nx = [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, "
           "1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]\n"})
    EXPECT_TRUE(ParseToml(text, "x").ok()) << text.substr(0, 40);
}

}  // namespace
}  // namespace walkhammer
