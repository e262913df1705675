// SPDX-License-Identifier: Apache-2.0
// A thin layer over SQLite: a database handle, prepared statements and transactions whose every
// error becomes a Failure that says what to do. Used by RunDb only. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_SQLITE_H_
#define WALKHAMMER_HARNESS_STORE_SQLITE_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

class Database {
 public:
  Database() = default;
  // `uri` is a file name, or "file:..." as SQLite defines it; flags are SQLITE_OPEN_*.
  static Result<Database> Open(const std::string& path, const std::string& uri, int flags);

  sqlite3* handle() const { return handle_.get(); }
  Status Exec(const char* sql);
  // The last error as one sentence about this file, with what to do next.
  Failure Error() const;

 private:
  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Closer> handle_;
  std::string path_;
};

// One use of a prepared statement. Binding and preparing errors come out of Step or Run.
class Statement {
 public:
  Statement(const Database& db, std::string_view sql);

  Statement& Bind(std::string_view text);
  // Without this one, a literal would rather become a bool than a string_view.
  Statement& Bind(const char* text) { return Bind(std::string_view(text)); }
  Statement& Bind(int64_t number);
  Statement& Bind(uint64_t number) { return Bind(static_cast<int64_t>(number)); }
  Statement& Bind(int number) { return Bind(static_cast<int64_t>(number)); }
  Statement& Bind(const std::optional<int64_t>& number);  // none: NULL
  Statement& Bind(bool truth) { return Bind(static_cast<int64_t>(truth)); }

  Result<bool> Step();  // true: a row is there
  Status Run();         // to the end
  void Reset();         // bind and run again

  // Of the current row, left to right.
  std::string Text();
  int64_t Int();
  std::optional<int64_t> OptionalInt();  // none: NULL

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  const Database& db_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int error_ = SQLITE_OK;
  int next_parameter_ = 1;
  int next_column_ = 0;
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db), begun_(db.Exec("BEGIN IMMEDIATE")) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const Status& begun() const { return begun_; }
  Status Commit();

 private:
  Database& db_;
  Status begun_;
  bool done_ = false;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_SQLITE_H_
