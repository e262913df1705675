// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/predictions.h"

#include <algorithm>
#include <utility>

#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

RuledCode RuledCodeOf(const std::string& kind, const CodePiece& piece,
                      std::span<const FrameRow> rows) {
  RuledCode code;
  code.kind = RuledKindOf(kind, piece.name, piece.frame_words);
  code.name = piece.name;
  code.bytes = piece.bytes;
  code.frame_words = piece.frame_words;
  if (piece.complete != UINT64_MAX)
    code.complete = static_cast<int32_t>(piece.complete - piece.begin);
  code.entry = piece.entry;
  if (code.name.ends_with("call_stub"))
    for (const FrameRow& row : rows)
      if (row.calls) code.entry_return = row.offset + row.size;
  return code;
}

}  // namespace

PredictionCheck Check(Predicted predicted, const StepAnswers& answers, const SeenPlace& seen) {
  const uint64_t proven = answers.caller_proven;
  const uint64_t bad = uint64_t{answers.caller_contradicted} + answers.failed;
  const auto without = [](uint64_t steps, uint64_t others) {
    return steps - std::min(steps, others);
  };
  switch (predicted) {
    case Predicted::kRight:
      return {proven, without(bad, seen.replaced)};
    case Predicted::kWrong:
      return {bad, without(proven, seen.ambiguous)};
    case Predicted::kNoAnswer:
      return {answers.failed, proven + answers.caller_contradicted};
    default:
      return {};
  }
}

Predictions::Predictions(const Disassembler& disassembler, const StressJob& job, int feature,
                         int64_t cell)
    : disassembler_(disassembler), feature_(feature), cell_(cell) {
  for (const WalkerRules& rules : WalkerRules::All()) {
    Walker walker{&rules, -1};
    for (int i = 0; i < job.walker_count; i++)
      if (WalkerRules::Of(AllWalkers()[job.walkers[i]].name) == &rules) walker.place = i;
    if (walker.place >= 0 || !rules.is_puzzle) walkers_.push_back(walker);
  }
}

FramePredictionRow& Predictions::RowOf(const Walker& walker, const Prediction& prediction) {
  const std::string predicted = PredictedName(prediction.predicted);
  FramePredictionRow& row = predictions_[{walker.rules->walker, kind_, predicted, prediction.rule}];
  row.cell = cell_;
  row.walker = walker.rules->walker;
  row.code = kind_;
  row.predicted = predicted;
  row.rule = prediction.rule;
  return row;
}

void Predictions::Begin(const std::string& kind, const CodePiece& piece,
                        std::span<const FrameRow> rows) {
  piece_ = &piece;
  kind_ = kind;
  code_ = RuledCodeOf(kind, piece, rows);
  code_.feature = feature_;
  for (const Walker& walker : walkers_) {
    std::vector<std::pair<Prediction, uint64_t>> counts;  // few: rules are looked up by their text
    for (const FrameRow& row : rows) {
      const Prediction prediction = walker.rules->predict(code_, row);
      auto known = std::find_if(counts.begin(), counts.end(),
                                [&](const auto& one) { return one.first == prediction; });
      if (known == counts.end()) known = counts.insert(known, {prediction, 0});
      known->second++;
    }
    for (const auto& [prediction, count] : counts) RowOf(walker, prediction).instructions += count;
  }
}

void Predictions::Compare(const FrameRow& row, const SteppedPc& counts) {
  if (counts.outside.load()) return;
  for (const Walker& walker : walkers_) {
    if (walker.place < 0) continue;
    const StepAnswers& answers = counts.Of(walker.place);
    const Prediction prediction = walker.rules->predict(code_, row);
    const PredictionCheck check = Check(prediction.predicted, answers, counts.seen);
    if (check == PredictionCheck{}) continue;
    FramePredictionRow& sum = RowOf(walker, prediction);
    sum.pcs++;
    sum.confirmed += check.confirmed;
    sum.refuted += check.refuted;
    if (check.refuted > 0) AddRefuted(walker, prediction, row, answers);
  }
}

// Copies of a piece of code count as one.
void Predictions::AddRefuted(const Walker& walker, const Prediction& prediction,
                             const FrameRow& row, const StepAnswers& answers) {
  const uint64_t pc = piece_->begin + row.offset;
  const std::string instruction = DisassemblyOf(disassembler_, *piece_, pc, pc + row.size);
  FrameRefutedRow& refuted =
      refuted_[{walker.rules->walker, kind_, piece_->name, row.offset,
                std::string(prediction.rule) + PlaceText(row) + instruction}];
  refuted.cell = cell_;
  refuted.walker = walker.rules->walker;
  refuted.code = kind_;
  refuted.name = piece_->name;
  refuted.level = piece_->level;
  refuted.begin = row.offset;
  refuted.predicted = PredictedName(prediction.predicted);
  refuted.rule = prediction.rule;
  refuted.place = PlaceText(row);
  refuted.instruction = instruction;
  refuted.proven += answers.caller_proven;
  refuted.contradicted += answers.caller_contradicted;
  refuted.failed += answers.failed;
}

std::vector<FramePredictionRow> Predictions::All() const {
  std::vector<FramePredictionRow> rows;
  for (const auto& [key, row] : predictions_) rows.push_back(row);
  return rows;
}

std::vector<FrameRefutedRow> Predictions::Refuted() const {
  std::vector<FrameRefutedRow> rows;
  for (const auto& [key, row] : refuted_) rows.push_back(row);
  return rows;
}

}  // namespace walkhammer
