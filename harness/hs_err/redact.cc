// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/redact.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/lines.h"

namespace walkhammer {
namespace {

using DoneWords = std::vector<std::string>;

constexpr std::string_view kSecretWords[] = {
    "passw", "passphrase", "pwd",    "secret",    "token",   "credential", "apikey",
    "auth",  "key",        "bearer", "signature", "session", "cookie"};

bool IsSecretName(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += LowerCase(c);

  return std::any_of(std::begin(kSecretWords), std::end(kSecretWords),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool IsNameChar(char c) { return IsWordChar(c) || c == '.' || c == '-'; }

// The size of the value at `begin` of `line`: a quoted text, or up to a blank or a quote; in a
// quoted word up to its end; in the query of a URL up to the next parameter. A separator behind a
// value is no part of it.
size_t ValueSize(std::string_view line, size_t begin) {
  std::string_view text = line.substr(begin);
  if (text.empty()) return 0;
  if (text[0] == '"' || text[0] == '\'') {
    const size_t end = text.find(text[0], 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  constexpr size_t kLongestWord = 4096;
  const size_t from = begin - std::min(begin, kLongestWord);
  const std::string_view word = line.substr(from, begin - from);
  const size_t blank = word.find_last_of(" \t\"'");
  const bool in_query = word.substr(blank == word.npos ? 0 : blank).find('?') != word.npos;
  const bool is_quoted = blank != word.npos && (word[blank] == '"' || word[blank] == '\'');
  if (is_quoted && !in_query && text.find(word[blank]) != text.npos) return text.find(word[blank]);
  text = text.substr(0, text.find_first_of(in_query ? " \t&\"'" : " \t\"'"));
  while (text.ends_with(',') || text.ends_with(';')) text.remove_suffix(1);
  return text.size();
}

// "-Ddb.password=x", "--token x", "--token=x", "?api_key=x&"
void ReplaceSecrets(std::string& line, DoneWords& done) {
  for (size_t at = 0; at < line.size(); at++) {
    const bool is_option = line.compare(at, 2, "--") == 0;
    const bool ends_name = line[at] == '=' && at > 0;
    size_t begin = at;
    size_t value = 0;
    if (ends_name) {
      while (begin > 0 && IsNameChar(line[begin - 1])) begin--;
      if (!IsSecretName(std::string_view(line).substr(begin, at - begin))) continue;
      // Not a flag of the JVM, such as -XX:ClassSignature=.
      if (begin >= 4 && line.compare(begin - 4, 4, "-XX:") == 0) continue;
      value = at + 1;
    } else if (is_option) {
      size_t end = at + 2;
      while (end < line.size() && IsNameChar(line[end])) end++;
      if (end >= line.size() || line[end] != ' ' ||
          !IsSecretName(std::string_view(line).substr(at, end - at)))
        continue;
      value = end + 1;
    } else {
      continue;
    }
    const size_t size = ValueSize(line, value);
    if (size == 0 || line[value] == '<' || (is_option && line[value] == '-')) continue;
    line.replace(value, size, "<redacted>");
    done.emplace_back("secret");
    at = value + 9;
  }
}

// "https://bob:x@host/", "jdbc:mysql://bob:x@host/"
void ReplaceCredentials(std::string& line, DoneWords& done) {
  for (size_t at = line.find("://"); at != std::string::npos; at = line.find("://", at + 1)) {
    const size_t begin = at + 3;
    const size_t end = std::min(line.find_first_of("/ \t\"'?", begin), line.size());
    const size_t sign = line.substr(begin, end - begin).rfind('@');
    if (sign == std::string::npos || line[begin] == '<') continue;
    line.replace(begin, sign, "<redacted>");
    done.emplace_back("credentials in a URL");
  }
}

// The size of four numbers up to 255 with points between them at the begin; 0: none.
size_t QuadSize(std::string_view text) {
  size_t size = 0;
  for (int part = 0; part < 4; part++) {
    if (part > 0 && (size >= text.size() || text[size++] != '.')) return 0;
    unsigned number = 0;
    const char* begin = text.data() + size;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    if (error != std::errc() || number > 255 || end - begin > 3) return 0;
    size += static_cast<size_t>(end - begin);
  }
  return size;
}

// Lines where four numbers are a version.
bool IsVersionLine(std::string_view line) {
  for (const std::string_view mark :
       {"JRE version", "Java VM:", "vm_info:", "libc:", "Runtime Env"})
    if (line.find(mark) != std::string_view::npos) return true;
  return false;
}

void ReplaceIpv4(std::string& line, DoneWords& done) {
  if (IsVersionLine(line)) return;
  for (size_t at = 0; at < line.size(); at++) {
    if (!IsDigit(line[at])) continue;
    const char before = at == 0 ? ' ' : line[at - 1];
    const size_t size = QuadSize(std::string_view(line).substr(at));
    const char after = at + size < line.size() ? line[at + size] : ' ';
    const bool follows_number = (after == '.' || after == '-') && at + size + 1 < line.size() &&
                                IsDigit(line[at + size + 1]);
    static constexpr std::string_view kOfVersions = "@._-+";
    const bool is_address = size > 0 && !IsWordChar(before) && !IsWordChar(after) && after != '+' &&
                            !follows_number && kOfVersions.find(before) == std::string_view::npos;
    const std::string_view found = std::string_view(line).substr(at, size);
    if (is_address && !found.starts_with("127.") && found != "0.0.0.0") {
      line.replace(at, size, "<ip>");
      done.emplace_back("IP address");
      at += 3;
      continue;
    }
    while (at + 1 < line.size() && (IsDigit(line[at + 1]) || line[at + 1] == '.')) at++;
  }
}

// Groups of up to four hexadecimal digits with colons between them: at least five groups, or four
// colons with "::", and a digit; so no time and no name of C++.
void ReplaceIpv6(std::string& line, DoneWords& done) {
  for (size_t at = 0; at < line.size(); at++) {
    const char before = at == 0 ? ' ' : line[at - 1];
    if (!IsHexDigit(line[at]) || IsWordChar(before) || before == ':') continue;
    size_t end = at, colons = 0, digits = 0, group = 0;
    bool fits = true;
    for (; end < line.size() && (IsHexDigit(line[end]) || line[end] == ':'); end++) {
      group = line[end] == ':' ? 0 : group + 1;
      colons += line[end] == ':' ? 1 : 0;
      digits += IsDigit(line[end]) ? 1 : 0;
      fits &= group <= 4;
    }
    const bool ends_word = end == line.size() || !IsWordChar(line[end]);
    const bool is_address =
        fits && ends_word && colons >= 3 && colons <= 7 && digits > 0 && line[end - 1] != ':' &&
        (colons >= 5 ||
         std::string_view(line).substr(at, end - at).find("::") != std::string_view::npos);
    if (is_address) {
      line.replace(at, end - at, "<ip>");
      done.emplace_back("IP address");
      end = at + 4;
    }
    at = end;
  }
}

// "bob@example.org"; "java.base@17.0.2" has a version there.
void ReplaceMail(std::string& line, DoneWords& done) {
  for (size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
    size_t begin = at, end = at + 1;
    while (begin > 0 && (IsNameChar(line[begin - 1]) || line[begin - 1] == '+')) begin--;
    while (end < line.size() && IsNameChar(line[end])) end++;
    const std::string_view domain = std::string_view(line).substr(at + 1, end - at - 1);
    const size_t point = domain.rfind('.');
    const std::string_view top = domain.substr(domain.rfind('.') + 1);
    const bool is_mail = begin < at && point != std::string_view::npos && point > 0 &&
                         IsLetter(domain[0]) && top.size() >= 2 &&
                         std::all_of(top.begin(), top.end(), IsLetter);
    if (!is_mail) continue;
    line.replace(begin, end - begin, "<e-mail>");
    done.emplace_back("e-mail address");
    at = begin;
  }
}

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

// Who built a JDK, and in the version of a personal build the folder behind the name.
struct Builder {
  size_t begin = 0, size = 0;  // in the line; size 0: there is none
  std::string_view name;       // empty where a stock build has one, too
};

// `line` has at `at` what follows "-internal-" or " by ".
Builder BuilderAt(std::string_view line, size_t at) {
  if (line.substr(at).starts_with('"')) {  // built on Jan  1 2020 by "alice" with gcc
    const size_t end = line.find('"', at + 1);
    const bool is_builder =
        end != line.npos && line.substr(end).starts_with("\" with ") && line[at + 1] != '<';
    return is_builder ? Builder{at + 1, end - at - 1, {}} : Builder{};
  }
  constexpr size_t kLongest = 256;
  size_t size = 0;
  while (size < kLongest && at + size < line.size() && IsNameChar(line[at + size])) size++;
  const std::string_view word = line.substr(at, size), first = word.substr(0, word.find('.'));
  constexpr size_t kTimeSize = 17;  // "2016-08-09-162302"
  const bool is_time =
      first.size() == kTimeSize && first.find_first_not_of("0123456789-") == first.npos;
  if ((first == "adhoc" || is_time) && first.size() < size) {
    const std::string_view name = word.substr(first.size() + 1);
    return {at + first.size() + 1, name.size(), name.substr(0, name.find('.'))};
  }
  const size_t year = word.find("_20");
  const bool is_dated = year != word.npos && word.substr(year).size() > 16 &&
                        word[year + 5] == '_' && word[year + 8] == '_';
  return is_dated ? Builder{at, year, word.substr(0, year)} : Builder{};
}

// The first builder from `from` on: of "28-internal-adhoc.alice.jdk",
// "10-internal+0-adhoc.alice.x", "9-internal+0-2016-08-09-162302.alice.jdk9",
// "1.8.0-internal-alice_2017_05_03_12_34-b00".
Builder FindBuilder(std::string_view line, size_t from) {
  for (size_t at = from; at < line.size(); at++) {
    for (const std::string_view mark : {"-internal-", "-internal+0-", " by "}) {
      if (!line.substr(at).starts_with(mark)) continue;
      if (const Builder found = BuilderAt(line, at + mark.size()); found.size > 0) return found;
    }
  }
  return {};
}

void ReplaceBuilders(std::string& line, DoneWords& done) {
  constexpr std::string_view kBy = "<user>";
  for (Builder found = FindBuilder(line, 0); found.size > 0;
       found = FindBuilder(line, found.begin + kBy.size())) {
    line.replace(found.begin, found.size, kBy);
    done.emplace_back("who built the JDK");
  }
}

// Replaces in `line`: values of names that say "password", "token", "key" and the like, credentials
// in URLs, IP and MAC addresses but those of the own machine, e-mail addresses, texts of Java
// strings in dumps of objects, who built a JDK. Returns what was replaced, a name each time.
DoneWords ReplacePrivateWords(std::string& line) {
  DoneWords done;
  ReplaceSecrets(line, done);
  ReplaceCredentials(line, done);
  ReplaceMail(line, done);
  ReplaceIpv4(line, done);
  ReplaceIpv6(line, done);
  ReplaceStrings(line, done);
  ReplaceBuilders(line, done);
  return done;
}

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
    for (Builder found = FindBuilder(line.text, 0); found.size > 0;
         found = FindBuilder(line.text, found.begin + found.size))
      Remember(found.name, names.users);
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

std::string WithoutSecrets(std::string_view command_line) {
  std::string line(command_line);
  DoneWords ignored;
  ReplaceSecrets(line, ignored);
  ReplaceCredentials(line, ignored);
  return line;
}

std::string WithoutBuilder(std::string_view version) {
  std::string line(version);
  DoneWords ignored;
  ReplaceBuilders(line, ignored);
  return line;
}

std::string Redact(std::string_view text, std::vector<Redaction>* done) {
  Record record(done);
  const Names names = CollectNames(text);
  const LinePrefixes prefixes(text);
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
    LineReader reader(line, false, prefixes);
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
