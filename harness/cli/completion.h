// SPDX-License-Identifier: Apache-2.0
// "walkhammer complete WORD...": what may stand for the last word of a command line. The scripts of
// harness/cli/completion, one for each shell, ask for it at each Tab, so that all of them offer
// what this very walkhammer knows. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_COMPLETION_H_
#define WALKHAMMER_HARNESS_CLI_COMPLETION_H_

#include <string>
#include <vector>

#include "harness/cli/choices.h"
#include "harness/cli/verb_help.h"

namespace walkhammer {

struct Completions {
  // They replace the whole last word, and begin as it does.
  std::vector<NamedChoice> choices;
  // The shell is to offer its own, too.
  bool files = false, folders = false;
};

// `words`: those after the command, up to the cursor; the last one may be empty. What an option or
// an argument takes is known from ChoicesFor and by its kind: "FILE..." and "PATH" are files,
// "DIR", "RUN" and "NIGHT" folders, "a|b" these words, "NAME[,NAME...]" also lists with commas.
Completions Complete(const VerbHelp& command, const std::vector<std::string>& words);

// A line for each choice: the word, a tab, what it is; then ":files" or ":folders".
std::string CompletionLines(const Completions& completions);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_COMPLETION_H_
