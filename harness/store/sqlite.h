// SPDX-License-Identifier: Apache-2.0
// A thin layer over SQLite: database handle, prepared statements and transactions. Every error
// becomes a Failure that says what to do. Used by the store only. Signal-safe: no.
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
  // `path` is the file that messages name. `uri` is a file name, or "file:..." as SQLite defines
  // it; `flags` are SQLITE_OPEN_*.
  static Result<Database> Open(const std::string& path, const std::string& uri, int flags);
  // Opens a file that somebody else may have made to harm its reader, with the further `flags`.
  // Nothing of it is run (views, triggers, functions named in the schema), a field is at most
  // 16 MiB, and the steps and the text of all statements together are in proportion to the file's
  // size. Whatever is wrong with the file is kBadInput.
  static Result<Database> OpenToRead(const std::string& path, const std::string& uri,
                                     int flags = 0);

  sqlite3* handle() const { return handle_.get(); }
  Status Exec(const char* sql);
  // The last error as one sentence about this file, with what to do next.
  Failure Error() const;
  // Takes `work`, in steps or in bytes, from what a reader may do. False if it has done it all.
  bool Spend(uint64_t work) const;

 private:
  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<uint64_t> work_left_;  // null: a writer's. Outlives the handle, which knows it
  std::unique_ptr<sqlite3, Closer> handle_;
  std::string path_;
};

// A prepared statement. Each Bind sets the next parameter. Step and Run also return the errors of
// preparing and binding.
class Statement {
 public:
  Statement(const Database& db, std::string_view sql);

  Statement& Bind(std::string_view text);
  // Without this overload, a string literal would become a bool, not a string_view.
  Statement& Bind(const char* text) { return Bind(std::string_view(text)); }
  Statement& Bind(int64_t number);
  Statement& Bind(uint64_t number) { return Bind(static_cast<int64_t>(number)); }
  Statement& Bind(int number) { return Bind(static_cast<int64_t>(number)); }
  Statement& Bind(const std::optional<int64_t>& number);  // nullopt: NULL
  Statement& Bind(bool truth) { return Bind(static_cast<int64_t>(truth)); }

  Result<bool> Step();  // true: a row is there
  Status Run();         // steps to the end
  void Reset();         // for binding and running again

  // Each returns the next column of the current row, from left to right.
  std::string Text();
  int64_t Int();
  std::optional<int64_t> OptionalInt();  // nullopt: NULL

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

// A transaction, which the constructor begins and the destructor rolls back unless committed.
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
