// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_tables.h"

#include <algorithm>

namespace walkhammer {
namespace {

template <typename... Rows>
std::string CreateTables() {
  return (CreateTable<Rows>() + ...);
}

}  // namespace

std::string RunSchema() {
  return CreateTables<Only<StoredRun>, StoredBucket, StoredFinding, CountRow, Placed<SceneRow>,
                      ProgressRow, Placed<CoverageFunctionRow>, Placed<CoverageBlockRow>,
                      LeftOutRow, Only<ChurnTotals>, Only<FailedLoadTotals>, Only<SettleTotals>,
                      CellRow, CellThreadRow, StackFrameRow, StackNodeRow, AgreementRow,
                      EvidenceRow, StepRegionRow, StepRangeRow, FramePlaceRow, FrameWalkerRow,
                      FrameDifferenceRow, FramePredictionRow, FrameRefutedRow, NoteRow, WalkEndRow,
                      PeriodRow, PeriodCountRow, PeriodTimeRow, PeriodBucketRow, Placed<RunRow>>() +
         "CREATE INDEX finding_of_bucket ON finding (bucket, sequence);\n";
}

bool IsWhole(const CoverageRows& code) {
  uint64_t blocks = 0;
  for (const CoverageFunctionRow& function : code.functions) {
    if (function.first_block > code.blocks.size() ||
        function.blocks > code.blocks.size() - function.first_block)
      return false;
    blocks += function.blocks;
  }
  if (blocks > code.blocks.size()) return false;
  return std::all_of(code.blocks.begin(), code.blocks.end(), [&](const CoverageBlockRow& block) {
    return block.function < code.functions.size();
  });
}

}  // namespace walkhammer
