// SPDX-License-Identifier: Apache-2.0
// The error messages of ParseText: each states the line, the column and what was expected.
#include <gtest/gtest.h>

#include "harness/request/request_testing.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

std::string Error(std::string_view text) {
  auto symbols = NewSymbolTable();
  WalkFile file;
  file.request.depth = 77;
  file.expect = "before";
  std::string error = ParseText(text, "t.walk", *symbols, file);
  EXPECT_NE(error, "") << text;
  EXPECT_EQ(file.request.depth, 77) << "touched by " << text;
  EXPECT_EQ(file.expect, "before") << "touched by " << text;
  return error;
}

// The error message for `line` after a line "walk 1", without the prefix "t.walk:2:".
std::string LineError(const std::string& line) {
  std::string error = Error("walk 1\n" + line + "\nexpect later\n");
  EXPECT_TRUE(error.starts_with("t.walk:2:")) << error;
  return error.substr(error.starts_with("t.walk:2:") ? 9 : 0);
}

TEST(TextErrorsTest, Empty) {
  const char* kEmpty = "t.walk:1:1: empty: a .walk file starts with 'walk 1'";
  EXPECT_EQ(Error(""), kEmpty);
  EXPECT_EQ(Error("\r\n  # only comments\n\n"), kEmpty);
}

TEST(TextErrorsTest, Version) {
  const auto other = [](const std::string& number) {
    return "another version of walkhammer wrote walk format " + number + "; this one reads 1";
  };
  for (const char* number : {"0", "2", "4"})
    EXPECT_EQ(Error(std::string("walk ") + number), "t.walk:1:6: " + other(number));
  EXPECT_EQ(Error("# c\n\n walk  99999999999999999999 what else"),
            "t.walk:3:8: " + other("99999999999999999999"));
  EXPECT_EQ(Error("walk"), "t.walk:1:5: expected the format version, a number");
  EXPECT_EQ(Error("walk 0x1"), "t.walk:1:6: expected the format version, a number, got '0x1'");
  EXPECT_EQ(Error("walk 1 1"), "t.walk:1:8: expected the end of the line, got '1'");
  EXPECT_EQ(Error("\n  walker agct\nwalk 1"),
            "t.walk:2:3: expected 'walk 1' as the first field, got 'walker'");
  EXPECT_EQ(Error(std::string_view("\x7f"
                                   "ELF\0\1",
                                   6)),
            "t.walk:1:1: expected 'walk 1' as the first field, got '?ELF?"
            "?'");
}

TEST(TextErrorsTest, Fields) {
  EXPECT_EQ(LineError(" statee in_Java"), "2: unknown field 'statee'; nearest: state, scene, walk");
  EXPECT_EQ(LineError("walk 1"), "1: duplicate field 'walk': first on line 1");
  EXPECT_EQ(Error("walk 1\npc 0\n\n  pc 0"), "t.walk:4:3: duplicate field 'pc': first on line 2");
  EXPECT_EQ(Error("walk 1\nexpect a\nexpect a"),
            "t.walk:3:1: duplicate field 'expect': first on line 2");
  EXPECT_EQ(LineError(std::string(1000, 'z')).substr(0, 61),
            "1: unknown field '" + std::string(40, 'z') + "...");
}

TEST(TextErrorsTest, WalkerAndScene) {
  EXPECT_EQ(LineError("walker"), "7: expected the name of a walker");
  EXPECT_TRUE(LineError("walker agtc").starts_with("8: unknown walker 'agtc'; nearest: agct"));
  EXPECT_TRUE(LineError("walker agtc").ends_with(" (all: walkhammer show walkers)"));
  EXPECT_EQ(LineError("walker agtc").find("puzzle"), std::string::npos);
  EXPECT_NE(LineError("walker puzzle-honst").find("nearest: puzzle-honest"), std::string::npos);
  EXPECT_EQ(LineError("scene"), "6: expected the name of a scene");
  const std::string scene = LineError("scene monitor-hold");
  EXPECT_TRUE(scene.starts_with("7: unknown scene 'monitor-hold'; nearest: monitor-held, "))
      << scene;
  EXPECT_TRUE(scene.ends_with(" (all: walkhammer show scenes)")) << scene;
  EXPECT_EQ(LineError("scene c2 c1"), "10: expected the end of the line, got 'c1'");
}

TEST(TextErrorsTest, ArchAndSignature) {
  EXPECT_EQ(Error("walk 1\norigin x\n"), "t.walk:2:8: expected 'made' or 'sample', got 'x'");
  EXPECT_EQ(Error("walk 1\narch arm"), "t.walk:2:6: expected 'x86_64' or 'aarch64', got 'arm'");
  EXPECT_EQ(
      Error("walk 1\npc signed"),
      "t.walk:2:10: expected a value: a number, or a kind such as pristine, stack or nmethod");
  EXPECT_TRUE(Error("walk 1\npc signed signed stack").starts_with("t.walk:2:11: unknown kind"));
}

TEST(TextErrorsTest, State) {
  EXPECT_EQ(LineError("state"), "6: expected a thread state such as in_Java, or a number 0 .. 255");
  EXPECT_EQ(LineError("state in_java"),
            "7: unknown thread state 'in_java'; nearest: in_Java, in_vm, in_native; or a number "
            "0 .. 255");
  EXPECT_EQ(LineError("state 256"), "7: expected a thread state number, 0 .. 255, got '256'");
  EXPECT_EQ(LineError("state 0x"), "7: expected a thread state number, 0 .. 255, got '0x'");
  EXPECT_EQ(LineError("state 8 8"), "9: expected the end of the line, got '8'");
}

TEST(TextErrorsTest, DepthAndOptions) {
  for (const char* bad : {"0", "16385", "-1", "0x", "1e3", "many", "99999999999999999999"})
    EXPECT_EQ(LineError(std::string("depth ") + bad),
              std::string("7: expected a depth of 1 .. 16384 frames, got '") + bad + "'");
  EXPECT_EQ(LineError("depth # none"), "6: expected a depth of 1 .. 16384 frames");
  for (const char* bad : {"0", "-1", "4294967296", "3.5"})
    EXPECT_EQ(LineError(std::string("fault ") + bad),
              std::string("7: expected the number of a load, 1 .. 4294967295, got '") + bad + "'");
  EXPECT_EQ(LineError("options 0x100000000"),
            "9: expected option bits, 0x0 .. 0xffffffff, got '0x100000000'");
  EXPECT_EQ(LineError("options"), "8: expected option bits, 0x0 .. 0xffffffff");
}

TEST(TextErrorsTest, Anchor) {
  EXPECT_EQ(LineError("anchor"), "7: expected 'cleared', 'true' or 'custom'");
  EXPECT_EQ(LineError("anchor True"), "8: expected 'cleared', 'true' or 'custom', got 'True'");
  const char* kNeeds = "t.walk:3:2: anchor-sp, anchor-pc and anchor-fp need 'anchor custom'";
  EXPECT_EQ(Error("walk 1\nanchor true\n anchor-sp heap\nanchor-pc heap\n"), kNeeds);
  EXPECT_EQ(Error("walk 1\n\n anchor-fp 0\n"), kNeeds);
  EXPECT_EQ(Error("walk 1\n\n anchor-pc 0\nanchor cleared"), kNeeds);
  EXPECT_EQ(LineError("anchor-pc"),
            "10: expected a value: a number, or a kind such as pristine, stack or nmethod");
}

TEST(TextErrorsTest, Values) {
  const std::string what =
      "expected a value: a number, or a kind such as pristine, stack or nmethod";
  EXPECT_EQ(LineError("pc"), "3: " + what);
  EXPECT_EQ(LineError("sp \"a\""), "4: " + what + ", got '\"a\"'");
  EXPECT_EQ(LineError("fp +0x8"), "4: " + what + ", got '+0x8'");
  EXPECT_EQ(LineError("lr nmetod \"a\""),
            "4: unknown kind 'nmetod'; nearest: nmethod, method, slot");
  EXPECT_EQ(LineError("pc Heap+0x8"), "4: unknown kind 'Heap'; nearest: heap, stack, slot");
  EXPECT_EQ(LineError("pc stack-bottom"),
            "4: unknown kind 'stack-bottom'; nearest: stack-base, stack-limit, stack");
  EXPECT_EQ(LineError("pc 0x8 0x8"), "8: expected the end of the line, got '0x8'");
  EXPECT_EQ(LineError("pc heap+0x8 + 0x8"), "13: expected the end of the line, got '+'");
  EXPECT_EQ(LineError("pc 12x"), "4: expected a number of at most 64 bits, got '12x'");
  for (const char* bad : {"-", "--1", "-+1", "0x", "0X1", "0x-1", "0x10000000000000000",
                          "18446744073709551616", "-0x8000000000000001", "0x1\"a\""})
    EXPECT_EQ(LineError(std::string("pc ") + bad),
              std::string("4: expected a number of at most 64 bits, got '") + bad + "'");
  for (const char* bad : {"+", "-", "+-1", "--1", "+0x", "_end", "\"a\"", "+0x8000000000000000",
                          "-0x8000000000000001", "+0x8x"}) {
    EXPECT_EQ(LineError(std::string("pc heap") + bad),
              std::string("8: expected an addend such as +0x8 or -0x8, got '") + bad + "'");
  }
}

TEST(TextErrorsTest, Names) {
  EXPECT_EQ(LineError("pc nmethod"), "11: expected a quoted name after 'nmethod'");
  EXPECT_EQ(LineError("pc nmethod a.b()V"),
            "12: expected a quoted name after 'nmethod', got 'a.b()V'");
  EXPECT_EQ(LineError("pc nmethod+0x8"), "11: expected a quoted name after 'nmethod', got '+0x8'");
  EXPECT_EQ(LineError("pc stub \"call # stub"), "9: expected '\"' at the end of the name");
  EXPECT_EQ(LineError("pc stub  \"\"+0x8"), "10: expected a name between the quotes");
  EXPECT_EQ(LineError("pc stub \"a\\\"b\""),
            "13: expected an addend such as +0x8 or -0x8, got 'b\"'");
}

TEST(TextErrorsTest, FullTable) {
  auto symbols = NewSymbolTable();
  for (uint32_t i = 0; symbols->size() < SymbolTable::kCapacity; i++)
    symbols->Intern(SymbolKind::kStub, std::to_string(i));
  WalkFile file;
  EXPECT_EQ(ParseText("walk 1\npc stub \"more\"", "t.walk", *symbols, file),
            "t.walk:2:4: no room for another name: expected at most 12265");
  EXPECT_EQ(ParseText("walk 1\npc stub \"7\"", "t.walk", *symbols, file), "");
}

TEST(TextErrorsTest, Edits) {
  const std::string slot = "expected a stack slot such as stack+0x48";
  EXPECT_EQ(LineError("edit"), "5: " + slot);
  EXPECT_EQ(LineError("edit  heap+0x8 = 0"), "7: " + slot + ", got 'heap+0x8'");
  EXPECT_EQ(LineError("edit stac = 0"), "6: " + slot + ", got 'stac'");
  EXPECT_EQ(LineError("edit stack-base+0x8 = 0"), "6: " + slot + ", got 'stack-base+0x8'");
  EXPECT_EQ(LineError("edit stack+0x8=0"), "6: " + slot + ", got 'stack+0x8=0'");
  for (const char* bad : {"stack+0x4", "stack+1", "stack-0x8", "stack+0x4000000",
                          "stack+0x100000000", "stack-0x8000000000000000"})
    EXPECT_EQ(LineError(std::string("edit ") + bad + " = 0"),
              std::string("6: expected a slot of stack+0x0 .. stack+0x3fffff8 in steps of 8, "
                          "got '") +
                  bad + "'");
  EXPECT_EQ(LineError("edit stack+0x8"), "15: expected '=', '^' or '+'");
  EXPECT_EQ(LineError("edit stack+0x8 - 0x8"), "16: expected '=', '^' or '+', got '-'");
  EXPECT_EQ(LineError("edit stack+0x8 +0x8"), "16: expected '=', '^' or '+', got '+0x8'");
  EXPECT_EQ(LineError("edit stack+0x8 ="),
            "17: expected a value: a number, or a kind such as pristine, stack or nmethod");
  EXPECT_EQ(LineError("edit stack+0x8 = 0 0"), "20: expected the end of the line, got '0'");
}

TEST(TextErrorsTest, TooManyEdits) {
  std::string text = "walk 1\n";
  for (int i = 0; i < WalkRequest::kMaxEdits; i++) text += "edit stack+0x8 + 1\n";
  auto symbols = NewSymbolTable();
  WalkFile file;
  EXPECT_EQ(ParseText(text, "t.walk", *symbols, file), "");
  EXPECT_EQ(file.request.edit_count, WalkRequest::kMaxEdits);
  EXPECT_EQ(Error(text + " edit stack+0x8 + 1\n"),
            "t.walk:514:2: too many edits: expected at most 512");
}

TEST(TextErrorsTest, Expect) {
  EXPECT_EQ(LineError("expect"), "7: expected the signature that this reproduces");
  EXPECT_EQ(LineError("expect   # nothing"), "7: expected the signature that this reproduces");
}

}  // namespace
}  // namespace walkhammer
