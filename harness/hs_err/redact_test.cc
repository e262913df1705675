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

TEST(Redact, DumpsOfStrings) {
  EXPECT_EQ(Redacted("java.lang.String \n - string: \"select ssn='123'\"\n - ---- fields\nkept\n"),
            "java.lang.String \n - string: \"<string>\"\n - ---- fields\nkept\n");
  EXPECT_EQ(Redacted(" - string: \"one \"\"two\" x\nthree\n\nfour\"\nR8 =0x1 kept\n"),
            " - string: \"<string>\n<string>\n\n<string>\"\nR8 =0x1 kept\n");
  EXPECT_EQ(Redacted(" - string: \"cut\nRBX=0x0000000000000001 kept\n"),
            " - string: \"<string>\nRBX=0x0000000000000001 kept\n");
  EXPECT_EQ(Redacted("[B \n - length: 2\n -   0: 68 h\n -   1: 0\n -   2: 0x1f 31\n"),
            "[B \n - length: 2\n -   0: <string>\n -   1: <string>\n -   2: 0x1f 31\n");
}

constexpr char kBegin[] = "-----BEGIN EC PRIVATE KEY-----", kEnd[] = "-----END EC PRIVATE KEY-----";

TEST(Redact, KeysInPemForm) {
  const std::string key = std::string(kBegin) + "\nProc-Type: 4,ENCRYPTED\n\nMIIa/b+\nAb=\n" + kEnd;
  const std::string gone = "<redacted>\n<redacted>\n\n<redacted>\n<redacted>\n<redacted>";
  EXPECT_EQ(Redacted("a\n" + key + "\nb c\n"), "a\n" + gone + "\nb c\n");
  EXPECT_EQ(Redacted("-Dkey=" + std::string(kBegin) + " MIIa " + kEnd + " -Dx=1"),
            "-Dkey=<redacted> -Dx=1");
  // A key without an end does not take the log with it.
  EXPECT_EQ(Redacted(std::string(kBegin) + "\nMIIa\n# A fatal error\nMIIb\n"),
            "<redacted>\n<redacted>\n# A fatal error\nMIIb\n");
  EXPECT_EQ(Redacted(std::string("[pod/a] ") + kBegin + "\n[pod/a] MIIa\n[pod/a] " + kEnd + " x\n"),
            "[pod/a] <redacted>\n[pod/a] <redacted>\n[pod/a] <redacted> x\n");
  EXPECT_EQ(WithoutSecrets(std::string("walkhammer -- -Dx=") + kBegin + "MIIa" + kEnd),
            "walkhammer -- -Dx=<redacted>");
}

TEST(Redact, WhereAndWhen) {
  EXPECT_EQ(Redacted("Active Locale:\nLC_ALL=de_AT.UTF-8\nLC_TIME=de\n\nSignal Handlers:\n"),
            "Active Locale:\nLC_ALL=<redacted>\nLC_TIME=<redacted>\n\nSignal Handlers:\n");
  EXPECT_EQ(Redacted("Time: Tue Nov 24 13:15:02 2026 CET elapsed time: 1.2 seconds"),
            "Time: Tue Nov 24 13:15:02 2026 <zone> elapsed time: 1.2 seconds");
  EXPECT_EQ(Redacted("Time: Tue Nov 24 13:15:02 2026 W. Europe Standard Time elapsed time: 1 s"),
            "Time: Tue Nov 24 13:15:02 2026 <zone> elapsed time: 1 s");
  EXPECT_EQ(Redacted("time: Tue Nov 24 13:15:02 2026\ntimezone: CET\n"),
            "time: Tue Nov 24 13:15:02 2026\ntimezone: <zone>\n");
  EXPECT_EQ(Redacted("-Duser.timezone=Europe/Vienna -Duser.country=AT -Duser.name=frodo -Dx=1"),
            "-Duser.timezone=<redacted> -Duser.country=<redacted> -Duser.name=<user> -Dx=1");
}

TEST(Redact, Coredumpctl) {
  EXPECT_EQ(
      Redacted("  PID: 4242 (java)\n  UID: 1000 (jdoe)\n  Boot ID: 0123abcd\n  Hostname: pc-17\n"
               "  Storage: /var/core.java.1000.0123abcd.zst\n  Stack of jdoe-x on pc-17\n"),
      "  PID: 4242 (java)\n  UID: 1000 (<user>)\n  Boot ID: <id>\n  Hostname: <host>\n"
      "  Storage: /var/core.java.1000.<id>.zst\n  Stack of jdoe-x on <host>\n");
}

TEST(Redact, OtherHomes) {
  EXPECT_EQ(Redacted("/nfs/users/jroe3/a /net/filer/vol /mnt/home/jroe4/b /nfs/jroe5"),
            "/nfs/users/<user>/a /net/<host>/vol /mnt/home/<user>/b /nfs/<user>");
  EXPECT_EQ(Redacted("C:\\Users\\bob smith\\x C:\\Users\\jim\\y"),
            "C:\\Users\\<user>\\x C:\\Users\\<user>\\y");
  EXPECT_EQ(Redacted("java/net/Socket Lcom/nfs/Client; =java/net"),
            "java/net/Socket Lcom/nfs/Client; =java/net");
}

TEST(Redact, TheEnvironmentBehindPrefixesAndBackwards) {
  EXPECT_EQ(
      Redacted("[pod/a] Environment Variables:\n[pod/a] CORP=x y\n[pod/a] PATH=/a\n[pod/a] \n"
               "[pod/a] Signal Handlers:\n[pod/a] x=y\n"),
      "[pod/a] Environment Variables:\n[pod/a] CORP=<redacted>\n[pod/a] PATH=<redacted>\n[pod/a] \n"
      "[pod/a] Signal Handlers:\n[pod/a] x=y\n");
  EXPECT_EQ(Redacted("USER=frodo\nPATH=/bag-end\nEnvironment Variables:\n\n-Dx=/a/frodo/b\n"),
            "USER=<redacted>\nPATH=<redacted>\nEnvironment Variables:\n\n-Dx=/a/<user>/b\n");
}

TEST(Redact, LogsInJson) {
  EXPECT_EQ(Redacted(R"({"message": "Host: pc-17, AMD\nHOSTNAME=pc-17\n10.2.3.4 of pc-17\n"})"),
            R"({"message": "Host: <host>, AMD\nHOSTNAME=<redacted>\n<ip> of <host>\n"})");
  EXPECT_EQ(
      Redacted("{\"log\":\"Environment Variables:\\n\"}\n{\"log\":\"CORP=x\\n\",\"t\":\"y\"}\n"
               "{\"log\":\"CORP=x\",\"t\":\"y\"}\n{\"log\":\"\\n\"}\n{\"log\":\"corp=x\\n\"}"),
      "{\"log\":\"Environment Variables:\\n\"}\n{\"log\":\"CORP=<redacted>\\n\",\"t\":\"y\"}\n"
      "{\"log\":\"CORP=<redacted>\",\"t\":\"y\"}\n{\"log\":\"\\n\"}\n{\"log\":\"corp=x\\n\"}");
  EXPECT_EQ(Redacted(R"({"a": "\u003ctoken\u003d\"x\", \u00e9", "password":"y", "token": 12})"),
            R"({"a": "<token=<redacted>, \u00e9", "password":"<redacted>", "token": <redacted>})");
  EXPECT_EQ(Redacted(R"({"a": "\u003cx\u003d\"y\", \u00e9\n1"})"),
            R"({"a": "\u003cx\u003d\"y\", \u00e9\n1"})");
  EXPECT_EQ(Redacted(R"(JavaThread "C:\users\x" 10.2.3.4)"), R"(JavaThread "C:\users\x" <ip>)");
}

// What the damages of logs leave of the section.
// A name in the text ends where its own line does, not where the JSON's line has a blank.
TEST(Redact, NamesInLinesOfAJsonText) {
  EXPECT_EQ(Redacted(R"({"message": "Command Line: --api-token s3cr3t\nUSER=frodo\nthe end\n"})"),
            R"({"message": "Command Line: --api-token <redacted>\nUSER=<redacted>\nthe end\n"})");
}

TEST(Redact, TheEnvironmentOfADamagedLog) {
  const std::string head = "Environment Variables:", blank = head + "\n\nA=b\n\nC=d\n\nx=y\n";
  EXPECT_EQ(Redacted(blank), head + "\n\nA=<redacted>\n\nC=<redacted>\n\nx=y\n");
  EXPECT_EQ(Redacted("|" + head + "|\n|A=b|\n|LC_ALL=de|\n|Signal Handlers:|\n|A=b|\n"),
            "|" + head + "|\n|A=<redacted>\n|LC_ALL=<redacted>\n|Signal Handlers:|\n|A=b|\n");
  EXPECT_EQ(Redacted("[x] LC_ALL=de_AT -DPATH=/a --PATH=/b x.PATH=/c MYPATH=/d"),
            "[x] LC_ALL=<redacted> -DPATH=/a --PATH=/b x.PATH=/c MYPATH=/d");
  EXPECT_EQ(Redacted("[x] HOSTNAME=zeus\n[x] uname: Linux hera 6.1.0\n[x] Host: ares, AMD\n"
                     "zeus, hera, ares"),
            "[x] HOSTNAME=<redacted>\n[x] uname: Linux <host> 6.1.0\n[x] Host: <host>, AMD\n"
            "<host>, <host>, <host>");
}

TEST(Redact, ADumpInJsonTakesNothingElse) {
  EXPECT_EQ(Redacted(R"({"m": " - string: \"x\"\nkept\n", "n": 1})"),
            R"({"m": " - string: \"<string>\"\nkept\n", "n": 1})");
  EXPECT_EQ(Redacted(R"([a="b"]  - string: "x")"), R"([a="b"]  - string: "<string>")");
}

TEST(Redact, HostsAndLogins) {
  for (const auto& [text, redacted] : std::vector<std::pair<std::string, std::string>>{
           {"https://bugreport.java.com/x http://localhost:80/y", ""},
           {"amqp://mq-1,mq-2 https://a.b:8443/c?d", "amqp://<host>,mq-2 https://<host>:8443/c?d"},
           {"mongodb://a:1,b:2/c", "mongodb://<host>:1,<host>:2/c"},
           {"https://bob:p/w@db/x", "https://<redacted>@<host>/x"},
           {"https://h:443/@types/x", "https://<host>:443/@types/x"},
           {"jdbc:oracle:thin:scott/tiger@//db:1521/x",
            "jdbc:oracle:thin:<redacted>@//<host>:1521/x"},
           {"jdbc:oracle:thin:@db:1521:x", "jdbc:oracle:thin:@<host>:1521:x"},
           {"Login failed for user 'sa9'.", "Login failed for user '<user>'."},
           {"'app'@'db-1'", ""},
           {"com/foo/Bar@1a2b x.y/z@w java.base@21/java.lang", ""},
           {"-Ddb.host=db-1 -Dhttp.proxyHost=localhost -Dservers=a1:9092,b2:9092",
            "-Ddb.host=<host> -Dhttp.proxyHost=localhost -Dservers=<host>"},
           {"redis-1/10.2.3.4:6379", "<host>/<ip>:6379"},
           {"root@10.2.3.4 java.base@10.2.3.4", "root@<ip> java.base@10.2.3.4"}})
    EXPECT_EQ(Redacted(text), redacted.empty() ? text : redacted);
}

TEST(Redact, NamesThatOnlyLookLikeSecrets) {
  for (const std::string text :
       {"-Dbypass=3", "sk-learn-of-another-kind", "at a.TokenFilter.f(TokenFilter.java:12)",
        "user=0.01 sys=0.00", "AKIA12", "eyJustAWordWithoutAPoint", "task-0123456789abcdefghij12",
        "token::next", "ConcurrentHashTable<TokenConfig>::get", "0123456789abcdef", "x -pages 3"})
    EXPECT_EQ(Redacted(text), text);
}

// In all logs, lines stay lines, a second time changes nothing, and no crash is lost.
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
