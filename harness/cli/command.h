// SPDX-License-Identifier: Apache-2.0
// The command line as a whole: the verbs, and what stands beside them: help, version, and what
// builds and shells ask for. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_COMMAND_H_
#define WALKHAMMER_HARNESS_CLI_COMMAND_H_

#include <string>
#include <vector>

#include "harness/cli/options.h"
#include "harness/cli/verb_help.h"

namespace walkhammer {

// Verbs of one purpose, under a heading of their own in --help.
struct VerbGroup {
  const char* purpose;
  std::vector<AddVerb> verbs;
};

// All verbs of walkhammer.
const std::vector<VerbGroup>& AllVerbs();

// Parses the arguments and runs the verb of `groups` that they choose; returns the exit code of the
// process. Bad usage is one sentence and 2; output that cannot be written is 4. Also understands:
//   help [VERB...]    the same as VERB --help
//   version           the same as --version
//   complete WORD...  what may stand for the last word: see completion.h
//   manual DIR        writes the manual pages there: see manual.h
int RunCommand(const std::vector<VerbGroup>& groups, Invocation& chosen, int argc,
               const char* const* argv);

// The data of --help.
VerbHelp HelpOfAll(const std::vector<VerbGroup>& groups);

// Refuses, as RunCommand does, what cannot be parsed; runs nothing.
Status CheckArguments(const std::vector<VerbGroup>& groups,
                      const std::vector<std::string>& arguments);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_COMMAND_H_
