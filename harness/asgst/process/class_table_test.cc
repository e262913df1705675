// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/class_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace walkhammer::asgst {
namespace {

uint64_t Klass(uint64_t i) { return 0x7f0000000000 + 0x200 * i; }

TEST(ClassTableTest, FindsWhatWasPut) {
  ClassTable table;
  EXPECT_EQ(table.Find(Klass(1)), 0);
  EXPECT_TRUE(table.Put(Klass(1), 5));
  EXPECT_EQ(table.Find(Klass(1)), 5);
  EXPECT_EQ(table.Find(Klass(2)), 0);
  EXPECT_TRUE(table.Put(Klass(1), -5));
  EXPECT_EQ(table.Find(Klass(1)), -5) << "gone";
  EXPECT_TRUE(table.Put(Klass(1), 6));
  EXPECT_EQ(table.Find(Klass(1)), 6) << "another one at its address";
}

TEST(ClassTableTest, Grows) {
  ClassTable table;
  constexpr int64_t kMany = 200'000;
  for (int64_t i = 1; i <= kMany; i++) ASSERT_TRUE(table.Put(Klass(i), i));
  for (int64_t i = 1; i <= kMany; i++) ASSERT_EQ(table.Find(Klass(i)), i);
  EXPECT_EQ(table.Find(Klass(kMany + 1)), 0);
}

// Classes come and go for ever: classes that are gone make room for new ones.
TEST(ClassTableTest, ForgetsThoseThatAreGone) {
  ClassTable table;
  for (int64_t i = 1; i <= 2'000'000; i++) {
    ASSERT_TRUE(table.Put(Klass(i), i));
    ASSERT_EQ(table.Find(Klass(i)), i);
    ASSERT_TRUE(table.Put(Klass(i), -i));
  }
  EXPECT_EQ(table.Find(Klass(2'000'000)), -2'000'000);
}

// A reader finds the number of the class that it asks for, or none; never the number of the class
// that replaces it.
TEST(ClassTableTest, ReadersBesideAWriter) {
  ClassTable table;
  constexpr int64_t kMany = 3'000'000;  // many times the entries of the first level
  std::atomic<int64_t> newest{1}, wrong{0}, found{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; t++)
    readers.emplace_back([&] {
      for (int64_t i = 0, klass = 1; (klass = newest) < kMany; i++) {
        klass = std::max<int64_t>(1, klass - i % 20'000);
        const int64_t number = table.Find(Klass(klass));
        if (number != 0) found++;
        if (number != 0 && number != klass && number != -klass) wrong++;
      }
    });
  for (int64_t i = 1; i <= kMany; i++) {
    table.Put(Klass(i), i);
    table.Put(Klass(i), -i);
    newest = i;
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace walkhammer::asgst
