// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/redact.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/crash_log.h"

namespace walkhammer {
namespace {

std::string Redacted(const std::string& text) { return Redact(text, nullptr); }

TEST(Redact, Environment) {
  std::vector<Redaction> done;
  const std::string text = Redact(
      "Environment Variables:\nPATH=/usr/bin\nSECRET=a=b\nMANY=one\ntwo\n\nSignal Handlers:\nA=b\n",
      &done);
  EXPECT_EQ(
      text,
      "Environment Variables:\nPATH=<redacted>\nSECRET=<redacted>\nMANY=<redacted>\n<redacted>"
      "\n\nSignal Handlers:\nA=b\n");
  ASSERT_EQ(done.size(), 4u);
  EXPECT_EQ(done[0].what, "environment variable PATH");
  EXPECT_EQ(done[0].first_line, 2);
  EXPECT_EQ(done[0].count, 1);
}

TEST(Redact, HostUserAndHome) {
  const std::string text = Redacted(
      "uname: Linux gandalf 5.10.0 x86_64\nCommand Line: -Dlog=/home/frodo/x -Dname=frodo "
      "-Dpeer=gandalf -Dwork=/srv/bag-end/y\n# C  [libfrodo.so+0x1]  frodo::walk+0x2\n"
      "Environment Variables:\nHOME=/srv/bag-end\nUSER=frodo\n");
  EXPECT_EQ(text,
            "uname: Linux <host> 5.10.0 x86_64\nCommand Line: -Dlog=/home/<user>/x -Dname=<user> "
            "-Dpeer=<host> -Dwork=<home>/y\n# C  [libfrodo.so+0x1]  frodo::walk+0x2\n"
            "Environment Variables:\nHOME=<redacted>\nUSER=<redacted>\n");
}

TEST(Redact, Secrets) {
  EXPECT_EQ(Redacted("-Ddb.password=hunter2 -Dx=1"), "-Ddb.password=<redacted> -Dx=1");
  EXPECT_EQ(Redacted("--api-token s3cr3t --verbose"), "--api-token <redacted> --verbose");
  EXPECT_EQ(Redacted("--api-token --verbose"), "--api-token --verbose");
  EXPECT_EQ(Redacted("-Dkey=-abc"), "-Dkey=<redacted>");
  EXPECT_EQ(Redacted("http://h/?access_token=abc&x=1"),
            "http://<host>/?access_token=<redacted>&x=1");
  EXPECT_EQ(Redacted("-Dpassword=a,b;c&d -Dx=1"), "-Dpassword=<redacted> -Dx=1");
  EXPECT_EQ(Redacted("h/?a=1 -Dpassword=b&c"), "h/?a=1 -Dpassword=<redacted>");
  EXPECT_EQ(Redacted("{token=a, x=b}"), "{token=<redacted>, x=b}");
  EXPECT_EQ(Redacted("-Dpassword=\"a b\" -Dx=1"), "-Dpassword=<redacted> -Dx=1");
  EXPECT_EQ(Redacted("--token 'a b' --x"), "--token <redacted> --x");
  EXPECT_EQ(Redacted("-Dpassword=\"cut off"), "-Dpassword=<redacted>");
  EXPECT_EQ(Redacted("-Dpassword=a -Dtoken=b"), "-Dpassword=<redacted> -Dtoken=<redacted>");
  EXPECT_EQ(Redacted("'-Dpassword=a b' -Dx=1"), "'-Dpassword=<redacted>' -Dx=1");
  EXPECT_EQ(Redacted("it's -Dpassword=a b"), "it's -Dpassword=<redacted> b");
  EXPECT_EQ(
      WithoutSecrets("stress --java '-cp /home/a/x Main --auth a' -- -Dpassword=b http://c:d@e/"),
      "stress --java '-cp /home/a/x Main --auth <redacted>' -- -Dpassword=<redacted> "
      "http://<redacted>@e/");
  EXPECT_EQ(Redacted("jdbc:pg://bob:pw@db:5432/x"), "jdbc:pg://<redacted>@<host>:5432/x");
  EXPECT_EQ(Redacted("-XX:+UseG1GC -XX:SharedArchiveFile=a"),
            "-XX:+UseG1GC -XX:SharedArchiveFile=a");
}

TEST(Redact, Addresses) {
  EXPECT_EQ(Redacted("-Dhost=192.168.1.20:80, 10.0.0.5"), "-Dhost=<ip>:80, <ip>");
  EXPECT_EQ(Redacted("127.0.0.1 0.0.0.0"), "127.0.0.1 0.0.0.0");
  EXPECT_EQ(Redacted("fe80::1ff:fe23:4567:890a and 00:1b:44:11:3a:b7"), "<ip> and <ip>");
  EXPECT_EQ(Redacted("mail bob.b@example.org now"), "mail <e-mail> now");
}

TEST(Redact, VersionsTimesAndNamesStay) {
  for (const std::string text :
       {"# JRE version: OpenJDK Runtime Environment (17.0.2.1) (build 17.0.2.1)",
        "j  java.lang.Thread.run()V+19 java.base@21.0.13.0", "Time: Tue Nov 24 13:15:02 2026",
        "/usr/lib/libfoo.so.1.2.3.4", "V  [libjvm.so+0x1]  a::b::c::d::e(f::g*)+0x1f",
        "7f00-7f01 r-xp 00001000 08:01 123  /lib/a.so", "J 1 c1 a.B.c(Ld/E;)V @ 0x1 [0x1+0x2]",
        "{method} {0x00007f00} 'key' '()V' in 'a/B'", "jdk-17.0.2.1+8 25.0.5.0.3+1-1-Debian"})
    EXPECT_EQ(Redacted(text), text);
}

TEST(Redact, WhoBuiltTheJdk) {
  for (const auto& [version, without] : std::vector<std::pair<std::string, std::string>>{
           {"28-internal-adhoc.alice.jdk", "28-internal-adhoc.<user>"},
           {"(fastdebug 28-internal-adhoc.alice.smith.my-jdk, mixed)",
            "(fastdebug 28-internal-adhoc.<user>, mixed)"},
           {"10-internal+0-adhoc.alice.jdk10", "10-internal+0-adhoc.<user>"},
           {"9-internal+0-2016-08-09-162302.alice.jdk9", "9-internal+0-2016-08-09-162302.<user>"},
           {"1.8.0-internal-alice_2017_05_03_12_34-b00",
            "1.8.0-internal-<user>_2017_05_03_12_34-b00"},
           {"built on Jan  1 2020 by \"alice\" with gcc 8",
            "built on Jan  1 2020 by \"<user>\" with gcc 8"}}) {
    EXPECT_EQ(WithoutBuilder(version), without);
    EXPECT_EQ(Redacted(version), without);
    EXPECT_EQ(Redacted(without), without);
  }
  EXPECT_EQ(Redacted("# JRE version: OpenJDK (28-internal-adhoc.alice.jdk)\n-cp /srv/alice/x.jar"),
            "# JRE version: OpenJDK (28-internal-adhoc.<user>)\n-cp /srv/<user>/x.jar");
  for (const std::string text :
       {"17.0.2+8-internal-1", "28-internal+1234", "a-internal-b.c by \"x\"",
        "17.0.15+6-Debian-1deb12u1", "27-ea+35", "my-internal-1.2.3.jar", "x-internal-b_2024.so"})
    EXPECT_EQ(Redacted(text), text);
}

TEST(Redact, JavaStrings) {
  EXPECT_EQ(Redacted(" - private 'name' @44  \"my secret\"{0x00000000ff710ac0} (0xff710ac0)"),
            " - private 'name' @44  \"<string>\"{0x00000000ff710ac0} (0xff710ac0)");
}

// Of all logs: lines stay lines, a second time changes nothing, and no crash is lost.
TEST(Redact, LogsStayLogs) {
  int logs = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    if (!log.is_hs_err()) continue;
    logs++;
    const std::string& text = log.text;
    const std::string once = Redacted(text);
    std::vector<Redaction> again;
    EXPECT_EQ(Redact(once, &again), once) << log.name;
    EXPECT_TRUE(again.empty()) << log.name;
    EXPECT_EQ(std::count(once.begin(), once.end(), '\n'),
              std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(ParseCrashReport(once).native_stack.frames.size(),
              ParseCrashReport(text).native_stack.frames.size());
  }
  EXPECT_GE(logs, 41);
}

}  // namespace
}  // namespace walkhammer
