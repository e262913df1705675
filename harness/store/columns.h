// SPDX-License-Identifier: Apache-2.0
// Each table of run.db is described once: Columns(row, column) calls column(name, field, info) for
// each column, in the table's order. The templates below make the schema, writes and reads from
// these descriptions. Used by RunDb only. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_COLUMNS_H_
#define WALKHAMMER_HARNESS_STORE_COLUMNS_H_

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "harness/store/sqlite.h"

namespace walkhammer {

// Row or const Row: the type of the first parameter of a Columns function.
template <typename T, typename Row>
concept ARow = std::same_as<std::remove_const_t<T>, Row>;

struct ColumnInfo {
  const char* more = "";  // what the schema says after the type: "UNIQUE"
};

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
// Reads up to the first thing that is no number.
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
std::string InsertInto(const char* table, std::string_view or_else = "") {
  std::string names, marks;
  EachColumn<Row>([&](const char* name, const char*, const ColumnInfo&) {
    const char* comma = names.empty() ? "" : ", ";
    names += fmt::format("{}{}", comma, name);
    marks += fmt::format("{}?", comma);
  });
  return fmt::format("INSERT {} INTO {} ({}) VALUES ({})", or_else, table, names, marks);
}

// "CREATE TABLE table (a INTEGER, ...) STRICT;". `more` is put after the columns, `options` after
// the closing parenthesis.
template <typename Row>
std::string CreateTable(const char* table, const char* more = "", const char* options = "STRICT") {
  std::string columns;
  EachColumn<Row>([&](const char* name, const char* type, const ColumnInfo& info) {
    columns += fmt::format("{}\n  {} {}{}{}", columns.empty() ? "" : ",", name, type,
                           *info.more == '\0' ? "" : " ", info.more);
  });
  return fmt::format("CREATE TABLE {} ({}{}\n) {};\n", table, columns, more, options);
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

// Writes `rows`, one after the other, with a statement made by InsertInto.
template <typename Rows>
Status InsertAll(Statement insert, const Rows& rows) {
  for (const auto& row : rows) {
    insert.Reset();
    BindRow(insert, row);
    RETURN_IF_ERROR(insert.Run());
  }
  return Ok();
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_COLUMNS_H_
