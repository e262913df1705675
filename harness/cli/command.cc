// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/base/nearest.h"
#include "harness/base/print.h"
#include "harness/cli/completion.h"
#include "harness/cli/help_text.h"
#include "harness/cli/manual.h"
#include "harness/cli/terminal.h"
#include "harness/cli/version.h"

namespace walkhammer {
namespace {

constexpr size_t kMostMeant = 2;

// --- what was meant ------------------------------------------------------------------------------

Failure BadUsage(const CLI::App& app, std::string message) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
  return BadInput(fmt::format("{} (see walkhammer{} --help)", message, verb));
}

// "; did you mean --walker?", each name between `before` and `after`; empty if none resembles
// `word`.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& names,
                       std::string_view before, std::string_view after = "") {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::vector<std::string> meant = ResemblingNames(word, views, kMostMeant);
  if (meant.empty()) return "";
  std::vector<std::string> quoted;
  for (const std::string& name : meant)
    quoted.push_back(fmt::format("{}{}{}", before, name, after));
  return fmt::format("; did you mean {}?", fmt::join(quoted, " or "));
}

std::string UnknownVerb(const VerbHelp& verb, const std::string& word) {
  std::vector<std::string> names;
  for (const VerbHelp& below : verb.verbs) names.push_back(below.name());
  const std::string parent = verb.path == verb.words() ? "" : verb.words() + " ";
  if (parent.empty()) names.insert(names.end(), {"help", "version"});
  return fmt::format("unknown verb \"{}{}\"{} ({} --help names all)", parent, word,
                     DidYouMean(word, names, "\"" + parent, "\""), verb.path);
}

// True for what a JVM takes, and none of our verbs does.
bool IsJvmFlag(std::string_view word) {
  constexpr std::string_view kBegin[] = {"-X",     "-D",          "-ea",    "-da",
                                         "-agent", "-javaagent:", "--add-", "--enable-"};
  return std::any_of(std::begin(kBegin), std::end(kBegin),
                     [&](std::string_view begin) { return word.starts_with(begin); });
}

// `word` may be "--option=value", and may have one dash too few.
std::string UnknownOption(const VerbHelp& verb, const std::string& word) {
  if (verb.takes_jvm_flags && IsJvmFlag(word))
    return fmt::format("flags of the JVM follow after --: {} ... -- {}", verb.path, word);
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionHelp& known : verb.options)
    names.push_back(known.name.substr(known.name.find("--") + 2));
  const size_t dashes = std::min(option.find_first_not_of('-'), option.size());
  return fmt::format("{} has no option {}{} (see {} --help)", verb.words(), option,
                     DidYouMean(option.substr(dashes), names, "--"), verb.path);
}

// What is wrong with the first word that no parsed verb takes; none: each was taken.
std::optional<Failure> Unexpected(const CLI::App& app) {
  for (const CLI::App* at = &app; at != nullptr;) {
    const std::vector<std::string> words = at->remaining();
    if (!words.empty()) {
      const VerbHelp help = HelpOf(*at);
      const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > 1 && word[0] == '-';
      });
      if (option != words.end()) return BadInput(UnknownOption(help, *option));
      if (!help.verbs.empty()) return BadInput(UnknownVerb(help, words.front()));
      return BadInput(fmt::format("{} takes no argument \"{}\" (see {} --help)", help.words(),
                                  words.front(), help.path));
    }
    const std::vector<CLI::App*> parsed = at->get_subcommands();
    at = parsed.empty() ? nullptr : parsed.front();
  }
  return std::nullopt;
}

// --- parsing -------------------------------------------------------------------------------------

void AddAll(const std::vector<VerbGroup>& groups, CLI::App& app, Invocation& chosen) {
  app.set_version_flag("--version", VersionText());
  app.formatter_fn([](const CLI::App* verb, const std::string&, CLI::AppFormatMode) {
    return HelpText(HelpOf(*verb), TextColumns());
  });
  app.require_subcommand(0, 1);
  for (const VerbGroup& group : groups)
    for (AddVerb add : group.verbs) {
      add(app, chosen);
      app.get_subcommands(nullptr).back()->group(group.purpose);
    }
}

// "help bugs check" -> "bugs check --help"; "version" -> "--version"; anything else stays.
Result<std::vector<std::string>> Translated(const VerbHelp& command,
                                            std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words[0] == "version" && words.size() == 1) return std::vector<std::string>{"--version"};
  if (words[0] != "help") {
    const bool unknown = words[0][0] != '-' && FindVerb(command, words[0]) == nullptr;
    if (unknown) return BadInput(UnknownVerb(command, words[0]));
    return words;
  }
  words.erase(words.begin());
  const VerbHelp* at = &command;
  for (const std::string& word : words) {
    const VerbHelp* below = FindVerb(*at, word);
    if (below == nullptr) return BadInput(UnknownVerb(*at, word));
    at = below;
  }
  words.emplace_back("--help");
  return words;
}

// The arguments before "--"; those after it go to `chosen`.
std::vector<std::string> OwnArguments(const std::vector<std::string>& arguments,
                                      Invocation& chosen) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) chosen.jvm_flags.assign(std::next(dashes), arguments.end());
  return {arguments.begin(), dashes};
}

// Fills `chosen`; its `run` stays empty if help or the version was asked for, and printed.
Status Parse(CLI::App& app, const std::vector<std::string>& arguments, Invocation& chosen) {
  ASSIGN_OR_RETURN(auto own, Translated(HelpOf(app), OwnArguments(arguments, chosen)));
  try {
    std::reverse(own.begin(), own.end());
    app.parse(std::move(own));
    if (!chosen.run) return BadUsage(app, "which verb?");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // help or version
      return Ok();
    }
    if (const auto unexpected = Unexpected(app)) return *unexpected;
    return BadUsage(app, error.what());
  }
  if (!chosen.jvm_flags.empty() && !chosen.takes_jvm_flags)
    return BadUsage(app, "this verb starts no JVM and takes no flags after --");
  return Ok();
}

constexpr char kAbout[] =
    "Fuzzes and stress-tests the JVM's stack walkers. A finding is "
    "explained and, if its walk is known, comes with a request that replays it.";

Result<ExitCode> ParseAndRun(const std::vector<VerbGroup>& groups,
                             const std::vector<std::string>& arguments, Invocation& chosen) {
  try {
    CLI::App app(kAbout);
    AddAll(groups, app, chosen);
    const std::string first = arguments.empty() ? "" : arguments[0];
    if (first == "complete") {
      const std::vector<std::string> words(std::next(arguments.begin()), arguments.end());
      Print(stdout, "{}", CompletionLines(Complete(HelpOf(app), words)));
      return ExitCode::kClean;
    }
    if (first == "manual" && arguments.size() == 2) {
      RETURN_IF_ERROR(WriteManual(HelpOf(app), arguments[1]));
      return ExitCode::kClean;
    }
    RETURN_IF_ERROR(Parse(app, arguments, chosen));
    return chosen.run ? chosen.run() : ExitCode::kClean;
  } catch (const std::exception& error) {
    return ToolFailed(fmt::format("unexpected failure: {}", error.what()));
  }
}

}  // namespace

int RunCommand(const std::vector<VerbGroup>& groups, Invocation& chosen, int argc,
               const char* const* argv) {
  const Result<ExitCode> result =
      ParseAndRun(groups, {argv + std::min(argc, 1), argv + argc}, chosen);
  const int code = result.ok() ? static_cast<int>(result.value()) : PrintFailure(result.failure());
  // EPIPE is not a failure: a reader such as `head` has seen what it wanted and closed the pipe.
  if (const int error = FlushStdout(); error != 0 && error != EPIPE) {
    return PrintFailure(
        ToolFailed(fmt::format("cannot write to stdout: {}", std::strerror(error))));
  }
  return code;
}

VerbHelp HelpOfAll(const std::vector<VerbGroup>& groups) {
  CLI::App app(kAbout);
  Invocation chosen;
  AddAll(groups, app, chosen);
  return HelpOf(app);
}

Status CheckArguments(const std::vector<VerbGroup>& groups,
                      const std::vector<std::string>& arguments) {
  CLI::App app(kAbout);
  Invocation chosen;
  AddAll(groups, app, chosen);
  return Parse(app, arguments, chosen);
}

}  // namespace walkhammer
