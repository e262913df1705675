// What all verbs share: options that mean the same everywhere, failures as the user sees them,
// and the way from argv to an exit code.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_COMMON_H_
#define WALKHAMMER_HARNESS_CLI_COMMON_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/verb.h"
#include "harness/jvm/jdk.h"

namespace walkhammer {

// --json
void AddJsonFlag(CLI::App& verb, bool& json);

// --jdk DIR, repeatable; each takes one argument, so that positional ones may follow.
void AddJdkOption(CLI::App& verb, std::vector<std::string>& paths);

// --coverage-goal PERCENT, for HoldToGoal: more than 0, at most 100; "30", "29.5" or "30%".
void AddCoverageGoalOption(CLI::App& verb, std::optional<double>& percent);

// An option that takes a whole number, decimal or 0x...; CLI11 2.1 alone would wrap -1 and read 010
// as octal. `value` keeps its default when the option is not given.
void AddCountOption(CLI::App& verb, const std::string& name, uint64_t& value,
                    const std::string& what);

// The JDKs that --jdk named, in that order; none named: DefaultJdk. The first failure wins.
Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths);

// "walkhammer: MESSAGE" as one line on stderr. Returns the exit code.
int PrintFailure(const Failure& failure);

// kBadInput: there is no `kind` "wanted"; nearest: a, b, c (walkhammer list KINDs names all).
Failure UnknownName(std::string_view kind, std::string_view wanted,
                    std::span<const std::string_view> names);

// Checked look-ups in the tables, for options; the value is the index.
Result<int> WalkerNamed(std::string_view name);
Result<int> SceneNamed(std::string_view name);

// Absolute path of a file that is installed beside this executable; it need not exist.
std::string BesideExecutable(std::string_view name);
inline constexpr char kChildName[] = "walkhammer_child";
inline constexpr char kScenesJarName[] = "walkhammer-scenes.jar";

// Indented JSON and a newline on stdout; bytes that are not UTF-8 are replaced.
void PrintJson(const nlohmann::json& json);

// Parses, runs the chosen verb and returns the exit code of the process. Bad usage is one
// sentence and 2; output that cannot be written is 4.
int RunCommand(CLI::App& app, Invocation& chosen, int argc, const char* const* argv);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_COMMON_H_
