// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {
namespace {

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

// Whether an address may begin at `at`: "java.base@21.0.13.0" and "jdk-17.0.2.1" have versions.
bool MayBeginIpv4(std::string_view line, size_t at) {
  if (!BeginsWord(line, at)) return false;
  const char before = at == 0 ? ' ' : line[at - 1];
  if (before == '@') {
    size_t begin = at - 1;
    while (begin > 0 && IsNameChar(line[begin - 1])) begin--;
    return line.substr(begin, at - 1 - begin).find('.') == line.npos;
  }
  return std::string_view("._-+").find(before) == std::string_view::npos;
}

// The size of the address at `at`; 0: it is another number.
size_t Ipv4Size(std::string_view line, size_t at) {
  const size_t size = QuadSize(line.substr(at));
  if (size == 0) return 0;
  const char after = at + size < line.size() ? line[at + size] : ' ';
  const bool follows_number =
      (after == '.' || after == '-') && at + size + 1 < line.size() && IsDigit(line[at + size + 1]);
  const std::string_view found = line.substr(at, size);
  const bool is_address = !IsWordChar(after) && after != '+' && !follows_number &&
                          !found.starts_with("127.") && found != "0.0.0.0";
  return is_address && MayBeginIpv4(line, at) ? size : 0;
}

// "node-17/10.2.3.4:9092", as Java prints an address. Returns where that of `at` is then.
size_t ReplaceHostBefore(std::string& line, size_t at, DoneWords& done) {
  if (at < 2 || line[at - 1] != '/') return at;
  size_t begin = at - 1;
  while (begin > 0 && IsNameChar(line[begin - 1])) begin--;
  const std::string_view host = std::string_view(line).substr(begin, at - 1 - begin);
  if (host.empty() || host == "localhost" || (begin > 0 && line[begin - 1] == '/')) return at;
  line.replace(begin, at - 1 - begin, "<host>");
  done.emplace_back("host name");
  return line.find('/', begin) + 1;
}

void ReplaceIpv4(std::string& line, DoneWords& done) {
  if (std::count(line.begin(), line.end(), '.') < 3 || IsVersionLine(line)) return;
  for (size_t at = 0; at < line.size(); at++) {
    if (!IsDigit(line[at])) continue;
    if (const size_t size = Ipv4Size(line, at); size > 0) {
      line.replace(at, size, "<ip>");
      done.emplace_back("IP address");
      at = ReplaceHostBefore(line, at, done);
      at += 3;
      continue;
    }
    while (at + 1 < line.size() && (IsDigit(line[at + 1]) || line[at + 1] == '.')) at++;
  }
}

// Groups of up to four hexadecimal digits with colons between them: at least five groups, or four
// colons with "::", and a digit; so no time and no name of C++.
void ReplaceIpv6(std::string& line, DoneWords& done) {
  if (std::count(line.begin(), line.end(), ':') < 3) return;
  for (size_t at = 0; at < line.size(); at++) {
    const char before = at == 0 ? ' ' : line[at - 1];
    if (!IsHexDigit(line[at]) || !BeginsWord(line, at) || before == ':' || before == '_') continue;
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

}  // namespace

void ReplaceAddresses(std::string& line, DoneWords& done) {
  ReplaceMail(line, done);
  ReplaceIpv4(line, done);
  ReplaceIpv6(line, done);
}

}  // namespace walkhammer
