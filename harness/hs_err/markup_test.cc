// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/markup.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using std::string_literals::operator""s;

TEST(WithoutMarkup, LeavesWhatTheAuthorWrote) {
  const struct {
    std::string line, plain;
  } kLines[] = {
      {"\\# A \\*b\\_ \\<c\\>", "# A *b_ <c>"},
      {"C:\\dir\\name", "C:\\dir\\name"},
      {"a\\", "a\\"},
      {"f(a&amp;, &quot;b&quot;) &lt;c&gt; &#x27;d&apos; &amp;lt;", "f(a&, \"b\") <c> 'd' &lt;"},
      {"a & b &c; &", "a & b &c; &"},
      {"<pre class=\"x\">V  [a+0x1]</pre><br/>", "V  [a+0x1]"},
      {"f<int>(a<b>, <span", "f<int>(a<b>, <span"},
      {"\x1b[31;1mred\x1b[0m\x1b[?25l \x1bx\x1b[", "red x"},
      {"a\0b\r"s, "ab"},
      {"caf\xc3\xa9\xc2\xa0x", "caf\xc3\xa9 x"},
  };
  for (const auto& [line, plain] : kLines) {
    std::string scratch;
    EXPECT_EQ(WithoutMarkup(line, scratch), plain) << line;
  }
}

TEST(WithoutMarkup, CopiesOnlyWhatHasMarkup) {
  std::string scratch;
  const std::string line = "V  [libjvm.so+0x1]  f(int)+0x2";
  EXPECT_EQ(WithoutMarkup(line, scratch).data(), line.data());
  EXPECT_EQ(WithoutMarkup("a<br>", scratch).data(), scratch.data());
}

}  // namespace
}  // namespace walkhammer
