// SPDX-License-Identifier: Apache-2.0
// doctor --structs: what of one JDK's contract with those who read its structures another JDK
// breaks.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/base/files.h"
#include "harness/base/print.h"
#include "harness/cli/doctor.h"
#include "harness/cli/print_json.h"
#include "harness/jvm/images/jdk.h"
#include "harness/jvm/images/struct_contract.h"

namespace walkhammer {
namespace {

struct StructSide {
  std::string name;  // version, or path
  StructTables tables;
};

// For a JDK, or for a libjvm.so that need not run here, alone or in a JDK.
Result<StructSide> ReadStructSide(const std::string& path) {
  StructSide side{path, {}};
  std::string libjvm, debug_file;
  const auto jdk = OpenAnyJvm(path);
  if (jdk.ok()) {
    libjvm = jdk.value().libjvm;
    debug_file = jdk.value().debug_file;
    if (jdk.value().version != "unknown") side.name = jdk.value().version;
  } else {
    for (const std::string& file : {path, path + "/lib/server/libjvm.so"})
      if (std::filesystem::is_regular_file(file)) libjvm = file;
    if (libjvm.empty()) return jdk.failure();
  }
  ASSIGN_OR_RETURN(side.tables, ReadStructTables(libjvm, debug_file));
  return side;
}

Result<std::vector<StructNeed>> NeedsOf(const DoctorOptions& options) {
  std::vector<StructNeed> needs;
  if (options.table.empty()) {
    ASSIGN_OR_RETURN(needs, ReadStructNeeds());
  } else {
    if (!std::filesystem::is_regular_file(options.table))
      return BadInput(options.table + " does not exist, or is not a file");
    ASSIGN_OR_RETURN(needs, ParseStructNeeds(ReadFile(options.table), options.table));
  }
  RETURN_IF_ERROR(ChooseReaders(options.readers, needs));
  return needs;
}

// Changes of one entry and one kind, which several readers may meet.
using ChangeKey = std::tuple<std::string, std::string, std::string>;  // word, entry, details

void PrintChanges(const char* title, const std::vector<StructChange>& changes,
                  bool (*belongs)(const StructChange&)) {
  std::vector<std::pair<ChangeKey, std::string>> rows;  // with the readers
  for (const StructChange& change : changes) {
    if (!belongs(change)) continue;
    const ChangeKey key{StructChangeWord(change.what), change.entry, change.details};
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const auto& other) { return other.first == key; });
    const std::string who =
        fmt::format("{}{}{} ({})", change.reader, change.since.empty() ? "" : " ", change.since,
                    change.feature);
    if (row == rows.end())
      rows.emplace_back(key, who);
    else if (row->second.find(who) == std::string::npos)
      row->second += ", " + who;
  }
  if (rows.empty()) return;
  Print(stdout, "\n{}\n", title);
  for (const auto& [key, who] : rows) {
    const auto& [word, entry, details] = key;
    const char* relation = word == "replaced" ? " by " : ": ";
    Print(stdout, "  {:8} {}{}{}\n           {}\n", word, entry, details.empty() ? "" : relation,
          details, who);
  }
}

void PrintStructText(const StructSide& before, const StructSide& after,
                     const StructComparison& compared, size_t breaks) {
  Print(stdout, "{}: {} against {}\n", breaks > 0 ? "BROKEN" : "PASS", after.name, before.name);
  PrintChanges("Lost or changed, and needed", compared.changes, Breaks);
  PrintChanges("Lost or changed, and optional", compared.changes, [](const StructChange& change) {
    return !Breaks(change) && change.what != StructChange::What::kReplaced;
  });
  PrintChanges("Replaced, and read from a version on", compared.changes,
               [](const StructChange& change) { return !change.since.empty(); });
  Print(stdout, "\nEntries: {} compared, {} in neither JDK\n", compared.compared,
        compared.absent.size());
}

void PrintStructJson(const StructSide& before, const StructSide& after,
                     const StructComparison& compared, size_t breaks) {
  auto changes = nlohmann::json::array();
  for (const StructChange& change : compared.changes)
    changes.push_back({{"what", StructChangeWord(change.what)},
                       {"breaks", Breaks(change)},
                       {"needed", change.needed},
                       {"reader", change.reader},
                       {"feature", change.feature},
                       {"entry", change.entry},
                       {"details", change.details},
                       {"since", change.since}});
  PrintJson({{"schema", 1},
             {"verdict", breaks > 0 ? "BROKEN" : "PASS"},
             {"baseline", before.name},
             {"candidate", after.name},
             {"compared", compared.compared},
             {"absent", compared.absent},
             {"changes", changes}});
}

}  // namespace

Result<ExitCode> RunDoctorStructs(const DoctorOptions& options) {
  if (options.jdks.size() != 2) return BadInput("doctor --structs takes two JDKs: --jdk A --jdk B");
  ASSIGN_OR_RETURN(const auto needs, NeedsOf(options));
  ASSIGN_OR_RETURN(const StructSide before, ReadStructSide(options.jdks[0]));
  ASSIGN_OR_RETURN(const StructSide after, ReadStructSide(options.jdks[1]));
  const StructComparison compared = CompareStructs(before.tables, after.tables, needs);
  const auto breaks =
      static_cast<size_t>(std::count_if(compared.changes.begin(), compared.changes.end(), Breaks));
  (options.json ? PrintStructJson : PrintStructText)(before, after, compared, breaks);
  return breaks > 0 ? ExitCode::kFindings : ExitCode::kClean;
}

}  // namespace walkhammer
