// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/block_map.h"

#include <fmt/format.h>
#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/testing/temporary_folder.h"
#include "harness/coverage/reach_rules.h"
#include "harness/elf/disassembler.h"
#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kBranches[] = WALKHAMMER_BRANCHES;  // testing/branches.cc, built

BlockMap MapOf(const std::string& path, const std::string& root) {
  auto map = FindBlocks(path, {root});
  EXPECT_TRUE(map.ok()) << map.failure().message;
  return map.ok() ? std::move(map.value()) : BlockMap{};
}

const BlockFunction* Named(const BlockMap& map, const std::string& begin) {
  for (const BlockFunction& f : map.functions)
    if (f.name.starts_with(begin)) return &f;
  return nullptr;
}

// Expects what must hold for every map.
void ExpectSound(const BlockMap& map) {
  uint64_t last = 0;
  for (size_t i = 0; i < map.blocks.size(); i++) {
    const Block& block = map.blocks[i];
    EXPECT_GE(block.address, last);
    EXPECT_GT(block.size, 0u);
    last = block.address + block.size;
    ASSERT_LT(block.function, map.functions.size());
    const BlockFunction& function = map.functions[block.function];
    EXPECT_GE(block.address, function.address);
    EXPECT_LE(last, function.address + function.size);
    EXPECT_EQ(map.Find(block.address), static_cast<int>(i));
    EXPECT_EQ(map.Find(block.address + 1) < 0,
              i + 1 == map.blocks.size() || map.blocks[i + 1].address != block.address + 1);
  }
  size_t blocks = 0;
  for (const BlockFunction& f : map.functions) {
    EXPECT_EQ(f.first_block, blocks) << f.name;
    EXPECT_EQ(map.blocks[f.first_block].address, f.address) << f.name;  // the entry
    blocks += f.block_count;
  }
  EXPECT_EQ(blocks, map.blocks.size());
  EXPECT_LE(map.blocks.size(), BlockMap::kMaxBlocks);
}

TEST(BlockMapTest, FollowsWhatTheSourceCalls) {
  const BlockMap map = MapOf(kBranches, "Branches");
  ExpectSound(map);
  for (const char* name :
       {"MarkThen", "MarkElse", "MarkLoop", "MarkCaseA", "MarkCaseB", "MarkCaseC", "MarkCaseD",
        "MarkCaseE", "MarkDefault", "MarkCold", "MarkTail", "MarkVirtualBase", "MarkVirtualDerived",
        "Tail", "CodeBlob::is_nmethod", "nmethod::is_nmethod"})
    EXPECT_NE(Named(map, name), nullptr) << name;
  // On aarch64 an address takes two instructions, which the sweep does not combine.
  if (!kHasLinkRegister) {
    for (const char* name : {"MarkPointer", "Pointed"})
      EXPECT_NE(Named(map, name), nullptr) << name;
  }
  const auto root = std::ranges::find(map.functions, "Branches", &BlockFunction::name);
  ASSERT_NE(root, map.functions.end());
  EXPECT_EQ(root->reach, Reach::kRoot);
  EXPECT_GT(root->block_count, 10u);
  EXPECT_EQ(Named(map, "MarkThen")->reach, Reach::kDirect);
  EXPECT_EQ(Named(map, "nmethod::is_nmethod")->reach, Reach::kVtable);
}

TEST(BlockMapTest, SaysWhatItLeavesOut) {
  const BlockMap map = MapOf(kBranches, "Branches");
  EXPECT_EQ(Named(map, "TakeTaken"), nullptr);     // no code calls it
  EXPECT_EQ(Named(map, "Stranger"), nullptr);      // no class of a walk
  EXPECT_EQ(Named(map, "outputStream"), nullptr);  // a stop
  EXPECT_EQ(Named(map, "MarkLogged"), nullptr);
  EXPECT_THAT(map.left_out, Contains(AllOf(Field(&LeftOut::name, StartsWith("outputStream::print")),
                                           Field(&LeftOut::reason, HasSubstr("prints")))));
  EXPECT_THAT(map.left_out, Contains(AllOf(Field(&LeftOut::name, StartsWith("Branches")),
                                           Field(&LeftOut::reason, HasSubstr("indirect call")))));
}

TEST(BlockMapTest, StrippedLibraryIsRefused) {
  const TemporaryFolder folder;
  const std::string stripped = folder.Under("stripped.so");
  const std::string strip =
      fmt::format("{} -s -o '{}' '{}'", WALKHAMMER_STRIP, stripped, kBranches);
  ASSERT_EQ(std::system(strip.c_str()), 0);
  const auto map = FindBlocks(stripped, {"Branches"});
  ASSERT_FALSE(map.ok());
  EXPECT_EQ(map.failure().code, ExitCode::kUnable);
  EXPECT_THAT(map.failure().message, HasSubstr("no .symtab"));
}

TEST(BlockMapTest, WhatIsNotThereIsRefused) {
  EXPECT_EQ(FindBlocks(kBranches, {"NoSuchFunction"}).failure().code, ExitCode::kUnable);
  EXPECT_EQ(FindBlocks("/nonexistent", {"f"}).failure().code, ExitCode::kBadInput);
  EXPECT_EQ(FindBlocks(WALKHAMMER_TEXT, {"f"}).failure().code, ExitCode::kBadInput);
}

// --- installed JDKs ---

std::vector<std::string> Libjvms() {
  glob_t found{};
  std::vector<std::string> out;
  if (glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, nullptr, &found) == 0)
    out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return out;
}

TEST(BlockMapTest, InstalledJdks) {
  const auto libraries = Libjvms();
  if (libraries.empty()) GTEST_SKIP() << "no JDK in /usr/lib/jvm";
  for (const std::string& path : libraries) {
    SCOPED_TRACE(path);
    auto found = FindBlocks(path, {"AsyncGetCallTrace"});
    if (!found.ok()) {
      EXPECT_EQ(found.failure().code, ExitCode::kUnable) << found.failure().message;
      continue;  // stripped
    }
    const BlockMap& map = found.value();
    ExpectSound(map);
    EXPECT_GT(map.blocks.size(), 700u);
    EXPECT_LT(map.blocks.size(), 8000u);  // more: code that no walk runs got in
    for (const char* name : {"AsyncGetCallTrace", "frame::safe_for_sender", "vframeStreamForte",
                             "CodeCache::find_blob", "Method::is_valid_method", "PcDesc"})
      EXPECT_NE(Named(map, name), nullptr) << name;
    for (const char* name : {"VMError::", "outputStream::", "os::malloc", "Jfr", "Jvmti"})
      EXPECT_EQ(Named(map, name), nullptr) << name;
    EXPECT_THAT(map.deaths, Not(IsEmpty()));
    const BlockMap again = MapOf(path, "AsyncGetCallTrace");
    EXPECT_TRUE(again.blocks == map.blocks && again.functions == map.functions &&
                again.left_out == map.left_out);
  }
}

// --- parts ---

TEST(ReachRulesTest, ReturnTypesDoNotHideAName) {
  EXPECT_NE(WhyNotFollowed("void LogImpl<(LogTag::type)1>::write<(LogLevel::type)3>(char const*)"),
            nullptr);
  EXPECT_NE(WhyNotFollowed("nmethod::print_on(outputStream*) const"), nullptr);
  EXPECT_EQ(WhyNotFollowed("frame::sender(RegisterMap*) const"), nullptr);
  EXPECT_EQ(WhyNotFollowed("frame::describe(FrameValues&, outputStream::Kind)"), nullptr);
}

TEST(DisassemblerTest, X86) {
  auto disassembler = Disassembler::For(62);
  ASSERT_TRUE(disassembler.ok());
  // je +2; call [rax+0x38]; mov rax,[rdi+0x10]; lea rdx,[rip+0x100]; jmp rax; nop; ret
  const std::vector<uint8_t> code = {0x74, 0x02, 0xff, 0x50, 0x38, 0x48, 0x8b, 0x47, 0x10, 0x48,
                                     0x8d, 0x15, 0x00, 0x01, 0x00, 0x00, 0xff, 0xe0, 0x90, 0xc3};
  const auto insns = disassembler.value().Sweep(code, 0x1000);
  ASSERT_EQ(insns.size(), 7u);
  using Kind = Instruction::Kind;
  EXPECT_EQ(insns[0].kind, Kind::kBranch);
  EXPECT_EQ(insns[0].target, 0x1004u);
  EXPECT_EQ(insns[1].kind, Kind::kCall);
  EXPECT_EQ(insns[1].target, 0u);
  EXPECT_EQ(insns[1].offset, 0x38);
  EXPECT_TRUE(insns[2].loads);
  EXPECT_EQ(insns[2].offset, 0x10);
  EXPECT_EQ(insns[2].writes, insns[1].base);
  EXPECT_EQ(insns[3].points_to, 0x1110u);
  EXPECT_EQ(insns[4].kind, Kind::kJump);
  EXPECT_EQ(insns[4].through, insns[2].writes);
  EXPECT_TRUE(insns[5].padding);
  EXPECT_EQ(insns[6].kind, Kind::kReturn);
}

TEST(DisassemblerTest, Aarch64) {
  auto disassembler = Disassembler::For(183);
  ASSERT_TRUE(disassembler.ok());
  const std::vector<uint32_t> words = {
      0x54000040,  // b.eq +8
      0xb4000040,  // cbz x0, +8
      0x94000002,  // bl +8
      0xf9401c01,  // ldr x1, [x0, #56]
      0xd63f0020,  // blr x1
      0xd61f0020,  // br x1
      0x14000002,  // b +8
      0xaa0103e2,  // mov x2, x1
      0x10000800,  // adr x0, +0x100
      0xf9001c01,  // str x1, [x0, #56]
      0xd503201f,  // nop
      0xd65f03c0,  // ret
  };
  const auto insns = disassembler.value().Sweep(
      {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4}, 0x1000);
  ASSERT_EQ(insns.size(), words.size());
  using Kind = Instruction::Kind;
  const Kind kinds[] = {Kind::kBranch, Kind::kBranch, Kind::kCall,  Kind::kOther,
                        Kind::kCall,   Kind::kJump,   Kind::kJump,  Kind::kOther,
                        Kind::kOther,  Kind::kOther,  Kind::kOther, Kind::kReturn};
  for (size_t i = 0; i < insns.size(); i++) EXPECT_EQ(insns[i].kind, kinds[i]) << i;
  EXPECT_EQ(insns[0].target, 0x1008u);
  EXPECT_EQ(insns[1].target, 0x100cu);
  EXPECT_EQ(insns[2].target, 0x1010u);
  EXPECT_EQ(insns[6].target, 0x1020u);
  EXPECT_TRUE(insns[3].loads);
  EXPECT_EQ(insns[3].offset, 56);
  EXPECT_EQ(insns[4].through, insns[3].writes);
  EXPECT_EQ(insns[5].through, insns[3].writes);
  EXPECT_EQ(insns[7].copies, insns[3].writes);
  EXPECT_EQ(insns[8].points_to, 0x1120u);
  EXPECT_FALSE(insns[9].loads);
  EXPECT_TRUE(insns[10].padding);
}

TEST(DisassemblerTest, UnknownMachineIsRefused) {
  EXPECT_EQ(Disassembler::For(1).failure().code, ExitCode::kUnable);
}

}  // namespace
}  // namespace walkhammer
