// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/testing/scoped_variable.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextTest, Numbers) {
  EXPECT_EQ(Hex(0), "0x0");
  EXPECT_EQ(Hex(UINT64_MAX), "0xffffffffffffffff");
  const unsigned char bytes[] = {0x0a, 0x1f, 0xff};
  EXPECT_EQ(HexBytes(bytes, 3), "0a1fff");
  EXPECT_EQ(HexBytes(bytes, 0), "");
}

enum class Size : uint8_t { kSmall, kMiddle, kLarge };
const char* SizeWord(Size size) {
  constexpr const char* kWords[] = {"small", "middle", "large", "beyond"};
  return kWords[static_cast<int>(size)];
}

TEST(TextTest, AWordLeadsBackToItsValue) {
  EXPECT_EQ(FromWord("small", SizeWord, Size::kLarge, Size::kMiddle), Size::kSmall);
  EXPECT_EQ(FromWord("large", SizeWord, Size::kLarge, Size::kMiddle), Size::kLarge);
  EXPECT_EQ(FromWord("beyond", SizeWord, Size::kLarge, Size::kMiddle), Size::kMiddle);
  EXPECT_EQ(FromWord("", SizeWord, Size::kLarge, Size::kMiddle), Size::kMiddle);
  EXPECT_EQ(FromWord("Large", SizeWord, Size::kLarge, Size::kMiddle), Size::kMiddle);
}

// Terminals obey control characters: C0, DEL, and C1 both as bytes and in UTF-8.
TEST(TextTest, PrintableHoldsNoControlCharacters) {
  const std::string kept = "a b~\n\tgr\xc3\xbc\xc3\x9f \xe2\x86\x92 \xf0\x9f\x94\xa8 \xc2\xa0";
  EXPECT_EQ(Printable(kept), kept);
  EXPECT_EQ(Printable("\033]0;title\007\033[2J"), "?]0;title??[2J");
  EXPECT_EQ(Printable(std::string_view("\0\r\b\x7f", 4)), "????");
  EXPECT_EQ(Printable("a\x9b"
                      "31m"),
            "a?31m");
  EXPECT_EQ(Printable("a\xc2\x9b"
                      "31m"),
            "a??31m");
  // No UTF-8: overlong, half of a pair, beyond the last, cut off.
  EXPECT_EQ(Printable("\xc0\x9b\xe0\x82\x9b"), "?????");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80\xf5"), "?????");
  EXPECT_EQ(Printable("\xe2\x86"), "??");
  EXPECT_EQ(Printable(""), "");
}

TEST(TextTest, Trim) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(TextTest, WordsAndParts) {
  EXPECT_THAT(Words("  a\tb\nc "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Words(" "), IsEmpty());
  EXPECT_THAT(Split("a,,b c,", ','), ElementsAre("a", "", "b c", ""));
  EXPECT_THAT(Split("a", ','), ElementsAre("a"));
  EXPECT_THAT(Split("", ','), IsEmpty());
}

TEST(Files, ReadsAllOrTheBeginning) {
  const TemporaryFolder folder;
  const std::string text(200000, 'x');
  const std::string path = folder.Write("file", text + std::string(1, '\0') + "end");
  EXPECT_EQ(ReadFile(path), text + std::string(1, '\0') + "end");
  EXPECT_EQ(ReadFile(path, 3), "xxx");
  EXPECT_EQ(ReadFile(path, 0), "");
  EXPECT_EQ(ReadFile(folder.path()), "");
  EXPECT_EQ(ReadFile(folder.Under("none")), "");
  EXPECT_GT(ReadFile("/proc/self/maps").size(), 100U) << "a file that tells no size";
}

TEST(Files, FindsProgramsAlone) {
  const TemporaryFolder folder;
  const ScopedVariable path_variable("PATH",
                                     "/nowhere:" + folder.path() + ":" + std::getenv("PATH"));
  const std::string path = folder.Write("wh-program", "");
  EXPECT_EQ(FindProgram("wh-program"), "") << "not executable";
  EXPECT_FALSE(IsProgram(path));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  EXPECT_EQ(FindProgram("wh-program"), path);
  std::filesystem::create_directory(folder.Under("wh-folder"));
  EXPECT_EQ(FindProgram("wh-folder"), "");
  EXPECT_NE(FindProgram("sh"), "");
  setenv("PATH", "", 1);
  EXPECT_EQ(FindProgram("sh"), "");
  unsetenv("PATH");
  EXPECT_EQ(FindProgram("sh"), "");
}

}  // namespace
}  // namespace walkhammer
