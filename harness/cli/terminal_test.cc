// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

TEST(TerminalTest, WrapsAtBlanksAndCutsNoWord) {
  EXPECT_EQ(Wrapped("one two  three\nfour", 80), "one two three four");
  EXPECT_EQ(Wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(Wrapped("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(Wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(Wrapped("a incomprehensible b", 5, 2), "a\n  incomprehensible\n  b");
  EXPECT_EQ(Wrapped("", 5, 2), "");
}

}  // namespace
}  // namespace walkhammer
