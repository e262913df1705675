// SPDX-License-Identifier: Apache-2.0
#include "reports/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

#include "harness/base/numbers.h"
#include "harness/store/run_folders.h"
#include "reports/gate_checks.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

constexpr double kFewestSeriesWalks = 1000;  // of a run, for a code
constexpr double kFewestSeriesEvents = 20;   // of a code, as the mean of all runs
constexpr double kFewestSeriesPeriods = 6;   // of a run, for a time
constexpr size_t kFewestSeriesRuns = 2 * kFewestBeside;
const double kLeastSeriesChange = std::log(1.02);

// The values of one code or time, by run.
struct Series {
  Spread spread{};
  double events = 0;  // of a code, in all runs
  bool is_time = false;
  std::vector<size_t> runs;
  std::vector<SeriesPoint> points;

  void Add(size_t run, double value, double variance) {
    runs.push_back(run);
    points.push_back({value, variance + spread.share * spread.share});
  }
};

// All series of one group.
class GroupSeries {
 public:
  explicit GroupSeries(std::string group) : group_(std::move(group)) {}

  void Add(const std::string& dir, const GateSide& side) {
    const RunIdentity& run = side.runs.front().identity;
    runs_.push_back({dir, run.started_at, VersionOfVm(run.vm_version)});
    for (const auto& [stratum, codes] : side.codes)
      for (const auto& [code, counts] : codes)
        if (code != "frames") AddCode(side, stratum, code, counts);
    for (const auto& [walks, values] : side.times) AddTime(walks, values);
  }

  void Find(double alpha, std::vector<SeriesChange>& changes) const {
    for (const auto& [what, series] : all_) {
      if (!Counts(series)) continue;
      for (const ChangePoint& point :
           FindChanges(series.points, {series.spread.degrees, alpha, kLeastSeriesChange}))
        changes.push_back({group_, what, runs_[series.runs[point.first - 1]],
                           runs_[series.runs[point.first]], point, series.runs.size()});
    }
  }

  size_t size() const {
    return static_cast<size_t>(std::count_if(all_.begin(), all_.end(),
                                             [](const auto& each) { return Counts(each.second); }));
  }

 private:
  static bool Counts(const Series& series) {
    const auto runs = static_cast<double>(series.runs.size());
    return series.runs.size() >= kFewestSeriesRuns &&
           (series.is_time || series.events >= kFewestSeriesEvents * runs);
  }

  void AddCode(const GateSide& side, const Stratum& stratum, const std::string& code,
               const SideCounts& counts) {
    const PeriodCount sum = SumOf(counts);
    if (sum.walks < kFewestSeriesWalks) return;
    const std::string name = CodeNameOf(stratum.walker, code);
    Series& series = all_[fmt::format("{}, {}, {}{}{}: {}{}{}", stratum.walker, stratum.workload,
                                      stratum.state, stratum.region.empty() ? "" : ", ",
                                      stratum.region, code, name.empty() ? "" : " ", name)];
    series.spread = side.scenes.contains(stratum.workload) ? kSceneCodeSpread
                    : stratum.region == "library"          ? kLibraryCodeSpread
                                                           : kCodeSpread;
    series.events += sum.events;
    const double within = std::max(WithinRuns(counts, {}).factor, 1 - sum.events / sum.walks);
    // Half an event stands for none, of which there is no logarithm.
    const double events = std::max(sum.events, 0.5);
    series.Add(runs_.size() - 1, std::log(events / sum.walks), within / events);
  }

  void AddTime(const TimedWalks& walks, const SideValues& values) {
    const Means means = MeansOf(values);
    if (means.periods < kFewestSeriesPeriods) return;
    Series& series = all_[walks.Text()];
    series.spread = kTimeSpread;
    series.is_time = true;
    series.Add(runs_.size() - 1, means.mean, VarianceWithin(values, {}).factor / means.periods);
  }

  std::string group_;
  std::vector<SeriesRun> runs_;
  std::map<std::string, Series> all_;
};

}  // namespace

std::string SeriesGroupOf(const std::string& dir, const RunIdentity& run) {
  const std::filesystem::path path(dir);
  if (path.parent_path().filename() == kMergedName) return path.filename().string();
  const std::string version = VersionOfVm(run.vm_version);
  return fmt::format("{}, {}, {}", run.Kind(), run.walker,
                     version.substr(0, version.find_first_of(".+-u")));
}

std::vector<SeriesChange> FindSeriesChanges(const std::vector<std::string>& dirs) {
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> groups;  // start, folder
  for (const std::string& dir : dirs) {
    const auto db = RunReader::Open(dir);
    if (!db.ok()) continue;
    const auto run = db.value().Run();
    if (!run.ok() || run.value().identity.IsGuided()) continue;
    groups[SeriesGroupOf(dir, run.value().identity)].emplace_back(run.value().identity.started_at,
                                                                  dir);
  }
  std::vector<GroupSeries> all;
  size_t tested = 0;
  for (auto& [group, runs] : groups) {
    if (runs.size() < kFewestSeriesRuns) continue;
    std::sort(runs.begin(), runs.end());
    GroupSeries& series = all.emplace_back(group);
    for (const auto& [start, dir] : runs)
      if (const auto side = ReadGateSide({dir}); side.ok()) series.Add(dir, side.value());
    tested += series.size();
  }
  std::vector<SeriesChange> changes;
  const double alpha = GatePolicy().alpha / static_cast<double>(std::max<size_t>(tested, 1));
  for (const GroupSeries& series : all) series.Find(alpha, changes);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const SeriesChange& a, const SeriesChange& b) {
                     return std::tuple(a.point.change <= 0, b.first.started_at) <
                            std::tuple(b.point.change <= 0, a.first.started_at);
                   });
  return changes;
}

const char* SeriesChangeWord(const SeriesChange& change) {
  return change.point.change > 0 ? "worse" : "better";
}

std::string SeriesChangeText(const SeriesChange& change) {
  const double percent = 100 * (std::exp(change.point.change) - 1);
  const auto run = [](const SeriesRun& of) {
    return fmt::format("{} {} ({})", of.started_at, of.dir, of.build);
  };
  return OnOneLine(fmt::format("{}: {} {} {} % in {} runs; first {}; last before it {}",
                               change.group, change.what,
                               change.point.drift ? "drifts by" : "differs by",
                               (percent < 0 ? "-" : "+") + Rounded(std::abs(percent)), change.runs,
                               run(change.first), run(change.before)));
}

}  // namespace walkhammer
