// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/redact.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/lines.h"
#include "harness/hs_err/redaction_patterns.h"

namespace walkhammer {
namespace {

constexpr size_t kMostKinds = 1000;

// Keeps the list of what was replaced.
class Record {
 public:
  explicit Record(std::vector<Redaction>* done) : done_(done) {}
  void Add(const std::string& what, int line) {
    if (done_ == nullptr) return;
    for (Redaction& redaction : *done_) {
      if (redaction.what != what) continue;
      redaction.count++;
      return;
    }
    if (done_->size() < kMostKinds) done_->push_back({what, line, 1});
  }

 private:
  std::vector<Redaction>* done_;
};

struct Assignment {
  std::string_view name, value;
};

// "NAME=value" of a shell variable's name; empty name: it is none.
Assignment AssignmentOf(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0 || IsDigit(line[0])) return {};
  for (const char c : line.substr(0, equals))
    if (!IsWordChar(c)) return {};
  return {line.substr(0, equals), line.substr(equals + 1)};
}

// Follows where the section "Environment Variables:" begins and ends.
class Environment {
 public:
  // True for a line in the section, which holds a variable or the next line of one.
  bool Holds(std::string_view line) {
    if (line.starts_with("Environment Variables:")) {
      inside_ = true;
      return false;
    }
    const bool ends = line.empty() || line.starts_with("Active Locale:") ||
                      line.starts_with("Signal Handlers:") || line.starts_with("----------");
    if (ends) inside_ = false;
    return inside_;
  }

 private:
  bool inside_ = false;
};

// A name that is worth to be replaced wherever it stands.
bool IsTelling(std::string_view name) {
  for (const std::string_view common : {"localhost", "root", "java", "user", "nobody", "jvm"})
    if (name == common) return false;
  return name.size() >= 3 && name[0] != '<' && name.size() < 256;
}

void Remember(std::string_view name, std::vector<std::string>& names) {
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  if (IsTelling(name) && !known && names.size() < 32) names.emplace_back(name);
}

struct Names {
  std::vector<std::string> hosts, users, homes;
};

// Takes the user's name out of "/home/bob/x", "C:\Users\bob", "/Users/bob".
void CollectHomes(std::string_view line, Names& names) {
  for (const std::string_view root : {"/home/", "/Users/", "\\Users\\", "hsperfdata_"}) {
    for (size_t at = line.find(root); at != std::string_view::npos; at = line.find(root, at + 1)) {
      const std::string_view rest = line.substr(at + root.size());
      size_t size = 0;
      while (size < rest.size() &&
             (IsWordChar(rest[size]) || rest[size] == '-' || rest[size] == '.'))
        size++;
      Remember(rest.substr(0, size), names.users);
    }
  }
}

// "uname: Linux host 6.1.0": only some builds tell the host there.
void CollectUname(std::string_view line, Names& names) {
  if (!line.starts_with("uname:")) return;
  const std::vector<std::string> words = Words(line.substr(6));
  if (words.size() >= 3 && !IsDigit(words[1][0]) && IsDigit(words[2][0]))
    Remember(words[1], names.hosts);
}

// "Host: pc-17, AMD EPYC, 2 cores": likewise; a processor's name has a blank in it.
void CollectHost(std::string_view line, Names& names) {
  if (!line.starts_with("Host: ")) return;
  const std::string_view first = line.substr(6, line.find(',') - 6);
  const bool is_name = first.find(' ') == std::string_view::npos && first != "AArch64";
  if (is_name) Remember(first, names.hosts);
}

Names CollectNames(std::string_view text) {
  Names names;
  Environment environment;
  LineReader lines(text, false);
  Line line;
  while (lines.Next(line)) {
    CollectHomes(line.text, names);
    CollectUname(line.text, names);
    CollectHost(line.text, names);
    if (!environment.Holds(line.text)) continue;
    const Assignment variable = AssignmentOf(line.text);
    if (variable.name == "HOSTNAME" || variable.name == "HOST" || variable.name == "COMPUTERNAME")
      Remember(variable.value, names.hosts);
    if (variable.name == "USER" || variable.name == "LOGNAME" || variable.name == "USERNAME")
      Remember(variable.value, names.users);
    const bool is_home = variable.name == "HOME" || variable.name == "USERPROFILE";
    if (is_home && variable.value != "/root") Remember(variable.value, names.homes);
  }
  return names;
}

// Replaces `name` where no other letter adjoins; of users' names only where a path or a value may
// be.
void ReplaceName(std::string& line, const std::string& name, std::string_view by, bool is_user,
                 const std::string& what, int number, Record& record) {
  for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const char after = at + name.size() < line.size() ? line[at + name.size()] : ' ';
    static constexpr std::string_view kBeforeUser = "/\\=_";
    const bool may_begin = is_user ? kBeforeUser.find(before) != std::string_view::npos
                                   : !IsWordChar(before) && before != '<';
    if (!may_begin || IsWordChar(after) || after == '>') continue;
    line.replace(at, name.size(), by);
    record.Add(what, number);
    at += by.size() - 1;
  }
}

void ReplaceNames(std::string& line, const Names& names, int number, Record& record) {
  for (const std::string& home : names.homes)
    ReplaceName(line, home, "<home>", false, "home directory", number, record);
  for (const std::string& user : names.users)
    ReplaceName(line, user, "<user>", true, "user name", number, record);
  for (const std::string& host : names.hosts)
    ReplaceName(line, host, "<host>", false, "host name", number, record);
}

void ReplaceVariable(std::string& line, std::string_view plain, int number, Record& record) {
  const Assignment variable = AssignmentOf(plain);
  const std::string_view old = variable.name.empty() ? plain : variable.value;
  if (old.empty() || old == "<redacted>") return;
  const size_t at = line.rfind(old);
  // Where escapes were taken off the line, the whole line goes.
  if (at == std::string::npos)
    line = "<redacted>";
  else
    line.replace(at, std::string::npos, "<redacted>");
  record.Add(variable.name.empty() ? "environment variable"
                                   : "environment variable " + std::string(variable.name),
             number);
}

}  // namespace

std::string Redact(std::string_view text, std::vector<Redaction>* done) {
  Record record(done);
  const Names names = CollectNames(text);
  Environment environment;
  std::string out;
  out.reserve(text.size());
  int number = 0;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    std::string line(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    number++;
    const bool has_return = line.ends_with('\r');
    if (has_return) line.pop_back();
    Line plain;
    LineReader reader(line, false);
    (void)reader.Next(plain);
    // No log has such lines, and who knows what they hold.
    constexpr size_t kLongestLine = 1 << 20;
    if (line.size() > kLongestLine) {
      line = "<redacted>";
      record.Add("long line", number);
    }
    if (environment.Holds(plain.text)) {
      ReplaceVariable(line, std::string(plain.text), number, record);
    } else {
      ReplaceNames(line, names, number, record);
      for (const std::string& what : ReplacePrivateWords(line)) record.Add(what, number);
    }
    out += line;
    if (has_return) out += '\r';
    if (newline != std::string_view::npos) out += '\n';
  }
  return out;
}

}  // namespace walkhammer
