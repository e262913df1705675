// SPDX-License-Identifier: Apache-2.0
#include "reports/stress_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

enum class CellClass { kPassed, kOpen, kSkipped, kFailed, kVacuous };

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
    default:
      return CellClass::kFailed;
  }
}

// "3 of 5 cells passed, 1 died, 1 hung"
std::string CellCounts(std::span<const CellSummary> cells, const RunRow& run) {
  size_t passed = 0;
  std::map<std::string, size_t> others;
  for (const CellSummary& cell : cells) {
    if (ClassOf(cell.row, run) == CellClass::kPassed) {
      passed++;
    } else {
      others[CellWord(cell.row, run)]++;
    }
  }
  std::string text = fmt::format("{} of {} passed", Grouped(passed), Counted(cells.size(), "cell"));
  for (const auto& [word, count] : others) text += fmt::format(", {} {}", Grouped(count), word);
  return text;
}

// The first cell of the class `wanted` and the number of others: "a b c: died (why) and 2 more; ".
// "" if there is none.
std::string Culprits(std::span<const CellSummary> cells, const RunRow& run, CellClass wanted) {
  const CellRow* first = nullptr;
  size_t more = 0;
  for (const CellSummary& cell : cells) {
    if (ClassOf(cell.row, run) != wanted) continue;
    if (first == nullptr) {
      first = &cell.row;
    } else {
      more++;
    }
  }
  if (first == nullptr) return "";
  std::string reason = first->reason;
  if (first->status == CellStatus::kPassed) reason = "no walk returned a frame";
  std::string text = fmt::format("{}: {}", CellLabel(*first), CellWord(*first, run));
  if (!reason.empty()) text += fmt::format(" ({})", reason);
  if (more > 0) text += fmt::format(" and {} more", Grouped(more));
  return OnOneLine(text) + "; ";
}

template <typename Row>
Status Distribute(const Result<std::vector<Row>>& rows, std::vector<CellSummary>& cells,
                  std::vector<Row> CellSummary::*member) {
  if (!rows.ok()) return rows.failure();
  std::map<int64_t, CellSummary*> by_position;
  for (CellSummary& cell : cells) by_position[cell.row.position] = &cell;
  for (const Row& row : rows.value())
    if (const auto at = by_position.find(row.cell); at != by_position.end())
      (at->second->*member).push_back(row);
  return Ok();
}

}  // namespace

std::string CellWord(const CellRow& cell, const RunRow& run) {
  if (IsVacuous(cell)) return CellStatusWord(CellStatus::kVacuous);
  if (cell.status == CellStatus::kRunning && !Goes(run)) return "unfinished";
  return CellStatusWord(cell.status);
}

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
    cell.codes = GroupByState(by_label[CellLabel(row)]);
  }
  Status status = Distribute(db.Rows<CellThreadRow>(), cells, &CellSummary::threads);
  if (status.ok()) status = Distribute(db.Rows<AgreementRow>(), cells, &CellSummary::agreement);
  if (status.ok()) status = Distribute(db.Rows<EvidenceRow>(), cells, &CellSummary::evidence);
  if (status.ok()) status = Distribute(db.Rows<WalkEndRow>(), cells, &CellSummary::ends);
  if (status.ok()) status = Distribute(db.Rows<StepRegionRow>(), cells, &CellSummary::regions);
  if (status.ok()) status = Distribute(db.Rows<StepRangeRow>(), cells, &CellSummary::ranges);
  if (!status.ok()) return status.failure();
  ASSIGN_OR_RETURN(const auto stacks, db.CountStacks());
  for (CellSummary& cell : cells)
    for (const StackTotals& totals : stacks)
      if (cell.row.position == totals.cell) cell.stacks = totals;
  return cells;
}

Verdict JudgeCells(const RunRow& run, std::span<const CellSummary> cells, bool fails, bool known,
                   const std::string& found) {
  const std::string counts = CellCounts(cells, run);
  const std::string state = run.status == RunStatus::kCleanEnd || run.status == RunStatus::kVacuous
                                ? std::string()
                                : "; the run " + RunStateText(run);
  const std::string vacuous = Culprits(cells, run, CellClass::kVacuous),
                    failed = Culprits(cells, run, CellClass::kFailed),
                    skipped = Culprits(cells, run, CellClass::kSkipped);
  const bool passed = std::any_of(cells.begin(), cells.end(), [&](const CellSummary& cell) {
    return ClassOf(cell.row, run) == CellClass::kPassed;
  });
  if (fails) return {"FINDINGS", found + "; " + counts + state, ExitCode::kFindings};
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
  return {
      known ? "KNOWN" : "CLEAN",
      fmt::format("{}; {}{}{}", found, counts, walked ? "" : "; nothing was to be walked", state),
      ExitCode::kClean};
}

std::vector<const CellSummary*> CellsByNeed(const RunSummary& summary) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : summary.cells) cells.push_back(&cell);
  std::stable_partition(cells.begin(), cells.end(), [&](const CellSummary* cell) {
    return CellWord(cell->row, summary.run) != CellStatusWord(CellStatus::kPassed);
  });
  return cells;
}

}  // namespace walkhammer
