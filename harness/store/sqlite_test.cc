// SPDX-License-Identifier: Apache-2.0
#include "harness/store/sqlite.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

TEST(Statement, StaysFailedOnceAStepHasFailed) {
  auto opened = Must(Database::Open(":memory:", ":memory:", SQLITE_OPEN_READWRITE));
  Database& db = opened;
  ASSERT_TRUE(db.Exec("CREATE TABLE t (x INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)").ok());
  Statement insert(db, "INSERT INTO t VALUES (1)");
  EXPECT_FALSE(insert.Step().ok());
  // What was in the way is gone, but nobody has asked for a second try.
  ASSERT_TRUE(db.Exec("DELETE FROM t").ok());
  EXPECT_FALSE(insert.Step().ok());
  Statement count(db, "SELECT count(*) FROM t");
  ASSERT_TRUE(count.Step().value());
  EXPECT_EQ(count.Int(), 0);
}

}  // namespace
}  // namespace walkhammer
