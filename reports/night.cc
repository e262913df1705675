// SPDX-License-Identifier: Apache-2.0
#include "reports/night.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/base/files.h"
#include "harness/base/numbers.h"
#include "harness/base/shell.h"
#include "harness/findings/crash_folder.h"
#include "harness/store/run_folders.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

constexpr size_t kRemembered = 30;        // green nights whose bugs are old
constexpr int kMostNightReplays = 20;     // bugs of a group
constexpr size_t kMostRequests = 5;       // of a bug
constexpr size_t kMostRequest = 1 << 20;  // bytes

// What one group of a night is compared with.
struct GroupBaseline {
  std::string night;               // empty: no earlier night has the group
  std::string build;               // version of its JDK
  bool same = false;               // it walked the same build as this night
  std::set<std::string> accepted;  // signatures, also of green nights before it
};

// A finding's bucket, for what a sighting does not say.
struct BucketPlace {
  std::string folder, oracle;
  int confirmed = -1;
};

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Judges one group of a night.
class GroupJudge {
 public:
  GroupJudge(const NightInput& input, const std::vector<Night>& earlier, const std::string& group)
      : input_(input), earlier_(earlier), group_(group), dir_(GroupFolder(input.dir, group)) {}

  Status Judge(NightVerdict& verdict) {
    ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(dir_));
    db_ = &db;
    ASSIGN_OR_RETURN(run_, db.Run());
    RETURN_IF_ERROR(FindBaseline());
    RETURN_IF_ERROR(ReadBuckets(db));
    ASSIGN_OR_RETURN(const auto sightings, ReadSightings(db));
    for (const Sighting& sighting : sightings) {
      NightBug bug = Say(sighting);
      const bool is_open = bug.says == NightSays::kNew || bug.says == NightSays::kWatch;
      (is_open ? verdict.record.open : verdict.record.accepted)[group_].insert(sighting.signature);
      verdict.known += WantsSomebody(NameOf(sighting).word.verdict) ? 0 : 1;
      if (bug.says != NightSays::kOld) verdict.bugs.push_back(std::move(bug));
    }
    return Compare(verdict);
  }

 private:
  Status FindBaseline() {
    for (const Night& night : earlier_) {
      if (!night.green || !IsRunFolder(GroupFolder(night.dir, group_))) continue;
      base_.night = night.dir;
      break;
    }
    if (base_.night.empty()) return Ok();
    ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(GroupFolder(base_.night, group_)));
    ASSIGN_OR_RETURN(const RunRow run, db.Run());
    base_.build = VersionOfVm(run.identity.vm_version);
    base_.same = IsSame(run.identity, run_.identity);
    size_t green = 0;
    for (const Night& night : earlier_) {
      const auto at = night.record.accepted.find(group_);
      if (!night.green || ++green > kRemembered || at == night.record.accepted.end()) continue;
      base_.accepted.insert(at->second.begin(), at->second.end());
    }
    return Ok();
  }

  // A walker that is not the JDK's own may have changed where the JDK has not.
  static bool IsSame(const RunIdentity& a, const RunIdentity& b) {
    return !a.libjvm_build_id.empty() && a.libjvm_build_id != kNoBuildId &&
           a.libjvm_build_id == b.libjvm_build_id && a.provider == "jdk" && b.provider == "jdk";
  }

  Status ReadBuckets(const RunReader& db) {
    ASSIGN_OR_RETURN(const auto buckets, db.Buckets());
    for (const BucketRow& bucket : buckets)
      places_[bucket.id] = {bucket.folder, bucket.oracle, bucket.confirmed};
    ASSIGN_OR_RETURN(const auto periods, db.Rows<PeriodBucketRow>());
    for (const PeriodBucketRow& row : periods)
      if (std::any_of(row.counts.begin(), row.counts.end(), [](uint64_t seen) { return seen > 0; }))
        runs_[row.bucket].insert(row.part);
    return Ok();
  }

  KnownAs NameOf(const Sighting& sighting) const {
    return input_.known == nullptr ? KnownAs{} : input_.known->NameOf(sighting, input_.today);
  }

  // In how many runs of this night it was seen.
  size_t RunsOf(const Sighting& sighting) const {
    std::set<int64_t> runs;
    for (const int64_t bucket : sighting.buckets)
      if (const auto at = runs_.find(bucket); at != runs_.end())
        runs.insert(at->second.begin(), at->second.end());
    return std::max<size_t>(runs.size(), 1);
  }

  // How many earlier nights saw it, and left it open.
  size_t NightsOf(const Sighting& sighting) const {
    return static_cast<size_t>(
        std::count_if(earlier_.begin(), earlier_.end(), [&](const Night& night) {
          const auto at = night.record.open.find(group_);
          return at != night.record.open.end() && at->second.contains(sighting.signature);
        }));
  }

  // The place of the bucket that replays showed best.
  const BucketPlace& PlaceOf(const Sighting& sighting) const {
    const BucketPlace* best = &nowhere_;
    for (const int64_t bucket : sighting.buckets)
      if (const auto at = places_.find(bucket);
          at != places_.end() && at->second.confirmed > best->confirmed)
        best = &at->second;
    return *best;
  }

  NightBug Describe(const Sighting& sighting, const KnownAs& name) const {
    NightBug bug{NightSays::kOld,
                 group_,
                 sighting.signature,
                 name.word.id,
                 "",
                 sighting.seen.build,
                 dir_,
                 ""};
    const std::string folder = dir_ + "/" + PlaceOf(sighting).folder;
    for (const char* file : {kMinimizedName, kInputName}) {
      const std::string input = folder + "/" + file;
      if (PlaceOf(sighting).folder.empty() || !Exists(input)) continue;
      bug.folder = folder;
      bug.command = fmt::format("walkhammer replay {} --jdk {} --times 10", ShellWord(input),
                                ShellWord(run_.identity.jdk_path));
      if (!sighting.flags.empty()) bug.command += " -- " + sighting.flags;
      return bug;
    }
    bug.command = "walkhammer report " + ShellWord(dir_);
    return bug;
  }

  // Requests that may show it again, each as a sighting without replays; first the one in the crash
  // folder, which the command names.
  Result<std::vector<Sighting>> RequestsOf(const Sighting& sighting) const {
    std::vector<std::string> texts;
    if (const std::string folder = PlaceOf(sighting).folder; !folder.empty())
      texts.push_back(ReadFile(dir_ + "/" + folder + "/" + kInputName, kMostRequest));
    if (sighting.of == 0) texts.push_back(sighting.walk);
    for (const int64_t bucket : sighting.buckets) {
      ASSIGN_OR_RETURN(const auto findings, db_->Findings(bucket));
      for (const FindingRecord& finding : findings) texts.push_back(finding.request);
    }
    std::vector<Sighting> requests;
    for (const std::string& text : texts) {
      if (text.empty() || requests.size() == kMostRequests) continue;
      Sighting& request = requests.emplace_back(sighting);
      request.walk = text;
      request.shown = request.of = 0;
    }
    return requests;
  }

  // The replays of the request that showed it, or of the first one.
  NightReplay Replayed(const Sighting& sighting) {
    NightReplay first{sighting.shown, sighting.of, 0, 0};
    if (!input_.replay || replayed_++ >= kMostNightReplays) return first;
    const std::string before = base_.night.empty() ? "" : GroupFolder(base_.night, group_);
    if (Shown(first)) return input_.replay(sighting, dir_, before);
    const auto requests = RequestsOf(sighting);
    if (!requests.ok()) return first;
    for (const Sighting& request : requests.value()) {
      const NightReplay tally = input_.replay(request, dir_, before);
      if (Shown(tally)) return tally;
      if (first.of == 0) first = tally;
    }
    return first;
  }

  static bool Shown(const NightReplay& tally) {
    return tally.of > 0 && 2 * tally.shown >= tally.of;
  }

  std::string Figures(const Sighting& sighting, const NightReplay& tally) const {
    std::string text = fmt::format("seen {} in {}", Counted(sighting.count, "time"),
                                   Counted(RunsOf(sighting), "run"));
    text += tally.of > 0 ? fmt::format(", replays {} of {}", tally.shown, tally.of)
                         : std::string(", not replayed");
    if (tally.of_before > 0)
      text += fmt::format(", {} of {} on the JDK of the last green night", tally.shown_before,
                          tally.of_before);
    return text;
  }

  // What the policy makes of something new.
  NightSays Effect(const Sighting& sighting) const {
    switch (input_.policy.EffectOf(NewKindOf(PlaceOf(sighting).oracle))) {
      case GateEffect::kFail:
        return NightSays::kNew;
      case GateEffect::kWarn:
        return NightSays::kWatch;
      case GateEffect::kIgnore:
        return NightSays::kOld;
    }
    return NightSays::kNew;
  }

  NightBug Say(const Sighting& sighting) {
    const KnownAs name = NameOf(sighting);
    NightBug bug = Describe(sighting, name);
    const bool expired = name.word.verdict == BugVerdict::kExpired;
    if (base_.accepted.contains(sighting.signature) && !expired) return bug;
    const bool is_news = WantsSomebody(name.word.verdict);
    if (!is_news && !IsBack(sighting)) return SayKnown(sighting, name, std::move(bug));
    const NightReplay tally = Replayed(sighting);
    bug.why = Figures(sighting, tally);
    if (!is_news)
      bug.why = fmt::format("{}, which {} does not have; {}", bug.id, base_.build, bug.why);
    else if (!name.word.why.empty())
      bug.why =
          fmt::format("{}{}{}; {}", bug.id, bug.id.empty() ? "" : " ", name.word.why, bug.why);
    bug.says = NightSays::kWatch;
    // A stress run's finding that leaves no request cannot be replayed: another run confirms it.
    const size_t nights = NightsOf(sighting);
    if (nights > 0) bug.why += fmt::format(", and in {} before", Counted(nights, "night"));
    const bool confirmed = Shown(tally) || nights > 0 || (tally.of == 0 && RunsOf(sighting) > 1);
    if ((tally.shown_before > 0 || (confirmed && base_.same)) && !expired)
      bug.says = NightSays::kFound;
    else if (confirmed)
      bug.says = Effect(sighting);
    return bug;
  }

  // Whether the baseline's build does not have what is known of this one.
  bool IsBack(Sighting sighting) const {
    if (base_.night.empty()) return false;
    sighting.seen.build = base_.build;
    sighting.seen.build_id.clear();
    return WantsSomebody(NameOf(sighting).word.verdict);
  }

  // A known bug is reported once. A crash that looks like one may be another: the JDK of the
  // baseline shows that by not showing it.
  NightBug SayKnown(const Sighting& sighting, const KnownAs& name, NightBug bug) {
    bug.says = base_.night.empty() ? NightSays::kOld : NightSays::kKnown;
    bug.why = fmt::format("{}{}{}; seen {}", name.word.id, name.word.why.empty() ? "" : ", ",
                          name.word.why, Counted(sighting.count, "time"));
    if (base_.night.empty() || NewKindOf(PlaceOf(sighting).oracle) == GateKind::kNewFinding)
      return bug;
    const NightReplay tally = Replayed(sighting);
    if (!Shown(tally) || tally.of_before == 0 || tally.shown_before > 0) return bug;
    bug.says = Effect(sighting);
    bug.why = fmt::format("looks like {}; {}", name.word.id, Figures(sighting, tally));
    return bug;
  }

  // By error codes, times, workloads and coverage. What was found is judged by signature above.
  Status Compare(NightVerdict& verdict) const {
    NightGate gate{group_, base_.night, "", {}, true, ""};
    if (!base_.night.empty()) {
      ASSIGN_OR_RETURN(GateSide before, ReadGateSide({GroupFolder(base_.night, group_)}));
      ASSIGN_OR_RETURN(GateSide now, ReadGateSide({dir_}));
      before.buckets.clear();
      now.buckets.clear();
      const GateVerdict result = JudgeGate(before, now, input_.policy);
      gate.text = GateText(result);
      gate.judged = result.exit != ExitCode::kToolFailed;
      gate.why = result.why;
      for (const GateChange& change : result.changes)
        if (change.effect == GateEffect::kFail) gate.worse.push_back(change);
    }
    verdict.gates.push_back(std::move(gate));
    return Ok();
  }

  const NightInput& input_;
  const std::vector<Night>& earlier_;  // newest first; with a chosen baseline: that one alone
  const std::string& group_;
  const std::string dir_;
  GroupBaseline base_;
  const RunReader* db_ = nullptr;  // of the group's merged run
  RunRow run_;
  std::map<int64_t, BucketPlace> places_;      // by bucket
  std::map<int64_t, std::set<int64_t>> runs_;  // that saw a bucket
  const BucketPlace nowhere_;
  int replayed_ = 0;
};

const IssueReplay* Find(const IssueReplays& replays, const std::string& id) {
  for (const IssueReplay& issue : replays.issues)
    if (issue.id == id) return &issue;
  return nullptr;
}

std::string Replays(const IssueReplay& issue, const std::string& version) {
  return fmt::format("{} of {} replays show it on {}", issue.reproduced, issue.times, version);
}

// Holds the replays of the known issues on one JDK against those of the last green night. An issue
// that the earlier JDK has by its version is not back: a request may need the offsets of one build.
void JudgeIssues(const std::string& jdk, const IssueReplays& now, const Night* night,
                 NightVerdict& verdict) {
  const auto base = night == nullptr ? std::nullopt : ReadIssueReplays(night->dir, jdk);
  std::string shown;
  for (const IssueReplay& issue : now.issues) {
    if (issue.Shows()) shown += (shown.empty() ? "" : ", ") + issue.id;
    const IssueReplay* before = base ? Find(*base, issue.id) : nullptr;
    if (issue.Shows() && issue.by_version == "no" && (before == nullptr || !before->Shows()))
      verdict.issues.push_back({true, issue.id, issue.title,
                                Replays(issue, now.version) + ", which should have the fix"});
    else if (before != nullptr && issue.Shows() && before->Silent() && before->by_version != "yes")
      verdict.issues.push_back(
          {true, issue.id, issue.title,
           Replays(issue, now.version) + ", " + Replays(*before, base->version)});
    else if (before != nullptr && before->Shows() && issue.Silent())
      verdict.issues.push_back(
          {false, issue.id, issue.title,
           Replays(issue, now.version) + ", " + Replays(*before, base->version)});
  }
  if (!shown.empty())
    verdict.shown +=
        fmt::format("{}{} ({}): {}", verdict.shown.empty() ? "" : "; ", jdk, now.version, shown);
}

void JudgeAllIssues(const NightInput& input, const std::vector<Night>& earlier,
                    NightVerdict& verdict, bool& unsure) {
  for (const std::string& jdk : IssueJdksOfNight(input.dir)) {
    const auto night = std::find_if(earlier.begin(), earlier.end(), [&](const Night& each) {
      return each.green && ReadIssueReplays(each.dir, jdk).has_value();
    });
    const Night* base = night == earlier.end() ? nullptr : &*night;
    if (const auto now = ReadIssueReplays(input.dir, jdk)) {
      JudgeIssues(jdk, *now, base, verdict);
      continue;
    }
    verdict.notes.push_back("the known issues could not be replayed on " + jdk);
    unsure = unsure || base != nullptr;
  }
}

// The chosen baseline as a green night: all that it has found is old.
Result<Night> ChosenBaseline(const NightInput& input) {
  std::error_code error;
  if (std::filesystem::equivalent(input.baseline, input.dir, error))
    return BadInput(input.baseline + " is the night itself; --baseline takes another one");
  ASSIGN_OR_RETURN(const std::string start, StartOfNight(input.baseline));
  Night night{input.baseline, true, {start, {}, {}}};
  for (const std::string& group : GroupsOfNight(input.baseline)) {
    ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(GroupFolder(input.baseline, group)));
    ASSIGN_OR_RETURN(const auto sightings, ReadSightings(db));
    for (const Sighting& sighting : sightings)
      night.record.accepted[group].insert(sighting.signature);
  }
  return night;
}

}  // namespace

Result<NightVerdict> JudgeNight(const NightInput& input) {
  NightVerdict verdict;
  ASSIGN_OR_RETURN(verdict.record.started_at, StartOfNight(input.dir));
  std::vector<Night> earlier;
  if (input.baseline.empty()) {
    earlier = NightsBefore(input.nights, verdict.record.started_at, input.dir);
  } else {
    ASSIGN_OR_RETURN(Night chosen, ChosenBaseline(input));
    earlier.push_back(std::move(chosen));
  }
  for (const std::string& group : GroupsOfNight(input.dir))
    RETURN_IF_ERROR(GroupJudge(input, earlier, group).Judge(verdict));
  verdict.failed = input.failed;
  bool unsure = input.failed > 0;
  JudgeAllIssues(input, earlier, verdict, unsure);
  std::vector<std::string> nights = {input.dir};
  for (const Night& night : earlier) nights.push_back(night.dir);
  verdict.changes = FindSeriesChanges(RunFolders(nights));
  std::stable_sort(verdict.bugs.begin(), verdict.bugs.end(),
                   [](const NightBug& a, const NightBug& b) { return a.says < b.says; });
  bool red = !verdict.bugs.empty() && verdict.bugs.front().says == NightSays::kNew;
  for (const NightIssue& issue : verdict.issues) red = red || issue.back;
  for (const NightGate& gate : verdict.gates) {
    red = red || !gate.worse.empty();
    unsure = unsure || !gate.judged;
  }
  verdict.word = red ? "RED" : unsure ? "UNSURE" : "GREEN";
  verdict.exit = red ? ExitCode::kFindings : unsure ? ExitCode::kToolFailed : ExitCode::kClean;
  return verdict;
}

}  // namespace walkhammer
