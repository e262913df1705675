// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/coverage_rows.h"

#include "harness/elf/elf_file.h"

namespace walkhammer {

namespace {

// Stored in runs, so never renamed.
const char* ReachWord(Reach reach) {
  switch (reach) {
    case Reach::kRoot:
      return "root";
    case Reach::kDirect:
      return "direct";
    case Reach::kVtable:
      return "vtable";
  }
  return "direct";
}

}  // namespace

CoverageRows RowsOf(const WalkerCode& code) {
  CoverageRows rows;
  rows.file = code.path;
  rows.build_id = BuildIdOf(code.path);
  for (const BlockFunction& function : code.map.functions)
    rows.functions.push_back({function.name, function.address, function.size,
                              ReachWord(function.reach), function.first_block,
                              function.block_count});
  for (const Block& block : code.map.blocks)
    rows.blocks.push_back({block.address, block.size, block.function, {}});
  for (const LeftOut& out : code.map.left_out) rows.left_out.push_back({out.name, out.reason});
  return rows;
}

}  // namespace walkhammer
