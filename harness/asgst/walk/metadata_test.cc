// SPDX-License-Identifier: Apache-2.0
// Metadata of methods and classes, from synthetic memory.
#include "harness/asgst/walk/metadata.h"

#include <gtest/gtest.h>

#include <limits>

#include "harness/asgst/testing/made_up_memory.h"

namespace walkhammer::asgst {
namespace {

constexpr uint64_t kMethod = 0x10000, kConst = 0x11000, kPool = 0x12000, kTags = 0x13000,
                   kClass = 0x14000, kInner = 0x15000, kArray = 0x16000, kSymbols = 0x20000;
constexpr uint32_t kHasLines = 1, kHasGeneric = 16;

struct Line {
  int bci, line;
  bool operator==(const Line&) const = default;
};
void PrintTo(const Line& line, std::ostream* out) { *out << line.bci << ": line " << line.line; }

class MetadataTest : public testing::Test {
 protected:
  void SetLayout() {
    layout_ = {.method_const = 8,
               .method_flags = 16,
               .pool = 8,
               .words = 24,
               .code_size = 32,
               .name_index = 34,
               .signature_index = 36,
               .header_bytes = 48,
               .flags = 28,
               .has_lines = kHasLines,
               .has_generic = kHasGeneric,
               .annotations = {128, 256, 512, 1024},
               .original_idnum = 46,
               .pool_tags = 8,
               .pool_holder = 24,
               .pool_length = 60,
               .pool_generic = 52,
               .pool_bytes = 72,
               .layout_helper = 8,
               .class_name = 24,
               .class_flags = 164,
               .class_pool = 232,
               .methods = 408,
               .inner_classes = 240,
               .bytes_data = 4,
               .shorts_data = 4,
               .methods_data = 8,
               .symbol_length = 4,
               .symbol_body = 6,
               .null_free_numbers = false};
  }

  void SetUp() override {
    SetLayout();
    Clear(kMethod, 0x100);
    Clear(kConst, 0x100);
    Clear(kPool, 0x100);
    Clear(kTags, 0x40);
    Clear(kClass, 0x200);
    memory_.Put(kMethod, 0x77770);
    memory_.Put(kMethod + 8, kConst);
    memory_.PutBytes(kMethod + 16, {0x09, 0xf2, 0xff, 0xff});  // public static synthetic, and more
    memory_.Put(kConst + 8, kPool);
    memory_.PutInt(kConst + 24, 20);  // words: 160 bytes
    memory_.PutBytes(kConst + 32, {40, 0, 1, 0, 2, 0});
    memory_.PutBytes(kConst + 46, {0x34, 0x12});
    memory_.Put(kPool + 8, kTags);
    memory_.Put(kPool + 24, kClass);
    memory_.PutInt(kPool + 60, 8);
    memory_.PutInt(kTags, 8);
    PutText(1, "name");
    PutText(2, "()V");
    PutText(3, "<T:>()V");
    PutText(4, "pkg/Outer$In");
    PutText(5, "pkg/Other");
    PutClass(6, 4);
    PutClass(7, 5);
    memory_.PutInt(kClass + 8, 64);
    memory_.Put(kClass + 24, SymbolOf(4));
    memory_.PutBytes(kClass + 164, {0x21, 0, 0xff, 0xff});
    memory_.Put(kClass + 232, kPool);
    memory_.Put(kClass + 240, kInner);
    memory_.Put(kClass + 408, kArray);
    PutInner({7, 0, 0, 0x0002, 6, 7, 1, 0x040c, 0xabcd, 0xef01});
    memory_.Put(kArray, 2);
    memory_.Put(kArray + 8, kMethod);
    memory_.Put(kArray + 16, 0xbbb8);
  }

  void Clear(uint64_t from, uint64_t bytes) {
    for (uint64_t at = from; at < from + bytes; at += 8) memory_.Put(at, 0);
  }
  static uint64_t SymbolOf(uint64_t index) { return kSymbols + 0x100 * index; }
  void PutText(uint64_t index, const std::string& text) {
    Clear(SymbolOf(index), 0x40);
    memory_.PutBytes(SymbolOf(index) + 4, {static_cast<uint8_t>(text.size()), 0});
    memory_.PutBytes(SymbolOf(index) + 6, {text.begin(), text.end()});
    memory_.PutBytes(kTags + 4 + index, {1});
    memory_.Put(kPool + 72 + 8 * index, SymbolOf(index));
  }
  void PutClass(uint64_t index, uint32_t name) {
    memory_.PutBytes(kTags + 4 + index, {7});
    memory_.Put(kPool + 72 + 8 * index, 0x99 | name << 16);
  }
  void PutInner(const std::vector<uint16_t>& numbers) {
    Clear(kInner, 0x40);
    memory_.PutInt(kInner, static_cast<uint32_t>(numbers.size()));
    for (size_t i = 0; i < numbers.size(); i++)
      memory_.PutBytes(kInner + 4 + 2 * i,
                       {static_cast<uint8_t>(numbers[i]), static_cast<uint8_t>(numbers[i] >> 8)});
  }
  void PutFlags(uint32_t flags) { memory_.PutInt(kConst + 28, flags); }
  // Writes the line number table, after the bytecodes.
  void PutLines(const std::vector<uint8_t>& bytes) {
    PutFlags(kHasLines);
    memory_.PutBytes(kConst + 48 + 40, bytes);
  }
  std::vector<Line> Lines() {
    MethodView method;
    std::vector<Line> found;
    if (!metadata_.Open(kMethod, method)) return found;
    int32_t bci = 0, line = 0;
    for (LineNumbers lines(metadata_, method); lines.Next(bci, line);) found.push_back({bci, line});
    return found;
  }
  MethodView Open() {
    MethodView method;
    EXPECT_TRUE(metadata_.Open(kMethod, method));
    return method;
  }
  std::string Text(uint64_t symbol) {
    char text[100];
    return metadata_.Copy(symbol, text, sizeof text) < 0 ? "?" : text;
  }

  MetadataLayout layout_{};
  MadeUpMemory memory_;
  Metadata metadata_{layout_, memory_};
};

// --- methods ---

TEST_F(MetadataTest, AMethod) {
  const MethodView method = Open();
  EXPECT_EQ(method.holder, kClass);
  EXPECT_EQ(method.vtable, 0x77770U);
  EXPECT_EQ(metadata_.CodeSizeOf(method), 40);
  EXPECT_EQ(Text(metadata_.NameOf(method)), "name");
  EXPECT_EQ(Text(metadata_.SignatureOf(method)), "()V");
  EXPECT_EQ(metadata_.GenericSignatureOf(method), 0U);
  EXPECT_EQ(metadata_.ModifiersOf(method), 0x1009);
  EXPECT_EQ(metadata_.IdNumOf(method), 0x1234);
}

TEST_F(MetadataTest, WhatAJdkLacksIsUnknown) {
  layout_.original_idnum = layout_.flags = layout_.inner_classes = layout_.pool_generic = -1;
  const MethodView method = Open();
  EXPECT_EQ(metadata_.IdNumOf(method), -1);
  EXPECT_EQ(metadata_.GenericSignatureOf(method), 0U);
  EXPECT_EQ(metadata_.ModifiersOfClass(kClass), -1);
  EXPECT_EQ(metadata_.GenericSignatureOfClass(kClass), 0U);
  EXPECT_TRUE(Lines().empty());
}

// The index of a generic signature is right below one word for each kind of annotations.
TEST_F(MetadataTest, TheGenericSignature) {
  const uint64_t end = kConst + 160;
  for (const uint32_t annotations : {0U, 128U, 128U | 1024U, 128U | 256U | 512U | 1024U}) {
    const auto words = static_cast<uint64_t>(__builtin_popcount(annotations));
    PutFlags(kHasGeneric | annotations | 0xffff0000);  // the upper flags are ignored
    memory_.PutBytes(end - 8 * words - 2, {3, 0});
    EXPECT_EQ(Text(metadata_.GenericSignatureOf(Open())), "<T:>()V") << words;
    memory_.PutBytes(end - 8 * words - 2, {0, 0});
    EXPECT_EQ(metadata_.GenericSignatureOf(Open()), 0U);
  }
}

TEST_F(MetadataTest, NoMethod) {
  MethodView method;
  EXPECT_FALSE(metadata_.Open(0, method));
  EXPECT_FALSE(metadata_.Open(kMethod + 4, method)) << "unaligned";
  EXPECT_FALSE(metadata_.Open(0x500000, method)) << "cannot be read";
  EXPECT_FALSE(metadata_.Open(kPool, method));
  memory_.PutInt(kConst + 24, 0x40000000);
  EXPECT_FALSE(metadata_.Open(kMethod, method)) << "too large";
  memory_.PutInt(kConst + 24, 10);
  EXPECT_FALSE(metadata_.Open(kMethod, method)) << "its bytecodes do not fit";
}

TEST_F(MetadataTest, IndicesThatLeadNowhere) {
  for (const uint8_t index : {8, 6, 0}) {  // behind the pool's end; no text; none
    memory_.PutBytes(kConst + 34, {index, 0});
    EXPECT_EQ(metadata_.NameOf(Open()), 0U) << int{index};
  }
}

// --- texts ---

TEST_F(MetadataTest, TextsAreCutToTheBuffer) {
  const uint64_t symbol = SymbolOf(4);  // 12 bytes
  EXPECT_EQ(metadata_.Copy(symbol, nullptr, 0), 12);
  constexpr int kLeast = std::numeric_limits<int>::min();
  for (const int size :
       {kLeast, kLeast + 1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}) {
    char text[16];
    memset(text, '#', sizeof text);
    EXPECT_EQ(metadata_.Copy(symbol, text, size), 12);
    std::string expected(16, '#');
    if (size > 0) {
      const std::string held = std::string("pkg/Outer$In").substr(0, size - 1);
      expected.replace(0, held.size() + 1, held + '\0');
    }
    EXPECT_EQ(std::string(text, 16), expected) << size;
  }
}

TEST_F(MetadataTest, TextsThatCannotBeRead) {
  char text[8] = "before";
  EXPECT_EQ(metadata_.Copy(0, text, 8), -1);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(metadata_.Copy(0x500000, text, 8), -1);
  EXPECT_EQ(metadata_.Copy(SymbolOf(1) + 1, text, 8), -1);
  memory_.PutBytes(SymbolOf(1) + 4, {0xff, 0xff});  // longer than what is there
  char large[1000];
  EXPECT_EQ(metadata_.Copy(SymbolOf(1), large, 1000), -1);
  EXPECT_STREQ(large, "");
}

// --- classes ---

TEST_F(MetadataTest, AClass) {
  EXPECT_TRUE(metadata_.IsInstanceClass(kClass));
  EXPECT_TRUE(metadata_.OwnsItsPool(kClass));
  EXPECT_EQ(Text(metadata_.NameOfClass(kClass)), "pkg/Outer$In");
  EXPECT_EQ(metadata_.GenericSignatureOfClass(kClass), 0U);
  memory_.PutBytes(kPool + 52, {3, 0});
  EXPECT_EQ(Text(metadata_.GenericSignatureOfClass(kClass)), "<T:>()V");
  int count = 0;
  const uint64_t methods = metadata_.MethodsOfClass(kClass, count);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(metadata_.MethodAt(methods, 0), kMethod);
  EXPECT_EQ(metadata_.MethodAt(methods, 1), 0xbbb8U);
}

TEST_F(MetadataTest, NoClass) {
  memory_.PutInt(kClass + 8, 0x80000000);
  EXPECT_FALSE(metadata_.IsInstanceClass(kClass)) << "an array's";
  EXPECT_FALSE(metadata_.IsInstanceClass(0));
  EXPECT_FALSE(metadata_.OwnsItsPool(kMethod));
  memory_.Put(kPool + 24, kClass + 8);
  EXPECT_FALSE(metadata_.OwnsItsPool(kClass)) << "it is another's";
  int count = 7;
  memory_.PutInt(kArray, 0xffffffff);
  EXPECT_EQ(metadata_.MethodsOfClass(kClass, count), 0U);
  EXPECT_EQ(count, 0);
}

// A member class has the modifiers of its entry in the InnerClasses attribute, without ACC_SUPER.
TEST_F(MetadataTest, ModifiersOfClasses) {
  EXPECT_EQ(metadata_.ModifiersOfClass(kClass), 0x40c);
  PutInner({7, 0, 0, 0x0002});
  EXPECT_EQ(metadata_.ModifiersOfClass(kClass), 1) << "others only";
  PutInner({0x1234, 0x5678});
  EXPECT_EQ(metadata_.ModifiersOfClass(kClass), 1) << "an enclosing method only";
  memory_.PutInt(kInner, 0x7fffffff);
  EXPECT_EQ(metadata_.ModifiersOfClass(kClass), -1) << "ends where memory does";
  EXPECT_EQ(metadata_.ModifiersOfClass(0x500000), -1);
}

// --- lines ---

TEST_F(MetadataTest, LinesInShortSteps) {
  // five bits of bytecode, three of line
  PutLines({0 << 3 | 7, 4 << 3 | 1, 30 << 3 | 0, 0});
  EXPECT_EQ(Lines(), (std::vector<Line>{{0, 7}, {4, 8}, {34, 8}}));
}

// 255, and two signed numbers in HotSpot's UNSIGNED5.
TEST_F(MetadataTest, LinesInLongSteps) {
  for (const bool null_free : {false, true}) {
    layout_.null_free_numbers = null_free;
    const uint8_t x = null_free ? 1 : 0;
    const auto u = [&](int value) { return static_cast<uint8_t>(value + x); };
    // 0, +500 = coded 1000 = 192 + 40 + 64 * 12; -4 = coded 7. Null-free: the first byte that says
    // that another follows is 192 as a byte, 191 as a value: 1000 = 191 + 41 + 64 * 12.
    const std::vector<uint8_t> far = {static_cast<uint8_t>(192 + 40 + x), u(12)};
    PutLines({255, u(0), far[0], far[1], 255, u(10), u(7), 0});
    EXPECT_EQ(Lines(), (std::vector<Line>{{0, 500}, {5, 496}})) << null_free;
  }
}

TEST_F(MetadataTest, NoLines) {
  PutFlags(0);
  memory_.PutBytes(kConst + 88, {7, 0});
  EXPECT_TRUE(Lines().empty());
}

TEST_F(MetadataTest, LinesEndWithTheirConstMethod) {
  PutLines(std::vector<uint8_t>(200, 0x09));
  EXPECT_EQ(Lines().size(), 160U - 88U);
}

TEST_F(MetadataTest, LinesThatAreNoneEndTheTable) {
  PutLines({255, 1, 0, 0});  // bytecode -1
  EXPECT_TRUE(Lines().empty());
  PutLines({255, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  EXPECT_TRUE(Lines().empty()) << "too far";
}

// The table need not be in order, and may have several entries for a bytecode.
TEST_F(MetadataTest, TheLineOfAByteCode) {
  // 4: 10, 20: 15, 8: 12 (back by 12: coded 23; by 3: coded 5), 8: 13
  PutLines({255, 8, 20, 16 << 3 | 5, 255, 23, 5, 0 << 3 | 1, 0});
  ASSERT_EQ(Lines(), (std::vector<Line>{{4, 10}, {20, 15}, {8, 12}, {8, 13}}));
  const MethodView method = Open();
  // Before the first entry; at 8 the first that begins there, behind it the last that begins
  // before; behind the bytecodes.
  for (const auto& [bci, line] :
       {std::pair{-1, -1}, {3, -1}, {4, 10}, {7, 10}, {8, 12}, {9, 13}, {39, 15}, {40, -1}})
    EXPECT_EQ(LineOf(metadata_, method, bci), line) << bci;
}

// --- damage ---

TEST_F(MetadataTest, DamageOfAnyKindEnds) {
  PutLines({255, 0, 20, 16 << 3 | 5, 0});
  DamageAnyhow(memory_, [&] {
    MethodView method;
    char text[16];
    if (metadata_.Open(kMethod, method)) {
      metadata_.Copy(metadata_.NameOf(method), text, sizeof text);
      metadata_.GenericSignatureOf(method);
      metadata_.ModifiersOf(method);
      LineOf(metadata_, method, 7);
    }
    metadata_.ModifiersOfClass(kClass);
    metadata_.GenericSignatureOfClass(kClass);
    int count = 0;
    metadata_.MethodsOfClass(kClass, count);
  });
}

}  // namespace
}  // namespace walkhammer::asgst
