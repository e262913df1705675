// SPDX-License-Identifier: Apache-2.0
#include "harness/request/text_form.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/testing/sanitized.h"
#include "harness/request/binary_form.h"
#include "harness/request/request_testing.h"
#include "harness/request/text_words.h"

namespace walkhammer {
namespace {

class TextFormTest : public testing::Test {
 protected:
  // Parses a text that must be correct.
  WalkFile Parse(std::string_view text) {
    WalkFile file;
    EXPECT_EQ(ParseText(text, "t.walk", *symbols_, file), "") << text;
    return file;
  }

  Value ParsePc(const std::string& value) { return Parse("walk 1\npc " + value + "\n").request.pc; }

  // The text of `value` after it is parsed and written.
  std::string Canonical(const std::string& value) { return ValueText(ParsePc(value), *symbols_); }

  std::string Text(const WalkFile& file) { return ToText(file, *symbols_); }

  std::unique_ptr<SymbolTable> symbols_ = NewSymbolTable();
};

constexpr std::string_view kFullText =
    "walk 1\n"
    "walker agct\n"
    "scene c2-inlined-chain\n"
    "state 0x2a\n"
    "depth 16384\n"
    "options 0xffffffff\n"
    "anchor custom\n"
    "anchor-sp stack+0x0\n"
    "anchor-pc stub \"call_stub\"\n"
    "anchor-fp scene-stack \"jni-up-down\"-0x10\n"
    "pc nmethod \"wh.C2.leaf(I)I\"+0x1c\n"
    "sp pristine-0x8\n"
    "fp 0x40\n"
    "lr unmapped\n"
    "fault 4294967295\n"
    "edit stack+0x48 = codelet \"invoke return entry points\"+0x7\n"
    "edit stack+0x50 ^ 0x8\n"
    "edit stack+0x3fffff8 + -0x10\n"
    "expect crash frame::sender(RegisterMap*)+0x1f\n";

TEST_F(TextFormTest, EveryFieldIsRead) {
  WalkFile file = Parse(kFullText);
  const WalkRequest& request = file.request;
  auto id = [this](SymbolKind kind, std::string_view name) { return *symbols_->Find(kind, name); };
  EXPECT_EQ(request.walker, *FindWalker("agct"));
  EXPECT_EQ(request.scene, *FindScene("c2-inlined-chain"));
  EXPECT_EQ(request.state, 0x2a);
  EXPECT_EQ(request.depth, 16384);
  EXPECT_EQ(request.options, 0xffffffffu);
  EXPECT_EQ(request.anchor, AnchorMode::kCustom);
  EXPECT_EQ(request.anchor_sp, (Value{0, SymbolTable::IdOf(SymbolKind::kStack)}));
  EXPECT_EQ(request.anchor_pc, (Value{0, id(SymbolKind::kStub, "call_stub")}));
  EXPECT_EQ(request.anchor_fp, (Value{-16, id(SymbolKind::kSceneStack, "jni-up-down")}));
  EXPECT_EQ(request.pc, (Value{0x1c, id(SymbolKind::kNmethod, "wh.C2.leaf(I)I")}));
  EXPECT_EQ(request.sp, (Value{-8, SymbolTable::IdOf(SymbolKind::kPristine)}));
  EXPECT_EQ(request.fp, (Value{0x40}));
  EXPECT_EQ(request.lr, (Value{0, SymbolTable::IdOf(SymbolKind::kUnmapped)}));
  EXPECT_EQ(request.fault, UINT32_MAX);
  ASSERT_EQ(request.edit_count, 3);
  EXPECT_EQ(
      request.edits[0],
      (Edit{0x48, EditOp::kSet, {}, {7, id(SymbolKind::kCodelet, "invoke return entry points")}}));
  EXPECT_EQ(request.edits[1], (Edit{0x50, EditOp::kXor, {}, {8}}));
  EXPECT_EQ(request.edits[2], (Edit{0x3fffff8, EditOp::kAdd, {}, {-16}}));
  EXPECT_EQ(file.expect, "crash frame::sender(RegisterMap*)+0x1f");
  EXPECT_TRUE(IsValid(request, *symbols_));
}

TEST_F(TextFormTest, EveryFieldIsWritten) {
  std::string text = Text(Parse(kFullText));
  std::string expected(kFullText);
  expected.replace(expected.find("stack+0x0\n"), 9, "stack");
  EXPECT_EQ(text, expected);
}

TEST_F(TextFormTest, SamplesByteCodesAndManyEdits) {
  const std::string head = "walk 1\nwalker agct\nscene c2\n", edit = "edit stack+0x8 = 0x1\n";
  std::string edits = "state in_Java\n";
  for (int i = 0; i < 33; i++) edits += edit;
  for (const std::string& rest :
       {std::string("origin sample\nstate in_Java\n"), edits,
        std::string("state in_Java\nfp bytecodes \"a.b()V\"+0x5\n"),
        std::string("state in_Java\nedit stack+0x8 + bytecodes \"a.b()V\"\n")})
    EXPECT_EQ(Text(Parse(head + rest)), head + rest);
}

TEST_F(TextFormTest, TheArchitecture) {
  for (const std::string arch : {"x86_64", "aarch64"}) {
    const std::string text = "walk 1\nwalker agct\nscene c2\narch " + arch + "\nstate in_Java\n";
    EXPECT_EQ(Parse(text).arch, arch);
    EXPECT_EQ(Text(Parse(text)), text);
  }
  EXPECT_EQ(Parse("walk 1\n").arch, "");
}

TEST_F(TextFormTest, SignedValues) {
  const std::string text =
      "walk 1\nwalker agct\nscene c2\nstate in_Java\nlr signed stub \"call_stub\"+0x4\n"
      "edit stack+0x8 = signed 0x40\nedit stack+0x10 ^ signed stack-0x8\n";
  const WalkRequest request = Parse(text).request;
  EXPECT_EQ(request.lr.is_signed, 1U);
  EXPECT_EQ(request.edits[0].value, (Value{0x40, 0, 1}));
  EXPECT_EQ(Text(Parse(text)), text);
  EXPECT_FALSE(request.edits[0].value == (Value{0x40, 0, 0}));
}

TEST_F(TextFormTest, AgainstWhomTheAnswerIsCompared) {
  const std::string text = "walk 1\nwalker asgst\nagainst agct\nscene c2\nstate in_Java\n";
  const WalkFile pair = Parse(text);
  EXPECT_EQ(pair.request.walker, *FindWalker("asgst"));
  EXPECT_EQ(pair.request.against, *FindWalker("agct") + 1);
  EXPECT_EQ(Text(pair), text);
  WalkRequest alone = pair.request;
  alone.against = 0;
  EXPECT_FALSE(alone == pair.request);
}

TEST_F(TextFormTest, DefaultsAreLeftOut) {
  const WalkFile usual = Parse("walk 1");
  EXPECT_EQ(usual.request, WalkRequest{});
  EXPECT_EQ(usual.expect, "");
  EXPECT_EQ(Text(usual), "walk 1\nwalker " + std::string(AllWalkers()[0].name) + "\nscene " +
                             AllScenes()[0].name + "\nstate in_Java\n");
  // A file may state default values; the request is the default one.
  EXPECT_EQ(Parse("walk 1\nstate in_Java\ndepth 128\noptions 0\nanchor cleared\npc pristine\n"
                  "sp pristine+0\nfp pristine-0x0\nlr pristine")
                .request,
            WalkRequest{});
  EXPECT_EQ(Parse("walk 1\nanchor custom\nanchor-sp 0").request.anchor_sp, Value{});
}

TEST_F(TextFormTest, CommentsBlanksAndLineEnds) {
  const WalkRequest plain = Parse("walk 1\nscene c2\npc stub \"a #2\"+0x8\ndepth 3\n").request;
  EXPECT_EQ(Parse("# head\r\n\r\n \twalk\t1 # one\r\n\r\n  scene   c2#two\r\n"
                  "pc stub  \"a #2\" +0x8 # \"quoted\" 'three'\r\n#\r\ndepth 3\r")
                .request,
            plain);
  EXPECT_EQ(symbols_->at(plain.pc.symbol).name, std::string("a #2"));
}

TEST_F(TextFormTest, OrderIsFreeExceptThatEditsKeepTheirs) {
  const WalkRequest request = Parse(
                                  "walk 1\nanchor-sp heap\nedit stack+8 = 1\nscene c2\n"
                                  "anchor custom\nedit stack ^ 2\n")
                                  .request;
  EXPECT_EQ(request.anchor_sp.symbol, SymbolTable::IdOf(SymbolKind::kHeap));
  ASSERT_EQ(request.edit_count, 2);
  EXPECT_EQ(request.edits[0], (Edit{8, EditOp::kSet, {}, {1}}));
  EXPECT_EQ(request.edits[1], (Edit{0, EditOp::kXor, {}, {2}}));
}

TEST_F(TextFormTest, EveryKindIsReadAndWritten) {
  for (int i = 1; i < kSymbolKinds; i++) {
    const auto kind = static_cast<SymbolKind>(i);
    const std::string name = IsNamed(kind) ? " \"a b-0x1 #2\"" : "";
    for (const char* addend : {"", "+0x8", "-0x8", "+0x7fffffffffffffff", "-0x8000000000000000"}) {
      const std::string text = std::string(KindWord(kind)) + name + addend;
      EXPECT_EQ(symbols_->at(ParsePc(text).symbol).kind, kind) << text;
      EXPECT_EQ(Canonical(text), text);
    }
  }
}

TEST_F(TextFormTest, Literals) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0x0", 0},
      {"0x10", 16},
      {"-0x8", -8},
      {"-0x100000000", -(int64_t{1} << 32)},
      {"0xfffffffeffffffff", -(int64_t{1} << 32) - 1},
      {"0x7fffffffffffffff", INT64_MAX},
      {"0x8000000000000000", INT64_MIN},
  };
  for (auto [text, number] : cases) {
    EXPECT_EQ(ParsePc(text), Value{number}) << text;
    EXPECT_EQ(ValueText(Value{number}, *symbols_), text);
  }
  EXPECT_EQ(ParsePc("-0x8000000000000000"), Value{INT64_MIN});
  EXPECT_EQ(ParsePc("0xFFFFffffFFFFffff"), Value{-1});
  EXPECT_EQ(ParsePc("18446744073709551615"), Value{-1});
  EXPECT_EQ(ParsePc("-010"), Value{-10});
  EXPECT_EQ(ParsePc("literal+0x8"), Value{8});
}

TEST_F(TextFormTest, NamesAreHeldAsTheTableHoldsThem) {
  EXPECT_EQ(Canonical("stub \"caf\xc3\xa9\\x\""), "stub \"caf???x\"");
  EXPECT_EQ(Canonical("stub \"" + std::string(200, 'x') + "\""),
            "stub \"" + std::string(158, 'x') + "\"");
}

TEST_F(TextFormTest, StatesByWordAndNumber) {
  for (int state = 0; state < 256; state++) {
    WalkFile file;
    file.request.state = static_cast<uint8_t>(state);
    EXPECT_EQ(Parse(Text(file)).request.state, state);
    EXPECT_EQ(Parse("walk 1\nstate " + std::to_string(state)).request.state, state);
  }
  EXPECT_EQ(Parse("walk 1\nstate in_native").request.state, kStateInNative);
}

TEST_F(TextFormTest, Expect) {
  auto expect = [this](const std::string& line) { return Parse("walk 1\n" + line).expect; };
  EXPECT_EQ(expect("expect  crash a(B*, C)+0x1f \t\r"), "crash a(B*, C)+0x1f");
  EXPECT_EQ(expect("expect crash a#1 # comment #2"), "crash a#1");
  EXPECT_EQ(expect("expect crash stub \"a #2\"+0x1 # comment"), "crash stub \"a #2\"+0x1");
  EXPECT_EQ(expect("expect one\nwalker agct"), "one");
}

TEST_F(TextFormTest, ExpectIsWrittenSoThatItReadsTheSame) {
  const std::pair<const char*, const char*> cases[] = {
      {"crash a#1", "crash a#1"},
      {"stub \"a #2\"", "stub \"a #2\""},
      {"crash a #1", "crash a#1"},
      {"a \t # # b", "a## b"},
      {" # #a ", "a"},
      {"a\nwalker b", "a walker b"},
      {"\n \n", ""},
  };
  for (auto [given, written] : cases) {
    WalkFile file;
    file.expect = given;
    EXPECT_EQ(Parse(Text(file)).expect, written);
  }
}

TEST_F(TextFormTest, FormsConvertWithoutLoss) {
  AnyRequests random(4);
  for (int i = 0; i < (kSanitized ? 1000 : 5000); i++) {
    WalkFile file;
    file.request = random.Request(*symbols_);
    const std::string text = Text(file);
    WalkFile read = Parse(text);
    ASSERT_EQ(read.request, file.request) << text;
    // text -> binary -> text, through a table without these names
    auto fresh = NewSymbolTable();
    const std::string bytes = EncodeBinary(read.request, *symbols_);
    WalkFile decoded{DecodeBinary(AsBytes(bytes), *fresh), ""};
    ASSERT_EQ(ToText(decoded, *fresh), text);
    // binary -> text -> binary
    ASSERT_EQ(EncodeBinary(Parse(text).request, *symbols_), bytes) << text;
  }
}

TEST_F(TextFormTest, AnyDecodedBytesAreReadableText) {
  AnyRequests random(5);
  for (int i = 0; i < (kSanitized ? 1000 : 5000); i++) {
    if (i % 500 == 0) symbols_->Init();
    WalkFile file{DecodeBinary(AsBytes(random.Bytes()), *symbols_), ""};
    const std::string text = Text(file);
    ASSERT_EQ(Parse(text).request, file.request) << text;
  }
}

// A damaged file gives a valid request, or an error with line and column.
TEST_F(TextFormTest, DamagedTextIsRefusedWithAPlaceOrValid) {
  AnyRequests random(6);
  constexpr int kTexts = kSanitized ? 4000 : 20000;
  int refused = 0;
  for (int i = 0; i < kTexts; i++) {
    std::string text(kFullText);
    for (uint64_t flips = random.Below(4); flips > 0; flips--)
      text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    if (random.Below(4) == 0) text.resize(random.Below(text.size()));
    WalkFile file;
    const std::string error = ParseText(text, "t.walk", *symbols_, file);
    if (error.empty()) {
      ASSERT_TRUE(IsValid(file.request, *symbols_)) << text;
      ASSERT_EQ(Parse(Text(file)).request, file.request) << text;
      continue;
    }
    refused++;
    int line = 0, column = 0, used = 0;
    ASSERT_EQ(std::sscanf(error.c_str(), "t.walk:%d:%d: %n", &line, &column, &used), 2) << error;
    ASSERT_GT(error.size(), static_cast<size_t>(used));
    for (char c : error) ASSERT_TRUE(c >= ' ' && c <= '~') << error;
  }
  EXPECT_GT(refused, kTexts / 4);
  EXPECT_LT(refused, kTexts / 20 * 19);
}

TEST_F(TextFormTest, AnchorValuesWithoutCustomAnchorAreLeftOut) {
  WalkFile file;
  file.request.anchor_sp = Value{8};
  EXPECT_EQ(Parse(Text(file)).request, WalkRequest{});
  const std::string bytes = EncodeBinary(file.request, *symbols_);
  EXPECT_EQ(DecodeBinary(AsBytes(bytes), *symbols_), WalkRequest{});
}

TEST_F(TextFormTest, DamagedRequestsAreWrittenWithinBounds) {
  WalkFile file;
  file.request.walker = file.request.scene = 255;
  file.request.anchor = AnchorMode{255};
  file.request.edit_count = UINT16_MAX;
  file.request.pc = {1, UINT32_MAX};
  file.request.sp = {1, SymbolTable::IdOf(SymbolKind::kStub)};
  for (Edit& edit : file.request.edits) edit = {INT32_MIN, EditOp{255}, {}, {}};
  const std::string text = Text(file);
  EXPECT_NE(text.find("\nwalker unknown-255\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\npc 0x1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nsp unmapped+0x1\n"), std::string::npos) << text;
}

// The document is tested: its examples parse, and it names every word.
class WalkFormatDocTest : public TextFormTest {
 protected:
  void SetUp() override {
    doc_ = ReadFile(WALKHAMMER_PAGES "walk-format.md");
    if (doc_.empty()) GTEST_SKIP() << "docs/reference/walk-format.md is not beside these sources";
  }
  std::string doc_;
};

TEST_F(WalkFormatDocTest, ExamplesParse) {
  const std::string fence = "```walk\n";
  int examples = 0;
  for (size_t at = doc_.find(fence); at != std::string::npos; at = doc_.find(fence, at)) {
    at += fence.size();
    WalkFile file;
    EXPECT_EQ(ParseText(doc_.substr(at, doc_.find("```", at) - at), "example", *symbols_, file), "")
        << "example " << examples;
    examples++;
  }
  EXPECT_GE(examples, 2);
}

TEST_F(WalkFormatDocTest, NamesEveryWord) {
  auto check = [this](std::string_view word) {
    EXPECT_NE(doc_.find("`" + std::string(word)), std::string::npos) << word;
  };
  for (std::string_view word : kFieldWords) check(word);
  for (std::string_view word : kAnchorWords) check(word);
  for (int i = 0; i < kSymbolKinds; i++) check(KindWord(static_cast<SymbolKind>(i)));
  for (int i = 0; i < 256; i++)
    if (const char* word = StateWord(static_cast<uint8_t>(i))) check(word);
}

}  // namespace
}  // namespace walkhammer
