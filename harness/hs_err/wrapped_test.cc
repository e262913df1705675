// SPDX-License-Identifier: Apache-2.0
// Whatever people paste: each log as collectors, builds, trackers and containers wrap it, whole,
// cut, or damaged. A sample runs as a unit test; WALKHAMMER_TEXTS is the number of texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "harness/base/testing/sanitized.h"
#include "harness/base/text.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/plain_text.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/essence.h"

namespace walkhammer {
namespace {

using std::string_literals::operator""s;

// A prefix of line `i`, and what stands behind the line.
struct LineWrapping {
  const char* name;
  std::string (*prefix)(int i);
  const char* suffix = "";
};

std::string Iso(int i) {
  return fmt::format("2026-05-04T{:02}:{:02}:{:02}.{:09}Z", i / 3600 % 24, i / 60 % 60, i % 60,
                     i * 7919 % 1000000000);
}
std::string Clock(int i) {
  return fmt::format("{:02}:{:02}:{:02}", i / 3600 % 24, i / 60 % 60, i % 60);
}

constexpr LineWrapping kLineWrappings[] = {
    {"none", [](int) { return ""s; }},
    {"Google Cloud",
     [](int i) { return "ERROR " + Iso(i) + " [resource.labels.containerName: storage] "; }},
    {"kubectl", [](int) { return "[pod/app-6d5f7-x2k9p/app] "s; }},
    {"stern", [](int) { return "\x1b[36mapp-6d5f7-x2k9p\x1b[0m \x1b[96mapp\x1b[0m "s; }},
    {"compose", [](int) { return "app_1  | "s; }},
    {"compose in colour", [](int) { return "\x1b[31mapp_1  |\x1b[0m "s; }},
    {"Spring Boot",
     [](int i) {
       return fmt::format("2026-05-04 {}.{:03}  {} 1 --- [{}] {:40} : ", Clock(i), i % 1000,
                          i % 5 == 0 ? "WARN" : "INFO",
                          i % 3 == 0 ? "main" : fmt::format("nio-8080-exec-{}", i % 12),
                          i % 2 == 0 ? "STDOUT" : "c.e.app.Application");
     }},
    {"log4j",
     [](int i) { return "2026-05-04 " + Clock(i) + ",123 ERROR [main] com.example.App - "; }},
    {"level alone", [](int i) { return Clock(i) + " ERROR "; }},
    {"Maven", [](int) { return "[ERROR] "s; }},
    {"Ant", [](int) { return "     [exec] "s; }},
    {"BuildKit", [](int i) { return fmt::format("#11 {}.{:02} ", 8 + i / 100, i % 100); }},
    {"grep of several files", [](int i) { return fmt::format("out/hs_err_pid42.log:{}:", i + 1); }},
    {"grep without numbers", [](int) { return "hs_err_pid42.log:"s; }},
    {"grep -n", [](int i) { return fmt::format("{}:", i + 1); }},
    {"syslog", [](int i) { return "May  4 " + Clock(i) + " web-3 java[4711]: "; }},
    {"journald in ISO", [](int i) { return Iso(i) + " web-3 app.sh[4711]: "; }},
    {"RFC 5424", [](int i) { return "<134>1 " + Iso(i) + " web-3 java 4711 - - "; }},
    {"CRI", [](int i) { return Iso(i) + " stdout F "; }},
    {"GitHub Actions", [](int i) { return Iso(i) + " "; }},
    {"GitHub Actions, of all jobs", [](int i) { return "build\tRun tests\t" + Iso(i) + " "; }},
    {"dmesg", [](int i) { return fmt::format("[{:5}.{:06}] ", i, i * 31 % 1000000); }},
    {"unified logging", [](int i) { return fmt::format("[{}.123s][error][hs] ", i); }},
    {"Jira", [](int) { return "|"s; }, "|"},
    {"table", [](int) { return "| "s; }, " |"},
    {"quoted", [](int) { return "> "s; }},
    {"quoted twice", [](int) { return ">> "s; }},
    {"indented", [](int) { return "\t    "s; }},
    {"Jenkins", [](int i) { return "[" + Iso(i) + "] "; }},
    {"Heroku", [](int i) { return Iso(i) + " app[web.1]: "; }},
    {"CloudWatch", [](int i) { return fmt::format("{}\t", 1777889472123LL + i); }},
};

std::string JsonOf(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += "\\"s + c;
    } else if (static_cast<unsigned char>(c) < ' ' || c == '<') {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += c;
    }
  }
  return '"' + out + '"';
}

template <typename F>
std::string OfEachLine(const std::string& text, F&& wrap) {
  std::string out;
  int i = 0;
  for (const std::string& line : Split(text, '\n')) out += wrap(line, i++) + "\n";
  return out;
}

std::string DockerFile(const std::string& text) {
  return OfEachLine(text, [](const std::string& line, int i) {
    return fmt::format(R"({{"log":{},"stream":"stderr","time":"{}"}})", JsonOf(line + "\n"),
                       Iso(i));
  });
}

std::string OneString(const std::string& text) {
  return R"({"@timestamp": "2026-05-04T10:11:12Z", "kubernetes": {"pod": "a"}, "message": )" +
         JsonOf(text) + R"(, "level": "error"})" + "\n";
}

std::string HtmlPage(const std::string& text) {
  std::string out = "<html><body><p>The log:</p>\n<pre><code>";
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string{c};
  return out + "</code></pre></body></html>\n";
}

std::string Utf16File(const std::string& text) {
  std::string out = "\xff\xfe";
  for (const char c : text) out += std::string{c, '\0'};
  return out;
}

std::string EcsLines(const std::string& text) {
  return OfEachLine(text, [](const std::string& line, int i) {
    return R"({"@timestamp":")" + Iso(i) + R"(","log.level":"INFO","message":)" + JsonOf(line) +
           "}";
  });
}

std::string JsonInJson(const std::string& text) { return DockerFile(OneString(text)); }

std::string WithReturns(const std::string& text) {
  return OfEachLine(text, [](const std::string& line, int) { return line + "\r"; });
}

std::string InFence(const std::string& text) {
  return "### It crashes\nSee below (version 1.2.3):\n```\n" + text + "\n```\nthanks\n";
}

struct TextWrapping {
  const char* name;
  std::string (*wrap)(const std::string& text);
};
constexpr TextWrapping kTextWrappings[] = {
    {"Docker's json-file", DockerFile},
    {"ECS, a line each", EcsLines},
    {"one JSON string", OneString},
    {"JSON in JSON", JsonInJson},
    {"HTML", HtmlPage},
    {"UTF-16", Utf16File},
    {"DOS lines", WithReturns},
    {"fenced", InFence},
};

constexpr size_t kWrappings = std::size(kLineWrappings) + std::size(kTextWrappings);

std::string NameOf(size_t which) {
  return which < std::size(kLineWrappings) ? kLineWrappings[which].name
                                           : kTextWrappings[which - std::size(kLineWrappings)].name;
}

std::string WrappedBy(size_t which, const std::string& text) {
  if (which >= std::size(kLineWrappings))
    return kTextWrappings[which - std::size(kLineWrappings)].wrap(text);
  const LineWrapping& wrapping = kLineWrappings[which];
  return OfEachLine(text, [&](const std::string& line, int i) {
    return wrapping.prefix(i) + line + wrapping.suffix;
  });
}

CrashReport Read(const std::string& bytes) {
  const auto text = PlainText(bytes, "a.log");
  EXPECT_TRUE(text.ok());
  return ParseCrashReport(text.ok() ? text.value() : "");
}

// Lines that an application prints before, in the same wrapping.
std::string WithOutputBefore(const std::string& text, int lines) {
  std::string before;
  for (int i = 0; i < lines; i++)
    before += i % 2 == 0 ? "Started application in 3.25 seconds\n" : "GET /items/42 200 17 ms\n";
  return before + text;
}

// A line is lost, doubled, or has another one behind it.
std::string Damaged(const std::string& text, std::mt19937& random) {
  return OfEachLine(text, [&](const std::string& line, int) {
    const unsigned what = random() % 40;
    return what == 0   ? ""
           : what == 1 ? line + "\n" + line
           : what == 2 ? line + "\nuser 4711 logged in (session open)"
           : what == 3 ? line.substr(0, random() % (line.size() + 1))
                       : line;
  });
}

// Bytes of any value at any place.
std::string Spoilt(std::string text, std::mt19937& random) {
  for (int i = 0; i < 40 && !text.empty(); i++)
    text[random() % text.size()] = static_cast<char>(random());
  return text;
}

std::vector<std::string> TextsOf(const CrashStack& stack) {
  std::vector<std::string> texts;
  for (const CrashFrame& frame : stack.frames) texts.push_back(frame.text);
  return texts;
}

class WrappedLog : public testing::Test {
 protected:
  // Whole: everything that matters is read as from the bare log.
  void CheckWhole(size_t which, const CrashLog& log, std::mt19937& random) const {
    const std::string text = WithOutputBefore(log.text, static_cast<int>(random() % 30));
    const std::string wanted = EssenceOf(ParseCrashReport(text));
    EXPECT_EQ(Difference(EssenceOf(Read(WrappedBy(which, text))), wanted), "") << log.name;
  }

  // Cut: a stack that is not whole says so.
  void CheckCut(size_t which, const CrashLog& log, std::mt19937& random) const {
    if (!log.is_hs_err()) return;
    const CrashStack whole = ParseCrashReport(log.text).native_stack;
    std::string text = WrappedBy(which, log.text);
    const size_t at = random() % text.size();
    const bool front = random() % 2 == 0;
    text = front ? text.substr(at) : text.substr(0, at);
    // A prefix is learned from two lines of a crash at least.
    constexpr int kFewestLines = 6;
    if (front && std::count(text.begin(), text.end(), '\n') < kFewestLines) return;
    const CrashStack cut = Read(text).native_stack;
    // Without their header, Java frames may seem to be native ones.
    if (!front) {
      EXPECT_LE(cut.frames.size(), whole.frames.size()) << log.name;
    }
    if (!cut.frames.empty() && TextsOf(cut) != TextsOf(whole)) {
      EXPECT_TRUE(cut.truncated) << log.name << (front ? " from " : " up to ") << at;
    }
  }

  // Damaged: nothing is read that is not there.
  void CheckDamaged(size_t which, const CrashLog& log, std::mt19937& random) const {
    const CrashReport whole = ParseCrashReport(log.text);
    const CrashReport damaged = Read(WrappedBy(which, Damaged(log.text, random)));
    if (damaged.signal.name.known() && log.is_hs_err()) {
      EXPECT_TRUE(whole.signal.name.value.starts_with(damaged.signal.name.value)) << log.name;
    }
    (void)ParseCrashReports(Spoilt(WrappedBy(which, log.text), random));
  }
};

TEST_F(WrappedLog, ReadsLikeTheLogItself) {
  const char* wanted = std::getenv("WALKHAMMER_TEXTS");
  const size_t texts = wanted != nullptr ? std::strtoul(wanted, nullptr, 10)
                       : kSanitized      ? 60
                                         : 360;
  const std::vector<CrashLog> logs = CrashLogs(WALKHAMMER_CRASH_LOGS);
  std::mt19937 random(1);
  for (size_t i = 0; i < texts; i++) {
    const size_t which = i % kWrappings;
    const CrashLog& log = logs[random() % logs.size()];
    SCOPED_TRACE(fmt::format("text {}: {}", i, NameOf(which)));
    CheckWhole(which, log, random);
    CheckCut(which, log, random);
    CheckDamaged(which, log, random);
    constexpr int kMostFailures = 20;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    if (test->result()->total_part_count() > kMostFailures) break;
  }
  EXPECT_GT(texts, kWrappings);
}

}  // namespace
}  // namespace walkhammer
