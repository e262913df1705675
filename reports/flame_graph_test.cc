// SPDX-License-Identifier: Apache-2.0
#include "reports/flame_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/sanitized.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The data that the page holds for its script.
nlohmann::json DataOf(const std::string& page) {
  constexpr std::string_view kOpen = "<script id=\"data\" type=\"application/json\">";
  const size_t begin = page.find(kOpen) + kOpen.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

// The page's tree, a line for each frame: name, counts and, of a difference, the change; indented
// by level.
std::string TreeOf(const std::string& page) {
  const nlohmann::json data = DataOf(page);
  const bool differs = data.contains("before");
  EXPECT_TRUE(!differs || data["tree"].size() == 3 * data["changes"].size());
  std::string text;
  for (size_t i = 0; i < data["tree"].size() / 3; i++) {
    text += std::string(data["tree"][3 * i].get<size_t>() - 1, ' ') +
            data["names"][data["tree"][3 * i + 1].get<size_t>()].get<std::string>();
    if (differs) text += " " + data["before"][i].dump();
    text += " " + data["tree"][3 * i + 2].dump();
    if (differs) text += " " + data["changes"][i].dump();
    text += "\n";
  }
  return text;
}

int ColourOf(const std::string& page, const std::string& name) {
  const nlohmann::json data = DataOf(page);
  for (size_t i = 0; i < data["names"].size(); i++)
    if (data["names"][i] == name) return data["colours"][i];
  ADD_FAILURE() << name;
  return -1;
}

std::vector<FlameGroup> TestGroups() {
  return {{"torture:x jdk17 zgc",
           {{"a.B.run()V\nc.D.get(Ljava/lang/String;)Lc/E;\nc.D.hash(I)I", 5},
            {"[agct -5 unknown_Java]", 7},
            {"a.B.run()V\nc.D.get(I)Lc/E;", 2},
            {"a.B.run()V", 1},
            {"a.B.run()V\nos::sleep(long)+0x1", 4},
            {"never", 0}}}};
}

TEST(FlameGraph, CommonCallersAreOneFrame) {
  EXPECT_EQ(TreeOf(FlameGraphHtml(TestGroups(), "t")),
            "[agct -5 unknown_Java] 7\n"
            "a.B.run()V 12\n"
            " c.D.get(I)Lc/E; 2\n"
            " c.D.get(Ljava/lang/String;)Lc/E; 5\n"
            "  c.D.hash(I)I 5\n"
            " os::sleep(long)+0x1 4\n");
}

TEST(FlameGraph, SeveralCellsHaveARootFrameEach) {
  std::vector<FlameGroup> groups = TestGroups();
  groups.push_back({"other (x)", {{"a.B.run()V", 3}}});
  EXPECT_THAT(TreeOf(FlameGraphHtml(groups, "t")),
              AllOf(testing::StartsWith("other (x) 3\n a.B.run()V 3\ntorture:x jdk17 zgc 19\n"),
                    HasSubstr("\n a.B.run()V 12\n  c.D.get(I)Lc/E; 2\n")));
}

TEST(FlameGraph, ColoursTellPackagesAndFailures) {
  std::vector<FlameGroup> groups = {
      {"cell", {{"java.lang.A.f()V\njava.lang.B$C.g(I)I\nio.netty.D.h()V\n[agct -3 x]\nwait", 1}}},
      {"other", {{"Main.main([Ljava/lang/String;)V", 1}}}};
  const std::string page = FlameGraphHtml(groups, "t");
  EXPECT_EQ(ColourOf(page, "cell"), 0);
  EXPECT_EQ(ColourOf(page, "[agct -3 x]"), 1);
  EXPECT_EQ(ColourOf(page, "wait"), 2);
  EXPECT_GE(ColourOf(page, "Main.main([Ljava/lang/String;)V"), 3);
  EXPECT_EQ(ColourOf(page, "java.lang.A.f()V"), ColourOf(page, "java.lang.B$C.g(I)I"));
  EXPECT_NE(ColourOf(page, "java.lang.A.f()V"), ColourOf(page, "io.netty.D.h()V"));
  const nlohmann::json data = DataOf(page);
  for (const auto& colour : data["colours"])
    EXPECT_LT(colour.get<int>(), 3 + data["shades"].get<int>());
  EXPECT_EQ(page, FlameGraphHtml(groups, "t"));
}

TEST(FlameGraph, NoNameEndsItsElement) {
  const std::string odd = "x</script><!--&\"'\\\xff\xfe\r@TITLE@";
  const std::vector<FlameGroup> groups = {{"g", {{odd + "\na.B.<init>()V", 1}}}};
  const std::string page = FlameGraphHtml(groups, "<b> & \"q\" \xff\n");
  const nlohmann::json data = DataOf(page);
  EXPECT_EQ(data["names"][1], "x</script><!--&\"'\\\uFFFD\uFFFD\r@TITLE@");
  EXPECT_EQ(data["names"][0], "a.B.<init>()V");
  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt; &amp; &quot;q&quot; ?\?</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>&lt;b&gt; &amp; &quot;q&quot; ?\?</h1>"));
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("@DATA@")), Not(HasSubstr("@HEADING@"))));
}

TEST(FlameGraph, ThePageNeedsNothingElse) {
  const std::string page = FlameGraphHtml(TestGroups(), "t");
  for (const char* part : {"http:", "https:", "src=", "@import", "url(", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(FlameGraph, FiftyThousandStacksMakeAPage) {
  std::vector<FlameGroup> groups(1);
  for (int i = 0; i < (kSanitized ? 5'000 : 50'000); i++) {
    std::string frames = "java.lang.Thread.run()V";
    for (int depth = 1, rest = i; depth <= 30; depth++, rest /= 3)
      frames += "\na.B" + std::to_string(rest % 3) + ".f(Ljava/lang/Object;)Ljava/lang/Object;";
    groups[0].stacks.Add(SplitFrames(frames), 1);
  }
  const std::string page = FlameGraphHtml(groups, "t");
  EXPECT_LT(page.size(), 32u << 20);
  EXPECT_THAT(page.substr(0, 15), "<!DOCTYPE html>");
}

TEST(FlameGraph, NothingIsNoStack) {
  EXPECT_EQ(TreeOf(FlameGraphHtml({}, "t")), "");
  EXPECT_EQ(CollapsedText({}), "");
}

TEST(CollapsedText, MethodsWithoutDescriptorsAreAddedUp) {
  EXPECT_EQ(CollapsedText(TestGroups()),
            "[agct -5 unknown_Java] 7\n"
            "a.B.run 1\n"
            "a.B.run;c.D.get 2\n"
            "a.B.run;c.D.get;c.D.hash 5\n"
            "a.B.run;os::sleep(long)+0x1 4\n");
  EXPECT_EQ(CollapsedText(std::vector<FlameGroup>{
                {"g", {{"a.B.f(I)V", 1}, {"a.B.f(J)V", 2}, {"a.B.f(I)V", 4}}}}),
            "a.B.f 7\n");
}

TEST(CollapsedText, NoNameBreaksALineOrAStack) {
  const std::vector<FlameGroup> groups = {{"g;1", {{"a\rb\xff", 1}}}, {"g2", {{"f(La;b", 2}}}};
  EXPECT_EQ(CollapsedText(groups), "g2;f(La:b 2\ng:1;a?b? 1\n");
}

TEST(FlameGroups, AreOfOneCellOrOfThoseWithStacks) {
  const TemporaryFolder dir;
  RunWriter run = std::move(RunWriter::Create(dir.Under("run"), TestIdentity()).value());
  const auto refused = [&](const char* cell, const char* why) {
    EXPECT_THAT(
        FlameGroups(Read(run), cell),
        FailsWith(ExitCode::kBadInput, testing::AllOf(HasSubstr(why), Not(HasSubstr("\n")))));
  };
  refused("", "has no stacks; only stress and step runs keep them");
  for (const int position : {0, 1, 2}) ASSERT_TRUE(run.SaveCell(TestCell(position)).ok());
  refused("", "none of its cells has stacks");
  StackTree first{{"a", 1}}, third{{"b", 1}, {"c", 1}};
  ASSERT_TRUE(run.SaveStacks(0, first).ok());
  ASSERT_TRUE(run.SaveStacks(2, third).ok());
  const auto all = FlameGroups(Read(run), "").value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "torture:recursion jdk17 zgc");
  EXPECT_EQ(all[1].name, "torture:recursion jdk17 zgc-2");
  EXPECT_EQ(all[1].stacks.Stacks().size(), 2u);
  for (const char* cell : {"2", "torture:recursion jdk17 zgc-2"}) {
    const auto one = FlameGroups(Read(run), cell).value();
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].stacks.Stacks().begin()->first, "b");
  }
  refused("1", "this cell has no stacks");
  refused("torture:recursion jdk17 zg",
          "there is no cell \"torture:recursion jdk17 zg\"; nearest: "
          "torture:recursion jdk17 zgc, ");
}

TEST(ShareChange, TellsAStepFromChance) {
  const auto change = [](uint64_t before, uint64_t now) {
    return ShareChange(before, 100'000, now, 200'000);
  };
  EXPECT_EQ(change(10'000, 20'000), 0);
  EXPECT_EQ(change(10'000, 21'900), 0);  // surely, but by less than a tenth
  EXPECT_EQ(change(10'000, 22'100), 1);
  EXPECT_EQ(change(10'000, 29'900), 1);
  EXPECT_EQ(change(10'000, 30'100), 2);
  EXPECT_EQ(change(10'000, 40'000), 3);
  EXPECT_EQ(change(11'100, 20'000), -1);
  EXPECT_EQ(change(15'100, 20'000), -2);
  EXPECT_EQ(change(20'000, 20'000), -3);
  EXPECT_EQ(change(0, 100), 3);
  EXPECT_EQ(change(100, 0), -3);
  EXPECT_EQ(change(0, 5), 0);  // new, but so few may be chance
  EXPECT_EQ(change(5, 0), 0);
  EXPECT_EQ(change(0, 0), 0);
  EXPECT_EQ(ShareChange(100'000, 100'000, 200'000, 200'000), 0);
  EXPECT_EQ(ShareChange(0, 0, 5, 10), 0);
}

TEST(FlameDifference, JoinsTheFramesOfBothRuns) {
  FlameComparison both;
  both.before = {{"w zgc", {{"a.B.f()V", 500}, {"a.B.f()V\ngone", 300}, {"same", 200}}}};
  both.now = {{"w zgc", {{"a.B.f()V", 1000}, {"a.B.f()V\nfresh", 600}, {"same", 400}}}};
  EXPECT_EQ(TreeOf(FlameDifferenceHtml(both, "t")),
            "a.B.f()V 800 1600 0\n"
            " fresh 0 600 3\n"
            " gone 300 0 -3\n"
            "same 200 400 0\n");
  const nlohmann::json plain = DataOf(FlameGraphHtml(both.now, "t"));
  EXPECT_FALSE(plain.contains("before"));
  EXPECT_FALSE(plain.contains("changes"));
  const std::string same = TreeOf(FlameDifferenceHtml({both.now, both.now, {}}, "t"));
  EXPECT_THAT(same, AllOf(HasSubstr(" fresh 600 600 0\n"), Not(HasSubstr("gone"))));
}

// One cell had more time than the other; within each, nothing changed but g.
TEST(FlameDifference, SharesAreThoseOfTheCell) {
  FlameComparison both;
  both.before = {{"a zgc", {{"f", 1000}}}, {"b zgc", {{"f", 500}, {"g", 500}}}};
  both.now = {{"a zgc", {{"f", 9000}}}, {"b zgc", {{"f", 900}, {"g", 100}}}};
  EXPECT_EQ(TreeOf(FlameDifferenceHtml(both, "t")),
            "a zgc 1000 9000 0\n"
            " f 1000 9000 0\n"
            "b zgc 1000 1000 0\n"
            " f 500 900 2\n"
            " g 500 100 -3\n");
}

// A run with cells of these workloads, on one JDK; each with one stack.
RunReader RunOf(const std::string& dir, const char* jdk,
                const std::vector<std::string>& workloads) {
  RunWriter run = std::move(RunWriter::Create(dir, TestIdentity()).value());
  for (size_t i = 0; i < workloads.size(); i++) {
    CellRow cell = TestCell(static_cast<int64_t>(i));
    cell.workload = workloads[i];
    cell.label = workloads[i] + " " + jdk + " " + std::to_string(i);
    cell.profile = "zgc";
    EXPECT_TRUE(run.SaveCell(cell).ok());
    StackTree stacks{{"f", 1 + i}};
    EXPECT_TRUE(run.SaveStacks(cell.position, stacks).ok());
  }
  return Read(run);
}

TEST(FlameDifference, ComparesWhatBothRunsHave) {
  const TemporaryFolder dir;
  const RunReader before = RunOf(dir.Under("a"), "jdk17", {"x", "y", "z"}),
                  now = RunOf(dir.Under("b"), "jdk21", {"q", "z", "y"}),
                  twice = RunOf(dir.Under("c"), "jdk21", {"z", "z", "q"});
  const FlameComparison all = CompareFlames(before, now, "").value();
  ASSERT_EQ(all.now.size(), 2U);
  ASSERT_EQ(all.before.size(), 2U);
  EXPECT_EQ(all.now[0].name, "y zgc");
  EXPECT_EQ(all.before[0].name, "y zgc");
  EXPECT_EQ(all.before[0].stacks.nodes()[1].count, 2U);
  EXPECT_EQ(all.now[0].stacks.nodes()[1].count, 3U);
  EXPECT_THAT(all.left_out, testing::ElementsAre("q zgc", "x zgc"));
  const FlameComparison one = CompareFlames(before, now, "1").value();
  ASSERT_EQ(one.now.size(), 1U);
  EXPECT_EQ(one.now[0].name, "z zgc");
  EXPECT_TRUE(one.left_out.empty());
  // What is there twice is refused where it is compared, and only there.
  EXPECT_TRUE(CompareFlames(twice, now, "0").ok());
  EXPECT_TRUE(CompareFlames(now, twice, "1").ok());
  for (const auto& refused : {CompareFlames(twice, now, ""), CompareFlames(now, twice, ""),
                              CompareFlames(before, now, "0"), CompareFlames(before, now, "7")})
    EXPECT_THAT(refused, FailsWith(ExitCode::kBadInput, Not(HasSubstr("\n"))));
  EXPECT_THAT(CompareFlames(before, now, "0").failure().message, HasSubstr("in common"));
  EXPECT_THAT(CompareFlames(twice, now, "").failure().message, HasSubstr("one JDK each"));
}

}  // namespace
}  // namespace walkhammer
