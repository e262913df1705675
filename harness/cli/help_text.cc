// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "harness/cli/terminal.h"

namespace walkhammer {
namespace {

std::string Heading(std::string_view heading) { return fmt::format("\n{}:\n", heading); }

// Two columns: what it is called, and the sentence, which begins at most at column 30.
std::string Row(const std::string& name, const std::string& what, size_t columns) {
  const size_t indent = std::min<size_t>(30, columns * 3 / 8);
  const bool fits = name.size() + 4 <= indent;
  return fmt::format("  {}{}{:{}}{}\n", name, fits ? "" : "\n", "",
                     indent - (fits ? name.size() + 2 : 0), Wrapped(what, columns, indent));
}

std::string OptionRow(const OptionHelp& option, size_t columns) {
  std::string what = option.what;
  if (!option.needs.empty()) what += fmt::format(". Only with: {}", fmt::join(option.needs, " "));
  if (!option.excludes.empty())
    what += fmt::format(". Not with: {}", fmt::join(option.excludes, " "));
  const bool argument = option.name[0] != '-';
  const std::string kind = argument || option.kind.empty() ? "" : " " + option.kind;
  return Row(option.name + kind + (option.many ? " ..." : ""), what, columns);
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
  std::string text = Wrapped(verb.what, columns) + "\nUsage: ";
  text += Wrapped(Usage(verb), columns, strlen("Usage: ")) + "\n";
  if (!verb.arguments.empty()) text += Heading("Arguments");
  for (const OptionHelp& argument : verb.arguments) text += OptionRow(argument, columns);
  text += Heading("Options");
  for (const OptionHelp& option : verb.options) text += OptionRow(option, columns);
  for (const Purpose& purpose : ByPurpose(verb)) {
    text += Heading(purpose.heading);
    for (const VerbHelp* below : purpose.verbs) text += Row(below->name(), below->what, columns);
  }
  text += "\n";
  const std::string path = verb.path == verb.words() ? "" : " " + verb.words();
  if (!verb.verbs.empty())
    text += fmt::format("walkhammer help{} VERB prints the options of a verb.\n", path);
  if (verb.takes_jvm_flags) text += "JVM flags follow after --.\n";
  return text + Wrapped(ExitCodesText(), columns) + "\n";
}

}  // namespace walkhammer
