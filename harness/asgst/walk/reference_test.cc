// SPDX-License-Identifier: Apache-2.0
// Parts of the reference walk on made-up memory: no JVM, no stack of our own.
#include <gtest/gtest.h>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/walk/debug_info.h"

namespace walkhammer::asgst {
namespace {

TEST(MemoryReaderTest, ReadsPartsOfWords) {
  MadeUpMemory memory;
  memory.Put(0x1000, 0x8877665544332211);
  uint8_t byte = 0;
  int16_t half = 0;
  uint32_t word = 0;
  EXPECT_TRUE(memory.Read(0x1003, byte));
  EXPECT_EQ(byte, 0x44);
  EXPECT_TRUE(memory.Read(0x1006, half));
  EXPECT_EQ(half, static_cast<int16_t>(0x8877));
  EXPECT_TRUE(memory.Read(0x1004, word));
  EXPECT_EQ(word, 0x88776655U);
  EXPECT_FALSE(memory.Read(0x1006, word)) << "across words";
  EXPECT_FALSE(memory.Read(0x2000, byte)) << "not there";
  uint8_t bytes[4];
  EXPECT_TRUE(memory.ReadBytes(0x1002, bytes, 4));
  EXPECT_EQ(bytes[3], 0x66);
  EXPECT_FALSE(memory.ReadBytes(0x1006, bytes, 4)) << "the end is not there";
}

// An nmethod at 0x10000 as JDK 17 lays it out, simplified; code from 0x20000 on.
class DebugInfoTest : public testing::Test {
 protected:
  static constexpr uint64_t kBlob = 0x10000, kCode = 0x20000, kPcs = kBlob + 0x400,
                            kScopes = kBlob + 0x800, kMetadata = kBlob + 0x300;

  void SetUp() override {
    layout_.immutable_data = layout_.scopes_offset = layout_.mutable_data = -1;
    layout_.pcs_offset = 0;
    layout_.pcs_end_offset = 4;
    layout_.scopes_begin = 8;
    layout_.metadata_offset = 16;
    layout_.pc_desc_size = 16;
    layout_.pc_offset = 0;
    layout_.scope_offset = 4;
    nmethod_.blob = kBlob;
    nmethod_.begin = kCode;
    memory_.Put(kBlob, 0x400 | uint64_t{0x400 + 4 * 16} << 32);
    memory_.Put(kBlob + 8, kScopes);
    memory_.Put(kBlob + 16, 0x300);
    Describe(0, -1, 0);
    Describe(1, 0x10, 1);
    Describe(2, 0x20, 8);
    Describe(3, 0x7fffffff, 0);
    memory_.Put(kMetadata, 0xaaa0);
    memory_.Put(kMetadata + 8, 0xbbb0);
  }

  void Describe(int index, int32_t offset, int32_t scope) {
    memory_.Put(kPcs + 16ULL * index, static_cast<uint32_t>(offset) | uint64_t(scope) << 32);
    memory_.Put(kPcs + 16ULL * index + 8, 0);
  }
  // Sender, method number, bci + 1, each small enough for one byte.
  void PutScopes(uint8_t excluded) {
    const auto coded = [&](int value) { return static_cast<uint8_t>(value + excluded); };
    memory_.PutBytes(kScopes + 1, {coded(0), coded(1), coded(8)});
    memory_.PutBytes(kScopes + 8, {coded(1), coded(2), coded(43), 0, 0, 0, 0, 0});
  }

  WalkLayout layout_{};
  MadeUpMemory memory_;
  FoundCode nmethod_;
};

TEST_F(DebugInfoTest, FindsWhatHoldsAtAPcAndItsCallers) {
  for (const bool null_free : {false, true}) {
    layout_.null_free_numbers = null_free;
    PutScopes(null_free ? 1 : 0);
    DebugInfo debug(layout_, memory_);
    debug.Open(nmethod_, memory_);
    Scope scope;
    ASSERT_TRUE(debug.Innermost(kCode + 0x11, scope)) << "between two that are described";
    EXPECT_EQ(scope.method, 0xbbb0U);
    EXPECT_EQ(scope.bci, 42);
    ASSERT_TRUE(debug.At(scope.sender, scope));
    EXPECT_EQ(scope.method, 0xaaa0U);
    EXPECT_EQ(scope.bci, 7);
    EXPECT_EQ(scope.sender, 0);
    ASSERT_TRUE(debug.Innermost(kCode + 0x10, scope));
    EXPECT_EQ(scope.method, 0xaaa0U);
    EXPECT_FALSE(debug.Innermost(kCode + 0x21, scope)) << "behind the last one";
  }
}

TEST_F(DebugInfoTest, DamageIsNoScope) {
  PutScopes(0);
  DebugInfo debug(layout_, memory_);
  debug.Open(nmethod_, memory_);
  Scope scope;
  memory_.PutBytes(kScopes + 8, {9});  // the caller's scope would be after this scope
  EXPECT_FALSE(debug.Innermost(kCode + 0x20, scope));
  memory_.PutBytes(kScopes + 8, {1, 99});  // there is no such method
  EXPECT_FALSE(debug.Innermost(kCode + 0x20, scope));
  memory_.Put(kBlob, 0x400 | uint64_t{0x300} << 32);  // the PcDescs end before they begin
  debug.Open(nmethod_, memory_);
  EXPECT_FALSE(debug.Innermost(kCode + 0x10, scope));
}

// Numbers of up to five bytes.
TEST_F(DebugInfoTest, LongNumbers) {
  layout_.null_free_numbers = false;
  // bci + 1 = 192 + 64 * 5 = 512: 0xc0 says that another byte follows
  memory_.PutBytes(kScopes + 1, {0, 1, 0xc0, 5});
  DebugInfo debug(layout_, memory_);
  debug.Open(nmethod_, memory_);
  Scope scope;
  ASSERT_TRUE(debug.At(1, scope));
  EXPECT_EQ(scope.bci, 511);
  layout_.null_free_numbers = true;
  // bci + 1 = 191 + 64 * 5 = 511: bytes are one higher, and 0xc0 still says that another follows
  memory_.PutBytes(kScopes + 1, {1, 2, 0xc0, 6});
  ASSERT_TRUE(debug.At(1, scope));
  EXPECT_EQ(scope.bci, 510);
  memory_.PutBytes(kScopes + 1, {1, 2, 0});  // no byte is zero
  EXPECT_FALSE(debug.At(1, scope));
}

TEST(SharedCacheTest, KeepsTheNewestOfAPlace) {
  static SharedCache<Scope, 4> cache;
  Scope scope;
  EXPECT_FALSE(cache.Find(0x1000, 1, scope));
  for (uint64_t key = 1; key <= 1000; key++)
    cache.Put(key, 7, {key * 10, static_cast<int32_t>(key), 0});
  int found = 0;
  for (uint64_t key = 1; key <= 1000; key++) {
    EXPECT_FALSE(cache.Find(key, 8, scope)) << "another tag";
    if (!cache.Find(key, 7, scope)) continue;
    found++;
    EXPECT_EQ(scope.method, key * 10);
    EXPECT_EQ(scope.bci, static_cast<int32_t>(key));
  }
  EXPECT_EQ(found, 16);
  EXPECT_TRUE(cache.Find(1000, 7, scope));
}

}  // namespace
}  // namespace walkhammer::asgst
