// SPDX-License-Identifier: Apache-2.0
// Tests that docs/reference/run-folder.md and run-folder-programs.md have a section for each table
// of run.db and name each column, and the SQL that column descriptions become.
#include "harness/store/run_tables.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

// The columns of each table, as SQLite reports them once RunSchema has run.
std::map<std::string, std::set<std::string>> ColumnsBySqlite() {
  std::map<std::string, std::set<std::string>> columns;
  Result<Database> db = Database::Open(":memory:", ":memory:", SQLITE_OPEN_READWRITE);
  EXPECT_TRUE(db.ok());
  EXPECT_TRUE(db.value().Exec(RunSchema().c_str()).ok());
  Statement rows(db.value(),
                 "SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p"
                 " WHERE m.type = 'table'");
  EXPECT_TRUE(ForEach(rows, [&](Statement& row) {
                const std::string table = row.Text();
                columns[table].insert(row.Text());
              }).ok());
  return columns;
}

// The text of `doc` from the heading of `table` to the next heading.
std::string SectionOf(const std::string& doc, const std::string& table) {
  const size_t begin = doc.find("\n### " + table + ":");
  return begin == std::string::npos ? "" : doc.substr(begin, doc.find("\n### ", begin + 1) - begin);
}

TEST(RunTables, TheDocumentNamesEachColumn) {
  const std::string doc = ReadFile(WALKHAMMER_PAGES "run-folder.md") +
                          ReadFile(WALKHAMMER_PAGES "run-folder-programs.md");
  if (doc.empty()) GTEST_SKIP() << "docs/reference is not beside these sources";
  const auto tables = ColumnsBySqlite();
  EXPECT_EQ(tables.size(), 32u);
  for (const auto& [table, columns] : tables) {
    const std::string section = SectionOf(doc, table);
    EXPECT_FALSE(section.empty()) << table << " has no section";
    for (const std::string& column : columns)
      EXPECT_NE(section.find("`" + column + "`"), std::string::npos) << table << "." << column;
  }
}

TEST(RunTables, EachStatementNamesTheColumnsInTheTablesOrder) {
  EXPECT_EQ(NamesOf<StackFrameRow>(), "cell, id, name");
  EXPECT_EQ(NamesOf<ProgressRow>("p."), "p.time_ms, p.walks, p.buckets, p.blocks");
  EXPECT_EQ(AssignmentsOf<FailedLoadTotals>(),
            "loads = ?, contained = ?, crashed = ?, hung = ?, missed = ?, unseen = ?, "
            "finished = ?");
  EXPECT_EQ(AssignmentsOf<ChurnTotals>(), "collections = ?, rounds = ?, unloaded = ?");
  EXPECT_EQ(InsertInto<StackFrameRow>("OR REPLACE"),
            "INSERT OR REPLACE INTO stack_frame (cell, id, name) VALUES (?, ?, ?)");
  EXPECT_EQ(CreateTable<StackFrameRow>(),
            "CREATE TABLE stack_frame (\n  cell INTEGER NOT NULL REFERENCES cell (position),\n"
            "  id INTEGER NOT NULL,\n  name TEXT NOT NULL,\n  PRIMARY KEY (cell, id)\n)"
            " STRICT, WITHOUT ROWID;\n");
  EXPECT_EQ(KeysOf<NoteRow>(), "IFNULL(cell, -1), kind, name");
  EXPECT_EQ(JoinOnConflict<NoteRow>(),
            "ON CONFLICT (IFNULL(cell, -1), kind, name) DO UPDATE SET"
            " count = count + excluded.count, detail = iif(detail = '', excluded.detail, detail)");
}

}  // namespace
}  // namespace walkhammer
