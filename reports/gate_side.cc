// SPDX-License-Identifier: Apache-2.0
#include "reports/gate_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "harness/base/walk_time.h"
#include "harness/bugs/runs/sighting.h"
#include "harness/findings/crash_folder.h"
#include "harness/store/run_folders.h"

namespace walkhammer {
namespace {

constexpr size_t kMostPeriods =
    4096;                         // a run has at most Periods::kMost; an untrusted one may say more
constexpr double kFastest = 0.1;  // share of a period's walks whose time counts
constexpr double kFewestTimedWalks = 50;  // walks of a period whose mean counts

// How often a time was taken, by period.
using TimeSlots = std::map<uint64_t, std::vector<uint64_t>>;

uint64_t At(const std::vector<uint64_t>& counts, size_t period) {
  return period < counts.size() ? counts[period] : 0;
}

// Logarithm of the time that the fastest tenth of a period's walks took at most; nullopt: too few.
std::optional<double> LogOfFastest(const TimeSlots& slots, size_t period) {
  double walks = 0, before = 0;
  for (const auto& [from_ns, counts] : slots) walks += static_cast<double>(At(counts, period));
  if (walks < kFewestTimedWalks) return std::nullopt;
  for (const auto& [from_ns, counts] : slots) {
    const auto here = static_cast<double>(At(counts, period));
    if (here > 0 && before + here >= kFastest * walks) {
      const int slot = TimeSlotOf(from_ns);
      return std::log(std::lerp(static_cast<double>(TimeSlotBegin(slot)),
                                static_cast<double>(TimeSlotBegin(slot + 1)),
                                (kFastest * walks - before) / here));
    }
    before += here;
  }
  return std::nullopt;
}

// The lower half of the values, in their order.
RunValues LowerHalf(const RunValues& values) {
  RunValues sorted = values;
  std::sort(sorted.begin(), sorted.end());
  RunValues lower;
  for (const double value : values)
    if (value <= sorted[(sorted.size() - 1) / 2]) lower.push_back(value);
  return lower;
}

// Reads one run into a side.
class SideReader {
 public:
  SideReader(const RunReader& db, GateSide& side) : db_(db), side_(side), run_(side.runs.size()) {}

  Status Read() {
    ASSIGN_OR_RETURN(const RunRow run, db_.Run());
    if (run.status == RunStatus::kRunning)
      return BadInput(db_.dir() + ": this run was killed before it could finish; make it again");
    ASSIGN_OR_RETURN(const auto parts, db_.Parts());
    for (const RunRow& part : parts) {
      side_.dirs.push_back(db_.dir());
      is_guided_.push_back(part.identity.IsGuided());
      side_.guided += part.identity.IsGuided() ? 1 : 0;
      side_.runs.push_back(part);
    }
    parts_ = parts.size();
    side_.walks += run.totals.walks;
    side_.successful += run.totals.successful;
    RETURN_IF_ERROR(ReadWorkloads());
    RETURN_IF_ERROR(ReadPeriods());
    RETURN_IF_ERROR(ReadCodes());
    RETURN_IF_ERROR(ReadTimes());
    RETURN_IF_ERROR(ReadBuckets());
    RETURN_IF_ERROR(ReadAnswersOf(run.identity));
    return ReadCoverage();
  }

 private:
  Status ReadWorkloads() {
    ASSIGN_OR_RETURN(const auto cells, db_.Rows<CellRow>());
    for (const CellRow& cell : cells) {
      const std::string workload = cell.workload + " " + cell.profile;
      if (!taken_.insert(workload).second)
        return BadInput(
            fmt::format("{}: has \"{}\" more than once, on several JDKs; give runs of one JDK each",
                        db_.dir(), workload));
      workload_of_[CellLabel(cell)] = workload;
      cell_of_[CellLabel(cell)] = cell.position;
      if (cell.status == CellStatus::kPassed && !IsVacuous(cell)) continue;
      side_.not_walked[workload] = fmt::format("{}{}{}", CellStatusWord(cell.status),
                                               cell.reason.empty() ? "" : ": ", cell.reason);
    }
    ASSIGN_OR_RETURN(const auto scenes, db_.Rows<SceneRow>());
    for (const SceneRow& scene : scenes) {
      if (!scene.IsAsked()) continue;
      taken_.insert(scene.name);
      side_.scenes.insert(scene.name);
      if (!scene.available) side_.not_walked[scene.name] = "not available: " + scene.reason;
      if (scene.available && !scene.pristine_true) side_.untrue.insert(scene.name);
    }
    side_.walked.insert(taken_.begin(), taken_.end());
    return Ok();
  }

  // For a run that is not merged.
  Status ReadAnswersOf(const RunIdentity& identity) {
    if (parts_ != 1 || identity.walker.find(',') != std::string::npos) return Ok();
    ASSIGN_OR_RETURN(auto answers, ReadAnswers(db_.dir()));
    if (!answers.empty()) side_.answers[run_] = std::move(answers);
    return Ok();
  }

  Status ReadPeriods() {
    ASSIGN_OR_RETURN(const auto rows, db_.Rows<PeriodRow>());
    for (const PeriodRow& row : rows) {
      size_t& periods = periods_[{row.part, row.cell}];
      periods = std::min(kMostPeriods, periods + 1);
    }
    for (size_t part = 0; part < parts_; part++)
      side_.periods += std::max<size_t>(1, PeriodsOf(part, kNoCell));
    return Ok();
  }

  size_t PeriodsOf(size_t part, int64_t cell) const {
    const auto at = periods_.find({static_cast<int64_t>(part), cell});
    return at == periods_.end() ? 0 : at->second;
  }
  size_t PeriodsOf(size_t part, const std::string& scene) const {
    const auto at = cell_of_.find(scene);
    return PeriodsOf(part, at == cell_of_.end() ? kNoCell : at->second);
  }
  // An untrusted file may name any part.
  std::optional<size_t> PartOf(int64_t part) const {
    if (part < 0 || part >= static_cast<int64_t>(parts_)) return std::nullopt;
    return static_cast<size_t>(part);
  }
  // nullopt also of a guided run.
  std::optional<size_t> CountedPart(int64_t part) const {
    const auto at = PartOf(part);
    return at && !is_guided_[*at] ? at : std::nullopt;
  }
  const std::string& WorkloadOf(const std::string& scene) const {
    const auto at = workload_of_.find(scene);
    return at == workload_of_.end() ? scene : at->second;
  }

  Status ReadCodes() {
    ASSIGN_OR_RETURN(const auto rows, db_.Rows<PeriodCountRow>());
    for (const PeriodCountRow& row : rows) {
      const std::optional<size_t> part = CountedPart(row.part);
      if (!part) continue;
      const size_t run = run_ + *part;
      const size_t periods = PeriodsOf(*part, row.scene);
      SideCounts& side =
          side_.codes[{row.walker, WorkloadOf(row.scene), row.state, row.region}][row.code];
      side.resize(std::max(side.size(), run + 1));
      side[run].resize(std::max(side[run].size(), periods));
      for (size_t i = 0; i < periods; i++)
        side[run][i].events += static_cast<double>(At(row.counts, i));
    }
    return Ok();
  }

  Status ReadTimes() {
    ASSIGN_OR_RETURN(const auto rows, db_.Rows<PeriodTimeRow>());
    std::map<std::tuple<size_t, std::string, std::string, int64_t>, TimeSlots> all;
    for (const PeriodTimeRow& row : rows)
      if (const auto part = CountedPart(row.part))
        all[{*part, row.walker, row.scene, row.least_frames}][row.from_ns] = row.counts;
    for (const auto& [key, slots] : all) {
      const auto& [part, walker, scene, least_frames] = key;
      SideValues& side = side_.times[{walker, WorkloadOf(scene), least_frames}];
      side.resize(std::max(side.size(), run_ + part + 1));
      RunValues values;
      for (size_t i = 0; i < PeriodsOf(part, scene); i++)
        if (const std::optional<double> value = LogOfFastest(slots, i)) values.push_back(*value);
      side[run_ + part] = LowerHalf(values);
    }
    return Ok();
  }

  Status ReadBuckets() {
    ASSIGN_OR_RETURN(const auto buckets, db_.Buckets());
    ASSIGN_OR_RETURN(const auto seen, db_.Rows<PeriodBucketRow>());
    std::map<int64_t, std::vector<const PeriodBucketRow*>> times;
    for (const PeriodBucketRow& row : seen) times[row.bucket].push_back(&row);
    for (const BucketRow& row : buckets) {
      if (row.grade != Grade::kForbidden) continue;
      GateBucket& bucket = side_.buckets[row.signature.title];
      if (bucket.periods.empty() || row.confirmed > bucket.row.confirmed) {
        bucket.row = row;
        const std::string input = db_.dir() + "/" + row.folder + "/" + kInputName;
        std::error_code error;
        bucket.input = std::filesystem::exists(input, error) ? input : "";
      }
      bucket.seen += row.count;
      for (const PeriodBucketRow* in : times[row.id])
        if (const auto part = PartOf(in->part))
          for (size_t i = 0; i < std::min(in->counts.size(), PeriodsOf(*part, kNoCell)); i++)
            if (in->counts[i] > 0) bucket.periods.emplace(run_ + *part, i);
      if (bucket.periods.lower_bound({run_, 0}) == bucket.periods.end())
        bucket.periods.emplace(run_, 0);  // when is not known
    }
    return Ok();
  }

  Status ReadCoverage() {
    ASSIGN_OR_RETURN(const auto code, db_.Coverage());
    if (!code.reason.empty() || code.blocks.empty()) return Ok();
    uint64_t reached = 0;
    std::set<std::string> functions;
    for (const CoverageBlockRow& block : code.blocks) {
      if (!block.first_ms) continue;
      reached++;
      if (block.function < code.functions.size())
        functions.insert(code.functions[block.function].name);
    }
    for (const CoverageFunctionRow& function : code.functions) side_.functions[function.name] += 0;
    for (const std::string& name : functions) side_.functions[name]++;
    side_.coverage.push_back(static_cast<double>(reached) /
                             static_cast<double>(code.blocks.size()));
    return Ok();
  }

  const RunReader& db_;
  GateSide& side_;
  size_t run_;                   // of the first part; each part counts as a run
  size_t parts_ = 1;             // runs that the folder holds
  std::vector<bool> is_guided_;  // by part
  std::set<std::string> taken_;
  std::map<std::string, std::string> workload_of_;  // by label of the cell
  std::map<std::string, int64_t> cell_of_;
  std::map<std::pair<int64_t, int64_t>, size_t> periods_;  // by part and cell
};

// What should be the same in all runs of a side.
void NoteDifferences(GateSide& side) {
  const auto note = [&](const char* what, std::string RunIdentity::*field) {
    std::set<std::string> values;
    for (const RunRow& run : side.runs)
      if (const std::string& value = run.identity.*field; !value.empty() && value != "none")
        values.insert(value);
    if (values.size() < 2) return;
    std::string text = fmt::format("the runs of one side differ in {}:", what);
    for (const std::string& value : values) text += fmt::format(" \"{}\"", value);
    side.differences.push_back(text);
  };
  note("the JDK", &RunIdentity::jdk_path);
  note("the build of libjvm", &RunIdentity::libjvm_build_id);
  note("the walkers", &RunIdentity::walker);
  note("the flags", &RunIdentity::jvm_flags);
}

}  // namespace

void FillWalks(CodeCounts& codes, size_t runs) {
  std::vector<size_t> periods(runs);
  for (auto& [code, side] : codes) {
    side.resize(runs);
    for (size_t run = 0; run < runs; run++) periods[run] = std::max(periods[run], side[run].size());
  }
  for (size_t run = 0; run < runs; run++) {
    for (auto& [code, side] : codes) side[run].resize(periods[run]);
    for (size_t i = 0; i < periods[run]; i++) {
      double walks = 0;
      for (const auto& [code, side] : codes) walks += side[run][i].events;
      for (auto& [code, side] : codes) side[run][i].walks = walks;
    }
  }
}

std::string TimedWalks::Text() const {
  std::string text = fmt::format("walks of {}, {}", walker, workload);
  if (least_frames == 0) return text;
  if (least_frames == 1) return text + ", at most 1 frame";
  if (DepthClassOf(static_cast<int>(least_frames)) == kDepthClasses - 1)
    return text + fmt::format(", {} or more frames", least_frames);
  return text + fmt::format(", {} to {} frames", least_frames, 2 * least_frames - 1);
}

uint64_t GateBucket::Runs() const {
  std::set<size_t> runs;
  for (const auto& [run, period] : periods) runs.insert(run);
  return runs.size();
}

Result<GateSide> ReadGateSide(const std::vector<std::string>& dirs) {
  GateSide side;
  for (const std::string& dir : RunFolders(dirs)) {
    ASSIGN_OR_RETURN(const RunReader db, RunReader::OpenEnded(dir));
    RETURN_IF_ERROR(SideReader(db, side).Read());
  }
  for (auto& [stratum, codes] : side.codes) FillWalks(codes, side.runs.size());
  for (auto& [key, values] : side.times) values.resize(side.runs.size());
  NoteDifferences(side);
  return side;
}

Status ReadBugWords(const KnownBugs& known, const Day& today, const std::string& build,
                    const std::string& other, GateSide& side) {
  std::map<std::string, std::pair<BugWord, BugWord>> words;  // by title
  for (const std::string& dir : std::set<std::string>(side.dirs.begin(), side.dirs.end())) {
    ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(dir));
    ASSIGN_OR_RETURN(const auto sightings, ReadSightings(db, build));
    for (Sighting sighting : sightings) {
      const BugWord word = known.NameOf(sighting, today).word;
      sighting.seen.build = other;
      sighting.seen.build_id.clear();
      const BugWord on_other = known.NameOf(sighting, today).word;
      for (const std::string& title : sighting.titles) {
        const auto [at, is_first] = words.try_emplace(title, word, on_other);
        if (!is_first && word.verdict < at->second.first.verdict) at->second = {word, on_other};
      }
    }
  }
  for (auto& [title, bucket] : side.buckets)
    if (const auto at = words.find(title); at != words.end())
      std::tie(bucket.word, bucket.on_other) = at->second;
  return Ok();
}

}  // namespace walkhammer
