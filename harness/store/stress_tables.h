// SPDX-License-Identifier: Apache-2.0
// The tables of stress and step runs in run.db, which run_tables.h includes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_STRESS_TABLES_H_
#define WALKHAMMER_HARNESS_STORE_STRESS_TABLES_H_

#include "harness/findings/finding_record.h"
#include "harness/store/columns.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

constexpr auto RealismText(auto& field) { return AsWord<&RealismWord, &RealismFromWord>(field); }

// --- columns -----------------------------------------------------------------------------------

// The cell that a row belongs to.
inline constexpr char kCellColumn[] = "cell";
inline constexpr ColumnInfo kOfCell{.more = "REFERENCES cell (position)"};

template <ARow<Delivery> Row, typename Column>
void Columns(Row& row, Column column) {
  column("requested", row.requested, kSum);
  column("delivered", row.delivered, kSum);
  column("coalesced", row.coalesced, kSum);
  column("missed", row.missed, kSum);
  column("walks", row.walks, kSum);
  column("successful", row.successful, kSum);
}

template <ARow<CellRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("position", row.position, kPrimaryKey);
  column("label", row.label, kUnique);
  column("workload", row.workload);
  column("jdk_path", row.jdk_path);
  column("vm_version", row.vm_version);
  column("vm_gc", row.vm_gc);
  column("profile", row.profile);
  column("jvm_flags", row.jvm_flags);
  column("walker", row.walker);
  column("mode", row.mode);
  column("sampler", row.sampler);
  column("sampler_reason", row.sampler_reason);
  column("clock", row.clock);
  column("interval_min_ns", row.interval_min_ns);
  column("interval_max_ns", row.interval_max_ns);
  column("status", AsWord<&CellStatusWord, &CellStatusFromWord>(row.status));
  column("reason", row.reason);
  column("time_ms", row.time_ms, kSum);
  column("starts", row.starts, kSum);
  Columns(row.delivery, column);
  column("contained_crashes", row.contained_crashes, kSum);
  column("agent_kib", row.agent_kib, kMost);
  column("output_bytes", row.output_bytes, kSum);
}

template <ARow<CellThreadRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("tid", row.tid);
  column("name", row.name);
  column("java", row.java);
  column("cpu_ms", row.cpu_ms);
  Columns(row.delivery, column);
}

template <ARow<StackFrameRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("id", row.id);
  column("name", row.name);
}

template <ARow<StackNodeRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("id", row.id);
  column("parent", row.parent);
  column("frame", row.frame);
  column("count", row.count);
}

// The columns of a query, not of a table.
template <ARow<StackTotals> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell);
  column("distinct", row.distinct);
  column("count", row.count);
}

template <ARow<AgreementRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, AsOrNone<kNoCell>(row.cell), kOfCell);
  column("walker", row.walker);
  column("other", row.other);
  column("realism", RealismText(row.realism));
  column("region", row.region);
  column("kind", row.kind);
  column("samples", row.samples, kSum);
}

template <ARow<EvidenceRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("walker", row.walker);
  column("other", row.other);
  column("region", row.region);
  column("kind", row.kind);
  column("witness", row.witness);
  column("against", row.against);
  column("samples", row.samples, kSum);
}

template <ARow<WalkEndRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("walker", row.walker);
  column("ended", row.end);  // END is a word of SQL's own
  column("count", row.count, kSum);
}

template <ARow<StepRegionRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("kind", row.kind);
  column("name", row.name);
  column("level", row.level);
  column("pcs", row.pcs, kMost);
  column("steps", row.steps, kSum);
  column("answered", row.answered, kSum);
  column("failed", row.failed, kSum);
  column("wrong", row.wrong, kSum);
  column("proven", row.proven, kSum);
  column("contradicted", row.contradicted, kSum);
}

template <ARow<StepRangeRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("kind", row.kind);
  column("name", row.name);
  column("level", row.level);
  column("answer", row.answer);
  column("first_byte", row.begin);
  column("end_byte", row.end);
  column("steps", row.steps, kSum);
  column("disassembly", row.disassembly, kFirst);
}

template <ARow<FramePlaceRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("code", row.code);
  column("place", row.place);
  column("instructions", row.instructions, kMost);
  column("pcs", row.pcs, kMost);
  column("steps", row.steps, kSum);
  column("judged", row.judged, kSum);
  column("agreed", row.agreed, kSum);
  column("disagreed", row.disagreed, kSum);
  column("senders", row.senders, kMost);
  column("sender_agreed", row.sender_agreed, kSum);
  column("sender_disagreed", row.sender_disagreed, kSum);
}

template <ARow<FrameWalkerRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("walker", row.walker);
  column("code", row.code);
  column("place", row.place);
  column("answered", row.answered, kSum);
  column("failed", row.failed, kSum);
  column("wrong", row.wrong, kSum);
  column("proven", row.proven, kSum);
  column("contradicted", row.contradicted, kSum);
}

template <ARow<FrameDifferenceRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("code", row.code);
  column("name", row.name);
  column("level", row.level);
  column("first_byte", row.begin);
  column("place", row.place);
  column("seen", row.seen);
  column("instruction", row.instruction);
  column("steps", row.steps, kSum);
}

template <ARow<FramePredictionRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("walker", row.walker);
  column("code", row.code);
  column("predicted", row.predicted);
  column("rule", row.rule);
  column("instructions", row.instructions, kSum);
  column("pcs", row.pcs, kSum);
  column("confirmed", row.confirmed, kSum);
  column("refuted", row.refuted, kSum);
}

template <ARow<FrameRefutedRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, row.cell, kOfCell);
  column("walker", row.walker);
  column("code", row.code);
  column("name", row.name);
  column("level", row.level);
  column("first_byte", row.begin);
  column("predicted", row.predicted);
  column("rule", row.rule);
  column("place", row.place);
  column("instruction", row.instruction);
  column("proven", row.proven, kSum);
  column("contradicted", row.contradicted, kSum);
  column("failed", row.failed, kSum);
}

// --- tables ------------------------------------------------------------------------------------

template <>
inline constexpr Table kTable<CellRow> = {"cell", "position"};
template <>
inline constexpr Table kTable<CellThreadRow> = {"cell_thread", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<StackFrameRow> = {"stack_frame", "cell, id", Table::kKeyed};
template <>
inline constexpr Table kTable<StackNodeRow> = {"stack", "cell, id", Table::kKeyed};
template <>
inline constexpr Table kTable<AgreementRow> = {"agreement", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<EvidenceRow> = {"evidence", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<WalkEndRow> = {"walk_end", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<StepRegionRow> = {"step_region", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<StepRangeRow> = {"step_range", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<FramePlaceRow> = {"frame_place", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<FrameWalkerRow> = {"frame_walker", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<FrameDifferenceRow> = {"frame_difference", "cell, rowid",
                                                     Table::kOfCell};
template <>
inline constexpr Table kTable<FramePredictionRow> = {"frame_prediction", "cell, rowid",
                                                     Table::kOfCell};
template <>
inline constexpr Table kTable<FrameRefutedRow> = {"frame_refuted", "cell, rowid", Table::kOfCell};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_STRESS_TABLES_H_
