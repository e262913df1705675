// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bundle.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/json_text.h"
#include "harness/base/shell.h"
#include "harness/findings/crash_folder.h"
#include "harness/findings/explain.h"
#include "harness/hs_err/redact.h"
#include "harness/request/symbol_table.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr char kWalkName[] = "input.walk", kReportName[] = "report.md", kScriptName[] = "replay.sh",
               kTableName[] = "builds.json", kRedactedName[] = "redacted.txt";

// A fenced block of Markdown, longer than any fence in `text`.
std::string Block(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence + "\n" + text.substr(0, text.find_last_not_of(" \n") + 1) + "\n" + fence + "\n";
}

// A cell of a table of Markdown.
std::string Cell(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text.empty() ? "-" : text;
}

// Makes the parts of the bundle; each text that others had a hand in goes through Anonymous.
class Bundler {
 public:
  Bundler(const BundleCase& content, const WalkFile& file, const SymbolTable& symbols)
      : content_(content), file_(file), symbols_(symbols), anonymous_(Places(content)) {}

  std::vector<BundleFile> Files() {
    std::vector<BundleFile> files = {{kWalkName, Clean(content_.walk, kWalkName)},
                                     {kReportName, Report()},
                                     {kScriptName, Script()},
                                     {kTableName, Table()}};
    if (!content_.explanation.empty())
      files.push_back({kExplainName, Clean(content_.explanation, kExplainName)});
    if (!content_.hs_err.empty()) files.push_back({kHsErrName, Clean(content_.hs_err, kHsErrName)});
    files.push_back({kRedactedName, Redacted()});
    return files;
  }

 private:
  static std::vector<std::pair<std::string, std::string>> Places(const BundleCase& content) {
    std::vector<std::pair<std::string, std::string>> places;
    for (const BundleRow& row : content.rows)
      places.emplace_back(row.build.jdk.home,
                          "<jdk " + WithoutBuilder(row.build.jdk.version) + ">");
    return places;
  }
  std::string Clean(std::string_view text, const std::string& name) {
    return anonymous_.Clean(text, name);
  }
  std::string CleanFlags(const std::vector<std::string>& flags, const std::string& name) {
    std::vector<std::string> words;
    for (const std::string& flag : flags) words.push_back(Clean(flag, name));
    return ShellCommand(words);
  }

  std::string Report() {
    const FindingRecord& finding = content_.finding;
    const auto clean = [this](const std::string& text) { return Clean(text, kReportName); };
    std::string text = fmt::format("# {}\n\n", clean(finding.signature.title));
    text += fmt::format("Walker: `{}`, {}. Seen on JDK {}.\n\n",
                        AllWalkers()[file_.request.walker].name,
                        AllWalkers()[file_.request.walker].what, WithoutBuilder(content_.shown_on));
    text += "A stack walker must return frames or an error code, whatever it is shown. This one:\n";
    const bool says_more = finding.signature.expect.find(finding.detail) == std::string::npos;
    text += Block(clean(finding.signature.expect + (says_more ? "\n" + finding.detail : "")));
    text += fmt::format("\nHow real is it: {}: {}\n\n", RealismWord(RealismOf(file_.request)),
                        RealismMeaning(RealismOf(file_.request)));
    text += fmt::format(
        "## To reproduce\n\nWith walkhammer {} on Linux, a stock JDK and the file `{}`:\n",
        content_.tool_version, kWalkName);
    text += Block("sh " + std::string(kScriptName) + " JDK_HOME");
    if (!content_.explanation.empty())
      text += fmt::format("\n`{}` describes the request as it was found.\n", kExplainName);
    text += fmt::format("\n{}\n\n## Builds\n\n{}", content_.minimized, TableText());
    text += "\n## What the walker was shown\n\n" + Block(clean(content_.walk));
    text += "\nIn words:\n" + Block(clean(ExplainRequest(file_.request, symbols_)));
    if (!finding.native.empty())
      text += "\n## Where the walker was, innermost first\n\n" + Block(clean(finding.native));
    if (!finding.frames.empty())
      text +=
          "\n## What the walker returned, newest frame first\n\n" + Block(clean(finding.frames));
    text += "\n## Machine\n\n" + Machine() + "\n";
    return text;
  }

  std::string TableText() {
    std::string text =
        "| JDK | vendor | architecture | build id of libjvm | profile | reproduced | showed |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const auto& [build, tally] : content_.rows) {
      std::string showed = tally.Words();
      if (tally.unable > 0) showed += ": " + tally.unable_reason;
      text += fmt::format("| {} | {} | {} | {} | {} | {} of {} | {} |\n",
                          Cell(WithoutBuilder(build.jdk.version)), Cell(build.jdk.vendor),
                          build.jdk.arch, Cell(build.jdk.build_id), build.profile, tally.reproduced,
                          tally.walked(), Cell(Clean(showed, kReportName)));
    }
    text += "\nJVM flags of the profiles:\n\n";
    std::set<std::string> named;
    for (const BundleRow& row : content_.rows) {
      if (!named.insert(row.build.profile).second) continue;
      const std::string flags = CleanFlags(row.build.flags, kReportName);
      text +=
          fmt::format("* {}: {}\n", row.build.profile, flags.empty() ? "none" : "`" + flags + "`");
    }
    return text;
  }

  std::string Script() {
    const std::string flags = CleanFlags(content_.flags, kScriptName);
    return fmt::format(
        "#!/bin/sh\n# Walks {} again on the JDK that $1 names. Exit code 1: it breaks, 0: it does "
        "not.\n# walkhammer must be on PATH, or $WALKHAMMER name it.\n"
        "exec \"${{WALKHAMMER:-walkhammer}}\" replay \"$(dirname \"$0\")/{}\" --times 5 --jdk "
        "\"${{1:?which JDK?}}\"{}{}\n",
        kWalkName, kWalkName, flags.empty() ? "" : " -- ", flags);
  }

  std::string Table() {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [build, tally] : content_.rows) {
      nlohmann::json outcomes = nlohmann::json::object();
      for (const auto& [what, count] : tally.outcomes) outcomes[Clean(what, kTableName)] = count;
      rows.push_back({{"version", WithoutBuilder(build.jdk.version)},
                      {"vendor", build.jdk.vendor},
                      {"architecture", build.jdk.arch},
                      {"build_id", build.jdk.build_id},
                      {"profile", build.profile},
                      {"flags", CleanFlags(build.flags, kTableName)},
                      {"walked", tally.walked()},
                      {"reproduced", tally.reproduced},
                      {"outcomes", std::move(outcomes)},
                      {"unable_reason", Clean(tally.unable_reason, kTableName)}});
    }
    return JsonText(nlohmann::json({{"schema", 1}, {"builds", rows}})) + "\n";
  }

  static std::string Machine() {
    utsname name = {};
    uname(&name);
    return fmt::format("{} {}, {}", name.sysname, name.release, name.machine);
  }

  std::string Redacted() const {
    return "What was replaced in the files of this bundle. The replaced text itself is left out.\n"
           "Kept: versions, vendors and build ids of JDKs, the kernel's version, and names of "
           "classes, methods and libraries.\n\n" +
           anonymous_.Report();
  }

  const BundleCase& content_;
  const WalkFile& file_;
  const SymbolTable& symbols_;
  Anonymous anonymous_;
};

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

// The end of a path that goes on behind blanks, in a word with a slash: "/srv/My Own Project/x".
// `end`: the end of its first word.
size_t EndBehindBlanks(std::string_view text, size_t end) {
  constexpr int kMostWords = 4;
  size_t at = end;
  for (int words = 0; words < kMostWords && at < text.size() && text[at] == ' '; words++) {
    const size_t begin = at + 1;
    for (at = begin; at < text.size() && MayBeInPath(text[at]);) at++;
    const std::string_view word = text.substr(begin, at - begin);
    if (word.empty() || word[0] == '/' || word[0] == '-') break;
    if (word.find('/') != word.npos) return EndBehindBlanks(text, at);
  }
  return end;
}

bool IsOfSystem(std::string_view path) {
  for (const std::string_view folder :
       {"/usr/", "/lib/", "/lib64/", "/proc/", "/sys/", "/dev/", "/etc/", "/bin/"})
    if (path.starts_with(folder)) return true;
  return false;
}

// "-Dcustomer=x" tells of the program; "-Djdk.x=true" and "-Dsize=3" do not.
bool TellsOfProgram(std::string_view name, std::string_view value) {
  for (const std::string_view known : {"java.", "javax.", "jdk.", "sun.", "com.sun.", "wh."})
    if (name.starts_with(known)) return false;
  const bool is_plain =
      value == "true" || value == "false" || value.find_first_not_of("0123456789.") == value.npos;
  return !is_plain && !(value.starts_with('<') && value.ends_with('>'));
}

}  // namespace

Result<std::vector<BundleFile>> BundleFiles(const BundleCase& content) {
  ASSIGN_OR_RETURN(const LoadedWalk walk, ParseWalk(content.walk, kWalkName));
  return Bundler(content, walk.file, *walk.symbols).Files();
}

Status WriteBundle(const std::string& dir, const std::vector<BundleFile>& files) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return BadInput(fmt::format("cannot make the folder {}: {}", dir, error.message()));
  if (!std::filesystem::is_empty(dir, error))
    return BadInput(fmt::format("{} is not empty: name a new folder by --out", dir));
  for (const BundleFile& file : files)
    RETURN_IF_ERROR(WriteFileAtomically(dir + "/" + file.name, file.text));
  return Ok();
}

std::string HideProperties(std::string_view text, int& count) {
  constexpr std::string_view kOption = "-D", kRedacted = "<redacted>", kEnds = " \t\n\"'`";
  // One word of a command line may have blanks.
  const bool is_word = text.find(" -") == text.npos && text.find('\n') == text.npos;
  std::string out;
  size_t at = 0;
  for (size_t option = text.find(kOption); option != text.npos; option = text.find(kOption, at)) {
    const bool begins = option == 0 || kEnds.find(text[option - 1]) != kEnds.npos;
    const size_t name = option + kOption.size(),
                 equals = std::min(text.find_first_of("= \t\n\"'", name), text.size()),
                 end = is_word && option == 0 ? text.size() : text.find_first_of(kEnds, equals);
    const bool hides =
        begins && text.substr(equals, 1) == "=" &&
        TellsOfProgram(text.substr(name, equals - name), text.substr(equals + 1, end - equals - 1));
    const size_t kept = hides ? equals + 1 : name;
    out += text.substr(at, kept - at);
    if (hides) out += kRedacted;
    count += hides ? 1 : 0;
    at = hides ? std::min(end, text.size()) : kept;
  }
  return out += text.substr(at);
}

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
    at = EndBehindBlanks(text, end);
    const std::string_view whole = text.substr(end - path.size(), at - end + path.size());
    out += "<path>";
    out += whole.substr(whole.rfind('/'));
    count++;
  }
  return out;
}

StandIns NamesOfThisMachine() {
  StandIns names;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) {
    AddName(host, "<host>", names);
    AddName(std::string(host, std::strcspn(host, ".")), "<host>", names);
  }
  for (const char* variable : {"HOSTNAME", "HOST"})
    if (const char* name = std::getenv(variable)) AddName(name, "<host>", names);
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
  clean = HideProperties(clean, count);
  note("value of a property", count);
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
