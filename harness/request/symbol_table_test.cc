// SPDX-License-Identifier: Apache-2.0
#include "harness/request/symbol_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "harness/request/request_testing.h"

namespace walkhammer {
namespace {

constexpr uint32_t kUnmappedId = SymbolTable::IdOf(SymbolKind::kUnmapped);

TEST(KindWordTest, EveryKindHasItsOwnWord) {
  std::set<std::string_view> words;
  for (int i = 0; i < kSymbolKinds; i++) {
    auto kind = static_cast<SymbolKind>(i);
    EXPECT_EQ(KindFromWord(KindWord(kind)), kind);
    words.insert(KindWord(kind));
  }
  EXPECT_EQ(words.size(), static_cast<size_t>(kSymbolKinds));
  // The first kind, the kinds on both sides of the border between unnamed and named, one named
  // kind.
  EXPECT_EQ(KindWord(SymbolKind::kLiteral), "literal");
  EXPECT_EQ(KindWord(SymbolKind::kZeroPage), "zero-page");
  EXPECT_EQ(KindWord(SymbolKind::kNmethod), "nmethod");
  EXPECT_EQ(KindWord(SymbolKind::kSceneStack), "scene-stack");
  EXPECT_EQ(KindFromWord("Stack"), std::nullopt);
  EXPECT_EQ(KindFromWord(""), std::nullopt);
  EXPECT_EQ(KindWord(SymbolKind::kCount), "literal");
}

TEST(CleanNameTest, KeepsPrintableAsciiAndLength) {
  EXPECT_EQ(CleanName("a.B$c<init>(I[J)V #2 ~"), "a.B$c<init>(I[J)V #2 ~");
  EXPECT_EQ(CleanName("a\"b\\c\nd\x7f\xc3\xa9"), "a?b?c?d???");
  EXPECT_EQ(CleanName(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(CleanName(std::string(158, 'x')), std::string(158, 'x'));
  EXPECT_EQ(CleanName(std::string(159, 'x')), std::string(158, 'x'));
  EXPECT_EQ(CleanName(""), "");
}

TEST(SymbolTableTest, UnnamedKindsAreTheirIds) {
  auto symbols = NewSymbolTable();
  EXPECT_EQ(symbols->size(), static_cast<uint32_t>(kSymbolKinds));
  for (int i = 0; i < kSymbolKinds; i++) {
    auto kind = static_cast<SymbolKind>(i);
    EXPECT_EQ(symbols->at(static_cast<uint32_t>(i)).kind, kind);
    EXPECT_STREQ(symbols->at(static_cast<uint32_t>(i)).name, "");
    if (IsNamed(kind)) {
      EXPECT_EQ(symbols->Find(kind, ""), std::nullopt);
      EXPECT_EQ(symbols->Intern(kind, ""), kUnmappedId);
    } else {
      EXPECT_EQ(symbols->Find(kind, "ignored"), static_cast<uint32_t>(i));
      EXPECT_EQ(symbols->Intern(kind, "ignored"), static_cast<uint32_t>(i));
    }
  }
  EXPECT_EQ(symbols->Intern(SymbolKind::kCount, "x"), kUnmappedId);
  EXPECT_EQ(symbols->size(), static_cast<uint32_t>(kSymbolKinds));
}

TEST(SymbolTableTest, InternsOncePerKindAndName) {
  auto symbols = NewSymbolTable();
  EXPECT_EQ(symbols->Find(SymbolKind::kStub, "call_stub"), std::nullopt);
  uint32_t stub = symbols->Intern(SymbolKind::kStub, "call_stub");
  uint32_t codelet = symbols->Intern(SymbolKind::kCodelet, "call_stub");
  EXPECT_NE(stub, codelet);
  EXPECT_EQ(symbols->Intern(SymbolKind::kStub, "call_stub"), stub);
  EXPECT_EQ(symbols->Find(SymbolKind::kCodelet, "call_stub"), codelet);
  EXPECT_EQ(symbols->at(codelet).kind, SymbolKind::kCodelet);
  EXPECT_STREQ(symbols->at(codelet).name, "call_stub");
  EXPECT_EQ(symbols->size(), static_cast<uint32_t>(kSymbolKinds) + 2);
}

TEST(SymbolTableTest, LooksUpNamesAsTheyAreHeld) {
  auto symbols = NewSymbolTable();
  uint32_t id = symbols->Intern(SymbolKind::kMethod, "a\xff" + std::string(200, 'b'));
  EXPECT_EQ(std::string(symbols->at(id).name), "a?" + std::string(156, 'b'));
  EXPECT_EQ(symbols->Find(SymbolKind::kMethod, "a\n" + std::string(300, 'b')), id);
  EXPECT_EQ(symbols->Find(SymbolKind::kMethod, "a?" + std::string(155, 'b')), std::nullopt);
}

TEST(SymbolTableTest, FullTableGivesUnmappedAndStillFinds) {
  auto symbols = NewSymbolTable();
  const uint32_t room = SymbolTable::kCapacity - kSymbolKinds;
  for (uint32_t i = 0; i < room; i++)
    ASSERT_EQ(symbols->Intern(SymbolKind::kNmethod, "m" + std::to_string(i)), kSymbolKinds + i);
  EXPECT_EQ(symbols->size(), SymbolTable::kCapacity);
  EXPECT_EQ(symbols->Intern(SymbolKind::kNmethod, "one more"), kUnmappedId);
  EXPECT_EQ(symbols->Find(SymbolKind::kNmethod, "one more"), std::nullopt);
  for (uint32_t i = 0; i < room; i++)
    ASSERT_EQ(symbols->Intern(SymbolKind::kNmethod, "m" + std::to_string(i)), kSymbolKinds + i);
  symbols->Init();
  EXPECT_EQ(symbols->size(), static_cast<uint32_t>(kSymbolKinds));
  EXPECT_EQ(symbols->Find(SymbolKind::kNmethod, "m0"), std::nullopt);
}

TEST(SymbolTableTest, OutOfRangeIdsReadAsLiteral) {
  auto symbols = NewSymbolTable();
  EXPECT_EQ(symbols->at(symbols->size()).kind, SymbolKind::kLiteral);
  EXPECT_EQ(symbols->at(UINT32_MAX).kind, SymbolKind::kLiteral);
}

// A crashing child may write over the table; readers must survive that.
TEST(SymbolTableTest, DamagedTableIsReadWithinItsBounds) {
  auto symbols = NewSymbolTable();
  std::memset(static_cast<void*>(symbols.get()), 0xff, sizeof(SymbolTable));
  EXPECT_EQ(symbols->size(), SymbolTable::kCapacity);
  EXPECT_EQ(symbols->Find(SymbolKind::kStub, "call_stub"), std::nullopt);
  symbols->at(UINT32_MAX);
}

}  // namespace
}  // namespace walkhammer
