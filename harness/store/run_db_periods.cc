// SPDX-License-Identifier: Apache-2.0
// The part of RunDb for counts by period.
#include <optional>
#include <vector>

#include "harness/store/run_tables.h"  // IWYU pragma: keep (its templates)

namespace walkhammer {

Status RunDb::SavePeriods(int64_t cell, const Periods& periods) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  Statement drop(db_, "DELETE FROM period WHERE cell IS ?");
  RETURN_IF_ERROR(drop.Bind(cell == kNoCell ? std::nullopt : std::optional(cell)).Run());
  RETURN_IF_ERROR(InsertAll(Statement(db_, InsertInto<PeriodRow>("period")), periods.Rows(cell)));
  RETURN_IF_ERROR(InsertAll(
      Statement(db_, InsertInto<PeriodCountRow>("period_count", "OR REPLACE")), periods.Counts()));
  RETURN_IF_ERROR(InsertAll(Statement(db_, InsertInto<PeriodTimeRow>("period_time", "OR REPLACE")),
                            periods.Times()));
  RETURN_IF_ERROR(
      InsertAll(Statement(db_, InsertInto<PeriodBucketRow>("period_bucket", "OR REPLACE")),
                periods.Buckets()));
  return transaction.Commit();
}

namespace {

template <typename Row>
Result<std::vector<Row>> ByPart(const Database& db, const char* table, const char* order) {
  return ReadAll<Row>(Statement(
      db, fmt::format("SELECT {} FROM {} ORDER BY part, {}", NamesOf<Row>(), table, order)));
}

}  // namespace

Result<std::vector<PeriodRow>> RunDb::PeriodRows() const {
  return ByPart<PeriodRow>(db_, "period", "cell, position");
}

Result<std::vector<PeriodCountRow>> RunDb::PeriodCounts() const {
  return ByPart<PeriodCountRow>(db_, "period_count", "walker, scene, state, region, code");
}

Result<std::vector<PeriodTimeRow>> RunDb::PeriodTimes() const {
  return ByPart<PeriodTimeRow>(db_, "period_time", "walker, scene, from_ns");
}

Result<std::vector<PeriodBucketRow>> RunDb::PeriodBuckets() const {
  return ByPart<PeriodBucketRow>(db_, "period_bucket", "bucket");
}

}  // namespace walkhammer
