// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_query.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/store/joined_runs.h"

namespace walkhammer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStepsBetweenLooks = 10'000;
constexpr size_t kMostAnswerBytes = 64 << 20;  // in memory

// Whether a query may go on.
class Patience {
 public:
  explicit Patience(const QueryLimits& limits)
      : limits_(limits), end_(Clock::now() + limits.time) {}

  bool IsInterrupted() const { return limits_.interrupted && limits_.interrupted(); }
  bool IsOver() const { return IsInterrupted() || Clock::now() >= end_; }
  Status GoOn() const { return IsOver() ? Status(WhyOver()) : Ok(); }
  Failure WhyOver() const {
    if (IsInterrupted()) return ToolFailed("the query was interrupted");
    return BadInput("the query takes longer than it may; ask for less, or give it more time");
  }

 private:
  const QueryLimits& limits_;
  Clock::time_point end_;
};

// One SELECT of a user, on a database of ours that it cannot change.
class Query {
 public:
  Query(Database& db, const Patience& patience) : handle_(db.handle()), patience_(patience) {
    sqlite3_set_authorizer(handle_, MayDo, this);
    const auto is_over = [](void* of) {
      return static_cast<const Patience*>(of)->IsOver() ? 1 : 0;
    };
    sqlite3_progress_handler(handle_, kStepsBetweenLooks, is_over,
                             const_cast<Patience*>(&patience));
  }
  ~Query() {
    statement_.reset();
    sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
    sqlite3_set_authorizer(handle_, nullptr, nullptr);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Status Prepare(std::string_view sql) {
    const char* rest = nullptr;
    ASSIGN_OR_RETURN(statement_, Compile(sql, rest));
    if (statement_ == nullptr) return BadInput("the SQL is empty; give one SELECT");
    // What does not read the database may yet write a file, as VACUUM INTO does.
    if (sqlite3_stmt_readonly(statement_.get()) == 0 || sqlite3_column_count(statement_.get()) == 0)
      return OnlyReads();
    const char* none = nullptr;
    const auto second = Compile(sql.substr(static_cast<size_t>(rest - sql.data())), none);
    if (!second.ok() || second.value() != nullptr)
      return BadInput("the SQL has more than one statement; give one SELECT");
    return Ok();
  }

  // The tables that the SQL reads.
  const std::set<std::string>& tables() const { return tables_; }

  Status Run(uint64_t most_rows, QueryAnswer& answer) {
    sqlite3_stmt* statement = statement_.get();
    for (int i = 0; i < sqlite3_column_count(statement); i++)
      answer.columns.emplace_back(sqlite3_column_name(statement, i));
    size_t bytes = 0;
    for (;;) {
      const int status = sqlite3_step(statement);
      if (status == SQLITE_DONE) return Ok();
      if (status != SQLITE_ROW) return Failed();
      answer.more = answer.rows.size() == most_rows || bytes > kMostAnswerBytes;
      if (answer.more) return Ok();
      auto& row = answer.rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement); i++) {
        row.push_back(ValueAt(i));
        bytes += sizeof(QueryValue) + static_cast<size_t>(sqlite3_column_bytes(statement, i));
      }
    }
  }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Compiled = std::unique_ptr<sqlite3_stmt, Finalizer>;

  // What SQLite asks while it compiles, and once more where it compiles anew. Allows what is named
  // here, and so no other way to change anything, to open a file or to load code.
  static int MayDo(void* of, int action, const char* first, const char* second, const char*,
                   const char*) {
    auto& query = *static_cast<Query*>(of);
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_READ:
        query.tables_.insert(first);
        return SQLITE_OK;
      case SQLITE_FUNCTION:
        if (!IsOutward(second)) return SQLITE_OK;
        break;
      default:
        break;
    }
    query.refused_ = true;
    return SQLITE_DENY;
  }

  // Functions that reach beyond the query.
  static bool IsOutward(std::string_view function) {
    for (const char* name : {"load_extension", "fts3_tokenizer", "sqlite_log"})
      if (function == name) return true;
    return false;
  }

  Result<Compiled> Compile(std::string_view sql, const char*& rest) {
    sqlite3_stmt* statement = nullptr;
    const int status =
        sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, &rest);
    Compiled compiled(statement);
    if (status != SQLITE_OK) return Failed();
    return compiled;
  }

  static Failure OnlyReads() {
    return BadInput("the SQL does more than read; give one SELECT, without pragmas and extensions");
  }

  Failure Failed() const {
    const int code = sqlite3_errcode(handle_);
    if (code == SQLITE_INTERRUPT) return patience_.WhyOver();
    if (refused_ || code == SQLITE_AUTH) return OnlyReads();
    if (code == SQLITE_FULL || code == SQLITE_IOERR)
      return ToolFailed("no room for the query's temporary file; free space, or set TMPDIR");
    return BadInput(fmt::format("the SQL is wrong: {}", OnOneLine(sqlite3_errmsg(handle_))));
  }

  QueryValue ValueAt(int column) const {
    sqlite3_stmt* statement = statement_.get();
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_NULL:
        return std::monostate{};
      case SQLITE_INTEGER:
        return static_cast<int64_t>(sqlite3_column_int64(statement, column));
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
      case SQLITE_BLOB: {
        const void* bytes = sqlite3_column_blob(statement, column);
        return HexBytes(bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
      }
      default: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        if (text == nullptr) return std::monostate{};
        return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
      }
    }
  }

  sqlite3* handle_;
  const Patience& patience_;
  Compiled statement_;
  std::set<std::string> tables_;
  bool refused_ = false;
};

}  // namespace

Result<QueryAnswer> QueryRuns(const std::vector<std::string>& dirs, std::string_view sql,
                              const QueryLimits& limits) {
  if (dirs.empty()) return BadInput("a query wants at least one run folder");
  const Patience patience(limits);
  ASSIGN_OR_RETURN(JoinedRuns joined, JoinedRuns::Make());
  std::set<std::string> tables;
  {
    Query query(joined.db(), patience);
    RETURN_IF_ERROR(query.Prepare(sql));
    tables = query.tables();
  }
  for (const std::string& dir : dirs)
    RETURN_IF_ERROR(joined.Add(dir, tables, [&] { return patience.GoOn(); }));
  Query query(joined.db(), patience);
  RETURN_IF_ERROR(query.Prepare(sql));
  QueryAnswer answer;
  RETURN_IF_ERROR(query.Run(limits.rows, answer));
  answer.empty = joined.Empty(tables);
  return answer;
}

}  // namespace walkhammer
