// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

// Appends words, and begins a new line where the next one does not fit.
class Lines {
 public:
  explicit Lines(size_t columns) : columns_(columns) {}

  // A row of two columns: what it is called, and the sentence, which begins at most at column 30.
  void Row(const std::string& name, const std::string& what) {
    const size_t indent = std::min<size_t>(30, columns_ * 3 / 8);
    text_ += "  " + name;
    at_ = name.size() + 2;
    if (at_ + 2 > indent) NewLine();
    Pad(indent);
    Wrapped(what, indent);
  }
  // A paragraph; all lines but the first begin at `indent`.
  void Wrapped(const std::string& text, size_t indent = 0) {
    bool first = true;
    for (const std::string& word : Words(text)) {
      if (!first && at_ + 1 + word.size() > columns_) {
        NewLine();
        Pad(indent);
        first = true;
      }
      text_ += (first ? "" : " ") + word;
      at_ += word.size() + (first ? 0 : 1);
      first = false;
    }
    NewLine();
  }
  void Heading(const std::string& heading) { text_ += "\n" + heading + ":\n"; }
  void Space() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  void NewLine() {
    text_ += "\n";
    at_ = 0;
  }
  void Pad(size_t to) {
    if (at_ >= to) return;
    text_.append(to - at_, ' ');
    at_ = to;
  }

  std::string text_;
  size_t columns_, at_ = 0;
};

void AddRows(const char* heading, const std::vector<OptionHelp>& rows, Lines& lines) {
  if (rows.empty()) return;
  lines.Heading(heading);
  for (const OptionHelp& row : rows) {
    std::string what = row.what;
    if (!row.needs.empty()) what += fmt::format(" Needs: {}", fmt::join(row.needs, " "));
    if (!row.excludes.empty()) what += fmt::format(" Excludes: {}", fmt::join(row.excludes, " "));
    const bool argument = row.name[0] != '-';
    const std::string kind = argument || row.kind.empty() ? "" : " " + row.kind;
    lines.Row(row.name + kind + (row.many ? " ..." : ""), what);
  }
}

// "Exit codes: 0 clean, 1 findings ..."
std::string ExitCodesText() {
  std::vector<std::string> parts;
  for (const ExitCodeHelp& row : AllExitCodes())
    parts.push_back(fmt::format("{} {}", row.code, row.what));
  return fmt::format("Exit codes: {}.", fmt::join(parts, ", "));
}

}  // namespace

std::string HelpText(const VerbHelp& verb, size_t columns) {
  Lines lines(columns);
  lines.Wrapped(verb.what);
  lines.Wrapped("Usage: " + Usage(verb), 7);
  AddRows("Arguments", verb.arguments, lines);
  AddRows("Options", verb.options, lines);
  for (const Purpose& purpose : ByPurpose(verb)) {
    lines.Heading(purpose.heading);
    for (const VerbHelp* below : purpose.verbs) lines.Row(below->name(), below->what);
  }
  lines.Space();
  if (!verb.verbs.empty())
    lines.Wrapped(fmt::format("walkhammer help{} VERB tells the options of a verb.",
                              verb.path == verb.words() ? "" : " " + verb.words()));
  if (verb.takes_jvm_flags) lines.Wrapped("JVM flags follow after --.");
  lines.Wrapped(ExitCodesText());
  return lines.text();
}

}  // namespace walkhammer
