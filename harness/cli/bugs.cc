// SPDX-License-Identifier: Apache-2.0
// bugs: the store of bugs that a team shares over many runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/bugs/bug_match.h"
#include "harness/bugs/bug_store.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/provider.h"
#include "harness/jvm/images/jdk.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/supervise/builds/bug_replay.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

using nlohmann::json;

// Of all verbs of `bugs`; each uses some.
struct Options {
  std::string store, build;
  std::vector<std::string> runs;
  bool json = false;
  // list, set
  std::string id, state;
  StateChange change;
  // check
  std::vector<std::string> jdks;
  std::string provider;
  uint64_t times = 10, most_times = 60, jobs = 2;
};

Status CheckStoreGiven(const Options& options) {
  if (!options.store.empty()) return Ok();
  return BadInput("which store? name its folder by --store DIR");
}

// --- update, grade -------------------------------------------------------------------------------

// What was met in some runs, and what the runs themselves are worth.
struct Met {
  std::vector<MetBug> bugs;
  // The first run that proves nothing; then a run without bugs is no pass.
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

Result<Met> MeetRuns(const Options& options, BugStore& store) {
  Met met;
  std::vector<Sighting> sightings;
  for (const std::string& dir : options.runs) {
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
  ASSIGN_OR_RETURN(met.bugs, MeetBugs(sightings, Today(), store));
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

int PrintedMet(const Result<Met>& met, const Options& options) {
  if (!met.ok()) return PrintFailure(met.failure());
  if (!met.value().worthless.empty())
    Print(stderr, "walkhammer: proves nothing: {}\n", met.value().worthless);
  if (options.json)
    PrintJson(MetJson(met.value()));
  else
    PrintMet(met.value());
  return static_cast<int>(met.value().Exit());
}

Result<Met> Update(const Options& options) {
  RETURN_IF_ERROR(CheckStoreGiven(options));
  RETURN_IF_ERROR(CheckBuild(options.build));
  ASSIGN_OR_RETURN(BugStore store, BugStore::Change(options.store));
  ASSIGN_OR_RETURN(Met met, MeetRuns(options, store));
  RETURN_IF_ERROR(store.Save());
  return met;
}

Result<Met> GradeRuns(const Options& options) {
  RETURN_IF_ERROR(CheckStoreGiven(options));
  RETURN_IF_ERROR(CheckBuild(options.build));
  ASSIGN_OR_RETURN(BugStore store, BugStore::Read(options.store));
  return MeetRuns(options, store);
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

json SeenJson(const Seen& seen) {
  return {
      {"build", seen.build}, {"build_id", seen.build_id}, {"run", seen.run}, {"date", seen.date}};
}

json BugJson(const Bug& bug) {
  return {{"id", bug.id},
          {"title", bug.title},
          {"state", StateNow(bug)},
          {"signatures", bug.signatures},
          {"duplicate_of", bug.duplicate_of},
          {"reason", bug.reason},
          {"until", bug.until ? DayText(*bug.until) : ""},
          {"fixed_in", bug.fixed_in},
          {"like", bug.like},
          {"builds", bug.builds},
          {"first_seen", SeenJson(bug.first_seen)},
          {"last_seen", SeenJson(bug.last_seen)},
          {"reproduced",
           {{"build", bug.reproduced.build},
            {"shown", bug.reproduced.shown},
            {"of", bug.reproduced.of}}},
          {"has_walk", !bug.walk.empty()},
          {"evidence", bug.evidence},
          {"notes", bug.notes}};
}

// What the state rests on.
std::string StateWords(const Bug& bug) {
  switch (bug.state) {
    case BugState::kOpen:
      return bug.like.empty() ? "" : "looks like " + bug.like;
    case BugState::kDuplicate:
      return "of " + bug.duplicate_of;
    case BugState::kAccepted:
      return fmt::format("until {}: {}", DayText(*bug.until), bug.reason);
    case BugState::kFixed:
      break;
  }
  return "in " + bug.fixed_in;
}

void PrintBug(const Bug& bug) {
  const auto day = [](const Seen& seen) {
    return seen.date.empty() ? "an unknown day" : seen.date.substr(0, kDayLength);
  };
  Print(stdout, "{:9}  {}\n", StateNow(bug), bug.id);
  if (const std::string words = StateWords(bug); !words.empty())
    Print(stdout, "           {}\n", words);
  Print(stdout, "           {}\n", bug.title);
  Print(stdout, "           {} on {} to {} on {}", day(bug.first_seen), bug.first_seen.build,
        day(bug.last_seen), bug.last_seen.build);
  if (bug.reproduced.of > 0)
    Print(stdout, ", replayed {} of {}", bug.reproduced.shown, bug.reproduced.of);
  Print(stdout, "\n");
}

int RunList(const Options& options) {
  if (const Status given = CheckStoreGiven(options); !given.ok())
    return PrintFailure(given.failure());
  if (!options.state.empty() && options.state != kExpiredWord && !BugStateFromWord(options.state))
    return PrintFailure(BadInput(fmt::format(
        "--state \"{}\": there are open, duplicate, accepted, expired and fixed", options.state)));
  const auto store = BugStore::Read(options.store);
  if (!store.ok()) return PrintFailure(store.failure());
  json bugs = json::array();
  for (const auto& [id, bug] : store.value().bugs()) {
    if (!IsListed(bug, options.state)) continue;
    if (options.json)
      bugs.push_back(BugJson(bug));
    else
      PrintBug(bug);
  }
  if (options.json) PrintJson({{"schema", 1}, {"bugs", std::move(bugs)}});
  return static_cast<int>(ExitCode::kClean);
}

Result<Bug> SetBug(const Options& options) {
  RETURN_IF_ERROR(CheckStoreGiven(options));
  const auto state = BugStateFromWord(options.state);
  if (!state) return BadInput("bugs set wants --state open, duplicate, accepted or fixed");
  StateChange change = options.change;
  change.state = *state;
  ASSIGN_OR_RETURN(BugStore store, BugStore::Change(options.store));
  ASSIGN_OR_RETURN(Bug * bug, store.Find(options.id));
  RETURN_IF_ERROR(SetState(change, Today(), *bug));
  if (*state == BugState::kDuplicate)
    if (const auto other = store.Find(change.duplicate_of); !other.ok()) return other.failure();
  RETURN_IF_ERROR(store.Save());
  return *bug;
}

int RunSet(const Options& options) {
  const auto bug = SetBug(options);
  if (!bug.ok()) return PrintFailure(bug.failure());
  if (options.json)
    PrintJson(BugJson(bug.value()));
  else
    PrintBug(bug.value());
  return static_cast<int>(ExitCode::kClean);
}

// --- check ---------------------------------------------------------------------------------------

struct ReplayedBug {
  std::string id, title;
  BugReplay replay;
};

Result<BugReplayPlan> PlanOf(const Options& options, const Jdk& jdk,
                             const std::vector<std::string>& jvm_flags) {
  BugReplayPlan plan;
  plan.version = options.build.empty() ? jdk.version : options.build;
  plan.times = static_cast<int>(options.times);
  plan.most_times = static_cast<int>(options.most_times);
  plan.jobs = static_cast<int>(options.jobs);
  plan.flags = jvm_flags;
  plan.stop = [] { return Interrupted().load(); };
  ASSIGN_OR_RETURN(plan.provider, ProviderLibraryNamed(options.provider));
  return plan;
}

void PrintReplayed(const ReplayedBug& bug) {
  Print(stdout, "{:10}  {}\n", BugReplayWord(bug.replay.verdict), bug.id);
  Print(stdout, "            {}\n            {}\n", bug.title, bug.replay.why);
}

// Replays all open bugs; saves after each, for replays take long.
Result<std::vector<ReplayedBug>> ReplayStore(const Options& options, const Jdk& jdk,
                                             const BugReplayPlan& plan) {
  ASSIGN_OR_RETURN(BugStore store, BugStore::Change(options.store));
  std::vector<std::string> open;
  for (const auto& [id, bug] : store.bugs())
    if (bug.state == BugState::kOpen || IsExpired(bug, Today())) open.push_back(id);
  std::vector<ReplayedBug> replayed;
  for (const std::string& id : open) {
    Bug& bug = *store.Find(id).value();
    BugReplayPlan own = plan;
    if (options.build.empty()) own.version = VersionIn(bug, jdk.build_id, plan.version);
    ASSIGN_OR_RETURN(const BugReplay replay, ReplayBug(bug, jdk, own));
    if (plan.stop()) return ToolFailed("interrupted before all open bugs were replayed");
    const Seen here{own.version, jdk.build_id, kReplayed, Now("%Y-%m-%dT%H:%M:%SZ")};
    NoteReplay(replay, here, Today(), bug);
    RETURN_IF_ERROR(store.Save());
    replayed.push_back({id, bug.title, replay});
    if (!options.json) PrintReplayed(replayed.back());
  }
  return replayed;
}

ExitCode ExitOf(const std::vector<ReplayedBug>& bugs) {
  ExitCode code = ExitCode::kClean;
  for (const ReplayedBug& bug : bugs) {
    if (bug.replay.verdict == BugReplayVerdict::kOpen) return ExitCode::kFindings;
    if (bug.replay.verdict == BugReplayVerdict::kNotProven) code = ExitCode::kUnable;
  }
  return code;
}

json ReplayedJson(const Jdk& jdk, const std::string& version,
                  const std::vector<ReplayedBug>& bugs) {
  json rows = json::array();
  for (const ReplayedBug& bug : bugs)
    rows.push_back({{"id", bug.id},
                    {"title", bug.title},
                    {"verdict", BugReplayWord(bug.replay.verdict)},
                    {"why", bug.replay.why},
                    {"times", bug.replay.tally.times},
                    {"walked", bug.replay.tally.walked()},
                    {"reproduced", bug.replay.tally.reproduced},
                    {"outcomes", bug.replay.tally.outcomes}});
  return {{"schema", 1}, {"home", jdk.home}, {"version", version}, {"bugs", std::move(rows)}};
}

Result<ExitCode> CheckStore(const Options& options, const std::vector<std::string>& jvm_flags) {
  RETURN_IF_ERROR(CheckStoreGiven(options));
  RETURN_IF_ERROR(CheckBuild(options.build));
  if (options.jdks.size() != 1)
    return BadInput("bugs check wants one build to replay on: --jdk DIR");
  ASSIGN_OR_RETURN(const Jdk jdk, OpenJdk(options.jdks.front()));
  ASSIGN_OR_RETURN(BugReplayPlan plan, PlanOf(options, jdk, jvm_flags));
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  plan.scratch = scratch.path();
  ASSIGN_OR_RETURN(const auto bugs, ReplayStore(options, jdk, plan));
  if (options.json)
    PrintJson(ReplayedJson(jdk, plan.version, bugs));
  else
    Print(stdout, "{} replayed on {}\n", Counted(bugs.size(), "open bug"), plan.version);
  return ExitOf(bugs);
}

int RunBugCheck(const Options& options, const std::vector<std::string>& jvm_flags) {
  const auto code = CheckStore(options, jvm_flags);
  return code.ok() ? static_cast<int>(code.value()) : PrintFailure(code.failure());
}

void StoreOption(Verb& verb, Options& options) {
  verb.Text("--store", options.store, "The folder of the bugs, a file each", "DIR");
  verb.Json(options.json);
}

void BuildOption(Verb& verb, Options& options) {
  verb.Text("--build", options.build,
            "The build's version, for JDKs that all call themselves the same", "VERSION");
}

void AddMeetingVerbs(const Verb& bugs, const std::shared_ptr<Options>& o, Invocation& chosen) {
  Verb update(bugs, "update", "Finds the bugs of runs, and opens bugs for what is new");
  StoreOption(update, *o);
  BuildOption(update, *o);
  update.Argument("runs", o->runs, "Folders of runs");
  update.Runs(chosen, [o] { return PrintedMet(Update(*o), *o); });
  Verb grade(bugs, "grade", "What an old run would be worth now; changes nothing");
  StoreOption(grade, *o);
  BuildOption(grade, *o);
  grade.Argument("runs", o->runs, "Folders of runs");
  grade.Runs(chosen, [o] { return PrintedMet(GradeRuns(*o), *o); });
}

void AddStateVerbs(const Verb& bugs, const std::shared_ptr<Options>& o, Invocation& chosen) {
  Verb list(bugs, "list", "The bugs of a store");
  StoreOption(list, *o);
  list.Text("--state", o->state, "Only these", "open|duplicate|accepted|expired|fixed");
  list.Runs(chosen, [o] { return RunList(*o); });
  Verb set(bugs, "set", "Sets the state of a bug, as an editor of its file would");
  StoreOption(set, *o);
  set.Argument("id", o->id, "The bug");
  set.Text("--state", o->state, "Its new state", "open|duplicate|accepted|fixed");
  set.Text("--of", o->change.duplicate_of, "The bug that it is a duplicate of", "ID");
  set.Text("--reason", o->change.reason, "Why it is accepted");
  set.Text("--until", o->change.until, "The last day (UTC) on which it is accepted", "YYYY-MM-DD");
  set.Text("--in", o->change.fixed_in,
           "From which version on it is fixed, or in which: \"[17.0.9,18) [19,)\"", "VERSION");
  set.Runs(chosen, [o] { return RunSet(*o); });
}

}  // namespace

void AddBugs(CLI::App& app, Invocation& chosen) {
  Verb bugs(app, "bugs",
            "The store of bugs that a team shares, and the bugs that are known of a JDK");
  auto o = std::make_shared<Options>();
  AddMeetingVerbs(bugs, o, chosen);
  AddStateVerbs(bugs, o, chosen);
  Verb check(bugs, "check",
             "Replays all open bugs on a new build, and closes what is proven fixed");
  StoreOption(check, *o);
  BuildOption(check, *o);
  check.Jdks(o->jdks);
  check.Provider(o->provider, true);
  check.Count("--times", o->times, "Least replays of each bug (default 10)", 1, 100000);
  check.Count("--most-times", o->most_times,
              "Most replays that close a bug that shows seldom (default 60)", 1, 100000);
  check.Count("--jobs", o->jobs, "Processes at a time (default 2)", 1, 1000);
  check.Runs(chosen,
             [o](const std::vector<std::string>& jvm_flags) { return RunBugCheck(*o, jvm_flags); });
  AddKnownBugs(bugs, chosen);
}

}  // namespace walkhammer
