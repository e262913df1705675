// SPDX-License-Identifier: Apache-2.0
// The part of RunMerger for cells, distributions, periods, stacks and notes.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "harness/store/run_merger.h"

namespace walkhammer {
namespace {

// All that cells must have in common to be added up. The label names workload, JDK and profile, and
// CheckAlike has seen that the JDKs are the same builds.
std::string AllThatIsAlike(const CellRow& cell) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{} {}", CellLabel(cell), cell.workload,
                     cell.profile, cell.jvm_flags, cell.walker, cell.mode, cell.sampler,
                     cell.interval_min_ns, cell.interval_max_ns);
}

// Notes of merging that are made anew of the runs that a folder holds.
constexpr char kVacuousRuns[] = "vacuous runs";
constexpr char kAllShards[] = "all shards of seed ";

constexpr char kAddNote[] =
    "ON CONFLICT (IFNULL(cell, -1), kind, name) DO UPDATE SET count = count + excluded.count,"
    " detail = iif(detail = '', excluded.detail, detail)";

// Orders what a verdict makes of cells: the gravest has the highest rank.
int RankOf(CellStatus status) {
  switch (status) {
    case CellStatus::kPassed:
      return 0;
    case CellStatus::kUnavailable:
    case CellStatus::kNotHotspot:
      return 1;
    case CellStatus::kVacuous:
      return 3;
    default:
      return 2;
  }
}

constexpr uint64_t Delivery::*kDeliveryCounts[] = {&Delivery::requested, &Delivery::delivered,
                                                   &Delivery::coalesced, &Delivery::missed,
                                                   &Delivery::walks,     &Delivery::successful};

void ClampDelivery(Delivery& delivery) {
  for (const auto count : kDeliveryCounts) Clamp({&(delivery.*count)});
}

void AddDelivery(const Delivery& more, Delivery& sum) {
  for (const auto count : kDeliveryCounts) sum.*count += more.*count;
}

}  // namespace

bool RunMerger::MoveCell(int64_t& cell) const {
  if (cell == kNoCell) return true;
  const auto at = adding_.cells.find(cell);
  if (at == adding_.cells.end()) return false;
  cell = at->second;
  return true;
}

Status RunMerger::AddCells(const RunDb& from) {
  ASSIGN_OR_RETURN(const auto cells, from.Cells());
  for (const CellRow& cell : cells) RETURN_IF_ERROR(AddCell(cell));
  for (const auto& [there, here] : adding_.cells) stacks_[here].emplace_back(from.dir_, there);
  return Ok();
}

Status RunMerger::AddCell(const CellRow& given) {
  CellRow cell = given;
  ClampDelivery(cell.delivery);
  Clamp(
      {&cell.time_ms, &cell.starts, &cell.contained_crashes, &cell.agent_kib, &cell.output_bytes});
  const auto [place, is_new] = cell_places_.try_emplace(AllThatIsAlike(cell), cells_.size());
  if (is_new) {
    const auto find = [&](const auto& same) {
      return std::any_of(cells_.begin(), cells_.end(), same);
    };
    // Shards have the positions of the whole matrix.
    for (int64_t next = 0; cell.position < 0 || find([&](const CellRow& other) {
                             return other.position == cell.position;
                           });)
      cell.position = next++;
    const std::string stem = cell.label = CellLabel(cell);
    for (int number = 2; find([&](const CellRow& other) { return other.label == cell.label; });)
      cell.label = fmt::format("{} ~{}", stem, number++);
    cells_.push_back(cell);
  } else {
    CellRow& sum = cells_[place->second];
    AddDelivery(cell.delivery, sum.delivery);
    sum.time_ms += cell.time_ms;
    sum.starts += cell.starts;
    sum.contained_crashes += cell.contained_crashes;
    sum.agent_kib = std::max(sum.agent_kib, cell.agent_kib);
    sum.output_bytes += cell.output_bytes;
    if (sum.vm_version.empty()) sum.vm_version = cell.vm_version;
    if (sum.vm_gc.empty()) sum.vm_gc = cell.vm_gc;
    if (RankOf(cell.status) > RankOf(sum.status)) {
      sum.status = cell.status;
      sum.reason = cell.reason;
    }
  }
  const CellRow& here = cells_[place->second];
  adding_.cells[given.position] = here.position;
  adding_.labels[CellLabel(given)] = here.label;
  return out_.SaveCell(here);
}

Status RunMerger::AddCounts(const RunDb& from) {
  return CopyRows<CountRow>(from, "count",
                            "ON CONFLICT (walker, scene, state, region, code) DO UPDATE SET"
                            " count = count + excluded.count",
                            [&](CountRow& row) {
                              if (const auto at = adding_.labels.find(row.scene);
                                  at != adding_.labels.end())
                                row.scene = at->second;
                              Clamp({&row.count});
                              return true;
                            });
}

Status RunMerger::AddCellRows(const RunDb& from) {
  const auto samples = [&](auto& row) {
    Clamp({&row.samples});
    return MoveCell(row.cell);
  };
  RETURN_IF_ERROR(CopyRows<AgreementRow>(
      from, "agreement",
      "ON CONFLICT (IFNULL(cell, -1), walker, other, realism, region, kind) DO UPDATE SET"
      " samples = samples + excluded.samples",
      samples));
  RETURN_IF_ERROR(CopyRows<EvidenceRow>(
      from, "evidence",
      "ON CONFLICT (cell, walker, other, region, kind, witness, against) DO UPDATE SET"
      " samples = samples + excluded.samples",
      samples));
  RETURN_IF_ERROR(CopyRows<WalkEndRow>(
      from, "walk_end",
      "ON CONFLICT (cell, walker, ended) DO UPDATE SET count = count + excluded.count",
      [&](WalkEndRow& row) {
        Clamp({&row.count});
        return MoveCell(row.cell);
      }));
  RETURN_IF_ERROR(CopyRows<StepRegionRow>(
      from, "step_region",
      "ON CONFLICT (cell, kind, name, level) DO UPDATE SET pcs = MAX(pcs, excluded.pcs),"
      " steps = steps + excluded.steps, answered = answered + excluded.answered,"
      " failed = failed + excluded.failed, wrong = wrong + excluded.wrong,"
      " proven = proven + excluded.proven, contradicted = contradicted + excluded.contradicted",
      [&](StepRegionRow& row) {
        Clamp({&row.pcs, &row.steps, &row.answered, &row.failed, &row.wrong, &row.proven,
               &row.contradicted});
        return MoveCell(row.cell);
      }));
  RETURN_IF_ERROR(CopyRows<StepRangeRow>(
      from, "step_range",
      "ON CONFLICT (cell, kind, name, level, answer, first_byte, end_byte) DO UPDATE SET"
      " steps = steps + excluded.steps",
      [&](StepRangeRow& row) {
        Clamp({&row.steps});
        return MoveCell(row.cell);
      }));
  RETURN_IF_ERROR(CopyRows<NoteRow>(from, "note", kAddNote, [&](NoteRow& row) {
    if (row.name == kVacuousRuns || row.name.starts_with(kAllShards)) return false;
    Clamp({&row.count});
    return MoveCell(row.cell);
  }));
  return CopyRows<CellThreadRow>(from, "cell_thread", "", [&](CellThreadRow& row) {
    ClampDelivery(row.delivery);
    return MoveCell(row.cell);
  });
}

// Periods stay apart, by part: how far runs vary must not be lost.
Status RunMerger::AddPeriods(const RunDb& from) {
  const auto move = [&](int64_t& part) {
    if (part < 0 || part >= static_cast<int64_t>(parts_.size()) - adding_.first_part) return false;
    part += adding_.first_part;
    return true;
  };
  RETURN_IF_ERROR(CopyRows<PeriodRow>(
      from, "period", "", [&](PeriodRow& row) { return MoveCell(row.cell) && move(row.part); }));
  const auto relabel = [&](std::string& scene) {
    if (const auto at = adding_.labels.find(scene); at != adding_.labels.end()) scene = at->second;
  };
  RETURN_IF_ERROR(CopyRows<PeriodCountRow>(from, "period_count", "", [&](PeriodCountRow& row) {
    relabel(row.scene);
    return move(row.part);
  }));
  RETURN_IF_ERROR(CopyRows<PeriodTimeRow>(from, "period_time", "", [&](PeriodTimeRow& row) {
    relabel(row.scene);
    return move(row.part);
  }));
  return CopyRows<PeriodBucketRow>(from, "period_bucket", "", [&](PeriodBucketRow& row) {
    const auto at = adding_.buckets.find(row.bucket);
    if (at == adding_.buckets.end()) return false;
    row.bucket = at->second;
    return move(row.part);
  });
}

// One cell at a time, so that memory is that of its tree.
Status RunMerger::SaveAllStacks() {
  for (const auto& [cell, sources] : stacks_) {
    StackTree tree;
    for (const auto& [dir, there] : sources) {
      ASSIGN_OR_RETURN(const RunDb from, RunDb::Open(dir));
      RETURN_IF_ERROR(from.AddStacks(there, tree));
    }
    if (tree.empty()) continue;
    tree.BeginRound();
    ASSIGN_OR_RETURN(const bool all, out_.SaveStacks(cell, tree));
    (void)all;  // without a limit, one call saves all
  }
  return Ok();
}

// What merging itself has to say.
Status RunMerger::AddNotes() {
  std::vector<NoteRow> notes;
  const auto vacuous =
      static_cast<uint64_t>(std::count_if(parts_.begin(), parts_.end(), [](const PartRow& part) {
        return part.status == RunStatus::kVacuous;
      }));
  if (vacuous > 0 && vacuous < parts_.size())
    notes.push_back({kNoCell, NoteKind::kNotInForce, kVacuousRuns, 0,
                     fmt::format("{} of {} say nothing about the walker", vacuous,
                                 Counted(parts_.size(), "merged run"))});
  if (without_coverage_ > 0 && !code_.blocks.empty())
    notes.push_back({kNoCell, NoteKind::kDropped, "coverage of merged runs", without_coverage_,
                     "they have none, or blocks of another build of the walker's code"});
  if (not_copied_ > 0)
    notes.push_back({kNoCell, NoteKind::kDropped, "files of crash folders", not_copied_,
                     "they are no regular files, or larger than 16 MiB"});
  for (const auto& [campaign, indexes] : shards_) {
    const uint64_t shards = std::strtoull(campaign.c_str() + campaign.find(' '), nullptr, 10);
    if (indexes.size() >= shards) continue;
    uint64_t missing = 1;
    while (indexes.contains(missing)) missing++;
    notes.push_back({kNoCell, NoteKind::kNotInForce,
                     kAllShards + campaign.substr(0, campaign.find(' ')), 0,
                     fmt::format("{} of {} shards are here; {}/{} is the first that is missing",
                                 indexes.size(), shards, missing, shards)});
  }
  Statement insert(out_.db_, InsertInto<NoteRow>("note") + " " + kAddNote);
  return InsertAll(std::move(insert), notes);
}

}  // namespace walkhammer
