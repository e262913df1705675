// SPDX-License-Identifier: Apache-2.0
// Parts of the reference walk on synthetic memory: no JVM, no stack of our own.
#include <gtest/gtest.h>

#include "harness/asgst/testing/made_up_jvm.h"
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

// The leaf of a synthetic JVM, whose code is described at 0x20 by the scope at 1, and at 0x28 by
// that at 8.
class DebugInfoTest : public testing::Test {
 protected:
  // Sender, method number, bci + 1, each small enough for one byte.
  void PutScopes(uint8_t excluded) {
    const auto coded = [&](int value) { return static_cast<uint8_t>(value + excluded); };
    memory_.PutBytes(kScopes + 1, {coded(0), coded(1), coded(8)});
    memory_.PutBytes(kScopes + 8, {coded(1), coded(2), coded(43), 0, 0, 0, 0, 0});
  }

  MadeUpJvm jvm_{kX86_64Rules};
  WalkLayout& layout_ = jvm_.layout;
  MadeUpMemory& memory_ = jvm_.memory;
  const uint64_t kCode = jvm_.leaf, kBlob = kCode - 0x1f0, kScopes = kBlob + 0x160;
  const FoundCode nmethod_{.blob = kBlob, .begin = kCode};
};

TEST_F(DebugInfoTest, FindsWhatHoldsAtAPcAndItsCallers) {
  for (const bool null_free : {false, true}) {
    layout_.null_free_numbers = null_free;
    PutScopes(null_free ? 1 : 0);
    DebugInfo debug(layout_, memory_);
    debug.Open(nmethod_, memory_);
    Scope scope;
    ASSERT_TRUE(debug.Innermost(kCode + 0x21, scope)) << "between two that are described";
    EXPECT_EQ(scope.method, MadeUpJvm::Method(2));
    EXPECT_EQ(scope.bci, 42);
    ASSERT_TRUE(debug.At(scope.sender, scope));
    EXPECT_EQ(scope.method, MadeUpJvm::Method(0));
    EXPECT_EQ(scope.bci, 7);
    EXPECT_EQ(scope.sender, 0);
    ASSERT_TRUE(debug.Innermost(kCode + 0x20, scope));
    EXPECT_EQ(scope.method, MadeUpJvm::Method(0));
    EXPECT_FALSE(debug.Innermost(kCode + 0x29, scope)) << "behind the last one";
  }
}

TEST_F(DebugInfoTest, DamageIsNoScope) {
  PutScopes(0);
  DebugInfo debug(layout_, memory_);
  debug.Open(nmethod_, memory_);
  Scope scope;
  memory_.PutBytes(kScopes + 8, {9});  // the caller's scope would be after this scope
  EXPECT_FALSE(debug.Innermost(kCode + 0x28, scope));
  memory_.PutBytes(kScopes + 8, {1, 0xc0, 0xbf});  // there is no such method
  EXPECT_FALSE(debug.Innermost(kCode + 0x28, scope));
  memory_.PutInt(kBlob + 60, 0x40);  // the PcDescs end before they begin
  debug.Open(nmethod_, memory_);
  EXPECT_FALSE(debug.Innermost(kCode + 0x20, scope));
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

TEST(SharedCacheTest, KeepsFourKeysOfOnePlace) {
  constexpr int kBits = 6;
  static SharedCache<Scope, kBits> cache;
  Scope scope;
  std::vector<uint64_t> keys;
  for (uint64_t key = 1; keys.size() < 5; key++)
    if (PlaceOf(key, kBits) == 5) keys.push_back(key);
  for (size_t i = 0; i < 4; i++) cache.Put(keys[i], 7, {keys[i], 0, 0});
  cache.Put(keys[2], 8, {keys[2] + 1, 0, 0});  // in its old place
  for (size_t i = 0; i < 4; i++) {
    ASSERT_TRUE(cache.Find(keys[i], i == 2 ? 8 : 7, scope)) << i;
    EXPECT_EQ(scope.method, keys[i] + (i == 2 ? 1 : 0));
  }
  // A fifth key replaces one of them, and each of the four goes in turn.
  for (uint64_t later = keys[4], i = 0; i < 8; later++) {
    if (PlaceOf(later, kBits) != 5) continue;
    EXPECT_FALSE(cache.Find(later, 7, scope));
    cache.Put(later, 7, {later, 0, 0});
    EXPECT_TRUE(cache.Find(later, 7, scope));
    int left = 0;
    for (size_t k = 0; k < 4; k++) left += cache.Find(keys[k], k == 2 ? 8 : 7, scope) ? 1 : 0;
    EXPECT_EQ(left, std::max(3 - static_cast<int>(i++), 0));
  }
}

}  // namespace
}  // namespace walkhammer::asgst
