// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {
namespace {

// As texts write them, and texts in JSON and HTML; the longest of those that begin alike is first.
constexpr std::string_view kQuotes[] = {R"(\&quot;)", R"(\\\")", R"(\")",  R"(\')", "&quot;",
                                        "&#34;",      "&#x22;",  "&#x27;", "&#39;", "&apos;",
                                        "\"",         "'",       "`"};

std::string_view QuoteAt(std::string_view text) {
  // CSV has two; elsewhere these are an empty value.
  if (text.starts_with("\"\"") && text.size() > 2 && IsWordChar(text[2])) return text.substr(0, 2);
  if (text.empty() || std::string_view("\"'\\&`").find(text[0]) == text.npos) return {};
  for (const std::string_view quote : kQuotes)
    if (text.starts_with(quote)) return quote;
  return {};
}

std::string_view QuoteBefore(std::string_view text) {
  if (text.ends_with("\"\"")) return text.substr(text.size() - 2);
  for (const std::string_view quote : kQuotes)
    if (text.ends_with(quote)) return quote;
  return {};
}

// How a value stands behind its name.
enum class How : uint8_t {
  kAssigned,     // -Dkey=x
  kSpaced,       // key = x
  kJson,         // "key": "x"
  kColon,        // key: x
  kOption,       // --key x
  kShortOption,  // -key x
  kElement,      // <key>x</key>
  kPhrase,       // key 'x'
};

// A name, and where in the line its value begins.
struct BehindName {
  std::string_view name;
  size_t begin = 0;  // 0: there is none
  How how = How::kAssigned;

  // Only a name that ends in a telling word counts.
  bool is_strict() const {
    return how != How::kAssigned && how != How::kJson && how != How::kOption;
  }
  // What holds the value would be broken without its quotes.
  bool keeps_quotes() const {
    return how == How::kJson || how == How::kColon || how == How::kPhrase;
  }
};

// The last word of a name, by which it tells what it is. A word that is not strong tells it only
// where nothing but a value may follow, as in "-Dkey=x".
struct TellingWord {
  std::string_view text;
  bool is_strong;
};
constexpr TellingWord kSecretWords[] = {{"password", true},
                                        {"passwd", true},
                                        {"passwort", true},
                                        {"passphrase", true},
                                        {"passcode", true},
                                        {"pwd", true},
                                        {"secret", true},
                                        {"token", true},
                                        {"credential", true},
                                        {"credentials", true},
                                        {"apikey", true},
                                        {"accesskey", true},
                                        {"secretkey", true},
                                        {"privatekey", true},
                                        {"accountkey", true},
                                        {"authkey", true},
                                        {"encryptionkey", true},
                                        {"signingkey", true},
                                        {"sharedkey", true},
                                        {"authorization", true},
                                        {"cookie", true},
                                        {"bearer", true},
                                        {"connectionstring", true},
                                        {"passw", false},
                                        {"auth", false},
                                        {"key", false},
                                        {"signature", false},
                                        {"session", false},
                                        {"cred", false}};
constexpr std::string_view kUserWords[] = {"user",        "username", "userid",    "login",
                                           "loginname",   "uid",      "principal", "account",
                                           "accountname", "dbuser",   "role"};
constexpr std::string_view kHostWords[] = {"host",    "hosts",  "hostname", "server",   "servers",
                                           "brokers", "broker", "endpoint", "endpoints"};

constexpr std::string_view kRegionWords[] = {"usertimezone", "usercountry", "userlanguage",
                                             "userregion",   "uservariant", "userscript"};

// Of "api_key", "apiKey", "API-KEY": "apikey".
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_' && c != '-' && c != '.') plain += LowerCase(c);
  return plain;
}

// "pass" or "dbPass", but no "bypass"; and names that are too short to be looked for in others.
bool IsShortSecret(std::string_view plain) {
  for (const std::string_view word : {"pw", "pin", "otp", "sig", "sas"})
    if (plain == word) return true;
  for (const std::string_view word : {"bypass", "compass", "surpass", "trespass"})
    if (plain.ends_with(word)) return false;
  return plain.ends_with("pass");
}

bool IsSecretName(const BehindName& value) {
  std::string plain = Plain(value.name);
  if (value.is_strict())
    while (!plain.empty() && IsDigit(plain.back())) plain.pop_back();
  if (IsShortSecret(plain)) return true;
  return std::any_of(std::begin(kSecretWords), std::end(kSecretWords), [&](const auto& word) {
    return value.is_strict() ? word.is_strong && plain.ends_with(word.text)
                             : plain.find(word.text) != plain.npos;
  });
}

template <size_t count>
bool EndsInWord(std::string_view name, const std::string_view (&words)[count]) {
  const std::string plain = Plain(name);
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return plain.ends_with(word); });
}

size_t SkipBlanks(std::string_view line, size_t at) {
  while (at < line.size() && IsBlank(line[at])) at++;
  return at;
}

// The name that ends at `end`, perhaps in quotes. Sets the two that tell how it stands.
std::string_view NameBefore(std::string_view line, size_t end, bool& has_blank, bool& is_quoted) {
  std::string_view before = line.substr(0, end);
  while (!before.empty() && IsBlank(before.back())) before.remove_suffix(1);
  has_blank = before.size() < end;
  const std::string_view quote = QuoteBefore(before);
  before.remove_suffix(quote.size());
  is_quoted = !quote.empty();
  size_t size = 0;
  while (size < before.size() && IsNameChar(before[before.size() - size - 1])) size++;
  return before.substr(before.size() - size);
}

// Where the text of an XML element that begins at `begin` ends; npos: nowhere.
size_t EndOfElement(std::string_view line, size_t begin) {
  return std::min(line.find("</", begin), line.find("&lt;/", begin));
}

// "password=x", "password = x"
BehindName AfterEquals(std::string_view line, size_t at) {
  bool has_blank = false, is_quoted = false;
  const std::string_view name = NameBefore(line, at, has_blank, is_quoted);
  const size_t begin = static_cast<size_t>(name.data() - line.data());
  // A flag of the JVM, such as -XX:ClassSignature=.
  if (name.empty() || line.substr(0, begin).ends_with("-XX:")) return {};
  const size_t value = SkipBlanks(line, at + 1);
  return {name, value, has_blank || value > at + 1 ? How::kSpaced : How::kAssigned};
}

// "\"password\": \"x\"", "password: x"
BehindName AfterColon(std::string_view line, size_t at) {
  if (line.substr(at + 1, 1) == ":" || line[at - 1] == ':') return {};
  if (line.substr(at + 1, 2) == "//") return {};
  bool has_blank = false, is_quoted = false;
  const std::string_view name = NameBefore(line, at, has_blank, is_quoted);
  return name.empty()
             ? BehindName{}
             : BehindName{name, SkipBlanks(line, at + 1), is_quoted ? How::kJson : How::kColon};
}

// "--token x", "-keypass x", "-p x"
BehindName AfterOption(std::string_view line, size_t at) {
  if (at > 0 && (IsNameChar(line[at - 1]) || line[at - 1] == ':')) return {};
  if (line.substr(at).starts_with("-p") && line.substr(0, at).find("mysql") != line.npos)
    return {"-p", SkipBlanks(line, at + 2), How::kShortOption};
  const size_t dashes = line.substr(at).starts_with("--") ? 2 : 1;
  size_t end = at + dashes;
  while (end < line.size() && IsNameChar(line[end])) end++;
  if (end == at + dashes || end == line.size() || !IsBlank(line[end])) return {};
  const size_t value = SkipBlanks(line, end);
  if (value == line.size() || line[value] == '-') return {};
  return {line.substr(at, end - at), value, dashes == 2 ? How::kOption : How::kShortOption};
}

// "<password>x</password>", also written as a text of HTML: "&lt;password&gt;x&lt;/password&gt;"
BehindName InElement(std::string_view line, size_t at) {
  const bool is_text = line[at] == ';';
  constexpr std::string_view kOpen = "&lt;", kClose = "&gt;";
  if (is_text && !line.substr(0, at + 1).ends_with(kClose)) return {};
  bool has_blank = false, is_quoted = false;
  const std::string_view name =
      NameBefore(line, is_text ? at + 1 - kClose.size() : at, has_blank, is_quoted);
  const std::string_view before = line.substr(0, static_cast<size_t>(name.data() - line.data()));
  const bool is_element = !name.empty() && !has_blank && !is_quoted &&
                          before.ends_with(is_text ? kOpen : "<") &&
                          EndOfElement(line, at) != line.npos;
  return is_element ? BehindName{name, at + 1, How::kElement} : BehindName{};
}

bool EndsPlainly(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && Plain(text.substr(text.size() - end.size())) == end;
}

// True for the end of "login bob password", as .netrc has it.
bool FollowsLogin(std::string_view before) {
  const size_t user = before.find_last_of(" \t");
  if (user == before.npos || user == 0) return false;
  const std::string_view rest = before.substr(0, user);
  const size_t name = rest.find_last_of(" \t");
  return name != rest.npos &&
         (EndsPlainly(rest.substr(0, name), "login") || EndsPlainly(rest.substr(0, name), "user"));
}

// "password 'x'", "Bearer x", "identified by x"
BehindName AfterWord(std::string_view line, size_t at) {
  const std::string_view before = line.substr(0, at);
  const char last = LowerCase(before.back());
  if ((last == 'r' && EndsPlainly(before, "bearer")) ||
      (last == 'y' && EndsPlainly(before, "identified by")))
    return {"bearer", at + 1, How::kColon};
  if (last == 'd' && EndsPlainly(before, "password") && FollowsLogin(before))
    return {"password", at + 1, How::kColon};
  if (QuoteAt(line.substr(at + 1)).empty()) return {};
  bool has_blank = false, is_quoted = false;
  const std::string_view name = NameBefore(line, at, has_blank, is_quoted);
  return is_quoted || has_blank || name.empty() ? BehindName{}
                                                : BehindName{name, at + 1, How::kPhrase};
}

BehindName NamedValueAt(std::string_view line, size_t at) {
  if (at == 0) return line[at] == '-' ? AfterOption(line, at) : BehindName{};
  switch (line[at]) {
    case '=':
      return AfterEquals(line, at);
    case ':':
      return AfterColon(line, at);
    case '-':
      return AfterOption(line, at);
    case '>':
    case ';':
      return InElement(line, at);
    case ' ':
      return AfterWord(line, at);
    default:
      return {};
  }
}

// What of a line is to be replaced.
struct Part {
  size_t begin = 0, size = 0;
};

// The quoted text at `begin`, with its quotes or without.
Part QuotedPart(std::string_view line, size_t begin, std::string_view quote, bool keeps_quotes) {
  const size_t inner = begin + quote.size();
  size_t end = line.find(quote, inner);
  while (quote == "\"" && end != line.npos && end > inner && line[end - 1] == '\\')
    end = line.find(quote, end + 1);
  if (keeps_quotes) return {inner, std::min(end, line.size()) - inner};
  return {begin, end == line.npos ? line.size() - begin : end + quote.size() - begin};
}

// The size of the value without quotes at `begin`: up to a blank or a quote; in a quoted word up to
// its end; in the query of a URL up to the next parameter. A separator behind a value is not a part
// of it.
size_t WordSize(std::string_view line, size_t begin) {
  std::string_view text = line.substr(begin);
  constexpr size_t kLongestWord = 4096;
  const size_t from = begin - std::min(begin, kLongestWord);
  const std::string_view word = line.substr(from, begin - from);
  const size_t blank = word.find_last_of(" \t\"'");
  const bool in_query = word.substr(blank == word.npos ? 0 : blank).find('?') != word.npos;
  const bool is_quoted = blank != word.npos && (word[blank] == '"' || word[blank] == '\'');
  if (is_quoted && !in_query && text.find(word[blank]) != text.npos) {
    text = text.substr(0, text.find(word[blank]));
    return text.ends_with('\\') ? text.size() - 1 : text.size();
  }
  text = text.substr(0, text.find_first_of(in_query ? " \t&\"'" : " \t\"'"));
  for (const std::string_view quote : {"&quot;", "&#34;", "&#x22;", "&#39;", "&#x27;", "&apos;"})
    text = text.substr(0, text.find(quote));
  while (text.ends_with(',') || text.ends_with(';') || text.ends_with('\\')) text.remove_suffix(1);
  return text.size();
}

// The hosts at `begin`, with their ports: "db-1", "h1:9092,h2:9092".
size_t HostsSize(std::string_view line, size_t begin) {
  const std::string_view text = line.substr(begin, WordSize(line, begin));
  size_t size = 0;
  while (size < text.size()) {
    const std::string_view host = text.substr(size, text.find(',', size) - size);
    if (!std::all_of(host.begin(), host.end(), [](char c) { return IsNameChar(c) || c == ':'; }))
      break;
    size += std::min(host.size() + 1, text.size() - size);
  }
  return text.substr(0, size).ends_with(',') ? size - 1 : size;
}

// Of "\"key\": 4711}" the number.
size_t JsonWordSize(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(",}] \t"));
  const bool tells = word != "null" && word != "true" && word != "false" && !word.starts_with('{');
  return tells ? word.size() : 0;
}

// Of "Bearer x" and "Basic x", which follow "Authorization:", the first word and the blank.
size_t SchemeSize(std::string_view text) {
  const size_t size = std::min(text.find(' '), text.size());
  const std::string scheme = Plain(text.substr(0, size));
  for (const std::string_view known : {"bearer", "basic", "digest", "token", "negotiate"})
    if (scheme == known && size < text.size()) return size + 1;
  return 0;
}

// The value that `found` names; size 0: it tells nothing.
Part PartOf(std::string_view line, const BehindName& found) {
  const std::string_view text = line.substr(found.begin);
  if (const std::string_view quote = QuoteAt(text); !quote.empty())
    return QuotedPart(line, found.begin, quote, found.keeps_quotes());
  if (text.starts_with('[') && found.keeps_quotes())
    return {found.begin + 1, std::min(text.find(']'), text.size()) - 1};
  if (found.how == How::kJson) return {found.begin, JsonWordSize(text)};
  if (found.how == How::kElement) return {found.begin, EndOfElement(text, 0)};
  // "Cookie: a=b; c=d"
  if (found.how == How::kColon && Plain(found.name).ends_with("cookie"))
    return {found.begin, std::min(text.find_first_of("\"'"), text.size())};
  const size_t scheme = SchemeSize(text);
  return {found.begin, scheme + WordSize(line, found.begin + scheme)};
}

// What a value is replaced by; empty: it stays.
struct StandIn {
  std::string_view by;
  const char* what;
};

// "-u bob:x"
bool IsLogin(std::string_view line, const BehindName& found) {
  const bool names_user = found.name == "-u" || found.name == "--user";
  const std::string_view word = line.substr(found.begin, WordSize(line, found.begin));
  return names_user && word.find(':') != word.npos;
}

// `beside`: a secret stands in the same line.
StandIn StandInOf(std::string_view line, const BehindName& found, bool beside) {
  if (IsLogin(line, found)) return {"<redacted>", "credentials"};
  if (found.name == "-p" || IsSecretName(found)) return {"<redacted>", "secret"};
  if (EndsInWord(found.name, kRegionWords)) return {"<redacted>", "locale or time zone"};
  const bool may_be_user = beside || found.how == How::kPhrase || found.name.ends_with("user.name");
  if (may_be_user && (found.name == "-u" || EndsInWord(found.name, kUserWords)))
    return {"<user>", "user name"};
  if (!found.is_strict() && EndsInWord(found.name, kHostWords)) return {"<host>", "host name"};
  return {};
}

// The own machine, and switches such as "server=y".
bool TellsNoHost(std::string_view value) {
  for (const std::string_view common : {"localhost", "127.", "true", "false"})
    if (value.starts_with(common)) return true;
  return value.size() < 2 || !std::any_of(value.begin(), value.end(), IsLetter);
}

// A value that was replaced before, perhaps in a text that this line holds; or that of MySQL's
// "(using password: YES)".
bool StandsIn(std::string_view value) {
  if (value == "YES)" || value == "NO)") return true;
  const size_t size = StandInAt(value).size();
  return size > 0 && (size == value.size() || !IsWordChar(value[size]));
}

// Replaces values whose names tell what they are. Returns whether secrets are among them, replaced
// now or before.
bool ReplaceValues(std::string& line, bool beside, DoneWords& done) {
  bool has_secret = false;
  for (size_t at = 0; at < line.size(); at++) {
    if (std::string_view("=:->; ").find(line[at]) == std::string_view::npos) continue;
    const BehindName found = NamedValueAt(line, at);
    if (found.begin == 0) continue;
    const auto [by, what] = StandInOf(line, found, beside);
    if (by.empty()) continue;
    Part part = PartOf(line, found);
    if (by == "<host>") part.size = std::min(part.size, HostsSize(line, part.begin));
    const std::string_view value = std::string_view(line).substr(part.begin, part.size);
    has_secret |= by == "<redacted>" && part.size > 0;
    if (value.empty() || StandsIn(value) || (by == "<host>" && TellsNoHost(value))) continue;
    line.replace(part.begin, part.size, by);
    done.emplace_back(what);
    at = part.begin + by.size() - 1;
  }
  return has_secret;
}

}  // namespace

void ReplaceNamedValues(std::string& line, DoneWords& done) {
  // Who has the secret stands beside it.
  if (ReplaceValues(line, false, done)) (void)ReplaceValues(line, true, done);
}

}  // namespace walkhammer
