// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

#if defined(__x86_64__)
constexpr CodeUnit kNop = 0x90;
#else
constexpr CodeUnit kNop = 0xd503201f;
#endif
constexpr uint32_t kUnit = sizeof(CodeUnit);

std::vector<uint32_t> OffsetsAtEnds(const std::vector<CodeUnit>& code, uint64_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  std::vector<uint32_t> offsets;
  for (const InstructionStart& start : StartsAtEnds(begin, begin + kUnit * code.size(), bytes))
    offsets.push_back(start.offset);
  return offsets;
}

std::string AccessOf(uint16_t machine, const std::vector<uint8_t>& code) {
  return Disassembler::For(machine).value().Access(code);
}

TEST(Access, OfX86) {
  const std::pair<std::vector<uint8_t>, const char*> kCases[] = {
      {{0x48, 0x8b, 0x47, 0x10}, "reading 8 bytes at +0x10"},           // mov rax, [rdi+0x10]
      {{0x48, 0x8b, 0x45, 0xe8}, "reading 8 bytes at -0x18"},           // mov rax, [rbp-0x18]
      {{0x0f, 0xb7, 0x40, 0x2a}, "reading 2 bytes at +0x2a"},           // movzx eax, [rax+0x2a]
      {{0x80, 0x78, 0x2d, 0x00}, "reading 1 byte at +0x2d"},            // cmp byte [rax+0x2d], 0
      {{0x89, 0x07}, "writing 4 bytes"},                                // mov [rdi], eax
      {{0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00}, "reading 8 bytes"},  // mov rax, [rip+0x100]
      {{0x50}, "writing 8 bytes at -0x8"},                              // push rax
      {{0xc3}, "reading 8 bytes"},                                      // ret
      {{0xff, 0x50, 0x18}, "reading 8 bytes at +0x18"},                 // call [rax+0x18]
      {{0x48, 0x8d, 0x47, 0x08}, ""},                                   // lea rax, [rdi+8]
      {{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00}, ""},     // mov rax, fs:[0x28]
      {{0x90}, ""},                                                     // nop
      {{0x48}, ""},                                                     // cut off
      {{}, ""}};
  for (const auto& [code, text] : kCases)
    EXPECT_EQ(AccessOf(62, code), text) << testing::PrintToString(code);  // EM_X86_64
}

TEST(Access, OfAarch64) {
  const std::pair<std::vector<uint8_t>, const char*> kCases[] = {
      {{0x20, 0x08, 0x40, 0xf9}, "reading 8 bytes at +0x10"},   // ldr x0, [x1, #16]
      {{0x20, 0x00, 0x40, 0xb9}, "reading 4 bytes"},            // ldr w0, [x1]
      {{0x20, 0x04, 0x40, 0x39}, "reading 1 byte at +0x1"},     // ldrb w0, [x1, #1]
      {{0x20, 0x00, 0x00, 0x79}, "writing 2 bytes"},            // strh w0, [x1]
      {{0x20, 0x04, 0x80, 0xb9}, "reading 4 bytes at +0x4"},    // ldrsw x0, [x1, #4]
      {{0xfd, 0x7b, 0x40, 0xa9}, "reading 16 bytes"},           // ldp x29, x30, [sp]
      {{0x20, 0x00, 0x40, 0xbd}, "reading 4 bytes"},            // ldr s0, [x1]
      {{0x20, 0x04, 0xc0, 0x3d}, "reading 16 bytes at +0x10"},  // ldr q0, [x1, #16]
      {{0x40, 0x04, 0x00, 0xad}, "writing 32 bytes"},           // stp q0, q1, [x2]
      {{0x41, 0x7c, 0x00, 0xc8}, "writing 8 bytes"},            // stxr w0, x1, [x2]
      {{0x41, 0xfc, 0x00, 0x08}, "writing 1 byte"},             // stlxrb w0, w1, [x2]
      {{0x40, 0x04, 0x40, 0x69}, "reading 8 bytes"},            // ldpsw x0, x1, [x2]
      {{0x40, 0x04, 0x40, 0x29}, "reading 8 bytes"},            // ldp w0, w1, [x2]
      {{0x20, 0x7c, 0x5f, 0xc8}, "reading 8 bytes"},            // ldxr x0, [x1]
      {{0x20, 0x00, 0x00, 0xfd}, "writing 8 bytes"},            // str d0, [x1]
      {{0x20, 0x00, 0x02, 0x8b}, ""}};                          // add x0, x1, x2
  for (const auto& [code, text] : kCases)
    EXPECT_EQ(AccessOf(183, code), text) << testing::PrintToString(code);  // EM_AARCH64
}

TEST(StartsAtEnds, ShortCodeIsDecodedWhole) {
  EXPECT_THAT(OffsetsAtEnds(std::vector(4, kNop), 2 * kUnit),
              testing::ElementsAre(0, kUnit, 2 * kUnit, 3 * kUnit));
}

TEST(StartsAtEnds, OfLongerCodeBothEndsAre) {
  EXPECT_THAT(OffsetsAtEnds(std::vector(9, kNop), 2 * kUnit),
              testing::ElementsAre(0, kUnit, 7 * kUnit, 8 * kUnit));
}

}  // namespace
}  // namespace walkhammer
