// SPDX-License-Identifier: Apache-2.0
#include "harness/request/binary_form.h"

#include <gtest/gtest.h>

#include "harness/request/request_testing.h"

namespace walkhammer {
namespace {

WalkRequest Decode(std::string_view bytes, SymbolTable& symbols) {
  return DecodeBinary(AsBytes(bytes), symbols);
}

TEST(BinaryFormTest, RandomRequestsRoundTrip) {
  auto symbols = NewSymbolTable();
  AnyRequests random(1);
  for (int i = 0; i < 5000; i++) {
    WalkRequest request = random.Request(*symbols);
    ASSERT_TRUE(IsValid(request, *symbols));
    std::string bytes = EncodeBinary(request, *symbols);
    ASSERT_EQ(Decode(bytes, *symbols), request) << i;
    // Another table, which lacks the names, gives the same bytes.
    if (i % 100 == 0) {
      auto fresh = NewSymbolTable();
      ASSERT_EQ(EncodeBinary(Decode(bytes, *fresh), *fresh), bytes) << i;
    }
  }
}

TEST(BinaryFormTest, AnyBytesDecodeToAValidAndStableRequest) {
  AnyRequests random(2);
  int with_edits = 0, with_names = 0, custom = 0;
  auto symbols = NewSymbolTable();
  for (int i = 0; i < 20000; i++) {
    if (i % 500 == 0) symbols->Init();
    std::string bytes = random.Bytes();
    WalkRequest request = Decode(bytes, *symbols);
    ASSERT_TRUE(IsValid(request, *symbols)) << i;
    std::string canonical = EncodeBinary(request, *symbols);
    ASSERT_EQ(Decode(canonical, *symbols), request) << i;
    with_edits += request.edit_count > 0 ? 1 : 0;
    with_names += IsNamed(symbols->at(request.pc.symbol).kind) ? 1 : 0;
    custom += request.anchor == AnchorMode::kCustom ? 1 : 0;
  }
  EXPECT_GT(with_edits, 10000);
  EXPECT_GT(with_names, 2000);
  EXPECT_GT(custom, 2000);
}

// Truncated encodings with flipped bits reach code that uniform bytes seldom reach.
TEST(BinaryFormTest, MutatedEncodingsDecodeToValidRequests) {
  AnyRequests random(3);
  auto symbols = NewSymbolTable();
  for (int i = 0; i < 5000; i++) {
    if (i % 200 == 0) symbols->Init();
    std::string bytes = EncodeBinary(random.Request(*symbols), *symbols);
    for (int flips = 0; flips < 3; flips++)
      bytes[random.Below(bytes.size())] ^= static_cast<char>(1u << random.Below(8));
    bytes.resize(random.Below(bytes.size() + 1));
    WalkRequest request = Decode(bytes, *symbols);
    ASSERT_TRUE(IsValid(request, *symbols)) << i;
    ASSERT_EQ(Decode(EncodeBinary(request, *symbols), *symbols), request) << i;
  }
}

TEST(BinaryFormTest, TheUsualRequestIsItsVersion) {
  auto symbols = NewSymbolTable();
  EXPECT_EQ(EncodeBinary(WalkRequest{}, *symbols), "\1");
  EXPECT_EQ(Decode("", *symbols), WalkRequest{});
  EXPECT_EQ(Decode("\xff", *symbols), WalkRequest{});  // any version reads as 1
}

// Pins the layout.
TEST(BinaryFormTest, Layout) {
  auto symbols = NewSymbolTable();
  WalkRequest request;
  request.scene = 3;
  request.state = kStateInNative;
  request.anchor = AnchorMode::kCustom;
  request.depth = 127;
  request.options = 0x80;
  request.pc = {0x1c, symbols->Intern(SymbolKind::kNmethod, "a()V")};
  request.sp = {-8, SymbolTable::IdOf(SymbolKind::kPristine)};
  request.lr = {0, SymbolTable::IdOf(SymbolKind::kLiteral)};
  request.anchor_sp = {0, SymbolTable::IdOf(SymbolKind::kStack)};
  request.edit_count = 1;
  request.edits[0] = {0x48, EditOp::kAdd, {}, {1, 0, 0}};
  // The expected bytes, with the tag byte of lr.
  const auto layout = [](char literal) {
    std::string bytes(
        "\x01\x00\x03\x0c\x02\x01\x80\x01"
        "\x39\x04"
        "a()V"
        "\x38\x01\x0f\x00L"
        "\x08\x00\x00"
        "\x01\x09\x02\x01\x02",
        27);
    bytes[bytes.find('L')] = literal;
    return bytes;
  };
  EXPECT_EQ(EncodeBinary(request, *symbols), layout(0x58));
  EXPECT_EQ(Decode(layout(0x58), *symbols), request);
  request.lr.is_signed = 1;
  EXPECT_EQ(EncodeBinary(request, *symbols), layout(0x5a));
  EXPECT_EQ(Decode(layout(0x5a), *symbols), request);
}

TEST(BinaryFormTest, OriginIsLeftOut) {
  auto symbols = NewSymbolTable();
  WalkRequest request;
  request.origin = Origin::kSample;
  EXPECT_EQ(Decode(EncodeBinary(request, *symbols), *symbols), WalkRequest{});
}

TEST(BinaryFormTest, NumbersAreBroughtIntoRange) {
  auto symbols = NewSymbolTable();
  WalkRequest request = Decode(std::string(400, '\xff'), *symbols);
  EXPECT_TRUE(IsValid(request, *symbols));
  EXPECT_EQ(request.walker, 255 % AllWalkers().size());
  EXPECT_EQ(request.scene, 255 % AllScenes().size());
  EXPECT_EQ(request.state, 0xff ^ kStateInJava);
  // The zigzag depths INT64_MAX and INT64_MIN are clamped to the limits.
  const std::string most("\1\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15);
  EXPECT_EQ(Decode(most, *symbols).depth, WalkRequest::kMaxDepth);
  const std::string least("\1\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15);
  EXPECT_EQ(Decode(least, *symbols).depth, 1);
  // The edit count is read modulo 513; the slot wraps at 64 MiB.
  const std::string many("\1\0\0\0\0\0\0\0\0\0\0\x81\x04", 13);
  EXPECT_EQ(Decode(many, *symbols).edit_count, 0);
  const std::string wrapped("\1\0\0\0\0\0\0\0\0\0\0\x01\x81\x80\x80\x04", 16);
  ASSERT_EQ(Decode(wrapped, *symbols).edit_count, 1);
  EXPECT_EQ(Decode(wrapped, *symbols).edits[0].slot, 8);
}

TEST(BinaryFormTest, NamesAreCleanedCutAndNeverEmpty) {
  auto symbols = NewSymbolTable();
  const std::string head("\1\0\0\0\0\0\0\x39", 8);  // pc: nmethod with an addend
  auto pc = [&](const std::string& rest) { return Decode(head + rest, *symbols).pc; };
  Value value =
      pc(std::string("\x03"
                     "a\"\n"
                     "\x02"));
  EXPECT_STREQ(symbols->at(value.symbol).name, "a??");
  EXPECT_EQ(value.addend, 1);
  value = pc("\xff" + std::string(255, 'n') + "\x02");
  EXPECT_EQ(symbols->at(value.symbol).name, std::string(Symbol::kMaxName, 'n'));
  EXPECT_EQ(value.addend, 1);
  value = pc("\x09xy");  // the name runs past the end
  EXPECT_STREQ(symbols->at(value.symbol).name, "xy");
  value = pc(std::string("\0\x02", 2));
  EXPECT_EQ(value, (Value{1, SymbolTable::IdOf(SymbolKind::kUnmapped)}));
}

TEST(BinaryFormTest, AFullTableGivesUnmapped) {
  auto symbols = NewSymbolTable();
  for (uint32_t i = 0; symbols->size() < SymbolTable::kCapacity; i++)
    symbols->Intern(SymbolKind::kStub, std::to_string(i));
  WalkRequest request = Decode(std::string("\1\0\0\0\0\0\0\x38\1x", 10), *symbols);
  EXPECT_EQ(request.pc, (Value{0, SymbolTable::IdOf(SymbolKind::kUnmapped)}));
}

TEST(BinaryFormTest, EncodingDamagedRequestsStaysWithinBounds) {
  auto symbols = NewSymbolTable();
  WalkRequest request;
  request.edit_count = UINT16_MAX;
  request.pc = {0, UINT32_MAX};
  request.sp = {0, SymbolTable::IdOf(SymbolKind::kNmethod)};  // a named kind without a name
  for (Edit& edit : request.edits) edit = {-1, EditOp{200}, {}, {7, UINT32_MAX, 7}};
  WalkRequest again = Decode(EncodeBinary(request, *symbols), *symbols);
  EXPECT_TRUE(IsValid(again, *symbols));
  EXPECT_EQ(again.edit_count, WalkRequest::kMaxEdits);
  EXPECT_EQ(again.sp.symbol, SymbolTable::IdOf(SymbolKind::kUnmapped));
}

}  // namespace
}  // namespace walkhammer
