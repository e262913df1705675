// SPDX-License-Identifier: Apache-2.0
// Which bytecode the interpreter executes: Java's own, and those that HotSpot adds.
#include "harness/jvm/structs/codelet_codes.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

CodeletCodes Codes(const std::vector<Codelet>& codelets) {
  CodeletCodes codes;
  codes.Set(codelets);
  return codes;
}

TEST(CodeletCodesTest, JavasOwnByteCodesAreThemselves) {
  const CodeletCodes codes = Codes({});
  EXPECT_EQ(codes.JavaCode(0), 0);
  EXPECT_EQ(codes.JavaCode(0xc9), 0xc9);
  EXPECT_EQ(codes.JavaCode(0xca), -1) << "breakpoint";
  EXPECT_EQ(codes.JavaCode(-1), -1);
  EXPECT_EQ(codes.JavaCode(256), -1);
}

TEST(CodeletCodesTest, EachAddressIsOfItsCodelet) {
  const CodeletCodes codes = Codes({{0x200, 0x280, "iadd  96 iadd", 96},
                                    {0x100, 0x180, "nop  0 nop", 0},
                                    {0x300, 0x380, "return entry points", -1}});
  EXPECT_EQ(codes.At(0xff).code, -1);
  EXPECT_EQ(codes.At(0x100).code, 0);
  EXPECT_EQ(codes.At(0x17f).code, 0);
  EXPECT_EQ(codes.At(0x180).code, -1);
  EXPECT_EQ(codes.At(0x200).code, 96);
  EXPECT_EQ(codes.At(0x27f).code, 96);
  EXPECT_EQ(codes.At(0x280).code, -1);
  EXPECT_EQ(codes.At(0x300).code, -1) << "no bytecode's";
}

TEST(CodeletCodesTest, JumpsAndReturns) {
  for (int code = 0; code <= 0xc9; code++) {
    const ExecutedCode executed = Codes({{0x100, 0x180, "", code}}).At(0x100);
    EXPECT_EQ(executed.code, code);
    EXPECT_EQ(executed.also, -1);
    // ifeq to lookupswitch; ifnull, ifnonnull, goto_w, jsr_w
    EXPECT_EQ(executed.jumps, (code >= 153 && code <= 171) || code >= 198) << code;
    EXPECT_EQ(executed.returns, code >= 172 && code <= 177) << code;
  }
}

// HotSpot's numbers of its own bytecodes differ from JDK to JDK, its names do not.
TEST(CodeletCodesTest, HotSpotsOwnAreToldByTheirNames) {
  const struct {
    const char* name;
    int code, also;
  } kOwn[] = {{"fast_agetfield", 180, -1},    {"fast_bputfield", 181, -1},
              {"fast_aload_0", 42, -1},       {"fast_iaccess_0", 42, 180},
              {"fast_iload", 21, -1},         {"fast_iload2", 21, 21},
              {"fast_icaload", 21, 52},       {"fast_invokevfinal", 182, -1},
              {"fast_linearswitch", 171, -1}, {"fast_aldc", 18, -1},
              {"fast_aldc_w", 19, -1},        {"return_register_finalizer", 177, -1},
              {"invokehandle", 182, -1}};
  for (const auto& own : kOwn) {
    const CodeletCodes codes = Codes({{0x100, 0x180, own.name, 230}});
    EXPECT_EQ(codes.At(0x100).code, own.code) << own.name;
    EXPECT_EQ(codes.At(0x100).also, own.also) << own.name;
    EXPECT_EQ(codes.At(0x100).jumps, own.code == 171) << own.name;
    EXPECT_EQ(codes.At(0x100).returns, own.code == 177) << own.name;
    EXPECT_EQ(codes.JavaCode(230), own.code) << own.name;
    EXPECT_EQ(codes.JavaCode(231), -1);
  }
  EXPECT_EQ(Codes({{0x100, 0x180, "shouldnotreachhere", 240}}).At(0x100).code, -1);
}

TEST(CodeletCodesTest, NumbersThatAreNoByteAreLeftOut) {
  const CodeletCodes codes = Codes({{0x100, 0x180, "a", 256}, {0x200, 0x280, "iadd", 96}});
  EXPECT_EQ(codes.At(0x100).code, -1);
  EXPECT_EQ(codes.At(0x200).code, 96);
}

}  // namespace
}  // namespace walkhammer
