// SPDX-License-Identifier: Apache-2.0
#include "reports/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/base/json_text.h"
#include "harness/base/numbers.h"
#include "harness/store/run_folders.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 8;

// Adds the run folders in and below `dir` to `found`. What is below a run is the run's; of a night,
// its merged runs count.
void FindRuns(const fs::path& dir, int depth, std::set<std::string>& found) {
  const bool is_night = !GroupsOfNight(dir.string()).empty();
  if (is_night || IsRunFolder(dir.string())) {
    const std::vector<std::string> runs = RunFolders({dir.string()});
    found.insert(runs.begin(), runs.end());
    return;
  }
  if (depth == kMostDepth) return;
  std::error_code error;
  for (fs::directory_iterator at(dir, error), end; !error && at != end; at.increment(error))
    if (fs::is_directory(at->symlink_status(error))) FindRuns(at->path(), depth + 1, found);
}

// What the history keeps of a run.
struct RunPart {
  HistoryRun run;
  std::vector<BucketRow> buckets;
  std::vector<std::string> inputs;  // by bucket
  std::vector<std::string> ids;     // of the runs that the folder holds
};

Result<RunPart> ReadPart(const std::string& dir, const Judging& judging) {
  ASSIGN_OR_RETURN(const auto db, RunReader::Open(dir));
  ASSIGN_OR_RETURN(auto summary, ReadRun(db, judging));
  const RunIdentity& identity = summary.run.identity;
  RunPart part;
  ASSIGN_OR_RETURN(const auto held, db.Parts());
  for (const RunRow& run : held) part.ids.push_back(run.identity.run_id);
  part.run = {dir,
              identity.started_at,
              identity.vm_version,
              identity.walker,
              identity.engine,
              summary.verdict,
              summary.run.totals.walks,
              summary.buckets.size(),
              0,
              SeriesGroupOf(dir, identity)};
  for (const BucketFiles& files : summary.files)
    part.inputs.push_back(files.input.empty() ? "" : dir + "/" + files.input);
  part.buckets = std::move(summary.buckets);
  return part;
}

// Removes folders whose runs others hold, too. A folder that shares some of its runs with another
// is one that cannot be read.
void CountOnce(std::vector<RunPart>& parts, History& history) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const RunPart& a, const RunPart& b) { return a.ids.size() > b.ids.size(); });
  std::map<std::string, std::string> holders;  // folder by run id
  std::erase_if(parts, [&](const RunPart& part) {
    const auto held = std::count_if(part.ids.begin(), part.ids.end(),
                                    [&](const std::string& id) { return holders.contains(id); });
    if (held > 0 && held < static_cast<long>(part.ids.size()))
      history.bad.emplace_back(part.run.dir,
                               BadInput(part.run.dir + " shares some of its runs with another "
                                                       "folder, so they would count twice"));
    if (held == 0)
      for (const std::string& id : part.ids) holders[id] = part.run.dir;
    return held > 0;
  });
}

// Joins the buckets of all runs, which are in their order.
std::vector<HistoryBucket> JoinBuckets(std::vector<RunPart>& parts) {
  std::map<std::tuple<std::string, std::string, std::string>, HistoryBucket> joined;
  for (size_t at = 0; at < parts.size(); at++)
    for (size_t i = 0; i < parts[at].buckets.size(); i++) {
      const BucketRow& row = parts[at].buckets[i];
      const auto [place, is_new] =
          joined.try_emplace({row.oracle, row.outcome, row.signature.title});
      HistoryBucket& bucket = place->second;
      if (is_new) {
        bucket = {row.oracle, row.outcome, row.signature.title, row.grade, row.realism, {}, at, at,
                  0,          ""};
        bucket.seen.resize(parts.size());
        parts[at].run.new_buckets++;
      }
      bucket.realism = std::min(bucket.realism, row.realism);
      bucket.last = at;
      bucket.runs += bucket.seen[at] == 0;
      bucket.seen[at] += std::max<uint64_t>(row.count, 1);
      if (!parts[at].inputs[i].empty()) bucket.input = parts[at].inputs[i];
    }
  std::vector<HistoryBucket> buckets;
  for (auto& [name, bucket] : joined) buckets.push_back(std::move(bucket));
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const HistoryBucket& a, const HistoryBucket& b) {
                     return std::tuple(a.realism, b.grade, b.last, b.runs) <
                            std::tuple(b.realism, a.grade, a.last, a.runs);
                   });
  return buckets;
}

std::string RunWords(const HistoryRun& run) {
  return OnOneLine(fmt::format("{} {}", run.started_at, run.dir));
}

std::string HistoryBucketText(const History& history, const HistoryBucket& bucket) {
  const size_t newer = history.NewerRuns(bucket.last);
  std::string note = history.IsNew(bucket) ? "  NEW in the newest run" : "";
  if (newer > 0) note = fmt::format("  not in the newest {}", Counted(newer, "run"));
  std::string text = fmt::format(
      "  {:<11}  {:<16}  in {} of {}, {} per million walks{}\n      {}\n      {}/{}\n",
      GradeWord(bucket.grade), RealismWord(bucket.realism), Grouped(bucket.runs),
      Counted(history.runs.size(), "run"), Rounded(bucket.PerMillion(history.runs)), note,
      OnOneLine(bucket.title), OnOneLine(bucket.oracle), OnOneLine(bucket.outcome));
  text += fmt::format("      first  {}\n", RunWords(history.runs[bucket.first]));
  text += fmt::format("      last   {}\n", RunWords(history.runs[bucket.last]));
  if (!bucket.input.empty()) text += fmt::format("      input  {}\n", OnOneLine(bucket.input));
  return text;
}

}  // namespace

ExitCode Graver(ExitCode a, ExitCode b) {
  for (const ExitCode code : {ExitCode::kToolFailed, ExitCode::kFindings, ExitCode::kUnable})
    if (a == code || b == code) return code;
  return ExitCode::kClean;
}

size_t History::OlderRuns(size_t at) const {
  return static_cast<size_t>(
      std::count_if(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(at),
                    [&](const HistoryRun& run) { return run.group == runs[at].group; }));
}

size_t History::NewerRuns(size_t at) const {
  return static_cast<size_t>(
      std::count_if(runs.begin() + static_cast<std::ptrdiff_t>(at) + 1, runs.end(),
                    [&](const HistoryRun& run) { return run.group == runs[at].group; }));
}

double HistoryBucket::PerMillion(const std::vector<HistoryRun>& all) const {
  double times = 0, walks = 0;
  for (size_t i = first; i < all.size(); i++) {
    times += static_cast<double>(seen[i]);
    walks += static_cast<double>(all[i].walks);
  }
  return walks == 0 ? 0 : times * 1e6 / walks;
}

Result<History> ReadHistory(const std::vector<std::string>& dirs, const Judging& judging) {
  std::set<std::string> found;
  for (const std::string& dir : dirs) {
    std::error_code error;
    const fs::path path = fs::canonical(dir, error);
    if (error) return BadInput(fmt::format("{}: {}", dir, error.message()));
    FindRuns(path, 0, found);
  }
  History history;
  std::vector<RunPart> parts;
  for (const std::string& dir : found) {
    auto part = ReadPart(dir, judging);
    if (part.ok())
      parts.push_back(std::move(part.value()));
    else
      history.bad.emplace_back(dir, part.failure());
  }
  if (parts.empty() && !history.bad.empty()) return history.bad.front().second;
  if (parts.empty()) return BadInput(fmt::format("{}: no run is in or below it", dirs.front()));
  CountOnce(parts, history);
  std::stable_sort(parts.begin(), parts.end(), [](const RunPart& a, const RunPart& b) {
    return a.run.started_at < b.run.started_at;
  });
  history.buckets = JoinBuckets(parts);
  std::vector<std::string> counted;
  for (const RunPart& part : parts) counted.push_back(part.run.dir);
  history.changes = FindSeriesChanges(counted);
  for (RunPart& part : parts) {
    history.exit = Graver(history.exit, part.run.verdict.exit);
    history.runs.push_back(std::move(part.run));
  }
  return history;
}

std::string HistoryText(const History& history) {
  uint64_t walks = 0;
  for (const HistoryRun& run : history.runs) walks += std::min(run.walks, UINT64_MAX - walks);
  std::string text = fmt::format("{} from {} to {}: {}, {}\n", Counted(history.runs.size(), "run"),
                                 OnOneLine(history.runs.front().started_at),
                                 OnOneLine(history.runs.back().started_at), Counted(walks, "walk"),
                                 Counted(history.buckets.size(), "bucket"));
  for (const auto& [dir, failure] : history.bad)
    text += fmt::format("  not read: {}\n", OnOneLine(failure.message));
  if (!history.changes.empty()) text += "\nChanges\n";
  for (const SeriesChange& change : history.changes)
    text += fmt::format("  {}  {}\n", SeriesChangeWord(change), SeriesChangeText(change));
  text += "\nBuckets\n";
  if (history.buckets.empty()) text += "  none\n";
  for (const HistoryBucket& bucket : history.buckets) text += HistoryBucketText(history, bucket);
  text += "\nRuns\n";
  for (const HistoryRun& run : history.runs)
    text += fmt::format("  {:<11}  {:>15} walks  {:>4} buckets, {:>3} new  {}  {}, {}\n",
                        run.verdict.word, Grouped(run.walks), Grouped(run.buckets),
                        Grouped(run.new_buckets), RunWords(run), OnOneLine(run.walker),
                        OnOneLine(run.vm_version));
  return text;
}

std::string HistoryJson(const History& history) {
  using Json = nlohmann::ordered_json;
  Json runs = Json::array(), buckets = Json::array(), bad = Json::array(), changes = Json::array();
  for (const HistoryRun& run : history.runs)
    runs.push_back({{"dir", run.dir},
                    {"started_at", run.started_at},
                    {"vm_version", run.vm_version},
                    {"walker", run.walker},
                    {"engine", run.engine},
                    {"verdict", run.verdict.word},
                    {"walks", run.walks},
                    {"buckets", run.buckets},
                    {"new_buckets", run.new_buckets}});
  for (const HistoryBucket& bucket : history.buckets)
    buckets.push_back({{"oracle", bucket.oracle},
                       {"outcome", bucket.outcome},
                       {"title", bucket.title},
                       {"grade", std::string(GradeWord(bucket.grade))},
                       {"realism", std::string(RealismWord(bucket.realism))},
                       {"first_run", bucket.first},
                       {"last_run", bucket.last},
                       {"runs", bucket.runs},
                       {"per_million_walks", bucket.PerMillion(history.runs)},
                       {"seen", bucket.seen},
                       {"input", bucket.input.empty() ? Json(nullptr) : Json(bucket.input)}});
  for (const auto& [dir, failure] : history.bad)
    bad.push_back({{"dir", dir}, {"why", failure.message}});
  for (const SeriesChange& change : history.changes)
    changes.push_back({{"group", change.group},
                       {"what", change.what},
                       {"word", SeriesChangeWord(change)},
                       {"drift", change.point.drift},
                       {"ratio", std::exp(change.point.change)},
                       {"p", change.point.p},
                       {"first", change.first.dir},
                       {"first_build", change.first.build},
                       {"before", change.before.dir},
                       {"before_build", change.before.build}});
  const Json json = {{"schema", 1},
                     {"changes", std::move(changes)},
                     {"runs", std::move(runs)},
                     {"buckets", std::move(buckets)},
                     {"not_read", std::move(bad)}};
  return JsonText(json) + "\n";
}

}  // namespace walkhammer
