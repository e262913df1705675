// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/plain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kText = "Command Line: -Dpassword=hunter2\nUSER=zo\xc3\xab\n";

// UTF-16 of the text, whose characters are below 0x800.
std::string Utf16(std::string_view text, bool is_big) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i++) {
    unsigned code = static_cast<unsigned char>(text[i]);
    if (code >= 0xc0) code = (code & 0x1f) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f);
    const char high = static_cast<char>(code >> 8), low = static_cast<char>(code);
    bytes += is_big ? high : low;
    bytes += is_big ? low : high;
  }
  return bytes;
}

std::string Plain(const std::string& bytes) {
  const auto text = PlainText(bytes, "a.log");
  EXPECT_TRUE(text.ok()) << text.failure().message;
  return text.ok() ? text.value() : "";
}

TEST(PlainText, Utf16BecomesUtf8) {
  for (const bool is_big : {false, true}) {
    EXPECT_EQ(Plain(Utf16(kText, is_big)), kText);
    EXPECT_EQ(Plain((is_big ? "\xfe\xff" : "\xff\xfe") + Utf16(kText, is_big)), kText);
  }
  using std::string_literals::operator""s;
  EXPECT_EQ(Plain("\xff\xfe\x3d\xd8\x00\xde"s), "\xf0\x9f\x98\x80") << "a pair of surrogates";
  EXPECT_EQ(Plain("\xff\xfe\x3d\xd8\x61\x00"s),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(Plain("\xff\xfe\x61"s), "\xef\xbf\xbd");
  // What a shell of Windows has appended to another text.
  const std::string before(8000, 'x');
  EXPECT_EQ(Plain(before + Utf16("password", false)), before + "password");
}

// "Command Line: -Xint\n", by gzip.
constexpr unsigned char kGzipped[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                      0x73, 0xce, 0xcf, 0xcd, 0x4d, 0xcc, 0x4b, 0x51, 0xf0, 0xc9,
                                      0xcc, 0x4b, 0xb5, 0x52, 0xd0, 0x8d, 0xc8, 0xcc, 0x2b, 0xe1,
                                      0x02, 0x00, 0x23, 0xce, 0xed, 0xd6, 0x14, 0x00, 0x00, 0x00};

TEST(PlainText, GzipIsUnpacked) {
  const std::string member(reinterpret_cast<const char*>(kGzipped), sizeof kGzipped);
  EXPECT_EQ(Plain(member), "Command Line: -Xint\n");
  EXPECT_EQ(Plain(member + member), "Command Line: -Xint\nCommand Line: -Xint\n");
  EXPECT_EQ(Plain(member + std::string(20, '\0')), "Command Line: -Xint\n") << "padded";
  for (size_t cut = 2; cut < member.size(); cut++)
    EXPECT_FALSE(PlainText(member.substr(0, cut), "a.log.gz").ok()) << cut;
}

TEST(PlainText, LinesEndWithLf) { EXPECT_EQ(Plain("a\rb\r\nc\n\rd\r"), "a\nb\r\nc\n\nd\n"); }

TEST(PlainText, LinesThatAContainersRuntimeHasCutAreJoined) {
  const std::string at = "2026-11-24T13:15:02.123456789Z ";
  EXPECT_EQ(Plain(at + "stdout F a\n" + at + "stdout P Command Line: -Dpass\n" + at +
                  "stdout P word=hun\n" + at + "stdout F ter2\n" + at + "stdout F b\n"),
            at + "stdout F a\n" + at + "stdout F Command Line: -Dpassword=hunter2\n" + at +
                "stdout F b\n");
  // Nothing is joined across streams, in another form of log, or after the last line.
  for (const std::string& stays : std::vector<std::string>{
           at + "stdout P a\n" + at + "stderr F b\n", at + "stdout P a\nb\n\n" + at + "stdout F c",
           "x stdout P a\nx stdout F b\n", at + "stdout F P a\n" + at + "stdout F b\n",
           at + "stdout P a", " P \n\n"})
    EXPECT_EQ(Plain(stays), stays);
}

TEST(PlainText, OtherTextsStay) {
  for (const std::string text : {"", "a", "\x1b[31mred\x1b[0m\n\tx\f", "zo\xc3\xab\n", "zo\xeb\n"})
    EXPECT_EQ(Plain(text), text);
}

TEST(PlainText, WhatCannotBeReadIsRefused) {
  for (const std::string& magic :
       {std::string("\x1f\x8b\x08"), std::string("\xfd") + "7zXZ", std::string("\x28\xb5\x2f\xfd"),
        std::string("BZh91AY&SY"), std::string("PK\x03\x04")}) {
    const auto text = PlainText(magic + "more", "a.log");
    ASSERT_FALSE(text.ok());
    EXPECT_THAT(text.failure().message, HasSubstr("a.log is compressed ("));
  }
  std::mt19937 random(1);
  std::string noise;
  for (int i = 0; i < 100000; i++) noise += static_cast<char>(random());
  const auto text = PlainText(noise, "a.log");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.failure().code, ExitCode::kBadInput);
  EXPECT_EQ(text.failure().message, "a.log is not a text");
}

}  // namespace
}  // namespace walkhammer
