// SPDX-License-Identifier: Apache-2.0
#include "harness/base/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace walkhammer {
namespace {

TEST(JsonTextTest, IsAsciiThatReadsAsTheSameText) {
  // An override and an isolate of the direction of text, C1, DEL, ESC, letters.
  const nlohmann::json json = {
      {"name\xe2\x81\xa7", "\xe2\x80\xae\xd8\x9c \xc2\x9b \x7f \033[2J \xc3\xa4 \xf0\x9f\x94\xa8"}};
  const std::string text = JsonText(json);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || (c >= ' ' && c <= '~');
  })) << text;
  EXPECT_THAT(text, testing::HasSubstr("\\u202e"));
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

TEST(JsonTextTest, StandsInForWhatIsNotUtf8) {
  EXPECT_EQ(JsonText(nlohmann::ordered_json("a\xff")), "\"a\\ufffd\"");
}

}  // namespace
}  // namespace walkhammer
