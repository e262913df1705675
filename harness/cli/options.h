// SPDX-License-Identifier: Apache-2.0
// The verbs of the command and their options. Each verb adds one CLI11 subcommand, whose parsing
// stores in an Invocation what to run. One file per verb; verbs.cc holds the table. Only
// options.cc, verb_help.cc and command.cc include CLI11, which is slow to compile. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_OPTIONS_H_
#define WALKHAMMER_HARNESS_CLI_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace CLI {
class App;
}

namespace walkhammer {

struct Invocation {
  // Does the work of the parsed verb; returns the exit code. Set by the verb's callback.
  std::function<Result<ExitCode>()> run;
  // True for verbs that start JVMs; others refuse flags after "--".
  bool takes_jvm_flags = false;
  // The arguments after "--". Set before `run` is called.
  std::vector<std::string> jvm_flags;
};

// A subcommand. Each variable passed by reference must live until the command has run, and keeps
// its default if its option is not given.
class Verb {
 public:
  Verb(CLI::App& app, const std::string& name, const std::string& what);
  // A verb of a verb: "bugs update".
  Verb(const Verb& of, const std::string& name, const std::string& what);

  void Flag(const std::string& name, bool& value, const std::string& what);
  // A flag that switches `value` off.
  void FlagOff(const std::string& name, bool& value, const std::string& what);
  // `kind`: what --help calls the argument, and what shells complete: see completion.h.
  void Text(const std::string& name, std::string& value, const std::string& what,
            const std::string& kind = "TEXT");
  void Text(const std::string& name, std::optional<std::string>& value, const std::string& what,
            const std::string& kind);
  // A repeatable option. Each use takes one argument, so that positional arguments may follow.
  void List(const std::string& name, std::vector<std::string>& values, const std::string& what,
            const std::string& kind = "TEXT");
  // A repeatable option whose every use takes one or more arguments, up to the next option. Not for
  // verbs with positional arguments.
  void Several(const std::string& name, std::vector<std::string>& values, const std::string& what,
               const std::string& kind);
  // A whole number, decimal or 0x..., from `least` to `most`. CLI11 2.1 itself would wrap -1 and
  // read 010 as octal.
  template <typename Integer>
  void Count(const std::string& name, Integer& value, const std::string& what, uint64_t least = 0,
             uint64_t most = static_cast<uint64_t>(std::numeric_limits<Integer>::max())) {
    ReadCount(name, what, least, most,
              [&value](uint64_t number) { value = static_cast<Integer>(number); });
  }
  // A duration such as 60s or 10us.
  void Time(const std::string& name, std::chrono::nanoseconds& value, const std::string& what);
  // `read` takes the argument; its failure is bad usage.
  void Parsed(const std::string& name, std::function<Status(const std::string&)> read,
              const std::string& what, const std::string& kind);
  // A positional argument, required. A vector takes one or more.
  void Argument(const std::string& name, std::string& value, const std::string& what,
                const std::string& kind = "FILE");
  void Argument(const std::string& name, std::vector<std::string>& values, const std::string& what,
                const std::string& kind = "FILE");

  // --json
  void Json(bool& json);
  // --walker, repeatable: see WalkersNamed.
  void Walkers(std::vector<std::string>& walkers);
  // --without-oracle, repeatable: see OracleSet.
  void WithoutOracles(std::vector<std::string>& names);
  // --scene, repeatable. `otherwise`: what runs without it.
  void Scenes(std::vector<std::string>& scenes, const std::string& otherwise);
  // --profile, repeatable: see SelectProfiles.
  void Profiles(std::vector<std::string>& lists);
  // --time, for how long to walk. `otherwise`: the default, for people.
  void RunTime(std::chrono::nanoseconds& time, const std::string& otherwise);
  // --jobs. `otherwise`: the default, for people.
  template <typename Integer>
  void Jobs(Integer& jobs, const std::string& otherwise) {
    Count("--jobs", jobs, "Processes at a time (default: " + otherwise + ")", 1, 1000);
  }
  // --seed
  void Seed(uint64_t& seed);
  // --out DIR for a folder of results. `otherwise`: the default, for people.
  void OutFolder(std::string& out, const std::string& otherwise);
  // --provider: see ProviderNamed; `library_only`: --library, see ProviderLibraryNamed.
  void Provider(std::string& provider, bool library_only = false);
  // --renaissance, --dacapo: the user's own copies of suites, by suite.
  void Archives(std::map<std::string, std::string>& given);
  // --jdk DIR, repeatable.
  void Jdks(std::vector<std::string>& paths);
  // --jdk DIR, for OpenOneJdk.
  void OneJdk(std::vector<std::string>& paths);
  // --jdk-dir DIR, repeatable: for OpenJdks.
  void JdkFolders(std::vector<std::string>& folders);
  // --coverage-goal PERCENT, for HoldToGoal: more than 0, at most 100; "30", "29.5" or "30%".
  void CoverageGoal(std::optional<double>& percent);

  // Refuses the verb without the option.
  void Required(const std::string& option);

  // Refuses the two options if they are given together.
  void Excludes(const std::string& option, const std::string& other);

  // Refuses the option without the other.
  void Needs(const std::string& option, const std::string& other);

  // Sets what to do with `options` once this verb is parsed; `run` returns the exit code, or the
  // failure to print. The second form takes the JVM flags after "--"; a verb of the first form
  // refuses such flags.
  template <typename Options>
  void Runs(Invocation& chosen, const std::shared_ptr<Options>& options,
            Result<ExitCode> (*run)(const Options&)) {
    RunsLater(chosen, false, [options, run] { return run(*options); });
  }
  template <typename Options>
  void Runs(Invocation& chosen, const std::shared_ptr<Options>& options,
            Result<ExitCode> (*run)(const Options&, const std::vector<std::string>& jvm_flags)) {
    RunsLater(chosen, true, [&chosen, options, run] { return run(*options, chosen.jvm_flags); });
  }

 private:
  void RunsLater(Invocation& chosen, bool takes_jvm_flags, std::function<Result<ExitCode>()> run);
  void ReadCount(const std::string& name, const std::string& what, uint64_t least, uint64_t most,
                 std::function<void(uint64_t)> take);

  CLI::App* verb_;  // owned by the app
};

// `chosen` must outlive `app`.
using AddVerb = void (*)(CLI::App& app, Invocation& chosen);

void AddBisect(CLI::App& app, Invocation& chosen);
void AddBugs(CLI::App& app, Invocation& chosen);
void AddBundle(CLI::App& app, Invocation& chosen);
void AddDoctor(CLI::App& app, Invocation& chosen);
void AddFuzz(CLI::App& app, Invocation& chosen);
void AddGate(CLI::App& app, Invocation& chosen);
void AddImport(CLI::App& app, Invocation& chosen);
void AddMerge(CLI::App& app, Invocation& chosen);
void AddMinimize(CLI::App& app, Invocation& chosen);
void AddReplay(CLI::App& app, Invocation& chosen);
void AddReport(CLI::App& app, Invocation& chosen);
void AddShow(CLI::App& app, Invocation& chosen);
void AddStep(CLI::App& app, Invocation& chosen);
void AddStress(CLI::App& app, Invocation& chosen);

// The verb `check` of bugs, in a file of its own.
void AddBugsCheck(const Verb& bugs, Invocation& chosen);

// The oracles of these names as bits, as of Job::without. kBadInput: there is no such oracle, or
// it cannot be left out.
Result<uint32_t> OracleSet(const std::vector<std::string>& names);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_OPTIONS_H_
