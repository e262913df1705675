// SPDX-License-Identifier: Apache-2.0
// Questions to many runs at once: their tables, joined, and one SELECT over them. A run may be a
// stranger's, and the SQL can change nothing: see docs/run-folder.md, which describes the tables.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_QUERY_H_
#define WALKHAMMER_HARNESS_STORE_RUN_QUERY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

// A question that has a name.
struct RunQuestion {
  std::string_view name;
  std::string_view what;  // one sentence
  const char* sql;
};
std::span<const RunQuestion> RunQuestions();

struct QueryLimits {
  std::chrono::nanoseconds time = std::chrono::seconds(60);  // for reading the runs and answering
  uint64_t rows = 1000;               // of the answer; further ones are left out
  std::function<bool()> interrupted;  // true: give up; may be empty
};

// std::monostate: NULL. A blob is text, two hex digits a byte.
using QueryValue = std::variant<std::monostate, int64_t, double, std::string>;

struct QueryAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
  bool more = false;               // rows were left out
  std::vector<std::string> empty;  // tables that the SQL reads and that no run has a row in
};

// Runs `sql`, one SELECT, over the runs in `dirs`, of which it copies the tables that the SQL reads
// into a temporary file; memory does not grow with the number of runs. Fails with kBadInput if the
// SQL is wrong or would do anything but read, if a folder cannot be read or two of them hold the
// same run, or if time is up; with kToolFailed if it is interrupted or the disk is full.
Result<QueryAnswer> QueryRuns(const std::vector<std::string>& dirs, std::string_view sql,
                              const QueryLimits& limits);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_QUERY_H_
