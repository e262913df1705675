// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/choices.h"

#include <fmt/format.h>

#include "harness/base/names.h"
#include "harness/jvm/images/jdk.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/campaign/engine.h"
#include "harness/supervise/stress_runs/profiles.h"
#include "workloads/catalogue.h"

namespace walkhammer {
namespace {

// A table's rows have a name and say what it is.
template <typename Rows>
std::vector<NamedChoice> NamesOf(const Rows& rows) {
  std::vector<NamedChoice> choices;
  for (const auto& row : rows) choices.push_back({std::string(row.name), std::string(row.what)});
  return choices;
}

// Without the planted bugs, which only test walkhammer.
std::vector<NamedChoice> WalkerChoices() {
  std::vector<NamedChoice> choices;
  for (const WalkerInfo& walker : AllWalkers())
    if (!walker.puzzle) choices.push_back({walker.name, walker.what});
  return choices;
}

std::vector<NamedChoice> SceneChoices() { return NamesOf(AllScenes()); }
std::vector<NamedChoice> EngineChoices() { return NamesOf(AllEngines()); }
std::vector<NamedChoice> ProfileChoices() { return NamesOf(AllProfiles()); }

std::vector<NamedChoice> JdkChoices() {
  std::vector<NamedChoice> choices;
  for (const Jdk& jdk : FindJdks())
    choices.push_back({jdk.home, fmt::format("{} {}, {}", jdk.vendor, jdk.version, jdk.arch)});
  return choices;
}

std::vector<NamedChoice> WorkloadChoices() {
  const auto all = LoadCatalogues(BesideExecutable("workloads"));
  std::vector<NamedChoice> choices;
  if (!all.ok()) return choices;
  for (const Workload& workload : all.value())
    choices.push_back({workload.FullName(), workload.what});
  return choices;
}

struct ChoiceTable {
  std::string_view option;
  std::vector<NamedChoice> (*choices)();
};

constexpr ChoiceTable kTables[] = {
    {"--walker", WalkerChoices},     {"--witness", WalkerChoices},  {"--scene", SceneChoices},
    {"--engine", EngineChoices},     {"--profile", ProfileChoices}, {"--jdk", JdkChoices},
    {"--workload", WorkloadChoices}, {"JDK", JdkChoices},
};

}  // namespace

std::vector<NamedChoice> ChoicesFor(std::string_view option) {
  for (const ChoiceTable& table : kTables)
    if (table.option == option) return table.choices();
  return {};
}

}  // namespace walkhammer
