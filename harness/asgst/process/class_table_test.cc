// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/class_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "harness/base/hash.h"

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

// Classes come and go endlessly: classes that are gone make room for new ones.
TEST(ClassTableTest, ForgetsThoseThatAreGone) {
  ClassTable table;
  constexpr int64_t kMany = 200'000;  // many times the entries of the first level
  for (int64_t i = 1; i <= kMany; i++) {
    ASSERT_TRUE(table.Put(Klass(i), i));
    ASSERT_EQ(table.Find(Klass(i)), i);
    ASSERT_TRUE(table.Put(Klass(i), -i));
  }
  EXPECT_EQ(table.Find(Klass(kMany)), -kMany);
  int64_t remembered = 0;
  for (int64_t i = 1; i <= kMany; i++) remembered += table.Find(Klass(i)) != 0;
  EXPECT_LT(remembered, kMany / 4);
}

// Classes whose entries are in one window of the first level, so that each replaces another.
std::vector<uint64_t> ClassesOfOnePlace(size_t many) {
  constexpr int kFirstBits = 14;  // as the table's
  std::vector<uint64_t> classes;
  for (int64_t i = 1; classes.size() < many; i++)
    if (PlaceOf(Klass(i), kFirstBits) == PlaceOf(Klass(1), kFirstBits)) classes.push_back(Klass(i));
  return classes;
}

// A reader finds the number of the class that it asks for, or none; never the number of the class
// that replaces it.
TEST(ClassTableTest, ReadersBesideAWriter) {
  ClassTable table;
  const std::vector<uint64_t> classes = ClassesOfOnePlace(64);
  const auto many = static_cast<int64_t>(classes.size());
  std::atomic<int64_t> newest{0}, wrong{0}, found{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; t++)
    readers.emplace_back([&] {
      while (!done) {
        const int64_t i = newest;
        const int64_t number = table.Find(classes[i]);
        if (number != 0) found++;
        if (number != 0 && number != i + 1 && number != -(i + 1)) wrong++;
      }
    });
  for (int64_t n = 0; n < 100'000 || found < 50'000; n++) {
    const int64_t i = n % many;
    table.Put(classes[i], i + 1);
    newest = i;
    table.Put(classes[i], -(i + 1));
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace walkhammer::asgst
