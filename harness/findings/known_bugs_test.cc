// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/known_bugs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kBuilds[] =
    "affected: 17.0.2\nfixed: 17.0.9\nversions-affected: [17,17.0.8) [11.0.5,11.0.14)\n"
    "versions-clean: [17.0.9,18)\n";

class KnownBugsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "known_bugs_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { fs::remove_all(dir_); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name) << text;
  }
  void ExpectRefused(const std::string& part) const {
    const auto bugs = ReadKnownBugs(dir_);
    ASSERT_FALSE(bugs.ok()) << part;
    EXPECT_EQ(bugs.failure().code, ExitCode::kBadInput);
    EXPECT_THAT(bugs.failure().message, HasSubstr(part));
  }

  fs::path dir_;
};

TEST_F(KnownBugsTest, ReadsBugsInTheOrderOfTheirIds) {
  Write("JDK-2/bug", std::string("id: JDK-2\ntitle: second\n") + kBuilds + "stress: --time 1s\n");
  Write("JDK-1/bug", std::string("id: JDK-1\ntitle: first: of two\n") + kBuilds +
                         "flags: -Xint  -XX:+UseG1GC\nreplay: input.walk\n"
                         "silent: 32 frames\n");
  Write("JDK-1/input.walk", "walk 1\n");
  Write("notes.txt", "no bug");
  const auto bugs = ReadKnownBugs(dir_);
  ASSERT_TRUE(bugs.ok()) << bugs.failure().message;
  ASSERT_EQ(bugs.value().size(), 2U);
  const KnownBug& first = bugs.value()[0];
  EXPECT_EQ(first.id, "JDK-1");
  EXPECT_EQ(first.title, "first: of two");
  EXPECT_THAT(first.flags, ElementsAre("-Xint", "-XX:+UseG1GC"));
  EXPECT_EQ(first.walk, dir_ / "JDK-1/input.walk");
  EXPECT_EQ(first.walk_text, "walk 1\n");
  EXPECT_EQ(first.silent, "32 frames");
  EXPECT_EQ(bugs.value()[1].id, "JDK-2");
  EXPECT_EQ(bugs.value()[1].walk, "");
}

TEST_F(KnownBugsTest, SaysWhichVersionsAreAffected) {
  Write("JDK-1/bug", std::string("id: JDK-1\n") + kBuilds);
  const auto bugs = ReadKnownBugs(dir_);
  ASSERT_TRUE(bugs.ok()) << bugs.failure().message;
  const KnownBug& bug = bugs.value()[0];
  for (const char* yes : {"17+35", "17.0.7+7-Debian-1", "11.0.13+8"})
    EXPECT_EQ(AffectedByVersion(bug, yes), Affected::kYes) << yes;
  for (const char* no : {"17.0.9+9", "17.0.19+10-Debian"})
    EXPECT_EQ(AffectedByVersion(bug, no), Affected::kNo) << no;
  for (const char* unknown : {"17.0.8+7", "11.0.14+1", "21+35", "1.8.0_504", "unknown", ""})
    EXPECT_EQ(AffectedByVersion(bug, unknown), Affected::kUnknown) << unknown;
}

TEST_F(KnownBugsTest, RefusesWhatIsNotAsItShouldBe) {
  ExpectRefused("has no known bugs");
  Write("JDK-1/bug", std::string("id: JDK-2\n") + kBuilds);
  ExpectRefused("JDK-1/bug: the id must be the folder's name");
  Write("JDK-1/bug", "id: JDK-1\n");
  ExpectRefused("versions-affected names no versions");
  Write("JDK-1/bug", "id: JDK-1\nversions-affected: 17\n");
  ExpectRefused("JDK-1/bug: versions-affected: \"17\" is no range");
  Write("JDK-1/bug", "id: JDK-1\nversions-affected: [17,18)\nversions-clean: [18,17)\n");
  ExpectRefused("versions-clean: \"[18,17)\"");
  for (const char* builds :
       {"affected: 17.0.8\nfixed: 17.0.9\n", "affected: 17.0.2\nfixed: 17.0.8\n",
        "affected: 17.0.9\nfixed: 17.0.2\n"}) {
    Write("JDK-1/bug", std::string("id: JDK-1\nversions-affected: [17,17.0.8)\n") +
                           "versions-clean: [17.0.9,18)\n" + builds);
    ExpectRefused("affected must be one of versions-affected");
  }
  Write("JDK-1/bug", "id: JDK-1\nno colon\n");
  ExpectRefused("JDK-1/bug:2: expected KEY: VALUE");
  Write("JDK-1/bug", std::string("id: JDK-1\n") + kBuilds + "replay: input.walk\n");
  ExpectRefused("cannot read");
}

TEST_F(KnownBugsTest, AFolderThatIsNotThereHasNone) {
  const auto bugs = ReadKnownBugs(dir_ / "nowhere");
  ASSERT_FALSE(bugs.ok());
  EXPECT_THAT(bugs.failure().message, HasSubstr("nowhere has no known bugs"));
}

}  // namespace
}  // namespace walkhammer
