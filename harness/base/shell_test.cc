// SPDX-License-Identifier: Apache-2.0
#include "harness/base/shell.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

TEST(Shell, PlainWordsStayAsTheyAre) {
  for (const char* word : {"a", "--jdk", "/usr/lib/jvm/java-17", "-Xmx1g", "a=b,c:d@e%f+g_h"})
    EXPECT_EQ(ShellWord(word), word);
}

TEST(Shell, AShellTakesEachWordForItself) {
  const std::vector<std::string> words = {"printf", "%s|", "",     "a b", "it's", "$HOME",
                                          "*",      "~",   "a\nb", "\"",  "x;y",  "\\"};
  FILE* shell = popen(ShellCommand(words).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  char said[200] = {};
  const size_t length = fread(said, 1, sizeof said - 1, shell);
  EXPECT_EQ(pclose(shell), 0);
  EXPECT_EQ(std::string(said, length), "|a b|it's|$HOME|*|~|a\nb|\"|x;y|\\|");
}

TEST(Shell, QuotedWordsMayHaveBlanks) {
  const std::vector<std::string> words = {"-cp",  "my jars/a.jar", "Main", "a \"b\\",
                                          "c\"d", "e\"",           ""};
  EXPECT_EQ(QuotedWords(R"( -cp "my jars/a.jar"  Main "a \"b\\" c"d e" "" )").value(), words);
  for (const char* none : {"", " "}) EXPECT_TRUE(QuotedWords(none).value().empty());
  for (const char* open : {"\"", "a \"b c", "\"a\\\""}) {
    EXPECT_THAT(QuotedWords(open), FailsWith(ExitCode::kBadInput)) << open;
  }
}

TEST(PlainPath, IsALinkWhereTheNameWouldBeSplit) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string link = folder.Under("link");
  EXPECT_EQ(PlainPath("/usr/lib/a.so", link).value(), "/usr/lib/a.so");
  EXPECT_FALSE(fs::is_symlink(link));
  for (const std::string name : {"/a clone/b.so", "/a:b.so", "/it's.so"}) {
    EXPECT_EQ(PlainPath(name, link).value(), link);
    EXPECT_EQ(fs::read_symlink(link), name) << "also where an older one was";
  }
  EXPECT_THAT(PlainPath("/a b", folder.Under("c d")), FailsWith(ExitCode::kUnable));
  EXPECT_THAT(PlainPath("/a b", folder.Under("no-folder/link")), FailsWith(ExitCode::kToolFailed));
}

}  // namespace
}  // namespace walkhammer
