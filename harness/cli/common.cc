#include "harness/cli/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/base/nearest.h"
#include "harness/scenes/scene_table.h"
#include "harness/walkers/walker_table.h"

namespace walkhammer {
namespace {

constexpr size_t kNearestShown = 3;

Failure BadUsage(const CLI::App& app, std::string message) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
  return BadInput(fmt::format("{} (see walkhammer{} --help)", message, verb));
}

// CLI11 would call a mistyped verb an unexpected argument.
bool IsUnknownVerb(const CLI::App& app, const std::string& word) {
  const auto is_meant = [&](const CLI::App* verb) { return verb->check_name(word); };
  return !word.empty() && word[0] != '-' && app.get_subcommands(is_meant).empty();
}

Failure UnknownVerb(CLI::App& app, const std::string& word) {
  std::vector<std::string> owned;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) owned.push_back(verb->get_name());
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  return BadInput(fmt::format("there is no verb \"{}\"; nearest: {} (walkhammer --help names all)",
                              word, fmt::join(NearestNames(word, names, kNearestShown), ", ")));
}

}  // namespace

void AddJsonFlag(CLI::App& verb, bool& json) {
  verb.add_flag("--json", json, "Print the result as JSON on stdout");
}

void AddJdkOption(CLI::App& verb, std::vector<std::string>& paths) {
  verb.add_option("--jdk", paths, "JDK home, its bin/java or its libjvm.so; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void AddCountOption(CLI::App& verb, const std::string& name, uint64_t& value,
                    const std::string& what) {
  const auto read = [&value, name](const std::string& text) {
    const bool hex = text.starts_with("0x");
    const char* begin = text.data() + (hex ? 2 : 0);
    const char* end = text.data() + text.size();
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(begin, end, number, hex ? 16 : 10);
    if (error != std::errc() || rest != end) {
      throw CLI::ValidationError(fmt::format("{} wants a whole number, not \"{}\"", name, text));
    }
    value = number;
  };
  verb.add_option_function<std::string>(name, read, what)->type_name("N");
}

void AddCoverageGoalOption(CLI::App& verb, std::optional<double>& percent) {
  const auto read = [&percent](const std::string& text) {
    const char* end = text.data() + text.size() - (text.ends_with("%") ? 1 : 0);
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc() || rest != end || !(number > 0 && number <= 100)) {
      throw CLI::ValidationError(fmt::format(
          "--coverage-goal wants a percentage above 0 and up to 100, not \"{}\"", text));
    }
    percent = number;
  };
  verb.add_option_function<std::string>(
          "--coverage-goal", read,
          "Exit with 1 if fewer of the walker's blocks were reached, with 3 if nobody can tell")
      ->type_name("PERCENT");
}

Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths) {
  std::vector<Jdk> jdks;
  if (paths.empty()) {
    Result<Jdk> jdk = DefaultJdk();
    if (!jdk.ok()) return jdk.failure();
    jdks.push_back(std::move(jdk.value()));
  }
  for (const std::string& path : paths) {
    Result<Jdk> jdk = OpenJdk(path);
    if (!jdk.ok()) return jdk.failure();
    jdks.push_back(std::move(jdk.value()));
  }
  return jdks;
}

int PrintFailure(const Failure& failure) {
  std::string line = failure.message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "walkhammer: {}\n", line);
  return static_cast<int>(failure.code);
}

Failure UnknownName(std::string_view kind, std::string_view wanted,
                    std::span<const std::string_view> names) {
  if (names.empty()) return BadInput(fmt::format("there is no {} \"{}\"", kind, wanted));
  return BadInput(
      fmt::format("there is no {0} \"{1}\"; nearest: {2} (walkhammer list {0}s names "
                  "all)",
                  kind, wanted, fmt::join(NearestNames(wanted, names, kNearestShown), ", ")));
}

Result<int> WalkerNamed(std::string_view name) {
  if (const std::optional<int> index = FindWalker(name)) return *index;
  std::vector<std::string_view> names;
  for (const WalkerInfo& walker : AllWalkers()) {
    if (!walker.puzzle) names.emplace_back(walker.name);
  }
  return UnknownName("walker", name, names);
}

Result<int> SceneNamed(std::string_view name) {
  if (const std::optional<int> index = FindScene(name)) return *index;
  std::vector<std::string_view> names;
  for (const SceneInfo& scene : AllScenes()) names.emplace_back(scene.name);
  return UnknownName("scene", name, names);
}

std::string BesideExecutable(std::string_view name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path() / name;
}

void PrintJson(const nlohmann::json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int RunCommand(CLI::App& app, Invocation& chosen, int argc, const char* const* argv) {
  int own = argc;  // arguments before "--"
  for (int i = argc - 1; i > 0; i--) {
    if (std::strcmp(argv[i], "--") == 0) own = i;
  }
  if (own < argc) chosen.jvm_flags.assign(argv + own + 1, argv + argc);
  if (own > 1 && IsUnknownVerb(app, argv[1])) return PrintFailure(UnknownVerb(app, argv[1]));
  int code = 0;
  try {
    app.parse(own, argv);
    if (!chosen.run) return PrintFailure(BadUsage(app, "which verb?"));
    if (!chosen.jvm_flags.empty() && !chosen.takes_jvm_flags) {
      return PrintFailure(BadUsage(app, "this verb starts no JVM and takes no flags after --"));
    }
    code = chosen.run();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return PrintFailure(BadUsage(app, error.what()));
    app.exit(error);  // help or version
  } catch (const std::exception& error) {
    return PrintFailure(ToolFailed(fmt::format("unexpected failure: {}", error.what())));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.flush()) {
    return PrintFailure(ToolFailed("cannot write to stdout; is the disk full?"));
  }
  return code;
}

}  // namespace walkhammer
