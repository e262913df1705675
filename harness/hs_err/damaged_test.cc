// SPDX-License-Identifier: Apache-2.0
// Logs as they are found in issues, mails and collectors of logs: each damage is done to each log,
// and what matters must be read as from the log itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/testing/sanitized.h"
#include "harness/base/text.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/essence.h"

namespace walkhammer {
namespace {

using Lines = std::vector<std::string>;

std::string Join(const Lines& lines, const std::string& end = "\n") {
  std::string text;
  for (const std::string& line : lines) text += line + end;
  return text;
}

template <typename F>
std::string EachLine(const std::string& text, F&& change) {
  Lines lines = Split(text, '\n');
  for (size_t i = 0; i < lines.size(); i++) lines[i] = change(lines[i], i);
  return Join(lines);
}

std::string Prefixed(const std::string& text, const std::string& prefix) {
  return EachLine(text, [&](const std::string& line, size_t) { return prefix + line; });
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string IsoTimes(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t i) {
    return fmt::format("2026-11-24T13:{:02}:{:02}.123Z {}", i / 60 % 60, i % 60, line);
  });
}

std::string BracketTimes(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t i) {
    return fmt::format("[2026-11-24 13:{:02}:{:02},123] {}", i / 60 % 60, i % 60, line);
  });
}

std::string UptimesAndLevels(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t i) {
    return fmt::format("[{}.123s][error] {}", i, line);
  });
}

std::string Quoted(const std::string& text) {
  return "On Tuesday somebody wrote:\n" + Prefixed(text, "> ") + "-- \nregards\n";
}

std::string Fenced(const std::string& text) {
  return "### Describe the bug\nIt crashes (see below), version 1.2.3\n```\n" + text +
         "```\nthanks\n";
}

std::string Indented(const std::string& text) { return Prefixed(text, "    "); }

std::string WithoutHash(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t) {
    return line.starts_with('#') ? line.substr(std::min<size_t>(line.size(), 2)) : line;
  });
}

std::string EscapedHash(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t) {
    return line.starts_with('#') ? "\\" + line : line;
  });
}

std::string CollapsedBlanks(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t) {
    std::string out;
    for (const char c : line)
      if (c != ' ' || !out.ends_with(' ')) out += c;
    return out;
  });
}

std::string DosLines(const std::string& text) { return Replaced(text, "\n", "\r\n"); }

std::string Utf16(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::string{c, '\0'};
  return out;
}

std::string Html(const std::string& text) {
  return Replaced(Replaced(Replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

std::string HtmlMail(const std::string& text) {
  return EachLine(Html(text), [](const std::string& line, size_t) {
    return "<span class=\"quotelev1\">&gt; " + line + "\n</span><br>";
  });
}

std::string NumberedForHash(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t i) {
    return line.starts_with("# ") ? fmt::format("{}. {}", i % 9 + 1, line.substr(2)) : line;
  });
}

std::string Backwards(const std::string& text) {
  Lines lines = Split(text, '\n');
  std::reverse(lines.begin(), lines.end());
  return Join(lines);
}

std::string WithOutputBetween(const std::string& text) {
  return EachLine(text, [](const std::string& line, size_t i) {
    return i % 7 == 3 ? line + "\nuser 4711 logged in (session open)" : line;
  });
}

// At blanks, as mail programs do.
std::string Wrapped(const std::string& text) {
  constexpr size_t kWidth = 100;
  return EachLine(text, [](std::string line, size_t) {
    std::string out;
    while (line.size() > kWidth) {
      const size_t blank = line.rfind(' ', kWidth);
      if (blank == std::string::npos || blank == 0) break;
      out += line.substr(0, blank) + "\n";
      line = line.substr(blank + 1);
    }
    return out + line;
  });
}

struct Damage {
  const char* name;
  std::string (*make)(const std::string& text);
};
constexpr Damage kDamages[] = {
    {"ISO times", IsoTimes},
    {"times in brackets", BracketTimes},
    {"uptimes and levels", UptimesAndLevels},
    {"containers",
     [](const std::string& text) {
       return Prefixed(text, "2026-11-24T13:15:02.123456789Z stdout F ");
     }},
    {"compose", [](const std::string& text) { return Prefixed(text, "java-app-1  | "); }},
    {"syslog",
     [](const std::string& text) { return Prefixed(text, "Nov 24 13:15:02 web-3 java[4711]: "); }},
    {"quoted", Quoted},
    {"fenced", Fenced},
    {"indented", Indented},
    {"without '#'", WithoutHash},
    {"escaped '#'", EscapedHash},
    {"collapsed blanks", CollapsedBlanks},
    {"blank lines between", [](const std::string& text) { return Replaced(text, "\n", "\n\n"); }},
    {"DOS lines", DosLines},
    {"UTF-16", Utf16},
    {"HTML", Html},
    {"HTML mail", HtmlMail},
    {"numbers for '#'", NumberedForHash},
    {"backwards", Backwards},
    {"output between", WithOutputBetween},
    {"wrapped", Wrapped}};

TEST(DamagedLog, ReadsLikeTheLogItself) {
  size_t logs = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    if (!log.is_hs_err()) continue;
    // With sanitizers one log of eight suffers it.
    if (logs++ % 8 != 0 && kSanitized) continue;
    const std::string wanted = EssenceOf(ParseCrashReport(log.text));
    for (const Damage& damage : kDamages)
      EXPECT_EQ(Difference(EssenceOf(ParseCrashReport(damage.make(log.text))), wanted), "")
          << damage.name << ": " << log.name;
  }
  EXPECT_GE(logs, 41u);
}

TEST(DamagedLog, RedactedNumbersLeaveTheRest) {
  const CrashReport report = ParseCrashReport(
      "# A fatal error has been detected by the Java Runtime Environment:\n#\n"
      "#  SIGSEGV (0xb) at pc=0x00007fb1c6cd2f94, pid=<pid>, tid=XXXX\n#\n"
      "# Problematic frame:\n# C  [<path>+0x1f]  f+0x2\n");
  EXPECT_FALSE(report.pid.known());
  EXPECT_FALSE(report.tid.known());
  EXPECT_EQ(report.pc.value, 0x00007fb1c6cd2f94u);
  ASSERT_TRUE(report.problematic_frame);
  EXPECT_EQ(report.problematic_frame->module, "<path>");
  EXPECT_EQ(report.problematic_frame->symbol, "f");
}

TEST(DamagedLog, OneDamageUponAnother) {
  const std::string text = CrashLogText(WALKHAMMER_CRASH_LOGS, "21-agct-2.log");
  const std::string wanted = EssenceOf(ParseCrashReport(text));
  EXPECT_EQ(EssenceOf(ParseCrashReport(Quoted(Quoted(IsoTimes(DosLines(text)))))), wanted);
  EXPECT_EQ(EssenceOf(ParseCrashReport(Indented(Html(BracketTimes(EscapedHash(text)))))), wanted);
}

}  // namespace
}  // namespace walkhammer
