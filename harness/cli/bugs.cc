// SPDX-License-Identifier: Apache-2.0
// bugs: the store of bugs that a team shares over many runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/bugs/bug_store.h"
#include "harness/bugs/bug_text.h"
#include "harness/bugs/runs/bug_match.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/store/run_folders.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

using nlohmann::json;

// Options of all verbs of `bugs`; each uses some.
struct BugsOptions {
  std::string store, build;
  std::vector<std::string> runs;
  bool json = false, only_known = false;
  // list, set
  std::string id, state;
  StateChange change;
};

// --- update, grade -------------------------------------------------------------------------------

// What was met in some runs, and what the runs themselves are worth.
struct Met {
  std::vector<MetBug> bugs;
  // The first run that proves nothing; then a run without bugs is not a pass.
  std::string worthless;
  ExitCode worthless_code = ExitCode::kClean;

  ExitCode Exit() const {
    const bool fails = std::any_of(bugs.begin(), bugs.end(),
                                   [](const MetBug& bug) { return WantsSomebody(bug.verdict); });
    return fails ? ExitCode::kFindings : worthless_code;
  }
  // "1 new, 2 known"
  std::string Words() const {
    std::string words;
    for (int verdict = 0; verdict <= static_cast<int>(BugVerdict::kFixed); verdict++) {
      const auto is = static_cast<BugVerdict>(verdict);
      const auto count = std::count_if(bugs.begin(), bugs.end(),
                                       [&](const MetBug& bug) { return bug.verdict == is; });
      if (count > 0)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, BugVerdictWord(is));
    }
    return words.empty() ? "no bugs" : words;
  }
};

Result<Met> MeetRuns(const BugsOptions& options, BugStore& store) {
  Met met;
  std::vector<Sighting> sightings;
  for (const std::string& dir : RunFolders(options.runs)) {
    ASSIGN_OR_RETURN(const RunReader run, RunReader::Open(dir));
    ASSIGN_OR_RETURN(const RunSummary summary, ReadRun(run));
    ASSIGN_OR_RETURN(auto found, ReadSightings(run, options.build));
    std::move(found.begin(), found.end(), std::back_inserter(sightings));
    const Verdict& verdict = summary.verdict;
    const bool no_verdict = verdict.exit != ExitCode::kClean && verdict.exit != ExitCode::kFindings;
    if (!no_verdict || !met.worthless.empty()) continue;
    met.worthless = fmt::format("{}: {}: {}", dir, verdict.word, OnOneLine(verdict.sentence));
    met.worthless_code = verdict.exit;
  }
  ASSIGN_OR_RETURN(met.bugs, MeetBugs(sightings, Today(), store, !options.only_known));
  return met;
}

json MetJson(const Met& met) {
  json bugs = json::array();
  for (const MetBug& bug : met.bugs)
    bugs.push_back({{"id", bug.id},
                    {"verdict", BugVerdictWord(bug.verdict)},
                    {"signature", bug.signature},
                    {"why", bug.why},
                    {"builds", bug.builds},
                    {"realism", RealismWord(bug.realism)},
                    {"seen", bug.count},
                    {"shown", bug.shown},
                    {"of", bug.of}});
  return {{"schema", 1},
          {"exit_code", static_cast<int>(met.Exit())},
          {"proves_nothing", met.worthless},
          {"bugs", std::move(bugs)}};
}

void PrintMet(const Met& met) {
  for (const MetBug& bug : met.bugs) {
    Print(stdout, "{:8}  {}\n", BugVerdictWord(bug.verdict), bug.id);
    if (!bug.why.empty()) Print(stdout, "          {}\n", bug.why);
    Print(stdout, "          {}; {}, {}x", bug.signature, RealismWord(bug.realism),
          Grouped(bug.count));
    if (bug.of > 0) Print(stdout, ", replayed {} of {}", bug.shown, bug.of);
    Print(stdout, " on {}\n", fmt::join(bug.builds, ", "));
  }
  Print(stdout, "{}\n", met.Words());
}

// `kChanges`: what is new is kept in the store.
template <bool kChanges>
Result<ExitCode> RunMeeting(const BugsOptions& options) {
  RETURN_IF_ERROR(CheckBuild(options.build));
  ASSIGN_OR_RETURN(BugStore store, (kChanges ? &BugStore::Change : &BugStore::Read)(options.store));
  ASSIGN_OR_RETURN(const Met met, MeetRuns(options, store));
  if (kChanges) RETURN_IF_ERROR(store.Save());
  if (!met.worthless.empty())
    Print(stderr, "walkhammer: this run proves nothing: {}\n", met.worthless);
  if (options.json)
    PrintJson(MetJson(met));
  else
    PrintMet(met);
  return met.Exit();
}

// --- list, set -----------------------------------------------------------------------------------

constexpr char kExpiredWord[] = "expired";  // a state for --state alone

const char* StateNow(const Bug& bug) {
  return IsExpired(bug, Today()) ? kExpiredWord : BugStateWord(bug.state);
}

// Bugs that were accepted for too long count as open, too.
bool IsListed(const Bug& bug, const std::string& state) {
  const std::string now = StateNow(bug);
  return state.empty() || now == state ||
         (now == kExpiredWord && state == BugStateWord(BugState::kOpen));
}

struct ValueJson {
  json operator()(const BugState* state) const { return BugStateWord(*state); }
  json operator()(const std::optional<Day>* day) const { return *day ? DayText(**day) : ""; }
  template <typename Value>
  json operator()(const Value* value) const {
    return *value;
  }
};

// The keys of its file, with '_' for '-', and what is not in that file.
json BugJson(Bug bug) {
  json all = {{"id", bug.id}, {"has_walk", !bug.walk.empty()}};
  const auto name = [](std::string text) {
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  };
  for (const BugKey& key : AllBugKeys()) {
    json& table = key.table[0] == 0 ? all : all[name(key.table)];
    table[name(key.name)] = std::visit(ValueJson(), key.field(bug));
  }
  all["state"] = StateNow(bug);
  return all;
}

void PrintBug(const Bug& bug) {
  const auto day = [](const Seen& seen) {
    return seen.date.empty() ? "an unknown day" : seen.date.substr(0, kDayLength);
  };
  Print(stdout, "{:9}  {}\n", StateNow(bug), bug.id);
  if (const std::string words = StateWords(bug); !words.empty())
    Print(stdout, "           {}\n", words);
  if (!bug.affected.empty()) Print(stdout, "           affects JDK {}\n", bug.affected);
  Print(stdout, "           {}\n", bug.title);
  if (bug.first_seen == Seen{}) return;
  Print(stdout, "           {} on {} to {} on {}", day(bug.first_seen), bug.first_seen.build,
        day(bug.last_seen), bug.last_seen.build);
  if (bug.reproduced.of > 0)
    Print(stdout, ", replayed {} of {}", bug.reproduced.shown, bug.reproduced.of);
  Print(stdout, "\n");
}

Result<ExitCode> RunList(const BugsOptions& options) {
  if (!options.state.empty() && options.state != kExpiredWord && !BugStateFromWord(options.state))
    return BadInput(fmt::format(
        "--state \"{}\": there are open, duplicate, accepted, expired and fixed", options.state));
  ASSIGN_OR_RETURN(const BugStore store, BugStore::Read(options.store));
  json bugs = json::array();
  for (const auto& [id, bug] : store.bugs()) {
    if (!IsListed(bug, options.state)) continue;
    if (options.json)
      bugs.push_back(BugJson(bug));
    else
      PrintBug(bug);
  }
  if (options.json) PrintJson({{"schema", 1}, {"bugs", std::move(bugs)}});
  return ExitCode::kClean;
}

Result<ExitCode> RunSet(const BugsOptions& options) {
  const auto state = BugStateFromWord(options.state);
  if (!state) return BadInput("bugs set needs --state open, duplicate, accepted or fixed");
  StateChange change = options.change;
  change.state = *state;
  ASSIGN_OR_RETURN(BugStore store, BugStore::Change(options.store));
  ASSIGN_OR_RETURN(Bug * bug, store.Find(options.id));
  RETURN_IF_ERROR(SetState(change, Today(), *bug));
  if (*state == BugState::kDuplicate) RETURN_IF_ERROR(store.Find(change.duplicate_of));
  RETURN_IF_ERROR(store.Save());
  if (options.json)
    PrintJson(BugJson(*bug));
  else
    PrintBug(*bug);
  return ExitCode::kClean;
}

void StoreOption(Verb& verb, BugsOptions& options) {
  verb.Text("--store", options.store, "Folder of a team's bugs", "DIR");
  verb.Json(options.json);
}

void AddMeetingVerbs(const Verb& bugs, const std::shared_ptr<BugsOptions>& o, Invocation& chosen) {
  for (const bool changes : {true, false}) {
    Verb verb(bugs, changes ? "update" : "grade",
              changes ? "Look up what runs found, and open a bug for each new finding"
                      : "Judge an old run by what the store knows now, and change nothing");
    StoreOption(verb, *o);
    verb.Text("--build", o->build, "Version of the build, where all builds report the same one",
              "VERSION");
    verb.Argument("runs", o->runs, "Folders of runs or nights", "DIR");
    if (changes)
      verb.Flag("--only-known", o->only_known,
                "Record where known bugs were met, and open no new ones");
    verb.Runs(chosen, o, changes ? RunMeeting<true> : RunMeeting<false>);
  }
}

void AddStateVerbs(const Verb& bugs, const std::shared_ptr<BugsOptions>& o, Invocation& chosen) {
  Verb list(bugs, "list", "List the bugs of a store");
  StoreOption(list, *o);
  list.Text("--state", o->state, "Only bugs in this state",
            "open|duplicate|accepted|expired|fixed");
  list.Runs(chosen, o, RunList);
  Verb set(bugs, "set", "Set the state of a bug, as if its file were edited");
  StoreOption(set, *o);
  set.Argument("id", o->id, "The bug", "ID");
  set.Text("--state", o->state, "New state of the bug", "open|duplicate|accepted|fixed");
  set.Text("--of", o->change.duplicate_of, "Bug of which this one is a duplicate", "ID");
  set.Text("--reason", o->change.reason, "Why it is accepted");
  set.Text("--until", o->change.until, "The last day (UTC) on which it is accepted", "YYYY-MM-DD");
  set.Text("--in", o->change.fixed_in,
           "First version that has the fix, or ranges of versions: \"[17.0.9,18) [19,)\"",
           "VERSION");
  set.Runs(chosen, o, RunSet);
}

}  // namespace

void AddBugs(CLI::App& app, Invocation& chosen) {
  Verb bugs(app, "bugs", "Keep a team's store of bugs, and check a JDK for known issues");
  auto o = std::make_shared<BugsOptions>();
  AddMeetingVerbs(bugs, o, chosen);
  AddStateVerbs(bugs, o, chosen);
  AddBugsCheck(bugs, chosen);
}

}  // namespace walkhammer
