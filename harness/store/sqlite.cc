// SPDX-License-Identifier: Apache-2.0
#include "harness/store/sqlite.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace walkhammer {
namespace {

constexpr int kMostFieldBytes = 16 << 20;  // the largest of our own, a stack's frames, take 3 MiB
constexpr int kStepsAtOnce = 1000;
constexpr uint64_t kWorkOfRow = 100;  // for the reader's memory: a row of ours takes up to 1 KiB

// What a reader of the file may do, in steps of SQLite's machine, bytes of text and kWorkOfRow for
// each row. A row takes at least 6 bytes of a file and about 30 steps, and is read up to twice.
uint64_t MostWork(const std::string& path) {
  constexpr uint64_t kLeast = 20'000'000, kForEachByte = 40, kMost = 4'000'000'000;
  uint64_t bytes = 0;
  for (const char* end : {"", "-wal"}) {
    struct stat info;
    if (stat((path + end).c_str(), &info) == 0) bytes += static_cast<uint64_t>(info.st_size);
  }
  return bytes > kMost / kForEachByte ? kMost : std::min(kMost, kLeast + kForEachByte * bytes);
}

}  // namespace

Result<Database> Database::Open(const std::string& path, const std::string& uri, int flags) {
  constexpr int kBusyMs = 10'000;  // readers hold the file for milliseconds
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  Database db;
  db.handle_.reset(handle);
  db.path_ = path;
  if (handle == nullptr) return ToolFailed("out of memory while opening " + path);
  if (status != SQLITE_OK) return db.Error();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMs);
  return db;
}

Result<Database> Database::OpenToRead(const std::string& path, const std::string& uri, int flags) {
  Result<Database> db = Open(path, uri, flags | SQLITE_OPEN_READONLY);
  if (!db.ok()) return BadInput(db.failure().message);
  sqlite3* handle = db.value().handle();
  for (const int option : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                           SQLITE_DBCONFIG_ENABLE_TRIGGER})
    sqlite3_db_config(handle, option, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostFieldBytes);
  db.value().work_left_ = std::make_unique<uint64_t>(MostWork(path));
  const auto spend = [](void* left) {
    uint64_t& work = *static_cast<uint64_t*>(left);
    work -= std::min<uint64_t>(work, kStepsAtOnce);
    return work == 0 ? 1 : 0;
  };
  sqlite3_progress_handler(handle, kStepsAtOnce, spend, db.value().work_left_.get());
  return db;
}

bool Database::Spend(uint64_t work) const {
  if (work_left_ == nullptr) return true;
  *work_left_ -= std::min(*work_left_, work);
  return *work_left_ > 0;
}

Failure Database::Error() const {
  if (!Spend(0))
    return BadInput(fmt::format(
        "{}: reading it takes far more work than its size explains; the run database is damaged",
        path_));
  int code = sqlite3_extended_errcode(handle_.get());
  const int system_error = sqlite3_system_errno(handle_.get());
  // SQLite does not report every lack of space as SQLITE_FULL.
  const bool failed_io = (code & 0xff) == SQLITE_IOERR;
  if (failed_io && (system_error == ENOSPC || system_error == EDQUOT)) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ToolFailed(fmt::format("{}: the disk is full; free space and try again", path_));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return ToolFailed(fmt::format("{}: cannot be opened or written ({}); check the permissions",
                                    path_, sqlite3_errmsg(handle_.get())));
    case SQLITE_IOERR:
      return ToolFailed(
          fmt::format("{}: input/output error ({}, errno {}); check the disk and its quota", path_,
                      sqlite3_errmsg(handle_.get()), system_error));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ToolFailed(fmt::format("{}: another process keeps the file locked; end it", path_));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return BadInput(fmt::format("{}: the run database is damaged ({})", path_,
                                  sqlite3_errmsg(handle_.get())));
    default:
      if (work_left_ != nullptr)
        return BadInput(
            fmt::format("{}: another version of walkhammer wrote this run, or the run database is "
                        "damaged ({})",
                        path_, sqlite3_errmsg(handle_.get())));
      return ToolFailed(
          fmt::format("{}: {} (SQLite error {})", path_, sqlite3_errmsg(handle_.get()), code));
  }
}

Status Database::Exec(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Error();
  return Ok();
}

Statement::Statement(const Database& db, std::string_view sql) : db_(db) {
  sqlite3_stmt* statement = nullptr;
  error_ = sqlite3_prepare_v2(db.handle(), sql.data(), static_cast<int>(sql.size()), &statement,
                              nullptr);
  statement_.reset(statement);
}

Statement& Statement::Bind(std::string_view text) {
  if (error_ == SQLITE_OK)
    error_ = sqlite3_bind_text64(statement_.get(), next_parameter_++,
                                 text.data() == nullptr ? "" : text.data(), text.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(int64_t number) {
  if (error_ == SQLITE_OK) error_ = sqlite3_bind_int64(statement_.get(), next_parameter_++, number);
  return *this;
}

Statement& Statement::Bind(const std::optional<int64_t>& number) {
  if (number) return Bind(*number);
  next_parameter_++;  // a parameter that is not bound is NULL
  return *this;
}

Result<bool> Statement::Step() {
  if (error_ != SQLITE_OK) return db_.Error();
  next_column_ = 0;
  if (!db_.Spend(kWorkOfRow)) return db_.Error();
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  error_ = status;
  return db_.Error();
}

Status Statement::Run() {
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return Ok();
  }
}

void Statement::Reset() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
  }
  next_parameter_ = 1;
}

std::string Statement::Text() {
  const int column = next_column_++;
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  db_.Spend(size);
  return std::string(reinterpret_cast<const char*>(text), size);
}

int64_t Statement::Int() { return sqlite3_column_int64(statement_.get(), next_column_++); }

std::optional<int64_t> Statement::OptionalInt() {
  if (sqlite3_column_type(statement_.get(), next_column_) != SQLITE_NULL) return Int();
  next_column_++;
  return std::nullopt;
}

Transaction::~Transaction() {
  if (begun_.ok() && !done_ && sqlite3_get_autocommit(db_.handle()) == 0)
    (void)db_.Exec("ROLLBACK");  // the failure was reported already
}

Status Transaction::Commit() {
  Status status = db_.Exec("COMMIT");
  done_ = status.ok();
  return status;
}

}  // namespace walkhammer
