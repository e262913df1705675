// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {
namespace {

constexpr std::string_view kHost = "<host>";

// Where the word that `at` is in begins: behind a blank or a quote, or in the query of a URL.
size_t WordBegin(std::string_view line, size_t at) {
  const size_t begin = line.substr(0, at).find_last_of(" \t\"'<>") + 1;
  const std::string_view word = line.substr(begin, at - begin);
  const bool in_query = word.find("://") < word.find('?');
  return in_query ? begin + word.find_last_of("?&") + 1 : begin;
}

// The begin of "bob:x" or "scott/tiger" in front of the '@' at `sign`; `sign`: none is there.
size_t LoginBegin(std::string_view line, size_t sign) {
  const size_t word = WordBegin(line, sign);
  const std::string_view before = line.substr(word, sign - word);
  if (before.find("://") != before.npos) return sign;
  const size_t colon = before.rfind(':'), slash = before.rfind('/');
  const bool by_slash = slash != before.npos && (colon == before.npos || colon < slash);
  const size_t parting = by_slash ? slash : colon;
  if (parting == before.npos || parting == 0 || parting + 1 == before.size()) return sign;
  size_t begin = parting;
  while (begin > 0 && IsNameChar(before[begin - 1])) begin--;
  const std::string_view user = before.substr(begin, parting - begin);
  if (user.empty() || user == "thin" || user == "oci") return sign;
  const bool in_path = begin > 0 && before[begin - 1] == '/';
  // "com/sun/Main@1a2b3c", "java.base/x@17"
  return by_slash && (in_path || user.find('.') != user.npos) ? sign : word + begin;
}

// Whether a host may begin behind the '@' at `sign`: no version, and no hash of an object.
bool MayPrecedeHost(std::string_view line, size_t sign) {
  std::string_view host = line.substr(sign + 1);
  if (host.starts_with("//")) return true;
  size_t size = 0;
  while (size < host.size() && IsNameChar(host[size])) size++;
  host = host.substr(0, size);
  const bool is_hash = std::all_of(host.begin(), host.end(), IsHexDigit);
  return !host.empty() && IsLetter(host[0]) && !is_hash;
}

// The end of the credentials in the URL whose host may begin at `begin`; `begin`: it has none. A
// password may have a slash in it, and so may what is behind the host.
size_t CredentialsEnd(std::string_view line, size_t begin) {
  const size_t end = std::min(line.find_first_of(" \t\"'<>", begin), line.size());
  const std::string_view url = line.substr(begin, end - begin);
  const std::string_view authority = url.substr(0, url.find_first_of("/?"));
  if (const size_t sign = authority.rfind('@'); sign != authority.npos) return begin + sign;
  const size_t colon = authority.find(':'), sign = url.rfind('@');
  if (colon == authority.npos || sign == url.npos) return begin;
  const std::string_view port = authority.substr(colon + 1);
  return !port.empty() && std::all_of(port.begin(), port.end(), IsDigit) ? begin : begin + sign;
}

// Sites where anybody reports bugs of JDKs; HotSpot names them in its logs.
constexpr std::string_view kPublicHosts[] = {"bugreport.java.com",
                                             "bugreport.sun.com",
                                             "java.sun.com",
                                             "bugs.java.com",
                                             "bugs.openjdk.org",
                                             "bugs.openjdk.java.net",
                                             "openjdk.org",
                                             "openjdk.java.net",
                                             "bugs.debian.org",
                                             "bugs.launchpad.net",
                                             "bugzilla.redhat.com",
                                             "bugzilla.opensuse.org",
                                             "github.com",
                                             "gitlab.com",
                                             "adoptium.net",
                                             "adoptopenjdk.net",
                                             "www.azul.com",
                                             "www.azulsystems.com",
                                             "support.azul.com",
                                             "www.azulsystems.com",
                                             "bell-sw.com",
                                             "sapmachine.io",
                                             "aws.amazon.com",
                                             "youtrack.jetbrains.com",
                                             "www.graalvm.org",
                                             "docs.oracle.com",
                                             "www.oracle.com",
                                             "www.eclipse.org",
                                             "bugs.gentoo.org",
                                             "bugs.archlinux.org",
                                             "gitlab.alpinelinux.org"};

bool IsPublicHost(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "0.0.0.0" ||
         std::find(std::begin(kPublicHosts), std::end(kPublicHosts), host) !=
             std::end(kPublicHosts);
}

size_t HostSize(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && IsNameChar(text[size])) size++;
  while (size > 0 && (text[size - 1] == '.' || text[size - 1] == '-')) size--;
  return size;
}

// Replaces the hosts from `at` on: "h1:27017,h2:27017/db" has two. Returns the end of the last.
size_t ReplaceHostsAt(std::string& line, size_t at, DoneWords& done) {
  for (;;) {
    const size_t size = HostSize(std::string_view(line).substr(at));
    const std::string_view host = std::string_view(line).substr(at, size);
    if (size > 0 && std::any_of(host.begin(), host.end(), IsLetter) && !IsPublicHost(host)) {
      line.replace(at, size, kHost);
      done.emplace_back("host name");
      at += kHost.size();
    } else {
      at += size;
    }
    if (at < line.size() && line[at] == ':') at++;
    while (at < line.size() && IsDigit(line[at])) at++;
    const bool goes_on = at + 1 < line.size() && line[at] == ',' && IsLetter(line[at + 1]);
    const std::string_view next = std::string_view(line).substr(std::min(at + 1, line.size()));
    if (!goes_on || next.substr(HostSize(next), 1) != ":") return at;
    at++;
  }
}

// "://h", "<redacted>@h", "<redacted>@//h", "jdbc:oracle:thin:@//h"
void ReplaceUrlHosts(std::string& line, DoneWords& done) {
  for (const std::string_view mark : {"://", "<redacted>@", ":thin:@", ":oci:@"}) {
    for (size_t at = line.find(mark); at != line.npos; at = line.find(mark, at)) {
      const bool has_scheme = mark != "://" || (at > 0 && IsWordChar(line[at - 1]));
      at += mark.size();
      if (!has_scheme) continue;
      if (mark != "://" && line.compare(at, 2, "//") == 0) at += 2;
      at = ReplaceHostsAt(line, at, done);
    }
  }
}

constexpr std::string_view kPrivateEnds[] = {".internal", ".local",       ".corp", ".lan",
                                             ".intranet", ".localdomain", ".svc"};
constexpr std::string_view kPublicEnds[] = {".com", ".net", ".org", ".io", ".cloud", ".dev", ".de"};

template <size_t count>
bool EndsInAny(std::string_view host, const std::string_view (&ends)[count]) {
  return std::any_of(std::begin(ends), std::end(ends),
                     [&](std::string_view end) { return host.ends_with(end); });
}

// "db-3.corp.example.com", "node-17.internal"; names of Java's packages begin with "com", and have
// no '-'.
bool IsHostName(std::string_view word) {
  if (word.find_first_of("0123456789-") == word.npos || IsPublicHost(word)) return false;
  const auto points = std::count(word.begin(), word.end(), '.');
  return EndsInAny(word, kPrivateEnds) || (points >= 2 && EndsInAny(word, kPublicEnds));
}

void ReplaceHostNames(std::string& line, DoneWords& done) {
  constexpr std::string_view kFirstLetters = "ilcnods";
  for (size_t point = line.find('.'); point != line.npos; point = line.find('.', point + 1)) {
    if (point + 2 >= line.size() || kFirstLetters.find(line[point + 1]) == kFirstLetters.npos)
      continue;
    size_t begin = point, end = point + 1;
    while (begin > 0 && IsNameChar(line[begin - 1])) begin--;
    while (end < line.size() && IsNameChar(line[end])) end++;
    const std::string_view word = std::string_view(line).substr(begin, end - begin);
    const size_t size = HostSize(word);
    if (begin == point || !IsHostName(word.substr(0, size))) {
      point = end - 1;
      continue;
    }
    line.replace(begin, size, kHost);
    done.emplace_back("host name");
    point = begin + kHost.size() - 1;
  }
}

}  // namespace

void ReplaceLogins(std::string& line, DoneWords& done) {
  for (size_t at = line.find("://"); at != line.npos; at = line.find("://", at + 1)) {
    const size_t begin = at + 3, end = CredentialsEnd(line, begin);
    if (end == begin || IsStandIn(std::string_view(line).substr(begin, end - begin))) continue;
    line.replace(begin, end - begin, kRedacted);
    done.emplace_back("credentials in a URL");
  }
  for (size_t sign = line.find('@'); sign != line.npos; sign = line.find('@', sign + 1)) {
    const size_t begin = LoginBegin(line, sign);
    if (begin == sign || !MayPrecedeHost(line, sign)) continue;
    line.replace(begin, sign - begin, kRedacted);
    done.emplace_back("credentials");
    sign = begin + kRedacted.size();
  }
}

void ReplaceHosts(std::string& line, DoneWords& done) {
  ReplaceUrlHosts(line, done);
  ReplaceHostNames(line, done);
}

}  // namespace walkhammer
