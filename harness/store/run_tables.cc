// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_tables.h"

#include "harness/base/text.h"

namespace walkhammer {
namespace {

// SQL of a table whose rows have a number within their cell.
template <typename Row>
std::string CreateNumberedTable(const char* table) {
  return CreateTable<Row>(table, ",\n  PRIMARY KEY (cell, id)", "STRICT, WITHOUT ROWID");
}

// SQL of a table whose rows belong to cells; the rowid keeps the order in which rows were written.
template <typename Row>
std::string CreateCellTable(const char* table) {
  return CreateTable<Row>(table) + fmt::format("CREATE INDEX {0}_of_cell ON {0} (cell);\n", table);
}

}  // namespace

std::string RunSchema() {
  return CreateTable<Only<StoredRun>>("run") + CreateTable<StoredBucket>("bucket") +
         CreateTable<StoredFinding>("finding") +
         "CREATE INDEX finding_of_bucket ON finding (bucket, sequence);\n" +
         CreateTable<CountRow>("count", ",\n  PRIMARY KEY (walker, scene, state, region, code)",
                               "STRICT, WITHOUT ROWID") +
         CreateTable<Placed<SceneRow>>("scene") + CreateTable<ProgressRow>("progress") +
         CreateTable<Placed<CoverageFunctionRow>>("coverage_function") +
         CreateTable<Placed<CoverageBlockRow>>("coverage_block") +
         CreateTable<LeftOutRow>("coverage_left_out") + CreateTable<Only<ChurnTotals>>("churn") +
         CreateTable<Only<SettleTotals>>("settle") + CreateTable<CellRow>("cell") +
         CreateCellTable<CellThreadRow>("cell_thread") +
         CreateNumberedTable<StackFrameRow>("stack_frame") +
         CreateNumberedTable<StackNodeRow>("stack") + CreateCellTable<AgreementRow>("agreement") +
         CreateCellTable<EvidenceRow>("evidence") + CreateCellTable<StepRegionRow>("step_region") +
         CreateCellTable<StepRangeRow>("step_range") + CreateCellTable<NoteRow>("note") +
         CreateCellTable<WalkEndRow>("walk_end") + CreateTable<PeriodRow>("period") +
         CreateTable<PeriodCountRow>("period_count",
                                     ",\n  PRIMARY KEY (part, walker, scene, state, region, code)",
                                     "STRICT, WITHOUT ROWID") +
         CreateTable<PeriodTimeRow>("period_time",
                                    ",\n  PRIMARY KEY (part, walker, scene, from_ns)",
                                    "STRICT, WITHOUT ROWID") +
         CreateTable<PeriodBucketRow>("period_bucket", ",\n  PRIMARY KEY (part, bucket)",
                                      "STRICT, WITHOUT ROWID") +
         CreateTable<Placed<PartRow>>("part");
}

RunStatus RunStatusFromWord(std::string_view word) {
  return FromWord(word, RunStatusWord, RunStatus::kVacuous, RunStatus::kFailed);
}

}  // namespace walkhammer
