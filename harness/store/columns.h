// SPDX-License-Identifier: Apache-2.0
// Each table of run.db is described once: Columns(row, column) calls column(name, field, info) for
// each column, in the table's order. The templates below make the schema, writes and reads from
// these descriptions. Private to the store. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_COLUMNS_H_
#define WALKHAMMER_HARNESS_STORE_COLUMNS_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/store/sqlite.h"

namespace walkhammer {

// Row or const Row: the type of the first parameter of a Columns function.
template <typename T, typename Row>
concept ARow = std::same_as<std::remove_const_t<T>, Row>;

// How merging joins the values that two rows have in a column. Rows with the same keys are joined.
enum class Joins : uint8_t { kKey, kSum, kMost, kFirst };  // kFirst: the first that is not ""

struct ColumnInfo {
  const char* more = "";  // what the schema says after the type: "UNIQUE"
  Joins joins = Joins::kKey;
};

inline constexpr ColumnInfo kPrimaryKey{.more = "PRIMARY KEY"}, kUnique{.more = "UNIQUE"},
    kSum{.joins = Joins::kSum}, kMost{.joins = Joins::kMost}, kFirst{.joins = Joins::kFirst};

// Where rows of a type are kept.
struct Table {
  enum Kind : uint8_t { kPlain, kKeyed, kOfCell };  // kKeyed: `order` is the primary key
  const char* name;
  const char* order = "rowid";  // of rows that are read
  Kind kind = kPlain;           // kOfCell: with an index of the column `cell`
};
template <typename Row>
inline constexpr Table kTable{};  // specialised for each type of rows

// Fields that SQLite has no type for. Unsigned 64-bit values may not fit SQLite's signed integers,
// so Decimal and HexDigits store them as text.
template <typename T>
struct Decimal {
  explicit Decimal(T& field) : value(field) {}
  T& value;
};
template <typename T>
struct HexDigits {  // 16 hexadecimal digits
  explicit HexDigits(T& field) : value(field) {}
  T& value;
};
// An enumeration, stored as the word that kTo returns for a value and that kFrom reads.
template <typename T, auto kTo, auto kFrom>
struct Word {
  T& value;
};
template <auto kTo, auto kFrom, typename T>
Word<T, kTo, kFrom> AsWord(T& field) {
  return {field};
}
// A number whose value kNone stands for "none" and is NULL in the table.
template <typename T, int64_t kNone>
struct OrNone {
  T& value;
};
template <int64_t kNone, typename T>
OrNone<T, kNone> AsOrNone(T& field) {
  return {field};
}

// --- fields ------------------------------------------------------------------------------------

template <typename T>
inline constexpr const char* kSqlType = "INTEGER NOT NULL";
template <>
inline constexpr const char* kSqlType<std::string> = "TEXT NOT NULL";
template <>
inline constexpr const char* kSqlType<std::vector<uint64_t>> = "TEXT NOT NULL";  // "3,0,12"
template <typename T>
inline constexpr const char* kSqlType<std::optional<T>> = "INTEGER";
template <typename T>
inline constexpr const char* kSqlType<Decimal<T>> = "TEXT NOT NULL";
template <typename T>
inline constexpr const char* kSqlType<HexDigits<T>> = "TEXT NOT NULL";
template <typename T, auto kTo, auto kFrom>
inline constexpr const char* kSqlType<Word<T, kTo, kFrom>> = "TEXT NOT NULL";
template <typename T, int64_t kNone>
inline constexpr const char* kSqlType<OrNone<T, kNone>> = "INTEGER";

inline void BindField(Statement& statement, const std::string& text) { statement.Bind(text); }
inline void BindField(Statement& statement, const std::vector<uint64_t>& numbers) {
  statement.Bind(fmt::format("{}", fmt::join(numbers, ",")));
}
template <std::integral T>
void BindField(Statement& statement, T number) {
  statement.Bind(static_cast<int64_t>(number));
}
template <typename T>
void BindField(Statement& statement, const std::optional<T>& number) {
  statement.Bind(number ? std::optional<int64_t>(*number) : std::nullopt);
}
template <typename T>
void BindField(Statement& statement, const Decimal<T>& field) {
  statement.Bind(std::to_string(field.value));
}
template <typename T>
void BindField(Statement& statement, const HexDigits<T>& field) {
  statement.Bind(fmt::format("{:016x}", field.value));
}
template <typename T, auto kTo, auto kFrom>
void BindField(Statement& statement, const Word<T, kTo, kFrom>& field) {
  statement.Bind(kTo(field.value));
}
template <typename T, int64_t kNone>
void BindField(Statement& statement, const OrNone<T, kNone>& field) {
  statement.Bind(field.value == kNone ? std::nullopt : std::optional<int64_t>(field.value));
}

inline void ReadField(Statement& row, std::string& text) { text = row.Text(); }
// Reads up to the first thing that is not a number.
inline void ReadField(Statement& row, std::vector<uint64_t>& numbers) {
  const std::string text = row.Text();
  numbers.clear();
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; at++) {
    const auto [after, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc()) return numbers.pop_back();
    if (after != end && *after != ',') return;
    at = after;
  }
}
template <std::integral T>
void ReadField(Statement& row, T& number) {
  number = static_cast<T>(row.Int());
}
template <typename T>
void ReadField(Statement& row, std::optional<T>& number) {
  const std::optional<int64_t> found = row.OptionalInt();
  number = found ? std::optional<T>(static_cast<T>(*found)) : std::nullopt;
}
template <typename T>
void ReadField(Statement& row, Decimal<T> field) {
  field.value = std::strtoull(row.Text().c_str(), nullptr, 10);
}
template <typename T>
void ReadField(Statement& row, HexDigits<T> field) {
  field.value = std::strtoull(row.Text().c_str(), nullptr, 16);
}
template <typename T, auto kTo, auto kFrom>
void ReadField(Statement& row, Word<T, kTo, kFrom> field) {
  field.value = kFrom(row.Text());
}
template <typename T, int64_t kNone>
void ReadField(Statement& row, OrNone<T, kNone> field) {
  field.value = row.OptionalInt().value_or(kNone);
}

// --- rows --------------------------------------------------------------------------------------

// Calls take(name, type, info) for each column; `type` is SQL.
template <typename Row, typename Take>
void EachColumn(Take take) {
  Row row{};
  Columns(row, [&](const char* name, const auto& field, const ColumnInfo& info = {}) {
    take(name, kSqlType<std::remove_cvref_t<decltype(field)>>, info);
  });
}

// "a, b, c", each name after `prefix`.
template <typename Row>
std::string NamesOf(std::string_view prefix = "") {
  std::string names;
  EachColumn<Row>([&](const char* name, const char*, const ColumnInfo&) {
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", prefix, name);
  });
  return names;
}

// "a = ?, b = ?"
template <typename Row>
std::string AssignmentsOf() {
  std::string all;
  EachColumn<Row>([&](const char* name, const char*, const ColumnInfo&) {
    all += fmt::format("{}{} = ?", all.empty() ? "" : ", ", name);
  });
  return all;
}

// "INSERT INTO table (a, b) VALUES (?, ?)", with `or_else` ("OR REPLACE") after the first word.
template <typename Row>
std::string InsertInto(std::string_view or_else = "") {
  std::string marks;
  EachColumn<Row>(
      [&](const char*, const char*, const ColumnInfo&) { marks += marks.empty() ? "?" : ", ?"; });
  return fmt::format("INSERT {} INTO {} ({}) VALUES ({})", or_else, kTable<Row>.name,
                     NamesOf<Row>(), marks);
}

// "CREATE TABLE table (a INTEGER, ...) STRICT;", with its index.
template <typename Row>
std::string CreateTable() {
  constexpr Table table = kTable<Row>;
  std::string columns;
  EachColumn<Row>([&](const char* name, const char* type, const ColumnInfo& info) {
    columns += fmt::format("{}\n  {} {}{}{}", columns.empty() ? "" : ",", name, type,
                           *info.more == '\0' ? "" : " ", info.more);
  });
  const bool keyed = table.kind == Table::kKeyed;
  if (keyed) columns += fmt::format(",\n  PRIMARY KEY ({})", table.order);
  std::string sql = fmt::format("CREATE TABLE {} ({}\n) STRICT{};\n", table.name, columns,
                                keyed ? ", WITHOUT ROWID" : "");
  if (table.kind == Table::kOfCell)
    sql += fmt::format("CREATE INDEX {0}_of_cell ON {0} (cell);\n", table.name);
  return sql;
}

// "a, IFNULL(b, -1)": what rows that are joined have in common.
template <typename Row>
std::string KeysOf() {
  std::string keys;
  EachColumn<Row>([&](const char* name, std::string_view type, const ColumnInfo& info) {
    if (info.joins != Joins::kKey) return;
    const std::string key = type.ends_with("NOT NULL") ? name : fmt::format("IFNULL({}, -1)", name);
    keys += keys.empty() ? key : ", " + key;
  });
  return keys;
}

// "ON CONFLICT (keys) DO UPDATE SET a = a + excluded.a": an index of the keys must exist.
template <typename Row>
std::string JoinOnConflict() {
  std::string sets;
  EachColumn<Row>([&](const char* name, const char*, const ColumnInfo& info) {
    if (info.joins == Joins::kKey) return;
    const char* set = info.joins == Joins::kSum    ? "{0}{1} = {1} + excluded.{1}"
                      : info.joins == Joins::kMost ? "{0}{1} = MAX({1}, excluded.{1})"
                                                   : "{0}{1} = iif({1} = '', excluded.{1}, {1})";
    sets += fmt::format(fmt::runtime(set), sets.empty() ? "" : ", ", name);
  });
  return fmt::format("ON CONFLICT ({}) DO UPDATE SET {}", KeysOf<Row>(), sets);
}

// The numbers of a row that merging joins, in the order of the columns.
template <typename Row>
std::vector<std::pair<uint64_t*, Joins>> JoinedNumbers(Row& row) {
  std::vector<std::pair<uint64_t*, Joins>> numbers;
  Columns(row, [&](const char*, auto&& field, const ColumnInfo& info = {}) {
    if constexpr (std::is_same_v<decltype(field), uint64_t&>)
      if (info.joins != Joins::kKey) numbers.emplace_back(&field, info.joins);
  });
  return numbers;
}

template <typename Row>
void BindRow(Statement& statement, const Row& row) {
  Columns(row, [&](const char*, const auto& field, const ColumnInfo& = {}) {
    BindField(statement, field);
  });
}

template <typename Row>
void ReadRow(Statement& from, Row& row) {
  Columns(row, [&](const char*, auto&& field, const ColumnInfo& = {}) { ReadField(from, field); });
}

// Calls `take` for each row of the statement.
template <typename Take>
Status ForEach(Statement& rows, const Take& take) {
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return Ok();
    take(rows);
  }
}

template <typename Row>
Result<std::vector<Row>> ReadAll(Statement rows) {
  std::vector<Row> all;
  RETURN_IF_ERROR(ForEach(rows, [&](Statement& row) { ReadRow(row, all.emplace_back()); }));
  return all;
}

// Selects all rows of the type's table, in their order.
template <typename Row>
Statement SelectAll(const Database& db) {
  return {db, fmt::format("SELECT {} FROM {} ORDER BY {}", NamesOf<Row>(), kTable<Row>.name,
                          kTable<Row>.order)};
}

// Calls take(row) -> Status for each row of the type's table.
template <typename Row, typename Take>
Status EachRow(const Database& db, const Take& take) {
  Statement rows = SelectAll<Row>(db);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return Ok();
    Row row{};
    ReadRow(rows, row);
    RETURN_IF_ERROR(take(row));
  }
}

// Writes a row with a statement made by InsertInto.
template <typename Row>
Status RunWith(Statement& insert, const Row& row) {
  insert.Reset();
  BindRow(insert, row);
  return insert.Run();
}

template <typename Row>
Status Insert(const Database& db, const Row& row) {
  Statement insert(db, InsertInto<Row>());
  return RunWith(insert, row);
}

// Inserts `rows`, one after the other.
template <typename Row>
Status InsertAll(const Database& db, const std::vector<Row>& rows, std::string_view or_else = "") {
  Statement insert(db, InsertInto<Row>(or_else));
  for (const Row& row : rows) RETURN_IF_ERROR(RunWith(insert, row));
  return Ok();
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_COLUMNS_H_
