// SPDX-License-Identifier: Apache-2.0
// What the command knows of its verbs and their options, as plain data: --help, the manual pages
// and the completion of shells are made of it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_VERB_HELP_H_
#define WALKHAMMER_HARNESS_CLI_VERB_HELP_H_

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace walkhammer {

// An option, or a positional argument.
struct OptionHelp {
  std::string name;                          // "--jdk", "-h,--help"; "WHAT"
  std::string kind;                          // what it takes: "DIR"; empty: nothing
  std::string what;                          // one sentence
  bool many = false;                         // more than once
  bool several = false;                      // each use of the option takes one or more
  std::vector<std::string> needs, excludes;  // names of options, sorted
};

// A verb; also the command itself, which is the verb without a purpose.
struct VerbHelp {
  std::string path;     // "walkhammer bugs check"
  std::string purpose;  // the heading that it stands under
  std::string what;
  bool takes_jvm_flags = false;
  std::vector<OptionHelp> arguments, options;
  std::vector<VerbHelp> verbs;

  // The last word of its path.
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
  // Its path without the command: "bugs check"; the command itself: "walkhammer".
  std::string words() const { return path.substr(path.find(' ') + 1); }
};

// The verb of `name` below `verb`; null: there is none.
const VerbHelp* FindVerb(const VerbHelp& verb, std::string_view name);

// "walkhammer show [OPTIONS] WHAT..."
std::string Usage(const VerbHelp& verb);

// The verbs of `verb`, under the heading of their purpose, in the order of the headings.
struct Purpose {
  std::string heading;
  std::vector<const VerbHelp*> verbs;
};
std::vector<Purpose> ByPurpose(const VerbHelp& verb);

// A row of the table of exit codes.
struct ExitCodeHelp {
  int code;
  const char* what;
};
const std::vector<ExitCodeHelp>& AllExitCodes();

// Reads the data out of CLI11's.
VerbHelp HelpOf(const CLI::App& verb);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_VERB_HELP_H_
