// SPDX-License-Identifier: Apache-2.0
#include "workloads/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/base/files.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CatalogueTest : public testing::Test {
 protected:
  std::vector<Workload> Loaded() const { return Must(LoadCatalogues(folder_)); }

  // The message that refuses a catalogue with this text, without the folder.
  std::string Refused(const std::string& text) {
    temporary_.Write("a.catalogue", text);
    Result<std::vector<Workload>> all = LoadCatalogues(folder_);
    if (all.ok()) return "";
    EXPECT_EQ(all.failure().code, ExitCode::kBadInput);
    EXPECT_THAT(all.failure().message, testing::StartsWith(folder_ + "/a.catalogue:"));
    return all.failure().message.substr(folder_.size() + 1);
  }

  const TemporaryFolder temporary_;
  const std::string& folder_ = temporary_.path();
};

constexpr char kWhole[] = "name: x\nwhat: does x\nclasspath: /x.jar\nmain: X\n";

TEST_F(CatalogueTest, ReadsAllKeys) {
  temporary_.Write("distributions", "id: d\nsha512: 00\n");
  temporary_.Write(
      "debian.catalogue",
      "# comment\n\nname: fop\nwhat: a: b\npackages: fop  libfop\n# in between\n"
      "classpath: /a.jar:/b*.jar:\n  {home}/c.jar\nmain: org.Main\nargs: -x {file}\n\t{input}\n"
      "flags: -Xint\nflags-25: -Da {scratch}\nflags-21: -Db\njdk: 17..21\nwhy: because\n"
      "input: book\nfile: d\nrepeat: yes\n");
  const std::vector<Workload> all = Loaded();
  ASSERT_EQ(all.size(), 1u);
  const Workload& fop = all[0];
  EXPECT_EQ(fop.FullName(), "debian:fop");
  EXPECT_EQ(fop.what, "a: b");
  EXPECT_THAT(fop.packages, ElementsAre("fop", "libfop"));
  EXPECT_THAT(fop.classpath, ElementsAre("/a.jar", "/b*.jar", "{home}/c.jar"));
  EXPECT_EQ(fop.main, "org.Main");
  EXPECT_THAT(fop.args, ElementsAre("-x", "{file}", "{input}"));
  EXPECT_THAT(fop.flags, ElementsAre("-Xint"));
  EXPECT_THAT(fop.flags_from.at(25), ElementsAre("-Da", "{scratch}"));
  EXPECT_THAT(fop.flags_from.at(21), ElementsAre("-Db"));
  EXPECT_EQ(fop.oldest_jdk, 17);
  EXPECT_EQ(fop.newest_jdk, 21);
  EXPECT_EQ(fop.why, "because");
  EXPECT_EQ(fop.input, "book");
  EXPECT_EQ(fop.file, "d");
  EXPECT_TRUE(fop.repeat);
  EXPECT_EQ(fop.where, folder_ + "/debian.catalogue:3");
}

TEST_F(CatalogueTest, DefaultsHoldForWhatFollows) {
  temporary_.Write("b.catalogue",
                   std::string(kWhole) +
                       "\ndefaults: yes\nmain: M\nclasspath: /m.jar\nrepeat: yes\n"
                       "\nname: y\nwhat: y\n\nname: z\nwhat: z\nmain: Z\nrepeat: no\n"
                       "\ndefaults: yes\njar: /j.jar\n\nname: j\nwhat: j\n");
  temporary_.Write("a.catalogue", kWhole);
  const std::vector<Workload> all = Loaded();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].FullName(), "a:x");
  EXPECT_EQ(all[1].main, "X");
  EXPECT_FALSE(all[1].repeat);
  EXPECT_EQ(all[2].main, "M");
  EXPECT_TRUE(all[2].repeat);
  EXPECT_EQ(all[3].main, "Z");
  EXPECT_FALSE(all[3].repeat);
  EXPECT_EQ(all[4].main, "");
  EXPECT_EQ(all[4].jar, "/j.jar");
}

TEST_F(CatalogueTest, DescribesWhatASuiteHasAndItDoesNotList) {
  temporary_.Write("b.catalogue",
                   "defaults: yes\njar: /j.jar\nargs: {name}\nsizes: small default\n"
                   "iteration: done\nfailure: bad\n\nname: j\nwhat: j\nflags: -Xint\n");
  const Workload stranger = Must(UnlistedWorkload(folder_, "b", "stranger"));
  EXPECT_EQ(stranger.FullName(), "b:stranger");
  EXPECT_THAT(stranger.args, testing::ElementsAre("{name}"));
  EXPECT_THAT(stranger.flags, testing::IsEmpty());
  EXPECT_EQ(stranger.iteration, "done");
  EXPECT_EQ(stranger.failure, "bad");
  EXPECT_TRUE(stranger.HasSize("small"));
  EXPECT_FALSE(stranger.HasSize("large"));
}

TEST_F(CatalogueTest, SaysWhereAndWhatIsWrong) {
  const std::string whole = kWhole;
  EXPECT_EQ(Refused(whole + "clsspath: /y.jar\n"),
            "a.catalogue:5: there is no key \"clsspath\"; nearest: classpath, list, what");
  EXPECT_EQ(
      Refused(whole + "args: {sed}\n"),
      "a.catalogue:1: there is no placeholder {sed} for \"{sed}\"; there are {home}, {input}, "
      "{scratch}, {seed}, {seconds}, {threads}, {scale}, {size}, {file}, {name}, {jdk}");
  EXPECT_THAT(Refused(whole + "args: {seed\n"), HasSubstr("no placeholder {{seed}"));
  EXPECT_EQ(Refused(whole + "\n" + whole),
            "a.catalogue:6: a:x stands at " + folder_ + "/a.catalogue:1 already");
  EXPECT_EQ(Refused("\nname: x\nmain: X\nclasspath: /x.jar\n"),
            "a.catalogue:2: this workload has no \"what:\"");
  EXPECT_EQ(Refused("what: x\nmain: X\nclasspath: /x.jar\n"),
            "a.catalogue:1: this workload has no \"name:\"");
  EXPECT_EQ(Refused("name: x\nwhat: x\nclasspath: /x.jar\n"),
            "a.catalogue:1: a workload has one of \"main:\" and \"jar:\"");
  EXPECT_EQ(Refused("name: x\nwhat: x\nmain: X\n"),
            "a.catalogue:1: this workload has no \"classpath:\"");
  EXPECT_EQ(Refused(whole + "jdk: ..21\n"), "a.catalogue:1: this workload has no \"why:\"");
  EXPECT_EQ(Refused(whole + "args: {input}\n"),
            "a.catalogue:1: \"{input}\" needs a line \"input:\"");
  EXPECT_EQ(Refused(whole + "args: {file}\n"), "a.catalogue:1: \"{file}\" needs a line \"file:\"");
  EXPECT_EQ(Refused(whole + "args: {size}\n"), "a.catalogue:1: \"{size}\" needs a line \"sizes:\"");
  EXPECT_EQ(Refused(whole + "sizes: small large\n"),
            "a.catalogue:5: sizes must include \"default\"");
  EXPECT_EQ(Refused(whole + "file: nowhere\n"),
            "a.catalogue:1: there is no distribution \"nowhere\"");
  EXPECT_EQ(Refused(whole + "repeat: maybe\n"), "a.catalogue:5: repeat is yes or no");
  EXPECT_EQ(Refused(whole + "what: again\n"),
            "a.catalogue:5: \"what\" stands in this stanza already");
  EXPECT_EQ(Refused("name: a/b\n"), "a.catalogue:1: \"a/b\" is not a name: a-z, 0-9, - and .");
  EXPECT_EQ(Refused("defaults: yes\nname: x\n"),
            "a.catalogue:1: \"defaults: yes\" begins a stanza without a name");
  EXPECT_EQ(Refused("nonsense\n"),
            "a.catalogue:1: not a line of the form \"key: value\": nonsense");
  EXPECT_EQ(Refused("  on\n"), "a.catalogue:1: there is no line that this goes on with");
  for (const char* key : {"flags-", "flags-x", "flags-0"}) {
    EXPECT_EQ(Refused(whole + key + ": -X\n"),
              std::string("a.catalogue:5: \"") + key + "\" does not name a JDK, as flags-25 does");
  }
  for (const char* range : {"17", "..", "x..", "21..17", "17..x", "0..", "-1.."}) {
    EXPECT_EQ(Refused(whole + "why: w\njdk: " + range + "\n"),
              std::string("a.catalogue:6: \"") + range +
                  "\" is not a range of JDKs such as 17.., ..21, 17..21");
  }
}

TEST_F(CatalogueTest, AnEmptyFolderIsABrokenInstallation) {
  for (const std::string& folder : {folder_, folder_ + "/nowhere"})
    EXPECT_THAT(LoadCatalogues(folder), FailsWith(ExitCode::kToolFailed));
  EXPECT_THAT(LoadCatalogues(folder_ + "/nowhere").failure().message,
              testing::EndsWith("this installation of walkhammer is incomplete"));
}

TEST_F(CatalogueTest, ABuildWithoutCataloguesLacksATarget) {
  temporary_.Write("CMakeCache.txt", "");
  EXPECT_THAT(LoadCatalogues(folder_ + "/workloads").failure().message,
              testing::EndsWith("/workloads: run: cmake --build " + folder_));
}

TEST_F(CatalogueTest, Selects) {
  std::string text;
  for (const char* name : {"x", "y", "xy"}) {
    text += std::string("name: ") + name + "\nwhat: w\njar: /x.jar\n\n";
  }
  temporary_.Write("a.catalogue", text);
  temporary_.Write("b.catalogue", text);
  const std::vector<Workload> all = Loaded();
  const auto names = [&](const std::vector<std::string>& patterns) {
    Result<std::vector<const Workload*>> chosen = SelectWorkloads(all, patterns);
    std::vector<std::string> answer;
    if (!chosen.ok()) return std::vector<std::string>{chosen.failure().message};
    for (const Workload* workload : chosen.value()) answer.push_back(workload->FullName());
    return answer;
  };
  EXPECT_THAT(names({"b:y"}), ElementsAre("b:y"));
  EXPECT_THAT(names({"b:y", "b:*", "*:x"}), ElementsAre("b:y", "b:x", "b:xy", "a:x"));
  EXPECT_EQ(names({"*"}).size(), 6u);
  EXPECT_TRUE(names({}).empty());
  EXPECT_THAT(names({"a:x", "b:z"}),
              ElementsAre("there is no workload \"b:z\"; nearest: b:x, b:y, a:x (walkhammer show "
                          "workloads names all)"));
  EXPECT_THAT(names({"c:*"}), ElementsAre(HasSubstr("there is no workload \"c:*\"")));
}

TEST(ShippedCatalogues, AreWhole) {
  const std::string folder = WALKHAMMER_WORKLOADS;
  auto all = Must(LoadCatalogues(folder));
  const std::string script = ReadFile(folder + "/input.sh");
  std::set<std::string> suites;
  for (const Workload& workload : all) {
    SCOPED_TRACE(workload.where);
    suites.insert(workload.suite);
    if (!workload.input.empty()) {
      EXPECT_THAT(script, HasSubstr("\nmake_" + workload.input + "() {\n"));
    }
    EXPECT_EQ(workload.suite == "debian", !workload.packages.empty());
    for (std::string arg : workload.args) {
      const std::string programs = "{home}/workloads/";
      const size_t at = arg.find(programs);
      if (at == std::string::npos) continue;
      EXPECT_TRUE(std::filesystem::exists(folder + "/" + arg.substr(at + programs.size()))) << arg;
    }
  }
  EXPECT_THAT(suites, testing::IsSupersetOf({"dacapo", "debian", "renaissance"}));
}

}  // namespace
}  // namespace walkhammer
