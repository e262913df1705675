// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
TEST(TextTest, FirstLinesSayWhatTheyLeaveOut) {
  EXPECT_EQ(FirstLines("\n", 2), "");
  EXPECT_EQ(FirstLines(" a\nb ", 2), "a\nb\n");
  EXPECT_EQ(FirstLines("a\nb\nc\nd", 2), "a\nb\n... and 2 more\n");
  EXPECT_EQ(FirstLines(std::string(300, 'a'), 1), std::string(300, 'a') + "\n");
  EXPECT_EQ(FirstLines(std::string(301, 'a'), 1), std::string(300, 'a') + " ... (cut)\n");
}

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
  // U+200E, U+202A, U+202E, U+2066, U+2069, U+061C show "a.exe" as other text; their neighbours.
  for (const char* mark :
       {"\xe2\x80\x8e", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"})
    EXPECT_EQ(Printable(std::string("a") + mark + ".exe"), "a???.exe");
  EXPECT_EQ(Printable("\xd8\x9c"), "??");
  const std::string neighbours = "\xe2\x80\x8d\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa";
  EXPECT_EQ(Printable(neighbours), neighbours);
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

}  // namespace
}  // namespace walkhammer
