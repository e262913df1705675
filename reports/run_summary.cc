// SPDX-License-Identifier: Apache-2.0
#include "reports/run_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/findings/crash_folder.h"
#include "harness/hs_err/redact.h"
#include "harness/request/walker_table.h"
#include "reports/coverage_report.h"

namespace walkhammer {
namespace {

// What a run found, in words and as a verdict.
struct Found {
  size_t news = 0, known = 0;  // Forbidden buckets
  std::string text;            // "2 new Forbidden buckets; 20 buckets of 8 known issues"
};

Found CountFound(const RunSummary& summary) {
  Found found;
  size_t lesser = 0, named = 0;
  std::set<std::string> issues;
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    const BucketRow& bucket = summary.buckets[i];
    const bool is_news = WantsSomebody(summary.names[i].word.verdict);
    if (!is_news) {
      named++;
      issues.insert(summary.names[i].word.id);
    }
    if (bucket.grade == Grade::kForbidden) (is_news ? found.news : found.known)++;
    if (is_news && bucket.grade != Grade::kForbidden) lesser++;
  }
  std::vector<std::string> parts;
  if (found.news > 0) parts.push_back(Counted(found.news, "new Forbidden bucket"));
  if (lesser > 0) parts.push_back(Counted(lesser, "new Interesting bucket"));
  if (named > 0)
    parts.push_back(
        fmt::format("{} of {}", Counted(named, "bucket"), Counted(issues.size(), "known issue")));
  found.text = parts.empty() ? "no findings" : fmt::format("{}", fmt::join(parts, "; "));
  return found;
}

enum class CellClass { kPassed, kOpen, kSkipped, kNotMeant, kFailed, kVacuous };

bool Goes(const RunRow& run) { return run.status == RunStatus::kRunning && run.writer_alive; }

CellClass ClassOf(const CellRow& cell, const RunRow& run) {
  if (IsVacuous(cell)) return CellClass::kVacuous;
  switch (cell.status) {
    case CellStatus::kPassed:
      return CellClass::kPassed;
    case CellStatus::kRunning:
      return Goes(run) ? CellClass::kOpen : CellClass::kFailed;
    case CellStatus::kUnavailable:
    case CellStatus::kNotHotspot:
      return CellClass::kSkipped;
    case CellStatus::kNotForJdk:
      return CellClass::kNotMeant;
    default:
      return CellClass::kFailed;
  }
}

// "3 of 5 cells passed, 1 died, 1 hung"
std::string CellCounts(std::span<const CellSummary> cells, const RunRow& run) {
  size_t passed = 0;
  std::map<std::string, size_t> others;
  for (const CellSummary& cell : cells) {
    if (ClassOf(cell.row, run) == CellClass::kPassed)
      passed++;
    else
      others[CellWord(cell.row, run)]++;
  }
  std::string text = fmt::format("{} of {} passed", Grouped(passed), Counted(cells.size(), "cell"));
  for (const auto& [word, count] : others) text += fmt::format(", {} {}", Grouped(count), word);
  return text;
}

// The first cell of the class `wanted` and the number of others: "a b c: died (why) and 2 more; ".
// "" if there is none.
std::string Culprits(std::span<const CellSummary> cells, const RunRow& run, CellClass wanted) {
  const auto is_wanted = [&](const CellSummary& c) { return ClassOf(c.row, run) == wanted; };
  const auto first = std::find_if(cells.begin(), cells.end(), is_wanted);
  if (first == cells.end()) return "";
  const CellRow& row = first->row;
  const auto all = static_cast<uint64_t>(std::count_if(first, cells.end(), is_wanted));
  std::string reason = row.reason;
  if (row.status == CellStatus::kPassed)
    reason =
        row.delivery.successful == 0 ? "no walk returned a frame" : TooFewWalks(row.delivery.walks);
  std::string text = fmt::format("{}: {}", CellLabel(row), CellWord(row, run));
  if (!reason.empty()) text += fmt::format(" ({})", reason);
  if (all > 1) text += fmt::format(" and {} more", Grouped(all - 1));
  return OnOneLine(text) + "; ";
}

// Reads all rows of a type into the cells that the rows name.
template <typename Row>
Status Distribute(const RunReader& db, std::vector<CellSummary>& cells,
                  std::vector<Row> CellSummary::*member) {
  ASSIGN_OR_RETURN(const auto rows, db.Rows<Row>());
  std::map<int64_t, CellSummary*> by_position;
  for (CellSummary& cell : cells) by_position[cell.row.position] = &cell;
  for (const Row& row : rows)
    if (const auto at = by_position.find(row.cell); at != by_position.end())
      (at->second->*member).push_back(row);
  return Ok();
}

// Reads all cells, in their order. `counts`: all counts of the run.
Result<std::vector<CellSummary>> ReadCells(const RunReader& db,
                                           const std::vector<CountRow>& counts) {
  ASSIGN_OR_RETURN(const auto rows, db.Rows<CellRow>());
  std::vector<CellSummary> cells;
  if (rows.empty()) return cells;
  std::map<std::string, std::vector<CountRow>> by_label;
  for (const CountRow& row : counts) by_label[row.scene].push_back(row);
  for (const CellRow& row : rows) {
    CellSummary& cell = cells.emplace_back();
    cell.row = row;
    cell.row.jvm_flags = WithoutSecrets(row.jvm_flags);
    cell.row.reason = WithoutSecrets(row.reason);
    cell.codes = GroupByState(by_label[CellLabel(row)]);
  }
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::threads));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::agreement));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::evidence));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::ends));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::regions));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::ranges));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::frame_places));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::frame_walkers));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::frame_differences));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::frame_predictions));
  RETURN_IF_ERROR(Distribute(db, cells, &CellSummary::frame_refuted));
  ASSIGN_OR_RETURN(const auto stacks, db.CountStacks());
  for (CellSummary& cell : cells)
    for (const StackTotals& totals : stacks)
      if (cell.row.position == totals.cell) cell.stacks = totals;
  return cells;
}

// A walker that has next to no stack of threads in Java, in stress runs: "a b c: agct returned a
// stack in 3 of 16,900 walks of threads in Java; ". Steps may be kept to code that a walker cannot
// walk. "" if there is none.
std::string BlindCells(const RunRow& run, std::span<const CellSummary> cells) {
  constexpr uint64_t kOneOf = 20;  // a walker that sees less is blind
  if (run.identity.Kind() == "step") return "";
  for (const CellSummary& cell : cells)
    for (const StateCodes& state : cell.codes) {
      const auto walker = FindWalker(state.walker);
      if (state.state != "in_Java" || state.walks < kLeastWalks || !walker ||
          AllWalkers()[static_cast<size_t>(*walker)].answers_later)
        continue;
      uint64_t stacks = 0;
      for (const CodeShare& code : state.codes)
        if (code.code == "frames") stacks = code.count;
      if (stacks >= state.walks / kOneOf) continue;
      return OnOneLine(fmt::format("{}: {} returned a stack in {} of {} of threads in Java; ",
                                   CellLabel(cell.row), state.walker, Grouped(stacks),
                                   Counted(state.walks, "walk")));
    }
  return "";
}

// That answers were compared with no truth, as a further clause: "; no truth: ..."; "" if they
// were, or if nobody noted that.
std::string WithoutTruth(const RunSummary& summary) {
  size_t walked = 0, without = 0;
  for (const CellSummary& cell : summary.cells)
    if (cell.row.delivery.walks > 0) {
      walked++;
      without += std::any_of(summary.notes.begin(), summary.notes.end(), [&](const NoteRow& note) {
        return note.cell == cell.row.position && note.kind == NoteKind::kNotInForce &&
               note.name == kTruthNote;
      });
    }
  if (without == 0) return "";
  if (without == walked) return "; no truth: only crashes, hangs and errors were judged";
  return fmt::format("; no truth in {}: only crashes, hangs and errors were judged there",
                     Counted(without, "cell"));
}

// The verdict on a run with cells: FINDINGS if `fails`, or for a cell of BlindCells; else VACUOUS
// for a vacuous cell, FAILED for a failed cell or run, SKIPPED for a skipped cell, or if all
// programs are for other JDKs, VACUOUS if no cell passed, else KNOWN if `known`, else CLEAN, in
// this order. While the run goes on, running cells do not count. `found`: the findings in words.
Verdict JudgeCells(const RunSummary& summary, bool fails, bool known, const std::string& found) {
  const RunRow& run = summary.run;
  const std::span<const CellSummary> cells = summary.cells;
  const std::string truth = WithoutTruth(summary);
  const std::string counts = CellCounts(cells, run);
  const std::string state = run.status == RunStatus::kCleanEnd || run.status == RunStatus::kVacuous
                                ? std::string()
                                : "; the run " + RunStateText(run);
  const std::string vacuous = Culprits(cells, run, CellClass::kVacuous),
                    failed = Culprits(cells, run, CellClass::kFailed),
                    not_meant = Culprits(cells, run, CellClass::kNotMeant);
  const bool passed = std::any_of(cells.begin(), cells.end(), [&](const CellSummary& cell) {
    return ClassOf(cell.row, run) == CellClass::kPassed;
  });
  std::string skipped = Culprits(cells, run, CellClass::kSkipped);
  if (!passed && skipped.empty() && !Goes(run)) skipped = not_meant;
  const std::string blind = BlindCells(run, cells);
  if (fails || !blind.empty())
    return {"FINDINGS", blind + found + "; " + counts + truth + state, ExitCode::kFindings};
  const std::string rest = fmt::format("{}; {}{}", counts, found, state);
  if (!vacuous.empty()) return {"VACUOUS", vacuous + rest, ExitCode::kToolFailed};
  if (!failed.empty() || run.status == RunStatus::kFailed)
    return {"FAILED", failed + rest, ExitCode::kToolFailed};
  if (!skipped.empty()) return {"SKIPPED", skipped + rest, ExitCode::kUnable};
  if (!passed || run.status == RunStatus::kVacuous)
    return {"VACUOUS", (Goes(run) ? "so far no cell has ended; " : "no cell walked; ") + rest,
            ExitCode::kToolFailed};
  const bool walked = std::any_of(cells.begin(), cells.end(), [](const CellSummary& cell) {
    return cell.row.mode != kNoWalkMode;
  });
  return {known ? "KNOWN" : "CLEAN",
          fmt::format("{}; {}{}{}{}", found, counts, walked ? "" : "; nothing was to be walked",
                      truth, state),
          ExitCode::kClean};
}

// Why a run says nothing about the walker; empty if it says something.
std::string WhyVacuous(const RunSummary& summary) {
  const RunTotals& totals = summary.run.totals;
  if (totals.failed_loads && totals.failed_loads->finished != 0 && totals.pristine_walks != 0)
    return totals.failed_loads->loads == 0 ? "no undisturbed walk made a load that can fail" : "";
  if (totals.walks == 0) return "nothing was walked";
  if (totals.walks < kLeastWalks) return TooFewWalks(totals.walks);
  return totals.pristine_walks == 0 ? "no scene was walked undisturbed" : "";
}

// What a walker never did, which no finding tells of; empty if it did.
std::string WhatNeverCame(const RunTotals& totals) {
  // Where each load that fails ends the walk, only undisturbed walks return.
  if (totals.successful == 0 && !totals.failed_loads)
    return fmt::format("none of {} walks returned a frame", Grouped(totals.walks));
  if (totals.pristine_true == 0)
    return fmt::format("none of {} undisturbed walks returned the true stack",
                       Grouped(totals.pristine_walks));
  return "";
}

// What is left of a run in which each load was to fail once; empty: nothing.
std::string UnfailedText(const RunSummary& summary) {
  const auto& loads = summary.run.totals.failed_loads;
  if (!loads || !summary.run.identity.shard.empty()) return "";
  uint64_t all = 0;  // each scene is walked in two states
  for (const SceneRow& scene : summary.scenes) all += scene.available ? 2 : 0;
  if (loads->finished >= all) return "";
  return fmt::format("; the loads of {} of {} undisturbed walks have not all failed",
                     all - loads->finished, all);
}

Verdict Judge(const RunSummary& summary, bool strict) {
  const RunRow& run = summary.run;
  const Found found = CountFound(summary);
  const bool fails = found.news > 0 || (strict && found.known > 0);
  if (!summary.cells.empty()) return JudgeCells(summary, fails, found.known > 0, found.text);
  const std::string state =
      UnfailedText(summary) +
      (run.status == RunStatus::kCleanEnd ? std::string() : "; the run " + RunStateText(run));
  const bool unfinished = run.status == RunStatus::kRunning;
  if (run.status == RunStatus::kFailed)
    return {"FAILED", fmt::format("the run {}; {}", RunStateText(run), found.text),
            ExitCode::kToolFailed};
  if (fails) return {"FINDINGS", found.text + state, ExitCode::kFindings};
  if (const std::string why = WhyVacuous(summary); !why.empty())
    return {"VACUOUS",
            fmt::format("{}{}, so this run says nothing about the walker ({}){}",
                        unfinished ? "so far " : "", why, found.text, unfinished ? state : ""),
            ExitCode::kToolFailed};
  const std::string never = WhatNeverCame(run.totals);
  if (!never.empty() && found.known == 0)
    return {"FINDINGS", fmt::format("{}; {}{}", never, found.text, state), ExitCode::kFindings};
  return {found.known > 0 ? "KNOWN" : "CLEAN", found.text + state, ExitCode::kClean};
}

std::string PlaceText(const RunSummary& summary, const NoteRow& note) {
  for (const CellSummary& cell : summary.cells)
    if (note.cell == cell.row.position) return " in " + OnOneLine(CellLabel(cell.row));
  return "";
}

std::string LineOf(const RunSummary& summary, const NoteRow& note) {
  const std::string detail = note.detail.empty() ? "" : ": " + OnOneLine(note.detail);
  const std::string name = OnOneLine(note.name), place = PlaceText(summary, note);
  switch (note.kind) {
    case NoteKind::kDropped:
      return fmt::format("  dropped: {} {}{}{}\n", Grouped(note.count), name, place, detail);
    case NoteKind::kNotInForce:
      return fmt::format("  not in force: {}{}{}\n", name, place, detail);
    default:
      return fmt::format("  incident: {}x {}{}{}\n", Grouped(note.count), name, place, detail);
  }
}

}  // namespace

std::string CellWord(const CellRow& cell, const RunRow& run) {
  if (IsVacuous(cell)) return CellStatusWord(CellStatus::kVacuous);
  if (cell.status == CellStatus::kRunning && !Goes(run)) return "unfinished";
  return CellStatusWord(cell.status);
}

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

std::string RunStateText(const RunRow& run) {
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
  // Reports round to whole numbers, and a run folder may hold any.
  return std::min(
      1e18, static_cast<double>(run.totals.walks) * 1000 / static_cast<double>(run.totals.time_ms));
}

std::string ReplaysText(const BucketRow& bucket) {
  if (bucket.tries == 0) return "not replayed";
  return fmt::format("replays {}/{}", bucket.confirmed, bucket.tries);
}

std::string ShortName(const KnownAs& name) {
  return WantsSomebody(name.word.verdict) ? "NEW" : name.word.id;
}

std::string NameText(const KnownAs& name) {
  const BugWord& word = name.word;
  std::string text = WantsSomebody(word.verdict) ? "NEW" : "known";
  if (word.verdict == BugVerdict::kReopened)
    text += ": looks like " + word.id;
  else if (!word.id.empty())
    text += fmt::format(": {}, {}", word.id, name.title);
  if (!word.why.empty()) text += " (" + word.why + ")";
  return OnOneLine(text);
}

std::string SinceText(const KnownAs& name) {
  const std::string day = name.first_seen.date.substr(0, kDayLength);
  const std::string& build = name.first_seen.build;
  if (day.empty()) return build.empty() ? "" : "JDK " + build;
  return day + (build.empty() ? "" : " on " + build);
}

std::string CodeNameOf(const std::string& walker, const std::string& code) {
  const std::optional<int> index = FindWalker(walker);
  char* end = nullptr;
  const long number = std::strtol(code.c_str(), &end, 10);
  if (!index || code.empty() || *end != '\0') return "";
  const char* name =
      CodeName(AllWalkers()[static_cast<size_t>(*index)], static_cast<int32_t>(number));
  return name == nullptr ? "not declared" : name;
}

bool IsNews(const BucketRow& bucket, const KnownAs& name) {
  return bucket.grade == Grade::kForbidden && WantsSomebody(name.word.verdict);
}

Result<RunSummary> ReadRun(const RunReader& db, const Judging& judging) {
  RunSummary summary;
  summary.dir = db.dir();
  ASSIGN_OR_RETURN(summary.run, db.Run());
  // The run itself keeps them: the gate replays with them.
  for (std::string* text : {&summary.run.identity.jvm_flags, &summary.run.identity.command_line})
    *text = WithoutSecrets(*text);
  ASSIGN_OR_RETURN(summary.buckets, db.Buckets());
  ASSIGN_OR_RETURN(summary.counts, db.Rows<CountRow>());
  ASSIGN_OR_RETURN(summary.scenes, db.Rows<SceneRow>());
  ASSIGN_OR_RETURN(summary.progress, db.Rows<ProgressRow>());
  ASSIGN_OR_RETURN(summary.coverage, db.Coverage());
  ASSIGN_OR_RETURN(summary.notes, db.Rows<NoteRow>());
  ASSIGN_OR_RETURN(summary.cells, ReadCells(db, summary.counts));
  ASSIGN_OR_RETURN(const auto agreement, db.Rows<AgreementRow>());
  ASSIGN_OR_RETURN(const auto bucket_cells, db.BucketCells());
  for (const AgreementRow& row : agreement)
    if (row.cell == kNoCell) summary.agreement.push_back(row);
  summary.codes = GroupByState(summary.counts);
  std::map<int64_t, KnownAs> names;
  if (judging.known != nullptr) {
    ASSIGN_OR_RETURN(names, judging.known->NamesIn(db, judging.today));
  }
  std::stable_partition(
      summary.buckets.begin(), summary.buckets.end(),
      [&](const BucketRow& bucket) { return WantsSomebody(names[bucket.id].word.verdict); });
  for (const BucketRow& bucket : summary.buckets) summary.names.push_back(names[bucket.id]);
  summary.verdict = Judge(summary, judging.strict);
  for (const BucketRow& bucket : summary.buckets) {
    const auto there = [&](const char* name) {
      std::string path = bucket.folder + "/" + name;
      return access((summary.dir + "/" + path).c_str(), F_OK) == 0 ? path : std::string();
    };
    summary.files.push_back({there(kInputName), there(kMinimizedName)});
    std::vector<int64_t>& seen_by = summary.bucket_cells.emplace_back();
    for (auto at = std::lower_bound(bucket_cells.begin(), bucket_cells.end(),
                                    std::pair(bucket.id, INT64_MIN));
         at != bucket_cells.end() && at->first == bucket.id; ++at)
      seen_by.push_back(at->second);
  }
  return summary;
}

std::vector<const CellSummary*> CellsByNeed(const RunSummary& summary) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : summary.cells) cells.push_back(&cell);
  std::stable_partition(cells.begin(), cells.end(), [&](const CellSummary* cell) {
    return CellWord(cell->row, summary.run) != CellStatusWord(CellStatus::kPassed);
  });
  return cells;
}

std::string LimitsText(const RunSummary& summary) {
  std::string text;
  for (const NoteKind kind : {NoteKind::kDropped, NoteKind::kNotInForce, NoteKind::kIncident})
    for (const NoteRow& note : summary.notes)
      if (note.kind == kind) text += LineOf(summary, note);
  return text;
}

std::string InForceText(const RunSummary& summary) {
  std::set<std::string> names;
  for (const NoteRow& note : summary.notes)
    if (note.kind == NoteKind::kInForce) names.insert(OnOneLine(note.name));
  for (const NoteRow& note : summary.notes)
    if (note.kind == NoteKind::kNotInForce) names.erase(OnOneLine(note.name));
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void HoldToGoal(RunSummary& summary, double percent) {
  CoverageGoal goal{percent, 0, false};
  const CoverageRows& code = summary.coverage;
  std::string words;
  if (code.reason.empty()) {
    const CoverageTotals totals = CountCoverage(code);
    // Minus 1e-6: 29.6 percent of 1,000 are 296 blocks, whatever the last bit of the double is.
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
