// SPDX-License-Identifier: Apache-2.0
// FrameMap: where each instruction of the JVM's generated code has its return address, by the code
// alone (harness/frame_rows), compared with what the calls of a stepped thread have shown, and with
// how each walker answered there. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_FRAME_MAP_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_FRAME_MAP_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/frame_rows/frame_rows.h"
#include "harness/ipc/stress_state.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/stress_runs/code_index.h"

namespace walkhammer {

struct FrameMapRows {
  std::vector<FramePlaceRow> places;
  std::vector<FrameWalkerRow> walkers;
  std::vector<FrameDifferenceRow> differences;
  std::vector<FramePredictionRow> predictions;
  std::vector<FrameRefutedRow> refuted;
};

// `job`: of the run, which names the walkers. `feature`: of the JDK; 0: not known. Reads the code's
// bytes from process `pid`, which must still live. Empty on architectures without rows.
FrameMapRows FrameMap(CodeIndex& index, pid_t pid, const StressJob& job, int feature, int64_t cell);

// How many steps agree with a row, and how many do not. Steps that cannot be compared are in
// neither.
struct FrameComparison {
  uint64_t agreed = 0, disagreed = 0;
};
FrameComparison Compare(const FrameRow& row, const SeenPlace& seen, const FrameRules& rules);

// The same of the caller's sp.
FrameComparison CompareSender(const FrameSender& sender, const SeenSender& seen,
                              const FrameRules& rules);
// Where the calls have shown it: "sp+16", "sp+16 and others".
std::string SeenSenderText(const SeenSender& seen);

// Where the calls have shown the return address: "sp+16", "sp+8 or sp+16", "in a register".
std::string SeenText(const SeenPlace& seen);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_FRAME_MAP_H_
