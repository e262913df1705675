// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/anonymous.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "harness/hs_err/redact.h"

namespace walkhammer {
namespace {

constexpr size_t kShortestName = 3;  // shorter names are parts of too many words

bool IsNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// Replaces `word` where no letter adjoins it. Returns how often.
int ReplaceWord(std::string& text, const std::string& word, const std::string& by) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !IsNamePart(text[at - 1]);
    if (!begins || (end < text.size() && IsNamePart(text[end]))) {
      at = end;
      continue;
    }
    text.replace(at, word.size(), by);
    at += by.size();
    count++;
  }
  return count;
}

void AddName(const std::string& name, const char* by, StandIns& names) {
  // These tell nothing of anybody, and stand in every log.
  for (const char* common : {"localhost", "root", "user", "java", "nobody", "linux"})
    if (name == common) return;
  if (name.size() >= kShortestName) names.emplace_back(name, by);
}

bool MayPrecedePath(char c) {
  return std::string_view(" \t\n\"'=:,;([{<>|@").find(c) != std::string_view::npos;
}
bool MayBeInPath(char c) {
  return c > ' ' && std::string_view("\"':,;()[]{}<>|").find(c) == std::string_view::npos;
}

bool IsOfSystem(std::string_view path) {
  for (const std::string_view folder :
       {"/usr/", "/lib/", "/lib64/", "/proc/", "/sys/", "/dev/", "/etc/", "/bin/"})
    if (path.starts_with(folder)) return true;
  return false;
}

}  // namespace

std::string HidePaths(std::string_view text, int& count) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool begins = text[at] == '/' && (at == 0 || MayPrecedePath(text[at - 1]));
    size_t end = at;
    while (begins && end < text.size() && MayBeInPath(text[end])) end++;
    const std::string_view path = text.substr(at, end - at);
    const size_t last = path.rfind('/');
    const bool is_path = begins && path.size() > 1 && path[1] != '/' && last != 0;
    if (!is_path || IsOfSystem(path)) {
      const size_t whole = std::max(end, at + 1);
      out += text.substr(at, whole - at);
      at = whole;
      continue;
    }
    out += "<path>";
    out += path.substr(last);
    count++;
    at = end;
  }
  return out;
}

StandIns NamesOfThisMachine() {
  StandIns names;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) AddName(host, "<host>", names);
  if (const passwd* user = getpwuid(getuid())) AddName(user->pw_name, "<user>", names);
  for (const char* variable : {"USER", "LOGNAME", "SUDO_USER"})
    if (const char* name = std::getenv(variable)) AddName(name, "<user>", names);
  return names;
}

Anonymous::Anonymous(StandIns places, StandIns names)
    : places_(std::move(places)), names_(std::move(names)) {
  // The longest first: one folder may be in another.
  std::sort(places_.begin(), places_.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string Anonymous::Clean(std::string_view text, const std::string& name) {
  std::string clean(text);
  const auto note = [&](const std::string& what, int times) {
    if (times > 0) done_[{name, what}] += times;
  };
  int count = 0;
  for (const auto& [folder, by] : places_) count += ReplaceWord(clean, folder, by);
  note("folder of a JDK", count);
  std::vector<Redaction> redacted;
  clean = Redact(clean, &redacted);
  for (const Redaction& one : redacted) note(one.what, one.count);
  for (const auto& [word, by] : names_)
    note(by == "<host>" ? "host name" : "user name", ReplaceWord(clean, word, by));
  count = 0;
  clean = HidePaths(clean, count);
  note("path", count);
  return clean;
}

std::string Anonymous::Report() const {
  if (done_.empty()) return "Nothing was replaced.\n";
  std::string text;
  for (const auto& [what, count] : done_)
    text += fmt::format("{}: {}, {}x\n", what.first, what.second, count);
  return text;
}

}  // namespace walkhammer
