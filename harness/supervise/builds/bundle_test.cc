// SPDX-License-Identifier: Apache-2.0
// The bundle: what it holds, and what it must not.
#include "harness/supervise/builds/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/scoped_variable.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Hidden(const std::string& text) {
  int count = 0;
  return HidePaths(text, count);
}

TEST(HidePathsTest, KeepsTheLastName) {
  EXPECT_EQ(Hidden("/srv/customer/app.jar"), "<path>/app.jar");
  EXPECT_EQ(Hidden("-Dx=/srv/customer/app.jar:/opt/b/c.jar y"),
            "-Dx=<path>/app.jar:<path>/c.jar y");
  EXPECT_EQ(Hidden("\"/a/b\" (/c/d/e) [/f/g]"), "\"<path>/b\" (<path>/e) [<path>/g]");
  EXPECT_EQ(Hidden("x\n/tmp/b\n"), "x\n<path>/b\n");
  int count = 0;
  HidePaths("/a/b /c/d /usr/e", count);
  EXPECT_EQ(count, 2);
}

TEST(HidePropertiesTest, HidesWhatTellsOfAProgram) {
  const auto hidden = [](const std::string& text) {
    int count = 0;
    return HideProperties(text, count);
  };
  EXPECT_EQ(hidden("-Xint -Dhost=h1 -Dplain=plain4 '-Dx=y' -jar"),
            "-Xint -Dhost=<redacted> -Dplain=<redacted> '-Dx=<redacted>' -jar");
  EXPECT_EQ(hidden("-Dname=Alice of Wonderland"), "-Dname=<redacted>");
  EXPECT_EQ(hidden("-Dx=a\n-Dy=b\n"), "-Dx=<redacted>\n-Dy=<redacted>\n");
  for (const char* text : {"-Djdk.internal.x=y", "-Djava.io.tmpdir=/tmp/x",
                           "-Dn=3 -Dm=true -Dk=1.5 -Dl=", "-Dx=<redacted>", "-Dflag -D x=y",
                           "a-Db=c", "--Db=c", "-XX:-DumpX=y", ""})
    EXPECT_EQ(hidden(text), text);
  int count = 0;
  HideProperties("-Da=b -Dc=d -De=1", count);
  EXPECT_EQ(count, 2);
}

TEST(HidePathsTest, PathsMayHaveBlanks) {
  EXPECT_EQ(Hidden("-agentpath:/srv/my own project/lib/x.so=a,b"), "-agentpath:<path>/x.so=a,b");
  EXPECT_EQ(Hidden("/srv/a b/c d/e f/x.so\n/srv/a b"), "<path>/x.so\n<path>/a b");
  EXPECT_EQ(Hidden("/srv/a/b is of 3 parts, 3/5"), "<path>/b is of 3 parts, 3/5");
  EXPECT_EQ(Hidden("/srv/a/b --jdk /opt/c/d -- x/y"), "<path>/b --jdk <path>/d -- x/y");
  EXPECT_EQ(Hidden("/usr/lib/a b/c"), "/usr/lib/a b/c");
}

TEST(HidePathsTest, LeavesWhatIsNone) {
  for (const char* text :
       {"", "/", "/x", "a/b/c", "java/lang/Object", "(Ljava/lang/String;)V", "3/5", "// comment",
        "https://example.org/a/b", "/usr/lib/jvm/java-17/lib/server/libjvm.so", "/proc/self/maps",
        "a.B.c()V"})
    EXPECT_EQ(Hidden(text), text);
}

TEST(AnonymousTest, ReplacesFoldersOfJdksTheLongestFirst) {
  Anonymous anonymous({{"/opt/j", "<jdk 1>"}, {"/opt/j/inner", "<jdk 2>"}}, {});
  EXPECT_EQ(anonymous.Clean("/opt/j/lib and /opt/j/inner/lib, /opt/jay/lib", "f"),
            "<jdk 1>/lib and <jdk 2>/lib, <path>/lib");
  EXPECT_THAT(anonymous.Report(), HasSubstr("f: folder of a JDK, 2x"));
  EXPECT_THAT(anonymous.Report(), HasSubstr("f: path, 1x"));
}

TEST(AnonymousTest, ReplacesNamesWhereNoLetterAdjoins) {
  Anonymous anonymous({}, {{"zeus", "<host>"}, {"alice", "<user>"}});
  EXPECT_EQ(anonymous.Clean("on zeus! zeus.example alice malice zeus2", "f"),
            "on <host>! <host>.example <user> malice zeus2");
  EXPECT_THAT(anonymous.Report(), HasSubstr("f: host name, 2x"));
  EXPECT_THAT(anonymous.Report(), HasSubstr("f: user name, 1x"));
}

TEST(AnonymousTest, NamesOfAMachineLeaveOutThoseThatTellNothing) {
  const ScopedVariable user("SUDO_USER", "root");
  for (const auto& [name, by] : NamesOfThisMachine()) EXPECT_NE(name, "root");
  setenv("SUDO_USER", "alice", 1);
  const ScopedVariable host("HOSTNAME", "zeus");
  EXPECT_THAT(NamesOfThisMachine(),
              ::testing::IsSupersetOf({std::pair{"alice", "<user>"}, std::pair{"zeus", "<host>"}}));
}

TEST(AnonymousTest, SaysIfNothingWasReplaced) {
  Anonymous anonymous({}, {});
  EXPECT_EQ(anonymous.Clean("33 frames", "f"), "33 frames");
  EXPECT_EQ(anonymous.Report(), "Nothing was replaced.\n");
}

constexpr char kWalk[] =
    "walk 1\nwalker agct\nscene c2\nstate in_Java\npc 0x1234\nexpect crash f(X*)+0x1f\n";

BundleRow RowOf(const std::string& version, int reproduced) {
  BundleRow row;
  row.build.jdk.home = "/home/alice/jdks/" + version;
  row.build.jdk.version = row.build.label = version;
  row.build.jdk.arch = "x86_64";
  row.build.profile = "default";
  row.build.flags = {"-Xint", "-Dtoken=s3cr3t", "-Dcustomer=plainvalue4"};
  row.tally.times = 5;
  row.tally.reproduced = reproduced;
  row.tally.outcomes = {{reproduced > 0 ? "crash f(X*)+0x1f" : "33 frames", 5}};
  return row;
}

BundleCase Case() {
  BundleCase content;
  content.walk = kWalk;
  content.minimized = "The request is as it was found.";
  content.finding.signature = {"key", "crash in f", "crash", "crash f(X*)+0x1f"};
  content.finding.native = "libjvm.so f(X*)+0x1f\n";
  content.shown_on = "17.0.2";
  content.rows = {RowOf("17.0.2", 5), RowOf("17.0.9.1", 0)};
  content.flags = content.rows[0].build.flags;
  content.hs_err =
      "# JRE version: OpenJDK (17.0.2)\nEnvironment Variables:\nPATH=/home/alice/bin\nUSER=alice\n"
      "HOSTNAME=alices-laptop\n\nCommand Line: -Dtoken=s3cr3t -Dcustomer=plainvalue4 "
      "/home/alice/secret-project/app.jar\n"
      "7f00-7f01 r-xp /home/alice/jdks/17.0.2/lib/server/libjvm.so\n# on alices-laptop\n";
  content.explanation = "JDK  /home/alice/jdks/17.0.2 (17.0.2)\n";
  content.tool_version = "0.1";
  return content;
}

std::map<std::string, std::string> FilesOf(const BundleCase& content) {
  const std::vector<BundleFile> files = Must(BundleFiles(content));
  std::map<std::string, std::string> texts;
  for (const BundleFile& file : files) texts[file.name] = file.text;
  EXPECT_EQ(files.back().name, "redacted.txt");
  return texts;
}

TEST(BundleTest, HoldsWhatAReportNeeds) {
  auto files = FilesOf(Case());
  ASSERT_EQ(files.size(), 7U);
  EXPECT_EQ(files["input.walk"], kWalk);
  const std::string& report = files["report.md"];
  for (const char* part :
       {"# crash in f\n", "| 17.0.2 | - | x86_64 | - | default | 5 of 5 | 5 x crash", "pc 0x1234",
        "libjvm.so f(X*)+0x1f", "sh replay.sh JDK_HOME"})
    EXPECT_THAT(report, HasSubstr(part));
  EXPECT_THAT(report, HasSubstr("| 17.0.9.1 | - | x86_64 | - | default | 0 of 5 | 5 x 33 frames"))
      << "a version of four numbers is no IP address";
  utsname machine{};
  ASSERT_EQ(uname(&machine), 0);
  EXPECT_THAT(report, HasSubstr(std::string("## Machine\n\n") + machine.sysname + " " +
                                machine.release + ", " + machine.machine + "\n"));
  EXPECT_THAT(files["replay.sh"],
              HasSubstr(" -- -Xint '-Dtoken=<redacted>' '-Dcustomer=<redacted>'\n"));
  const auto table = nlohmann::json::parse(files["builds.json"]);
  EXPECT_EQ(table["builds"][0]["reproduced"], 5);
  EXPECT_EQ(table["builds"][1]["version"], "17.0.9.1");
}

TEST(BundleTest, SaysInWordsWhatIsPresented) {
  BundleCase content = Case();
  content.walk =
      "walk 1\nwalker agct\nscene c2\nstate in_Java\npc heap+0x8\nsp stub \"call_stub\"+0x4\n"
      "expect crash f(X*)+0x1f\n";
  const std::string report = FilesOf(content)["report.md"];
  EXPECT_THAT(report, HasSubstr("0x8 bytes after the start of the Java heap"));
  EXPECT_THAT(report, HasSubstr("call_stub"));
}

TEST(BundleTest, HoldsNothingPersonal) {
  for (const auto& [name, text] : FilesOf(Case())) {
    for (const char* personal :
         {"alice", "s3cr3t", "plainvalue4", "secret-project", "laptop", "/home/alice"})
      EXPECT_THAT(text, Not(HasSubstr(personal))) << name;
  }
  const std::string list = FilesOf(Case())["redacted.txt"];
  EXPECT_THAT(list, HasSubstr("hs_err.log: "));
  EXPECT_THAT(list, HasSubstr("hs_err.log: folder of a JDK, 1x"));
  EXPECT_THAT(list, HasSubstr("builds.json: value of a property, 2x"));
  EXPECT_THAT(list, HasSubstr("replay.sh: "));
}

TEST(BundleTest, DoesNotSayWhoBuiltAJdk) {
  BundleCase content = Case();
  content.rows[0] = RowOf("28-internal-adhoc.alice.jdk", 5);
  content.shown_on = content.rows[0].build.label;
  auto files = FilesOf(content);
  for (const auto& [name, text] : files) EXPECT_THAT(text, Not(HasSubstr("alice"))) << name;
  EXPECT_THAT(files["report.md"], HasSubstr("| 28-internal-adhoc.<user> |"));
  EXPECT_THAT(files["builds.json"], HasSubstr("\"version\": \"28-internal-adhoc.<user>\""));
}

TEST(BundleTest, HasNoFilesThatWouldBeEmpty) {
  BundleCase content = Case();
  content.hs_err = content.explanation = "";
  auto files = FilesOf(content);
  EXPECT_EQ(files.size(), 5U);
  EXPECT_EQ(files.count("hs_err.log"), 0U);
  EXPECT_EQ(files.count("explain.txt"), 0U);
}

TEST(BundleTest, TextOfStrangersDoesNotBreakTheTable) {
  BundleCase content = Case();
  content.rows[0].tally.outcomes = {{"failed-check a || b", 5}};
  EXPECT_THAT(FilesOf(content)["report.md"], HasSubstr("5 x failed-check a \\|\\| b |\n"));
  content.finding.signature.expect = "x ``` y";
  EXPECT_THAT(FilesOf(content)["report.md"], HasSubstr("````\nx ``` y"));
}

TEST(BundleTest, RefusesWhatIsNoWalk) {
  BundleCase content = Case();
  content.walk = "walk 99\n";
  EXPECT_THAT(BundleFiles(content), FailsWith(ExitCode::kBadInput));
}

TEST(BundleTest, IsWrittenIntoANewFolderOnly) {
  const TemporaryFolder folder;
  const std::string inner = folder.Under("new/one");
  ASSERT_TRUE(WriteBundle(inner, {{"a.txt", "text"}}).ok());
  EXPECT_EQ(ReadFile(inner + "/a.txt"), "text");
  EXPECT_THAT(WriteBundle(inner, {{"b.txt", "text"}}), FailsWith(ExitCode::kBadInput));
  EXPECT_FALSE(std::filesystem::exists(inner + "/b.txt"));
}

}  // namespace
}  // namespace walkhammer
