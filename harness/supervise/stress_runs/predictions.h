// SPDX-License-Identifier: Apache-2.0
// Predictions: what each walker's rules make of each instruction of the generated code
// (harness/frame_rows/walker_rules.h), and whether its answers at the stepped instructions are so.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PREDICTIONS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PREDICTIONS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/frame_rows/walker_rules.h"
#include "harness/ipc/stress_state.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/stress_runs/code_index.h"

namespace walkhammer {

// How many steps a walker answered as predicted, and how many not. Steps that nothing was predicted
// of, or that nobody judges, are in neither.
struct PredictionCheck {
  uint64_t confirmed = 0, refuted = 0;
  bool operator==(const PredictionCheck&) const = default;
};
// Steps that are ambiguous do not refute that the walker reads another word. Steps at which a
// return address had been replaced do not refute that it reads the right one.
PredictionCheck Check(Predicted predicted, const StepAnswers& answers, const SeenPlace& seen);

class Predictions {
 public:
  // `job`: of the run, which names the walkers that answered. `disassembler` must outlive the
  // object, `job` too. `feature`: of the JDK; 0: not known.
  Predictions(const Disassembler& disassembler, const StressJob& job, int feature, int64_t cell);

  // Counts all `rows` of a piece of code, by what is predicted there. `kind`: nmethod, stub,
  // adapter or codelet.
  void Begin(const std::string& kind, const CodePiece& piece, std::span<const FrameRow> rows);
  // Compares the answers at the instruction of `row`, of the piece of the last Begin. Walkers begin
  // at the anchor of a thread that is not in Java: where one has been, nothing is compared.
  void Compare(const FrameRow& row, const SteppedPc& counts);

  std::vector<FramePredictionRow> All() const;
  std::vector<FrameRefutedRow> Refuted() const;

 private:
  struct Walker {
    const WalkerRules* rules;
    int place;  // in the job; -1: it has not run
  };

  FramePredictionRow& RowOf(const Walker& walker, const Prediction& prediction);
  void AddRefuted(const Walker& walker, const Prediction& prediction, const FrameRow& row,
                  const StepAnswers& answers);

  const Disassembler& disassembler_;
  const int feature_;
  const int64_t cell_;
  std::vector<Walker> walkers_;
  const CodePiece* piece_ = nullptr;
  RuledCode code_;
  std::string kind_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, FramePredictionRow>
      predictions_;
  std::map<std::tuple<std::string, std::string, std::string, uint64_t, std::string>,
           FrameRefutedRow>
      refuted_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PREDICTIONS_H_
