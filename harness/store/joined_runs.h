// SPDX-License-Identifier: Apache-2.0
// JoinedRuns: the tables of many runs as one set of tables, in a temporary database that SQLite
// keeps on disk beyond 2 MB. Each table has the columns that it has in run.db, by what this build
// reads, and before them `run`, the number of the run. Private to QueryRuns. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_JOINED_RUNS_H_
#define WALKHAMMER_HARNESS_STORE_JOINED_RUNS_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/store/run_db.h"

namespace walkhammer {

class JoinedRuns {
 public:
  // Makes all tables, empty, and the views.
  static Result<JoinedRuns> Make();

  // Copies those of the tables named `tables` of the run in `dir`, as the next run, from 1.
  // `go_on` is asked now and then; its failure ends the copying.
  Status Add(const std::string& dir, const std::set<std::string>& tables,
             const std::function<Status()>& go_on);

  // Those of `tables` that have no row.
  std::vector<std::string> Empty(const std::set<std::string>& tables) const;
  Database& db() { return db_; }

 private:
  struct Table;
  class Rows;
  static std::vector<Table> Tables();
  template <typename Row>
  static Table PlainTable(const char* name, int since);
  template <typename Row>
  static Status CopyRows(const RunDb& from, const char* table, int since, Rows& to);
  static Status CopyRun(const RunDb& from, Rows& to);
  static Status CopySettle(const RunDb& from, Rows& to);
  static Status CopyChurn(const RunDb& from, Rows& to);
  static Status CopyBuckets(const RunDb& from, Rows& to);
  static Status CopyCells(const RunDb& from, Rows& to);
  static Status CopyFrames(const RunDb& from, Rows& to);
  static Status CopyStacks(const RunDb& from, Rows& to);
  // Fails if a run of `from` is here already.
  Status CountOnce(const RunDb& from);

  Database db_;
  int64_t runs_ = 0;
  std::map<std::string, std::string> holders_;  // folder by run id
  std::set<std::string> filled_;                // tables with rows
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_JOINED_RUNS_H_
