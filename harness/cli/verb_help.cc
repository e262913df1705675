// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verb_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace walkhammer {
namespace {

std::string PathOf(const CLI::App& verb) {
  const CLI::App* parent = verb.get_parent();
  return parent == nullptr ? "walkhammer" : PathOf(*parent) + " " + verb.get_name();
}

// CLI11 keeps them in the order of their addresses.
std::vector<std::string> SortedNames(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return names;
}

OptionHelp HelpOf(const CLI::Option& option) {
  OptionHelp help;
  help.name = option.get_name(option.get_positional(), true);
  if (option.get_type_size() != 0) help.kind = option.get_type_name();
  help.what = option.get_description();
  help.many = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  help.several = help.many && option.get_allow_extra_args();
  help.needs = SortedNames(option.get_needs());
  help.excludes = SortedNames(option.get_excludes());
  return help;
}

}  // namespace

const VerbHelp* FindVerb(const VerbHelp& verb, std::string_view name) {
  for (const VerbHelp& below : verb.verbs)
    if (below.name() == name) return &below;
  return nullptr;
}

std::string Usage(const VerbHelp& verb) {
  std::string usage = verb.path + " [OPTIONS]";
  if (!verb.verbs.empty()) usage += " VERB";
  for (const OptionHelp& argument : verb.arguments)
    usage += " " + argument.name + (argument.many ? "..." : "");
  return usage + (verb.takes_jvm_flags ? " [-- JVM-FLAGS]" : "");
}

std::vector<Purpose> ByPurpose(const VerbHelp& verb) {
  std::vector<Purpose> purposes;
  for (const VerbHelp& below : verb.verbs) {
    if (purposes.empty() || purposes.back().heading != below.purpose)
      purposes.push_back({below.purpose, {}});
    purposes.back().verbs.push_back(&below);
  }
  return purposes;
}

const std::vector<ExitCodeHelp>& AllExitCodes() {
  static const std::vector<ExitCodeHelp> kCodes = {
      {0, "clean"},
      {1, "findings or regression"},
      {2, "usage or bad input"},
      {3, "this machine or JDK cannot do it"},
      {4, "vacuous run or tool failure"},
  };
  return kCodes;
}

VerbHelp HelpOf(const CLI::App& verb) {
  VerbHelp help;
  help.path = PathOf(verb);
  help.purpose = verb.get_group();
  help.what = verb.get_description();
  help.takes_jvm_flags = !verb.get_footer().empty();
  for (const CLI::Option* option : verb.get_options())
    (option->get_positional() ? help.arguments : help.options).push_back(HelpOf(*option));
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* below : verb.get_subcommands(all)) help.verbs.push_back(HelpOf(*below));
  return help;
}

}  // namespace walkhammer
