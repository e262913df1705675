// SPDX-License-Identifier: Apache-2.0
// show: a request in canonical text form and in words, or a table of walkers, scenes, oracles and
// the like, which is the table that the other verbs read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/scene_probe.h"
#include "harness/cli/walk_file.h"
#include "harness/findings/explain.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/oracles/oracle.h"
#include "harness/request/binary_form.h"
#include "harness/request/scene_table.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/campaign/engine.h"
#include "harness/supervise/stress_runs/profiles.h"
#include "harness/supervise/stress_runs/stress_loads.h"
#include "workloads/catalogue.h"

namespace walkhammer {
namespace {

using nlohmann::json;

struct ShowOptions {
  std::vector<std::string> what;  // one topic, or files
  std::vector<std::string> jdks;  // for scenes and workloads
  Archives archives;              // for workloads
  bool json = false;
  bool all = false;
};

// Objects with "name" and "what", and further keys if the table has more.
Result<json> Walkers(const ShowOptions& options) {
  json rows = json::array();
  for (const WalkerInfo& walker : AllWalkers()) {
    if (walker.puzzle && !options.all) continue;
    json codes = json::array();
    for (const DeclaredCode& code : walker.codes) {
      codes.push_back({{"code", code.code}, {"name", code.name}});
    }
    rows.push_back({{"name", walker.name},
                    {"what", walker.what},
                    {"symbol", walker.symbol == nullptr ? json() : json(walker.symbol)},
                    {"provider", walker.provider},
                    {"puzzle", walker.puzzle},
                    {"codes", std::move(codes)}});
  }
  return rows;
}

// The scenes, with what each named JDK can do with them; no JDK named: the default JDK.
Result<json> Scenes(const ShowOptions& options) {
  json rows = json::array();
  for (const SceneInfo& scene : AllScenes()) {
    rows.push_back({{"name", scene.name}, {"what", scene.what}, {"jdks", json::array()}});
  }
  Result<std::vector<Jdk>> jdks = OpenJdks(options.jdks);
  if (!jdks.ok()) {
    if (options.jdks.empty()) return rows;  // no JDK here: only the names are known
    return jdks.failure();
  }
  for (const Jdk& jdk : jdks.value()) {
    Result<json> probed = ProbeScenes(jdk);
    if (!probed.ok()) {
      PrintFailure(probed.failure());
      continue;
    }
    for (size_t i = 0; i < rows.size(); i++) {
      json seen = probed.value()["scenes"][i];
      seen["name"] = jdk.home;
      rows[i]["jdks"].push_back(std::move(seen));
    }
  }
  return rows;
}

std::string JdkWords(const json& seen) {
  if (!seen["available"].get<bool>()) return "not available: " + seen["reason"].get<std::string>();
  if (!seen.contains("frames")) return "available";
  const std::string frames = fmt::format("available, {} frames", seen["frames"].get<int>());
  if (seen["pristine_true"].get<bool>()) return frames;
  return frames + "; agct: " + seen["reason"].get<std::string>();
}

Result<json> Oracles(const ShowOptions&) {
  json rows = json::array();
  for (const Oracle& oracle : AllOracles()) {
    json outcomes = json::array();
    for (const OutcomeInfo& outcome : oracle.outcomes) {
      outcomes.push_back({{"name", outcome.name},
                          {"grade", GradeWord(outcome.grade)},
                          {"reason", outcome.reason}});
    }
    rows.push_back(
        {{"name", oracle.name}, {"what", oracle.what}, {"outcomes", std::move(outcomes)}});
  }
  return rows;
}

Result<json> Engines(const ShowOptions&) {
  json rows = json::array();
  for (const Engine& engine : AllEngines())
    rows.push_back({{"name", engine.name}, {"what", engine.what}, {"guided", engine.guided}});
  return rows;
}

Result<json> Jdks(const ShowOptions&) {
  json rows = json::array();
  for (const Jdk& jdk : FindJdks()) {
    rows.push_back({{"name", jdk.home},
                    {"what", fmt::format("{} {}, {}", jdk.vendor, jdk.version, jdk.arch)},
                    {"feature", jdk.feature},
                    {"build_id", jdk.build_id}});
  }
  return rows;
}

// Adds the workloads that an archive lists on one of the JDKs, and the catalogue lacks.
Status AddUnlistedOf(const Archives& archives, const std::vector<Jdk>& jdks, ArchiveLists& lists,
                     std::vector<Workload>& all) {
  for (const auto& [suite, jar] : archives) {
    std::set<std::string> known, unlisted;
    const Workload* any = nullptr;
    for (const Workload& workload : all)
      if (workload.suite == suite) known.insert((any = &workload)->name);
    if (any == nullptr) continue;  // the folder has no catalogue of this suite
    for (const Jdk& jdk : jdks) {
      const auto listed = lists.Listed(*any, jdk);
      if (!listed.ok()) continue;  // Check says why
      for (const std::string& name : listed.value())
        if (IsWorkloadName(name) && !known.contains(name)) unlisted.insert(name);
    }
    for (const std::string& name : unlisted) {
      ASSIGN_OR_RETURN(auto workload, UnlistedWorkload(BesideExecutable("workloads"), suite, name));
      all.push_back(std::move(workload));
    }
  }
  return Ok();
}

// The workloads, with whether each named JDK can run them; no JDK named: all JDKs found.
Result<json> Workloads(const ShowOptions& options) {
  ASSIGN_OR_RETURN(const auto archives, FindArchives(options.archives));
  const WorkloadContext context = {
      .home = std::filesystem::path(BesideExecutable("workloads")).parent_path(),
      .archives = archives};
  ArchiveLists lists(archives);
  ASSIGN_OR_RETURN(auto all, LoadCatalogues(BesideExecutable("workloads")));
  ASSIGN_OR_RETURN(const auto jdks,
                   options.jdks.empty() ? Result(FindJdks()) : OpenJdks(options.jdks));
  RETURN_IF_ERROR(AddUnlistedOf(archives, jdks, lists, all));
  json rows = json::array();
  for (const Workload& workload : all) {
    json row = {{"name", workload.FullName()}, {"what", workload.what}, {"jdks", json::array()}};
    for (const Jdk& jdk : jdks) {
      Status can = CheckWorkload(workload, jdk.feature, context);
      if (can.ok()) can = lists.Check(workload, jdk);
      row["jdks"].push_back({{"name", jdk.home},
                             {"available", can.ok()},
                             {"reason", can.ok() ? "" : can.failure().message}});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<json> Profiles(const ShowOptions&) {
  json rows = json::array();
  for (const Profile& profile : AllProfiles())
    rows.push_back({{"name", profile.name}, {"what", profile.what}, {"flags", profile.flags}});
  return rows;
}

struct Topic {
  std::string_view name;
  Result<json> (*rows)(const ShowOptions&);
};

constexpr Topic kTopics[] = {{"walkers", Walkers}, {"scenes", Scenes},       {"oracles", Oracles},
                             {"engines", Engines}, {"workloads", Workloads}, {"profiles", Profiles},
                             {"jdks", Jdks}};

std::vector<std::string_view> TopicNames() {
  std::vector<std::string_view> names;
  for (const Topic& topic : kTopics) names.push_back(topic.name);
  return names;
}

// Prints one line for all JDKs if they all have the same trouble.
void PrintJdks(const json& jdks) {
  const auto same = [&](const json& seen) {
    return !seen["available"].get<bool>() && JdkWords(seen) == JdkWords(jdks[0]);
  };
  if (jdks.size() > 1 && std::all_of(jdks.begin(), jdks.end(), same)) {
    Print(stdout, "  every JDK: {}\n", JdkWords(jdks[0]));
    return;
  }
  for (const json& seen : jdks) {
    Print(stdout, "  {}: {}\n", seen["name"].get<std::string>(), JdkWords(seen));
  }
}

void PrintListed(const json& rows) {
  size_t width = 0;
  for (const json& row : rows) width = std::max(width, row["name"].get<std::string>().size());
  for (const json& row : rows) {
    Print(stdout, "{:<{}}  {}\n", row["name"].get<std::string>(), width,
          row["what"].get<std::string>());
    PrintJdks(row.value("jdks", json::array()));
    if (!row.contains("outcomes")) continue;
    for (const json& outcome : row["outcomes"]) {
      Print(stdout, "  {}: {}, {}\n", outcome["name"].get<std::string>(),
            outcome["grade"].get<std::string>(), outcome["reason"].get<std::string>());
    }
  }
}

Result<ExitCode> ShowRequests(const ShowOptions& options) {
  json all = nlohmann::json::array();
  for (const std::string& path : options.what) {
    ASSIGN_OR_RETURN(const LoadedWalk walk, ReadWalkFile(path));
    const auto& [text, symbols, file] = walk;
    const std::string canonical = ToText(file, *symbols);
    const std::string words = ExplainRequest(file.request, *symbols);
    const std::string_view realism = RealismWord(RealismOf(file.request));
    if (options.json) {
      all.push_back({{"file", path},
                     {"text", canonical},
                     {"explanation", words},
                     {"realism", realism},
                     {"expect", file.expect},
                     {"binary_bytes", EncodeBinary(file.request, *symbols).size()}});
      continue;
    }
    Print(stdout, "{}{}\n{}", options.what.size() > 1 ? "# " + path + "\n" : "", canonical, words);
    Print(stdout, "realism: {}\n", realism);
  }
  if (options.json) PrintJson({{"schema", 1}, {"requests", all}});
  return ExitCode::kClean;
}

// What is neither a table nor a readable file.
Failure UnknownTopic(const std::string& word) {
  return BadInput(fmt::format("there is no file {} and no table of this name; the tables are {}",
                              word, fmt::join(TopicNames(), ", ")));
}

Result<ExitCode> RunShow(const ShowOptions& options) {
  const std::string& first = options.what[0];
  for (const Topic& topic : kTopics) {
    if (topic.name != first) continue;
    if (options.what.size() > 1)
      return BadInput(
          fmt::format("show takes one table at a time; a file of this name is ./{}", first));
    ASSIGN_OR_RETURN(const json rows, topic.rows(options));
    options.json ? PrintJson(rows) : PrintListed(rows);
    return ExitCode::kClean;
  }
  const bool has_archive = std::any_of(options.archives.begin(), options.archives.end(),
                                       [](const auto& given) { return !given.second.empty(); });
  std::error_code error;
  if (first.find_first_of("/.") == first.npos && !std::filesystem::exists(first, error))
    return UnknownTopic(first);
  if (options.all || !options.jdks.empty() || has_archive)
    return BadInput("--all, --jdk, --renaissance and --dacapo go with a table, not with a file");
  return ShowRequests(options);
}

}  // namespace

void AddShow(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "show",
            "Print requests in words, or a table of walkers, scenes, oracles and the like");
  auto options = std::make_shared<ShowOptions>();
  verb.Argument("WHAT", options->what,
                fmt::format(".walk files, crash folders of a run, or one of {}",
                            fmt::join(TopicNames(), ", ")),
                fmt::format("{}|FILE.walk", fmt::join(TopicNames(), "|")));
  verb.Jdks(options->jdks);
  verb.Archives(options->archives);
  verb.Json(options->json);
  verb.Flag("--all", options->all, "With walkers: also the planted bugs that test walkhammer");
  verb.Runs(chosen, options, RunShow);
}

}  // namespace walkhammer
