// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "harness/base/duration.h"
#include "harness/base/nearest.h"
#include "harness/oracles/oracle.h"

namespace walkhammer {

Verb::Verb(CLI::App& app, const std::string& name, const std::string& what)
    : verb_(app.add_subcommand(name, what)) {}

Verb::Verb(const Verb& of, const std::string& name, const std::string& what)
    : Verb(*of.verb_, name, what) {
  of.verb_->require_subcommand(0, 1);
}

void Verb::Flag(const std::string& name, bool& value, const std::string& what) {
  verb_->add_flag(name, value, what);
}

void Verb::FlagOff(const std::string& name, bool& value, const std::string& what) {
  verb_->add_flag_callback(
      name, [&value] { value = false; }, what);
}

void Verb::Text(const std::string& name, std::string& value, const std::string& what,
                const std::string& kind) {
  verb_->add_option(name, value, what)->type_name(kind);
}

void Verb::Text(const std::string& name, std::optional<std::string>& value, const std::string& what,
                const std::string& kind) {
  verb_->add_option(name, value, what)->type_name(kind);
}

void Verb::List(const std::string& name, std::vector<std::string>& values, const std::string& what,
                const std::string& kind) {
  verb_->add_option(name, values, what)->type_name(kind)->allow_extra_args(false);
}

void Verb::Several(const std::string& name, std::vector<std::string>& values,
                   const std::string& what, const std::string& kind) {
  verb_->add_option(name, values, what)->type_name(kind)->expected(1, -1);
}

void Verb::Parsed(const std::string& name, std::function<Status(const std::string&)> read,
                  const std::string& what, const std::string& kind) {
  const auto take = [read = std::move(read)](const std::string& text) {
    if (const Status status = read(text); !status.ok())
      throw CLI::ValidationError(status.failure().message);
  };
  verb_->add_option_function<std::string>(name, take, what)->type_name(kind);
}

void Verb::ReadCount(const std::string& name, const std::string& what, uint64_t least,
                     uint64_t most, std::function<void(uint64_t)> take) {
  const auto read = [=](const std::string& text) -> Status {
    const bool hex = text.starts_with("0x");
    const char* begin = text.data() + (hex ? 2 : 0);
    const char* end = text.data() + text.size();
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(begin, end, number, hex ? 16 : 10);
    if (error != std::errc() || rest != end)
      return BadInput(fmt::format("{} must be a whole number, not \"{}\"", name, text));
    if (number < least || number > most)
      return BadInput(fmt::format("{} must be from {} to {}, not {}", name, least, most, text));
    take(number);
    return Ok();
  };
  Parsed(name, read, what, "N");
}

void Verb::Time(const std::string& name, std::chrono::nanoseconds& value, const std::string& what) {
  const auto read = [&value, name](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(value, ParseDuration(text, name));
    return Ok();
  };
  Parsed(name, read, what, "TIME");
}

void Verb::Archives(std::map<std::string, std::string>& given) {
  for (const std::string suite : {"renaissance", "dacapo"})
    Text("--" + suite, given[suite],
         "Your copy of the suite, of any version: its jar, or the folder that holds it", "PATH");
}

void Verb::Argument(const std::string& name, std::string& value, const std::string& what,
                    const std::string& kind) {
  verb_->add_option(name, value, what)->type_name(kind)->required();
}

void Verb::Argument(const std::string& name, std::vector<std::string>& values,
                    const std::string& what, const std::string& kind) {
  verb_->add_option(name, values, what)->type_name(kind)->required();
}

void Verb::Json(bool& json) { Flag("--json", json, "Print the result as JSON on stdout"); }

void Verb::Walkers(std::vector<std::string>& walkers) {
  List("--walker", walkers,
       "Walkers to test (walkhammer show walkers; default: agct). Several, as in agct,asgst, are "
       "compared. plugin:FILE.so is one of your own. Under stress also jfr, or "
       "agent:PATH=OPTIONS for another profiler",
       "NAME[,NAME...]");
}

void Verb::WithoutOracles(std::vector<std::string>& names) {
  std::string kept;
  for (const Oracle& oracle : AllOracles())
    if (oracle.kept != nullptr) kept += fmt::format("{}{}", kept.empty() ? "" : ", ", oracle.name);
  List("--without-oracle", names,
       "Oracle to leave out; repeatable (walkhammer show oracles). Cannot be left out: " + kept,
       "NAME");
}

Result<uint32_t> OracleSet(const std::vector<std::string>& names) {
  std::vector<std::string_view> all;
  for (const Oracle& oracle : AllOracles()) all.emplace_back(oracle.name);
  uint32_t set = 0;
  for (const std::string& name : names) {
    const auto found = std::find(all.begin(), all.end(), name);
    if (found == all.end())
      return BadInput(
          fmt::format("there is no oracle \"{}\"; nearest: {} (walkhammer show oracles)", name,
                      fmt::join(NearestNames(name, all, 3), ", ")));
    const auto index = found - all.begin();
    if (const char* reason = AllOracles()[index].kept; reason != nullptr)
      return BadInput(fmt::format("--without-oracle: {} cannot be left out, as {}", name, reason));
    set |= 1U << index;
  }
  return set;
}

void Verb::Scenes(std::vector<std::string>& scenes, const std::string& otherwise) {
  List("--scene", scenes,
       "Scene in which to walk; repeatable (walkhammer show scenes) (default: " + otherwise + ")",
       "NAME");
}

void Verb::Profiles(std::vector<std::string>& lists) {
  List("--profile", lists,
       "Sets of JVM flags, e.g. xint,c1,zgc; repeatable (walkhammer show profiles)",
       "NAME[,NAME...]");
}

void Verb::RunTime(std::chrono::nanoseconds& time, const std::string& otherwise) {
  Time("--time", time, "How long to walk, e.g. 90s, 10m (default: " + otherwise + ")");
}

void Verb::Seed(uint64_t& seed) {
  Count("--seed", seed, "Seed of all that is random (default: 1)");
}

void Verb::OutFolder(std::string& out, const std::string& otherwise) {
  Text("--out", out,
       "Folder for the results; must not exist or be empty (default: " + otherwise + ")", "DIR");
}

void Verb::Provider(std::string& provider, bool library_only) {
  if (library_only)
    Text("--library", provider,
         "Library with the functions of the file's walker: a profiler's, or one that replaces "
         "libjvm",
         "FILE.so");
  else
    Text("--provider", provider,
         "Where the walker's code is: jdk; ref, walkhammer's own; or a library in place of libjvm "
         "(default: the walker's)",
         "jdk|ref|FILE.so");
}

void Verb::Jdks(std::vector<std::string>& paths) {
  List("--jdk", paths, "JDK home, its bin/java or its libjvm.so; repeatable", "DIR");
}

void Verb::OneJdk(std::vector<std::string>& paths) {
  List("--jdk", paths, "JDK home, its bin/java or its libjvm.so", "DIR");
}

void Verb::JdkFolders(std::vector<std::string>& folders) {
  List("--jdk-dir", folders, "Folder of JDK homes, such as ci/setup/jdks.sh lays out; repeatable",
       "DIR");
}

void Verb::CoverageGoal(std::optional<double>& percent) {
  const auto read = [&percent](const std::string& text) -> Status {
    const char* end = text.data() + text.size() - (text.ends_with("%") ? 1 : 0);
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc() || rest != end || !(number > 0 && number <= 100))
      return BadInput(fmt::format(
          "--coverage-goal must be a percentage above 0 and up to 100, not \"{}\"", text));
    percent = number;
    return Ok();
  };
  Parsed("--coverage-goal", read,
         "Exit with 1 if fewer of the walker's blocks were reached, with 3 if coverage is unknown",
         "PERCENT");
}

void Verb::Excludes(const std::string& option, const std::string& other) {
  verb_->get_option(option)->excludes(verb_->get_option(other));
}

void Verb::Required(const std::string& option) { verb_->get_option(option)->required(); }

void Verb::Needs(const std::string& option, const std::string& other) {
  verb_->get_option(option)->needs(verb_->get_option(other));
}

void Verb::RunsLater(Invocation& chosen, bool takes_jvm_flags,
                     std::function<Result<ExitCode>()> run) {
  if (takes_jvm_flags) verb_->footer("JVM flags follow after --.");
  verb_->callback([&chosen, takes_jvm_flags, run = std::move(run)] {
    chosen.takes_jvm_flags = takes_jvm_flags;
    chosen.run = run;
  });
}

}  // namespace walkhammer
