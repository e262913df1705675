// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/redaction_patterns.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "harness/hs_err/characters.h"

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

// The size of the value at `begin` of `line`: a quoted text, or up to a blank or a quote; in the
// query of a URL up to the next parameter. A separator behind a value is no part of it.
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

}  // namespace

std::vector<std::string> ReplacePrivateWords(std::string& line) {
  DoneWords done;
  ReplaceSecrets(line, done);
  ReplaceCredentials(line, done);
  ReplaceMail(line, done);
  ReplaceIpv4(line, done);
  ReplaceIpv6(line, done);
  ReplaceStrings(line, done);
  return done;
}

}  // namespace walkhammer
