#include "reports/run_summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/findings/crash_folder.h"
#include "harness/request/walker_table.h"
#include "reports/coverage_text.h"
#include "reports/stress_summary.h"

namespace walkhammer {
namespace {

std::string CodeNameOf(const std::string& walker, const std::string& code) {
  const std::optional<int> index = FindWalker(walker);
  char* end = nullptr;
  const long number = std::strtol(code.c_str(), &end, 10);
  if (!index || code.empty() || *end != '\0') return "";
  const char* name =
      CodeName(AllWalkers()[static_cast<size_t>(*index)], static_cast<int32_t>(number));
  return name == nullptr ? "not declared" : name;
}

std::string BucketCounts(const std::vector<BucketRow>& buckets) {
  std::string text;
  for (const Grade grade : {Grade::kForbidden, Grade::kInteresting, Grade::kAcceptable}) {
    const auto count = std::count_if(buckets.begin(), buckets.end(),
                                     [&](const BucketRow& b) { return b.grade == grade; });
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, GradeWord(grade));
  }
  if (text.empty()) return "no findings";
  return text + (buckets.size() == 1 ? " bucket" : " buckets");
}

Verdict Judge(const RunRow& run, const std::vector<BucketRow>& buckets,
              std::span<const CellSummary> cells) {
  const RunTotals& totals = run.totals;
  const std::string found = BucketCounts(buckets);
  const bool forbidden = !buckets.empty() && buckets.front().grade == Grade::kForbidden;
  if (!cells.empty()) return JudgeCells(run, cells, forbidden, found);
  const std::string state =
      run.status == RunStatus::kCleanEnd ? std::string() : "; the run " + RunStateWords(run);
  const bool unfinished = run.status == RunStatus::kRunning;
  if (totals.pristine_true == 0 || totals.successful == 0 || run.status == RunStatus::kVacuous) {
    std::string why;
    if (totals.walks == 0) {
      why = "nothing was walked";
    } else if (totals.successful == 0) {
      why = fmt::format("none of {} walks returned a frame", totals.walks);
    } else {
      why = fmt::format("none of {} pristine walks returned the true stack", totals.pristine_walks);
    }
    return {"VACUOUS",
            fmt::format("{}{}, so this run says nothing about the walker ({}){}",
                        unfinished ? "so far " : "", why, found, unfinished ? state : ""),
            ExitCode::kToolFailed};
  }
  if (run.status == RunStatus::kFailed)
    return {"FAILED", fmt::format("the run {}; {}", RunStateWords(run), found),
            ExitCode::kToolFailed};
  return {forbidden ? "FINDINGS" : "CLEAN", found + state,
          forbidden ? ExitCode::kFindings : ExitCode::kClean};
}

}  // namespace

std::vector<StateCodes> GroupByState(const std::vector<CountRow>& counts) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, uint64_t>> groups;
  for (const CountRow& row : counts) groups[{row.walker, row.state}][row.code] += row.count;
  std::vector<StateCodes> states;
  for (const auto& [name, codes] : groups) {
    StateCodes state{name.first, name.second, 0, {}};
    for (const auto& [code, count] : codes) state.walks += count;
    for (const auto& [code, count] : codes)
      state.codes.push_back({code, CodeNameOf(state.walker, code), count,
                             static_cast<double>(count) / static_cast<double>(state.walks)});
    std::stable_sort(state.codes.begin(), state.codes.end(),
                     [](const CodeShare& a, const CodeShare& b) { return a.count > b.count; });
    states.push_back(std::move(state));
  }
  std::stable_sort(states.begin(), states.end(),
                   [](const StateCodes& a, const StateCodes& b) { return a.walks > b.walks; });
  return states;
}

std::string RunStateWords(const RunRow& run) {
  const std::string reason = run.reason.empty() ? "" : ": " + run.reason;
  switch (run.status) {
    case RunStatus::kRunning:
      return run.writer_alive ? "is still going" : "was killed before it could finish";
    case RunStatus::kCleanEnd:
      return "ended";
    case RunStatus::kInterrupted:
      return "was interrupted" + reason;
    case RunStatus::kFailed:
      return "failed" + reason;
    case RunStatus::kVacuous:
      return "was vacuous" + reason;
  }
  return "failed";
}

double RunSummary::WalksPerSecond() const {
  if (run.totals.time_ms == 0) return 0;
  return static_cast<double>(run.totals.walks) * 1000 / static_cast<double>(run.totals.time_ms);
}

Result<RunSummary> ReadRun(const RunDb& db) {
  RunSummary summary;
  summary.dir = db.dir();
  Result<RunRow> run = db.Run();
  if (!run.ok()) return run.failure();
  Result<std::vector<BucketRow>> buckets = db.Buckets();
  if (!buckets.ok()) return buckets.failure();
  Result<std::vector<CountRow>> counts = db.Counts();
  if (!counts.ok()) return counts.failure();
  Result<std::vector<SceneRow>> scenes = db.Scenes();
  if (!scenes.ok()) return scenes.failure();
  Result<std::vector<ProgressRow>> progress = db.Progress();
  if (!progress.ok()) return progress.failure();
  Result<CoverageRows> coverage = db.Coverage();
  if (!coverage.ok()) return coverage.failure();
  Result<std::vector<CellSummary>> cells = ReadCells(db, counts.value());
  if (!cells.ok()) return cells.failure();
  const Result<std::vector<AgreementRow>> agreement = db.Agreement();
  if (!agreement.ok()) return agreement.failure();
  const auto bucket_cells = db.BucketCells();
  if (!bucket_cells.ok()) return bucket_cells.failure();
  summary.run = std::move(run.value());
  summary.buckets = std::move(buckets.value());
  summary.counts = std::move(counts.value());
  summary.scenes = std::move(scenes.value());
  summary.progress = std::move(progress.value());
  summary.coverage = std::move(coverage.value());
  summary.cells = std::move(cells.value());
  for (const AgreementRow& row : agreement.value())
    if (row.cell == kNoCell) summary.agreement.push_back(row);
  summary.codes = GroupByState(summary.counts);
  summary.verdict = Judge(summary.run, summary.buckets, summary.cells);
  for (const BucketRow& bucket : summary.buckets) {
    const auto there = [&](const char* name) {
      std::string path = bucket.folder + "/" + name;
      return access((summary.dir + "/" + path).c_str(), F_OK) == 0 ? path : std::string();
    };
    summary.files.push_back({there(kInputName), there(kMinimizedName)});
    std::vector<int64_t>& seen_by = summary.bucket_cells.emplace_back();
    for (const auto& [id, cell] : bucket_cells.value())
      if (id == bucket.id) seen_by.push_back(cell);
  }
  return summary;
}

void HoldToGoal(RunSummary& summary, double percent) {
  CoverageGoal goal{percent, 0, false};
  const CoverageRows& code = summary.coverage;
  std::string words;
  if (code.reason.empty()) {
    const CoverageTotals totals = CountCoverage(code);
    // 29.6 percent of 1,000 are 296 blocks, whatever the last bit of a double says.
    goal.needed = static_cast<uint64_t>(
        std::max(1.0, std::ceil(percent * static_cast<double>(totals.blocks) / 100 - 1e-6)));
    goal.met = totals.reached >= goal.needed;
    words = fmt::format("coverage is {} its goal of {:g} % ({}): {}", goal.met ? "at" : "below",
                        percent, Counted(goal.needed, "block"), CoverageSentence(code));
  } else {
    words = fmt::format("its goal of {:g} % was not measured, there is no coverage: {}", percent,
                        code.reason);
  }
  Verdict& verdict = summary.verdict;
  verdict.sentence += "; " + words;
  if (verdict.exit == ExitCode::kClean && !goal.met) {
    const bool measured = code.reason.empty();
    verdict.word = measured ? "BELOW GOAL" : "NO COVERAGE";
    verdict.exit = measured ? ExitCode::kFindings : ExitCode::kUnable;
  }
  summary.goal = goal;
}

}  // namespace walkhammer
