// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

OptionHelp Taking(const char* name, const char* kind) {
  OptionHelp option;
  option.name = name;
  option.kind = kind;
  return option;
}

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() {
    VerbHelp& verb = verbs_.verbs.emplace_back();
    verbs_.path = "walkhammer";
    verb.path = "walkhammer go";
    OptionHelp several = Taking("--runs", "RUN");
    several.many = several.several = true;
    OptionHelp plain = Taking("--plain", "");
    plain.excludes = {"--fancy"};
    OptionHelp fancy = Taking("--fancy", "");
    fancy.excludes = {"--plain"};
    verb.options = {Taking("-h,--help", ""), Taking("--state", "open|fixed|FILE"), several, plain,
                    fancy};
    verb.arguments = {Taking("first", "red|green"), Taking("second", "DIR")};
  }
  std::vector<std::string> Offered(const std::vector<std::string>& words) {
    done_ = Complete(verbs_, words);
    std::vector<std::string> values;
    for (const NamedChoice& choice : done_.choices) values.push_back(choice.value);
    return values;
  }

  VerbHelp verbs_;
  Completions done_;
};

TEST_F(CompletionTest, VerbsThenArgumentsByTheirPlace) {
  EXPECT_THAT(Offered({""}), ElementsAre("go", "help", "version"));
  EXPECT_THAT(Offered({}), ElementsAre("go", "help", "version"));
  EXPECT_THAT(Offered({"help", ""}), ElementsAre("go"));
  EXPECT_THAT(Offered({"help", "go", ""}), IsEmpty());
  EXPECT_THAT(Offered({"go", ""}), ElementsAre("red", "green"));
  EXPECT_FALSE(done_.folders);
  EXPECT_THAT(Offered({"go", "red", ""}), IsEmpty());
  EXPECT_TRUE(done_.folders);
  EXPECT_THAT(Offered({"go", "red", "x", "y"}), IsEmpty());
  EXPECT_FALSE(done_.folders);
  EXPECT_THAT(Offered({"go", "--plain", "g"}), ElementsAre("green")) << "a flag takes no value";
}

TEST_F(CompletionTest, ValuesOfOptions) {
  EXPECT_THAT(Offered({"go", "--state", ""}), ElementsAre("open", "fixed"));
  EXPECT_TRUE(done_.files);
  EXPECT_THAT(Offered({"go", "--state=o"}), ElementsAre("--state=open"));
  EXPECT_THAT(Offered({"go", "--state=open", "r"}), ElementsAre("red"));
  EXPECT_THAT(Offered({"go", "--plain=o"}), IsEmpty());
  EXPECT_THAT(Offered({"go", "--unknown=o"}), IsEmpty());
  EXPECT_THAT(Offered({"go", "--runs", "a", "b", ""}), IsEmpty());
  EXPECT_TRUE(done_.folders);
}

TEST_F(CompletionTest, OptionsThatMayStillCome) {
  EXPECT_THAT(Offered({"go", "--"}),
              ElementsAre("--help", "--state", "--runs", "--plain", "--fancy"));
  EXPECT_THAT(Offered({"go", "--plain", "-"}), ElementsAre("--help", "--state", "--runs"));
  EXPECT_THAT(Offered({"go", "--runs", "a", "--r"}), ElementsAre("--runs"));
  EXPECT_THAT(Offered({"go", "--", "--"}), IsEmpty()) << "flags of the JVM";
}

TEST_F(CompletionTest, Lines) {
  EXPECT_EQ(CompletionLines({{{"a", "b"}, {"c", ""}}, true, true}),
            "a\tb\nc\t\n:files\n:folders\n");
}

}  // namespace
}  // namespace walkhammer
