// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/testing/wrappings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>

#include "harness/base/testing/sanitized.h"
#include "harness/base/text.h"

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

}  // namespace

size_t WrappingCount() { return std::size(kLineWrappings) + std::size(kTextWrappings); }

std::string NameOfWrapping(size_t which) {
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

size_t TextsWanted(size_t few) {
  const char* wanted = std::getenv("WALKHAMMER_TEXTS");
  if (wanted != nullptr) return std::strtoul(wanted, nullptr, 10);
  return kSanitized ? 60 : few;
}

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

}  // namespace walkhammer
