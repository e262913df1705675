// SPDX-License-Identifier: Apache-2.0
// The options of a verb, as CLI11 takes them. CLI11 itself, slow to compile, stays in options.cc.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_OPTIONS_H_
#define WALKHAMMER_HARNESS_CLI_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/verb.h"

namespace walkhammer {

// A subcommand. All that it is given to fill must live until the command has run; it keeps its
// default when the option is not given.
class Verb {
 public:
  Verb(CLI::App& app, const std::string& name, const std::string& what);

  void Flag(const std::string& name, bool& value, const std::string& what);
  // `kind`: what --help calls the argument.
  void Text(const std::string& name, std::string& value, const std::string& what,
            const std::string& kind = "TEXT");
  void Text(const std::string& name, std::optional<std::string>& value, const std::string& what);
  // Repeatable; each takes one argument, so that positional ones may follow.
  void List(const std::string& name, std::vector<std::string>& values, const std::string& what,
            const std::string& kind = "TEXT");
  // A whole number, decimal or 0x...; CLI11 2.1 alone would wrap -1 and read 010 as octal.
  void Count(const std::string& name, uint64_t& value, const std::string& what, uint64_t least = 0,
             uint64_t most = std::numeric_limits<uint64_t>::max());
  // What stands without an option before it; at least one must.
  void Argument(const std::string& name, std::string& value, const std::string& what);
  void Argument(const std::string& name, std::vector<std::string>& values, const std::string& what);

  // --json
  void Json(bool& json);
  // --provider: see ProviderNamed; `library_only`: see ProviderLibraryNamed.
  void Provider(std::string& provider, bool library_only = false);
  // --jdk DIR, repeatable.
  void Jdks(std::vector<std::string>& paths);
  // --coverage-goal PERCENT, for HoldToGoal: more than 0, at most 100; "30", "29.5" or "30%".
  void CoverageGoal(std::optional<double>& percent);

  // Two options that cannot be given together.
  void Excludes(const std::string& option, const std::string& other);

  // What to do once this verb was parsed; returns the exit code. `run` may take JVM flags, those
  // after "--"; verbs without are refused them.
  void Runs(Invocation& chosen, std::function<int()> run);
  void Runs(Invocation& chosen, std::function<int(const std::vector<std::string>& jvm_flags)> run);

 private:
  CLI::App* verb_;  // the app's
};

// Parses with the verbs that `add` adds, runs the chosen one and returns the exit code of the
// process. Bad usage is one sentence and 2; output that cannot be written is 4.
int RunCommand(const std::vector<AddVerb>& add, Invocation& chosen, int argc,
               const char* const* argv);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_OPTIONS_H_
