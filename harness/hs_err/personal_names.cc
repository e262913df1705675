// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/personal_names.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/environment_variables.h"

namespace walkhammer {
namespace {

using Names = std::vector<std::string>;

// True if the name identifies a person or a host, so that it is replaced wherever it stands.
bool IsTelling(std::string_view name) {
  for (const std::string_view common :
       {"localhost", "root", "java", "user", "users", "nobody", "jvm", "home", "homes", "lib"})
    if (name == common) return false;
  return name.size() >= 3 && name[0] != '<' && name.size() < 256;
}

void Remember(std::string_view name, Names& names) {
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  if (IsTelling(name) && !known && names.size() < 32) names.emplace_back(name);
}

// A name of a host or a user, which has no other characters.
void RememberWord(std::string_view name, Names& names) {
  if (std::all_of(name.begin(), name.end(), IsNameChar)) Remember(name, names);
}

// What a folder's path begins with where the next name is a user's, or a host's.
struct Root {
  std::string_view text;
  bool begins_path;  // in the middle of a path it may be the package of a class
  bool is_host;
};
constexpr Root kRoots[] = {
    {"/home/", false, false},     {"/Users/", false, false},        {"\\Users\\", false, false},
    {"/nfs/users/", true, false}, {"/nfs/home/", true, false},      {"/nfs/homes/", true, false},
    {"/users/", true, false},     {"/homes/", true, false},         {"/nfs/", true, false},
    {"/net/", true, true},        {"/var/spool/mail/", true, false}};

// The size of a user's name at the begin of `text`; on Windows it may have blanks.
size_t UserSize(std::string_view text, bool may_have_blanks) {
  size_t size = 0;
  while (size < text.size() && IsNameChar(text[size])) size++;
  size = std::min(size, text.find("--"));  // "bob-----BEGIN"
  if (!may_have_blanks || text.substr(size, 1) != " ") return size;
  constexpr size_t kLongest = 40;
  const size_t end = text.substr(0, kLongest).find('\\');
  const bool is_name =
      end != text.npos && text.substr(0, end).find_first_of("\"';:/=") == text.npos;
  return is_name ? end : size;
}

void CollectHome(std::string_view line, size_t at, const Root& root, Names& users, Names& hosts) {
  const bool begins = at == 0 || (!IsNameChar(line[at - 1]) && line[at - 1] != '/');
  if (root.begins_path && !begins) return;
  const std::string_view rest = line.substr(at + root.text.size());
  Remember(rest.substr(0, UserSize(rest, root.text[0] == '\\')), root.is_host ? hosts : users);
}

void CollectHomes(std::string_view line, Names& users, Names& hosts) {
  constexpr std::string_view kFirstLetters = "hUunv";
  for (const char mark : {'/', '\\'})
    for (size_t at = line.find(mark); at != line.npos; at = line.find(mark, at + 1))
      if (at + 1 < line.size() && kFirstLetters.find(line[at + 1]) != kFirstLetters.npos)
        for (const Root& root : kRoots)
          if (line.substr(at).starts_with(root.text)) CollectHome(line, at, root, users, hosts);
  constexpr Root kCounters = {"hsperfdata_", false, false};
  const size_t counters = line.find(kCounters.text);
  if (counters != line.npos) CollectHome(line, counters, kCounters, users, hosts);
}

// What follows `mark` in a line, which may have any prefix; empty: nothing does.
std::string_view After(std::string_view line, std::string_view mark) {
  for (size_t at = line.find(mark); at != line.npos; at = line.find(mark, at + 1))
    if (at == 0 || !IsNameChar(line[at - 1])) return line.substr(at + mark.size());
  return {};
}

std::string_view FirstWord(std::string_view text) {
  text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  const auto end = std::find_if_not(text.begin(), text.end(), IsNameChar);
  const bool goes_on = end != text.end() && *end == '<';  // in what was replaced before
  return goes_on ? std::string_view() : text.substr(0, static_cast<size_t>(end - text.begin()));
}

// "uname: Linux host 6.1.0": only some builds tell the host there.
void CollectUname(std::string_view line, Names& hosts) {
  const std::vector<std::string> words = Words(After(line, "uname:"));
  if (words.size() >= 3 && !IsDigit(words[1][0]) && IsDigit(words[2][0]))
    RememberWord(words[1], hosts);
}

// "Host: pc-17, AMD EPYC, 2 cores": the same; a processor's name has a blank in it.
void CollectHost(std::string_view line, Names& hosts) {
  const std::string_view rest = After(line, "Host: "), first = rest.substr(0, rest.find(','));
  if (first != "AArch64") RememberWord(first, hosts);
  RememberWord(FirstWord(After(line, "Hostname: ")), hosts);  // of coredumpctl
}

// "UID: 1000 (jdoe)", "Boot ID: .." of coredumpctl
void CollectIds(std::string_view line, Names& users, Names& ids) {
  for (const std::string_view mark : {"UID: ", "GID: "}) {
    const std::string_view rest = After(line, mark);
    if (const size_t open = rest.find(" ("); open != rest.npos)
      RememberWord(rest.substr(open + 2, rest.find(')', open) - open - 2), users);
  }
  for (const std::string_view mark : {"Boot ID: ", "Machine ID: "})
    RememberWord(FirstWord(After(line, mark)), ids);
}

// "user.name=bob" of a JVM's properties, also behind "-D"; empty: it is not there.
std::string_view PropertyOf(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == line.npos || line.substr(at + name.size(), 1) != "=") return {};
  const std::string_view value = line.substr(at + name.size() + 1);
  return value.substr(0, value.find_first_of(" \t\"',"));
}

void ReplaceName(std::string& line, const std::string& name, std::string_view by, bool is_user,
                 const char* what, DoneWords& done) {
  for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const char after = at + name.size() < line.size() ? line[at + name.size()] : ' ';
    static constexpr std::string_view kBeforeUser = "/\\=_~";
    const bool in_quotes = (before == '"' || before == '\'') && after == before;
    const bool in_brackets = before == '(' && after == ')';
    const bool may_be_user = kBeforeUser.find(before) != std::string_view::npos || in_quotes ||
                             in_brackets || (after == '@' && BeginsWord(line, at));
    const bool may_begin =
        is_user ? may_be_user : BeginsWord(line, at) && before != '<' && before != '_';
    if (!may_begin || IsWordChar(after) || after == '>') continue;
    line.replace(at, name.size(), by);
    done.emplace_back(what);
    at += by.size() - 1;
  }
}

}  // namespace

void PersonalNames::Collect(std::string_view line) {
  CollectHomes(line, users_, hosts_);
  CollectUname(line, hosts_);
  if (line.find("Host") != line.npos) CollectHost(line, hosts_);
  if (line.find("ID: ") != line.npos) CollectIds(line, users_, ids_);
  for (Builder found = FindBuilder(line, 0); found.size > 0;
       found = FindBuilder(line, found.begin + found.size))
    Remember(found.name, users_);
  if (line.find('=') == line.npos) return;
  RememberWord(PropertyOf(line, "user.name"), users_);
  if (const std::string_view home = PropertyOf(line, "user.home"); home != "/root")
    Remember(home, homes_);
  for (Assignment one = FindVariable(line); !one.name.empty();
       one = FindVariable(line, static_cast<size_t>(one.value.data() - line.data()))) {
    const auto [name, value] = one;
    if (name == "HOSTNAME" || name == "COMPUTERNAME") Remember(value, hosts_);
    if (name == "USER" || name == "LOGNAME" || name == "USERNAME") Remember(value, users_);
    if ((name == "HOME" || name == "USERPROFILE") && value != "/root") Remember(value, homes_);
  }
}

void PersonalNames::Replace(std::string& line, DoneWords& done) const {
  for (const std::string& home : homes_)
    ReplaceName(line, home, "<home>", false, "home directory", done);
  for (const std::string& user : users_) ReplaceName(line, user, "<user>", true, "user name", done);
  for (const std::string& host : hosts_)
    ReplaceName(line, host, "<host>", false, "host name", done);
  for (const std::string& id : ids_) ReplaceName(line, id, "<id>", false, "id of a machine", done);
}

}  // namespace walkhammer
