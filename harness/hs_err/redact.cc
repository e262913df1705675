// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/redact.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/environment_variables.h"
#include "harness/hs_err/json_strings.h"
#include "harness/hs_err/lines.h"
#include "harness/hs_err/personal_names.h"
#include "harness/hs_err/prefixes.h"
#include "harness/hs_err/private_sections.h"
#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {
namespace {

// "text"{0x00000000ffe00000}, in the dump of an object
void ReplaceStrings(std::string& line, DoneWords& done) {
  for (size_t end = line.find("\"{0x"); end != std::string::npos;
       end = line.find("\"{0x", end + 1)) {
    const size_t begin = end == 0 ? std::string::npos : line.find('"');
    if (begin >= end || end - begin <= 1) continue;
    if (line.compare(begin + 1, end - begin - 1, "<string>") == 0) continue;
    line.replace(begin + 1, end - begin - 1, "<string>");
    done.emplace_back("Java string");
    end = begin + 9;
  }
}

// "Time: Tue Nov 24 13:15:02 2026 CET elapsed time: 1.2 seconds", "timezone: CET"
void ReplaceTimeZone(std::string& line, DoneWords& done) {
  constexpr std::string_view kElapsed = " elapsed time: ", kZone = "timezone: ";
  size_t begin = line.find(kZone), end = line.size();
  if (begin != line.npos) {
    begin += kZone.size();
  } else if (end = line.find(kElapsed); end != line.npos) {
    begin = line.rfind(" 20", end);
    constexpr size_t kYearSize = 6;  // " 2026 "
    begin = begin == line.npos ? end : begin + kYearSize;
  }
  if (begin == line.npos || end == line.npos || begin >= end) return;
  const std::string_view zone = std::string_view(line).substr(begin, end - begin);
  if (zone == "UTC" || zone == "GMT" || IsStandIn(zone)) return;
  line.replace(begin, end - begin, "<zone>");
  done.emplace_back("time zone");
}

// "LC_ALL=de_AT.UTF-8" behind a prefix, or on a command line
void ReplaceVariables(std::string& line, DoneWords& done) {
  size_t from = 0;
  for (Assignment one = FindVariable(line); !one.name.empty(); one = FindVariable(line, from)) {
    from = static_cast<size_t>(one.value.data() - line.data());
    if (one.value.empty() || one.value.starts_with("<redacted>")) continue;
    done.push_back("environment variable " + std::string(one.name));
    line.replace(from, one.value.size(), "<redacted>");
  }
}

using Rule = void (*)(std::string& line, DoneWords& done);
constexpr Rule kSecretRules[] = {ReplaceNamedValues, ReplaceShapes, ReplaceLogins};
constexpr Rule kPersonalRules[] = {ReplaceAddresses, ReplaceHosts,     ReplaceStrings,
                                   ReplaceBuilders,  ReplaceVariables, ReplaceTimeZone};

constexpr size_t kMostKinds = 1000;

// Keeps the list of what was replaced.
class Record {
 public:
  explicit Record(std::vector<Redaction>* done) : done_(done) {}
  void Add(const DoneWords& words, int line) {
    if (done_ == nullptr) return;
    for (const std::string& what : words) Add(what, line);
  }

 private:
  void Add(const std::string& what, int line) {
    for (Redaction& redaction : *done_) {
      if (redaction.what != what) continue;
      redaction.count++;
      return;
    }
    if (done_->size() < kMostKinds) done_->push_back({what, line, 1});
  }

  std::vector<Redaction>* done_;
};

constexpr size_t kDeepest = 5;  // so many texts of JSON may be in one another

// Redacts the lines of a text, and of the texts within its lines.
class Redactor {
 public:
  Redactor(std::string_view text, std::vector<Redaction>* done) : prefixes_(text), record_(done) {
    Collect(text, 0);
  }

  std::string Text(std::string_view text, size_t depth) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
      const size_t newline = text.find('\n');
      std::string line(text.substr(0, newline));
      text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
      if (depth == 0) number_++;
      const bool has_return = line.ends_with('\r');
      if (has_return) line.pop_back();
      ReplaceLine(line, depth);
      out += line;
      if (has_return) out += '\r';
      if (newline != std::string_view::npos) out += '\n';
    }
    return out;
  }

 private:
  void Collect(std::string_view text, size_t depth) {
    while (!text.empty()) {
      const size_t newline = text.find('\n');
      const std::string_view line = text.substr(0, newline);
      text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
      bool holds_lines = false;  // a name in such a line ends where its own line does
      std::string whole(depth < kDeepest ? line : "");
      ChangeJsonStrings(whole, [&](std::string_view inner) {
        holds_lines |= inner.find('\n') != std::string_view::npos;
        Collect(inner, depth + 1);
        return std::string(inner);
      });
      Line plain;
      LineReader reader(line, false, PrefixesAt(depth));
      if (!holds_lines && reader.Next(plain)) names_.Collect(plain.text);
    }
  }

  void ReplaceLine(std::string& line, size_t depth) {
    DoneWords done;
    // No log has such lines, and who knows what they hold.
    constexpr size_t kLongestLine = 1 << 20;
    if (line.size() > kLongestLine) {
      line = "<redacted>";
      done.emplace_back("long line");
    }
    if (depth < kDeepest)
      ChangeJsonStrings(line, [&](std::string_view inner) { return Text(inner, depth + 1); });
    Line plain;
    LineReader reader(line, false, PrefixesAt(depth));
    (void)reader.Next(plain);
    sections_[depth].Replace(line, std::string(plain.text), done);
    ReplaceWords(line, done);
    record_.Add(done, number_);
  }

  // What stands before the lines of a log does not stand before those of a text in JSON.
  LinePrefixes PrefixesAt(size_t depth) const { return depth == 0 ? prefixes_ : LinePrefixes(); }

  // What a rule puts there may complete what another looks for.
  void ReplaceWords(std::string& line, DoneWords& done) {
    constexpr int kMostRounds = 4;
    for (int round = 0; round < kMostRounds; round++) {
      const size_t before = done.size();
      names_.Replace(line, done);
      for (const Rule rule : kSecretRules) rule(line, done);
      for (const Rule rule : kPersonalRules) rule(line, done);
      if (done.size() == before) break;
    }
  }

  LinePrefixes prefixes_;
  Record record_;
  PersonalNames names_;
  PrivateSections sections_[kDeepest + 1];
  int number_ = 0;
};

}  // namespace

bool IsNameChar(char c) { return IsWordChar(c) || c == '.' || c == '-'; }

bool BeginsWord(std::string_view line, size_t at) {
  if (at == 0) return true;
  const char before = line[at - 1];
  if (!IsLetter(before) && !IsDigit(before)) return true;
  if (at >= 2 && line[at - 2] == '\\')
    return std::string_view("nrt").find(before) != std::string_view::npos;
  return at >= 3 && line[at - 3] == '%' && IsHexDigit(line[at - 2]) && IsHexDigit(before);
}

std::string_view StandInAt(std::string_view text) {
  for (const std::string_view known : {"<redacted>", "<user>", "<host>", "<home>", "<ip>",
                                       "<e-mail>", "<string>", "<id>", "<zone>", "<path>"})
    if (text.starts_with(known)) return text.substr(0, known.size());
  return {};
}

bool IsStandIn(std::string_view text) { return !text.empty() && StandInAt(text) == text; }

std::string WithoutSecrets(std::string_view command_line) {
  std::string line(command_line);
  DoneWords ignored;
  PrivateSections().Replace(line, command_line, ignored);  // keys in PEM form
  for (const Rule rule : kSecretRules) rule(line, ignored);
  return line;
}

std::string WithoutBuilder(std::string_view version) {
  std::string line(version);
  DoneWords ignored;
  ReplaceBuilders(line, ignored);
  return line;
}

std::string Redact(std::string_view text, std::vector<Redaction>* done) {
  // What a stand-in or a cut line leaves may look like another secret, so it is read until it
  // stays.
  constexpr int kMostRounds = 8;
  std::string out = Redactor(text, done).Text(text, 0);
  for (int round = 1; round < kMostRounds; round++) {
    std::string again = Redactor(out, done).Text(out, 0);
    if (again == out) break;
    out = std::move(again);
  }
  return out;
}

}  // namespace walkhammer
