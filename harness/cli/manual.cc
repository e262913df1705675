// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "harness/base/text.h"
#include "harness/cli/manual_rows.h"
#include "harness/findings/crash_folder.h"

namespace walkhammer {
namespace {

// The text for troff, whose own characters stay as they are typed; no line is a request.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if (c == '\'')
      escaped += "\\(aq";
    else if (c == '~')
      escaped += "\\(ti";
    else
      escaped += c;
  }
  return escaped;
}

std::string Bold(std::string_view text) { return fmt::format("\\fB{}\\fR", Escaped(text)); }
std::string Italic(std::string_view text) { return fmt::format("\\fI{}\\fR", Escaped(text)); }

// "walkhammer bugs check" -> "walkhammer-bugs-check"
std::string PageName(const VerbHelp& verb) {
  std::string name = verb.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

class Page {
 public:
  void Section(const char* name) { text_ += fmt::format(".SH {}\n", name); }
  void Heading(std::string_view name) { text_ += fmt::format(".SS {}\n", Escaped(name)); }
  void Line(const std::string& escaped) { text_ += escaped + "\n"; }
  // An item with its sentences.
  void Item(const std::string& escaped_name, std::string_view what) {
    text_ += fmt::format(".TP\n{}\n{}\n", escaped_name, Escaped(what));
  }
  void Paragraphs(std::string_view text) {
    bool first = true;
    for (const std::string& paragraph : Split(text, '\n')) {
      if (paragraph.empty()) continue;
      Line((first ? "" : ".PP\n") + Escaped(paragraph));
      first = false;
    }
  }
  // A command, as it is typed.
  void Command(const ManualExample& example) {
    text_ += fmt::format(".PP\n{}:\n.PP\n.nf\n.RS 4\n{}\n.RE\n.fi\n", Escaped(example.what),
                         Escaped(example.command));
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddOptions(const std::vector<OptionHelp>& options, Page& page) {
  for (const OptionHelp& option : options) {
    std::string name;
    for (const std::string& each : Split(option.name, ','))
      name += (name.empty() ? "" : ", ") + (each[0] == '-' ? Bold(each) : Italic(each));
    if (option.name[0] == '-' && !option.kind.empty()) name += " " + Italic(option.kind);
    if (option.many) name += " ...";
    std::string what = option.what + ".";
    if (!option.needs.empty()) what += fmt::format(" It needs {}.", fmt::join(option.needs, ", "));
    if (!option.excludes.empty())
      what += fmt::format(" It excludes {}.", fmt::join(option.excludes, ", "));
    page.Item(name, what);
  }
}

void AddVerbs(const VerbHelp& verb, Page& page) {
  if (verb.verbs.empty()) return;
  page.Section("VERBS");
  for (const Purpose& purpose : ByPurpose(verb)) {
    if (verb.path == verb.words()) page.Heading(purpose.heading);
    for (const VerbHelp* below : purpose.verbs)
      page.Item(fmt::format("{}(1)", Bold(PageName(*below))), below->what + ".");
  }
}

void AddNotes(const std::vector<ManualNote>& notes, const VerbHelp& verb, bool all, Page& page) {
  for (const ManualNote& note : notes) {
    const std::vector<std::string> verbs = Split(note.verbs, ',');
    const bool matters = std::find(verbs.begin(), verbs.end(), verb.words()) != verbs.end();
    if (all || verbs.empty() || matters) page.Item(Bold(note.name), note.what);
  }
}

// Its neighbours of the same purpose; those below it; and the command.
void AddSeeAlso(const VerbHelp& command, const VerbHelp& verb, Page& page) {
  std::vector<std::string> others;
  const auto add = [&](const VerbHelp& other) {
    if (other.path != verb.path) others.push_back(Bold(PageName(other)) + "(1)");
  };
  add(command);
  for (const VerbHelp& other : command.verbs) {
    const bool parent = verb.path.starts_with(other.path + " ");
    if (&verb == &command || parent || other.purpose == verb.purpose) add(other);
    if (parent || &other == &verb)
      for (const VerbHelp& below : other.verbs) add(below);
  }
  page.Section("SEE ALSO");
  page.Line(fmt::format("{}", fmt::join(others, ",\n")));
}

std::string UpperFirst(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string LowerFirst(std::string text) {
  const bool word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (word) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void AddHead(const VerbHelp& verb, bool is_command, Page& page) {
  std::string title = PageName(verb);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  page.Line(
      fmt::format(".TH {} 1 \"\" \"walkhammer {}\" \"walkhammer\"", title, WALKHAMMER_VERSION));
  page.Line(".nh\n.ad l");
  page.Section("NAME");
  // The command describes itself in a sentence; a name needs half of a line.
  const std::string what =
      is_command ? "hammers the stack walkers of the JVM until they break" : LowerFirst(verb.what);
  page.Line(fmt::format("{} \\- {}", Escaped(PageName(verb)), Escaped(what)));
  page.Section("SYNOPSIS");
  page.Line(Bold(verb.path) + Escaped(Usage(verb).substr(verb.path.size())));
}

}  // namespace

Result<std::string> ManualPage(const VerbHelp& command, const VerbHelp& verb) {
  const auto& rows = AllManualRows();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const ManualRow& each) { return each.verb == verb.words(); });
  if (row == rows.end())
    return ToolFailed(fmt::format("manual_rows.cc has no row of {}", verb.path));
  const bool is_command = &verb == &command;
  Page page;
  AddHead(verb, is_command, page);
  page.Section("DESCRIPTION");
  page.Paragraphs(row->description);
  AddVerbs(verb, page);
  page.Section("OPTIONS");
  AddOptions(verb.arguments, page);
  AddOptions(verb.options, page);
  if (verb.takes_jvm_flags)
    page.Item(fmt::format("{} {}", Bold("--"), Italic("JVM-FLAGS")), "Flags for the JVMs.");
  page.Section("EXIT STATUS");
  for (const ExitCodeHelp& code : AllExitCodes())
    page.Item(Bold(std::to_string(code.code)), UpperFirst(code.what) + ".");
  page.Section("ENVIRONMENT");
  AddNotes(ManualVariables(), verb, is_command, page);
  page.Section("FILES");
  AddNotes(ManualFiles(), verb, is_command, page);
  page.Section("EXAMPLES");
  for (const ManualExample& example : row->examples) page.Command(example);
  AddSeeAlso(command, verb, page);
  return page.Take();
}

namespace {

Status WriteBelow(const VerbHelp& command, const VerbHelp& verb, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::string page, ManualPage(command, verb));
  RETURN_IF_ERROR(WriteFileAtomically(fmt::format("{}/{}.1", folder, PageName(verb)), page));
  for (const VerbHelp& below : verb.verbs) RETURN_IF_ERROR(WriteBelow(command, below, folder));
  return Ok();
}

}  // namespace

Status WriteManual(const VerbHelp& command, const std::string& folder) {
  return WriteBelow(command, command, folder);
}

}  // namespace walkhammer
