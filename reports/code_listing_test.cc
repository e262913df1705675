// SPDX-License-Identifier: Apache-2.0
// Tests listings and rows of real code: that of testing/listed_code.cc.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/elf/disassembler.h"
#include "harness/elf/elf_image.h"
#include "harness/store/record_testing.h"
#include "harness/supervise/campaign/run_rows.h"
#include "reports/coverage_report.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::Not;

WalkerCode ListedCode() {
  auto map = FindBlocks(WALKHAMMER_LISTED_CODE, {"WalkhammerTestCode"});
  EXPECT_TRUE(map.ok()) << map.failure().message;
  return {WALKHAMMER_LISTED_CODE, map.value()};
}

class ListingTest : public testing::Test {
 protected:
  ListingTest()
      : code_(RowsOf(ListedCode())),
        run_(std::move(RunWriter::Create(dir_.Under("run"), TestIdentity()).value())) {
    root_ = code_.functions[0].name == "WalkhammerTestCode" ? 0 : 1;
    EXPECT_TRUE(run_.SetCoverage(code_).ok());
  }
  const CoverageFunctionRow& root() const { return code_.functions[root_]; }
  uint64_t Entry(size_t function) const {
    return code_.blocks[code_.functions[function].first_block].address;
  }
  uint32_t end() const { return root().first_block + root().blocks; }
  std::string Unreached(const char* part) { return UnreachedReport(Read(run_), part).value(); }
  // The instructions of a block.
  std::vector<Instruction> Code(const CoverageBlockRow& block) const {
    const auto image = ElfImage::Open(code_.file);
    return Disassembler::For(image.value().machine())
        .value()
        .Sweep(image.value().Bytes(block.address).first(block.size), block.address);
  }
  void Reach(std::vector<uint32_t> blocks) {
    std::vector<uint8_t> hit(code_.blocks.size());
    for (const uint32_t block : blocks) hit[block] = 1;
    ASSERT_TRUE(run_.SaveBlocks(hit, 1).ok());
  }

  TemporaryFolder dir_;
  CoverageRows code_;
  RunWriter run_;
  size_t root_;
};

TEST_F(ListingTest, RowsAreThoseOfTheMap) {
  const WalkerCode code = ListedCode();
  const CoverageRows rows = RowsOf(code);
  EXPECT_EQ(rows.build_id, BuildIdOf(code.path));
  ASSERT_EQ(rows.functions.size(), 2u);
  ASSERT_EQ(rows.blocks.size(), code.map.blocks.size());
  const auto root = static_cast<size_t>(rows.functions[0].name == "WalkhammerTestCode" ? 0 : 1);
  EXPECT_EQ(rows.functions[root].name, "WalkhammerTestCode");
  EXPECT_EQ(rows.functions[root].reach, "root");
  EXPECT_EQ(rows.functions[1 - root].reach, "direct");
  EXPECT_GE(rows.functions[root].blocks, 3u);
  for (size_t i = 0; i < rows.blocks.size(); i++) {
    EXPECT_EQ(rows.blocks[i].address, code.map.blocks[i].address);
    EXPECT_EQ(rows.blocks[i].function, code.map.blocks[i].function);
  }
}

TEST_F(ListingTest, AnotherBuildIsRefused) {
  code_.build_id = "00ff";
  ASSERT_TRUE(run_.SetCoverage(code_).ok());
  EXPECT_THAT(UnreachedReport(Read(run_), ""),
              FailsWith(ExitCode::kUnable, HasSubstr("is another build than the run tested")));
  EXPECT_TRUE(FunctionReport(Read(run_), "").ok());  // this report needs no file
}

TEST_F(ListingTest, ReachedAndUnreachedBlocksAreTold) {
  Reach({root().first_block});
  const std::string text = Unreached("WalkhammerTestCode");
  EXPECT_THAT(
      text, HasSubstr(fmt::format("{:#x}, {} bytes: {} of {} blocks not reached\n", root().address,
                                  root().size, root().blocks - 1, root().blocks)));
  EXPECT_THAT(text, HasSubstr(fmt::format("  + {:#x}  ", root().address)));
  // A target of the branch names the branch's block.
  EXPECT_THAT(text, HasSubstr(fmt::format("    from {:#x} (reached)", root().address)));
  for (uint32_t i = 1; i < root().blocks; i++)
    EXPECT_THAT(
        text, HasSubstr(fmt::format("  - {:#x}  ", code_.blocks[root().first_block + i].address)));
  EXPECT_THAT(text, HasSubstr("  <WalkhammerTestCallee>\n"));
  EXPECT_THAT(text, Not(HasSubstr("WalkhammerTestCallee\n")));
}

TEST_F(ListingTest, AFunctionThatWasNeverEnteredNamesItsCallers) {
  const std::string text = Unreached("WalkhammerTestCallee");
  EXPECT_THAT(text, testing::ContainsRegex("    from 0x[0-9a-f]+ \\(not reached, a call\\) of "
                                           "WalkhammerTestCode\n  - "));
}

TEST_F(ListingTest, WhatWasReachedFarFromAnythingElseIsOnlyCounted) {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < code_.blocks.size(); i++) all.push_back(i);
  const uint32_t last = end() - 1;
  all.erase(std::remove(all.begin(), all.end(), last), all.end());
  Reach(all);
  const std::string text = Unreached("");
  EXPECT_THAT(text, Not(HasSubstr("WalkhammerTestCallee\n")));  // every block of it was reached
  EXPECT_THAT(Unreached("Callee"), HasSubstr("Every block of these functions was reached.\n"));
  EXPECT_THAT(text, HasSubstr(fmt::format("  - {:#x}  ", code_.blocks[last].address)));
  EXPECT_THAT(text, HasSubstr(fmt::format("  + {:#x}  ", code_.blocks[last - 1].address)));
  Reach({last});
  EXPECT_THAT(Unreached(""), HasSubstr("Every block was reached.\n"));
}

// Each block of the function is either shown or counted, in its place.
TEST_F(ListingTest, EveryBlockIsShownOrCountedInItsPlace) {
  std::vector<uint32_t> all_but_last;
  for (uint32_t i = 1; i < root().blocks; i++) all_but_last.push_back(root().first_block + i - 1);
  Reach(all_but_last);
  std::istringstream text(Unreached("WalkhammerTestCode"));
  uint32_t next = root().first_block, counted = 0;
  for (std::string line; std::getline(text, line);) {
    int skipped = 0;
    if (std::sscanf(line.c_str(), "    ... %d block", &skipped) == 1) {
      next += static_cast<uint32_t>(skipped);
      counted += static_cast<uint32_t>(skipped);
    } else if (next < code_.blocks.size() &&
               line.find(fmt::format(" {:#x}  ", code_.blocks[next].address)) == 3) {
      next++;
    }
  }
  EXPECT_GT(counted, 0u);
  EXPECT_EQ(next, end());
}

TEST_F(ListingTest, WhatLeadsToAnUnreachedBlockIsShownFromAfar) {
  uint32_t from = end(), to = end();  // a jump over a block
  for (uint32_t i = root().first_block; i < end() && to == end(); i++)
    for (const Instruction& insn : Code(code_.blocks[i]))
      for (uint32_t target = i + 2; target < end(); target++)
        if (code_.blocks[target].address == insn.target) from = i, to = target;
  ASSERT_LT(to, end());
  std::vector<uint32_t> others;
  for (uint32_t i = root().first_block; i < end(); i++)
    if (i != to) others.push_back(i);
  Reach(others);
  const std::string text = Unreached("WalkhammerTestCode");
  EXPECT_THAT(text, HasSubstr(fmt::format("  + {:#x}  ", code_.blocks[from].address)));
  EXPECT_THAT(text, HasSubstr(fmt::format("{:#x} (reached)", code_.blocks[from].address)));
}

// A block after a jump or a return is not entered from that instruction.
TEST_F(ListingTest, OnlyWhatFallsThroughEntersTheNextBlock) {
  const std::string text = Unreached("WalkhammerTestCode");
  int falling = 0, ending = 0;
  for (uint32_t i = root().first_block + 1; i < end(); i++) {
    const CoverageBlockRow &before = code_.blocks[i - 1], &block = code_.blocks[i];
    const auto code = Code(before);
    if (code.back().target == block.address) continue;
    const std::string line = fmt::format("\n  - {:#x}  ", block.address);
    const size_t end = text.find(line);
    ASSERT_NE(end, std::string::npos);
    const size_t begin = text.rfind('\n', end - 1) + 1;
    const std::string entries = text.substr(begin, end - begin);
    const std::string from = fmt::format("{:#x} (", before.address);
    EXPECT_EQ(entries.find(from) != std::string::npos, code.back().FallsThrough()) << entries;
    (code.back().FallsThrough() ? falling : ending)++;
  }
  EXPECT_GT(falling, 0);
  EXPECT_GT(ending, 0);
}

TEST_F(ListingTest, TheCoverageFileHasTableAndListing) {
  Reach({root().first_block});
  ASSERT_TRUE(WriteCoverageFile(Read(run_)).ok());
  const std::string text = ReadFile(dir_.Under("run/coverage.txt"));
  EXPECT_THAT(text, HasSubstr(FunctionTable(Read(run_).Coverage().value(), "")));
  EXPECT_THAT(text, HasSubstr(fmt::format("  + {:#x}  ", root().address)));
  EXPECT_THAT(text, HasSubstr(fmt::format("  - {:#x}  ", Entry(1 - root_))));
}

TEST_F(ListingTest, CodeThatDoesNotFitIntoTheFileIsNotListed) {
  const CoverageRows whole = code_;
  for (const bool function : {true, false}) {
    code_ = whole;
    if (function) code_.functions[root_].size = UINT64_MAX;
    if (!function) code_.blocks[0].size = UINT32_MAX;
    ASSERT_TRUE(run_.SetCoverage(code_).ok());
    EXPECT_THAT(UnreachedReport(Read(run_), ""),
                FailsWith(ExitCode::kUnable, HasSubstr("is another build than the run tested")));
  }
}

TEST_F(ListingTest, WithoutABuildIdTheFunctionsTellWhetherItIsTheFile) {
  std::string bytes = ReadFile(code_.file), id;
  for (size_t i = 0; i < code_.build_id.size(); i += 2)
    id += static_cast<char>(std::stoi(code_.build_id.substr(i, 2), nullptr, 16));
  const size_t at = bytes.find(std::string("GNU", 4) + id);
  ASSERT_NE(at, std::string::npos);
  bytes[at - 4] = 99;  // the type of the note
  code_.file = dir_.Under("copy");
  code_.build_id = "";
  std::ofstream(code_.file, std::ios::binary) << bytes;
  ASSERT_EQ(BuildIdOf(code_.file), "");
  ASSERT_TRUE(run_.SetCoverage(code_).ok());
  EXPECT_TRUE(UnreachedReport(Read(run_), "").ok());
  code_.functions[root_].address++;
  ASSERT_TRUE(run_.SetCoverage(code_).ok());
  EXPECT_THAT(UnreachedReport(Read(run_), ""),
              FailsWith(testing::_, HasSubstr("is another build than the run tested")));
}

}  // namespace
}  // namespace walkhammer
