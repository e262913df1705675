// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/frame_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "harness/guard/arch.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/stress_runs/predictions.h"

namespace walkhammer {
namespace {

constexpr char kGone[] = "unknown: the code is gone";

std::string KindOf(const CodePiece& piece) { return piece.kind.empty() ? "nmethod" : piece.kind; }

// True if the code at the instruction is what it was when it was stepped last.
bool HasCode(const CodePiece& piece, const SteppedPc& counts) {
  const uint64_t at = counts.pc.load() - piece.bytes_begin;
  uint64_t code = 0;
  const auto bytes = static_cast<uint64_t>(CodeBytesAt(counts.pc.load()));
  for (uint64_t i = 0; i < bytes && at + i < piece.bytes.size(); i++)
    code |= uint64_t{piece.bytes[at + i]} << (8 * i);
  const uint64_t known = std::min<uint64_t>(bytes, piece.bytes.size() - at);
  const uint64_t mask = known == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * known)) - 1;
  return at < piece.bytes.size() && ((code ^ counts.word) & mask) == 0;
}

// Adds up the rows of one cell.
class Mapper {
 public:
  Mapper(const FrameDecoder& decoder, const Disassembler& disassembler, const StressJob& job,
         int feature, int64_t cell, std::vector<uint64_t> no_return)
      : decoder_(decoder),
        disassembler_(disassembler),
        job_(job),
        cell_(cell),
        predictions_(disassembler, job, feature, cell),
        no_return_(std::move(no_return)) {}

  // `is_whole`: no other piece lies in this one.
  void Add(CodePiece& piece, bool is_whole, pid_t pid) {
    std::vector<FrameRow> rows;
    if (!piece.gone) ReadBytes(pid, piece.begin, piece.end, piece);
    if (!piece.gone && is_whole && !IsScratch(piece.name)) {
      FrameCode code =
          FrameCodeOf(KindOf(piece), piece.name, piece.begin, piece.bytes, piece.frame_words);
      code.no_return = no_return_;
      if (piece.complete > piece.begin && piece.complete < piece.end)
        code.complete = static_cast<uint32_t>(piece.complete - piece.begin);
      for (const SteppedPc* counts : piece.pcs)
        if (!counts->outdated.load() && HasCode(piece, *counts))
          code.starts.push_back(static_cast<uint32_t>(counts->pc.load() - piece.begin));
      rows = FrameRowsOf(decoder_, code);
      for (const FrameRow& row : rows) {
        FramePlaceRow& place = PlaceOf(piece, PlaceGroup(row));
        place.instructions++;
        place.senders += row.sender.place != FramePlace::kUnknown ? 1 : 0;
      }
      predictions_.Begin(KindOf(piece), piece, rows);
    }
    for (const SteppedPc* counts : piece.pcs) {
      const auto offset = static_cast<uint32_t>(counts->pc.load() - piece.begin);
      const FrameRow* row = RowAt(rows, offset);
      const FrameRow unknown{.offset = offset, .why = WhyUnknown::kNotReached};
      AddStepped(piece, row != nullptr ? *row : unknown, *counts);
      if (row != nullptr && !counts->outdated.load() && HasCode(piece, *counts))
        predictions_.Compare(*row, *counts);
    }
  }

  FrameMapRows Take() {
    FrameMapRows rows;
    for (auto& [key, row] : places_) rows.places.push_back(std::move(row));
    for (auto& [key, row] : walkers_) rows.walkers.push_back(std::move(row));
    for (auto& [key, row] : differences_) rows.differences.push_back(std::move(row));
    rows.predictions = predictions_.All();
    rows.refuted = predictions_.Refuted();
    return rows;
  }

 private:
  FramePlaceRow& PlaceOf(const CodePiece& piece, const std::string& place) {
    FramePlaceRow& row = places_[{KindOf(piece), place}];
    row.cell = cell_;
    row.code = KindOf(piece);
    row.place = place;
    return row;
  }

  void AddStepped(const CodePiece& piece, const FrameRow& row, const SteppedPc& counts) {
    const std::string group = piece.gone ? kGone : PlaceGroup(row);
    const bool is_there = !counts.outdated.load() && HasCode(piece, counts);
    const SeenPlace seen = is_there ? counts.seen : SeenPlace{};
    const SeenSender sender = is_there ? counts.sender : SeenSender{};
    const FrameComparison compared = Compare(row, seen, decoder_.rules());
    const FrameComparison senders = CompareSender(row.sender, sender, decoder_.rules());
    FramePlaceRow& place = PlaceOf(piece, group);
    place.pcs++;
    place.steps += counts.steps;
    place.judged += seen.steps + uint64_t{seen.in_register};
    place.agreed += compared.agreed;
    place.disagreed += compared.disagreed;
    place.sender_agreed += senders.agreed;
    place.sender_disagreed += senders.disagreed;
    for (int i = 0; i < job_.walker_count; i++) {
      const std::string& walker = AllWalkers()[job_.walkers[i]].name;
      FrameWalkerRow& answers = walkers_[{i, place.code, group}];
      const StepAnswers& here = counts.Of(i);
      answers.cell = cell_;
      std::tie(answers.walker, answers.code, answers.place) = std::tie(walker, place.code, group);
      answers.answered += here.answered;
      answers.failed += here.failed;
      answers.wrong += here.wrong;
      answers.proven += here.proven;
      answers.contradicted += here.contradicted;
    }
    if (compared.disagreed > 0)
      AddDifference(piece, row, PlaceText(row), SeenText(seen), compared.disagreed);
    if (senders.disagreed > 0)
      AddDifference(piece, row, "caller's sp: " + SenderText(row.sender), SeenSenderText(sender),
                    senders.disagreed);
  }

  // Copies of a piece of code count as one.
  void AddDifference(const CodePiece& piece, const FrameRow& row, const std::string& place,
                     const std::string& seen, uint64_t steps) {
    FrameDifferenceRow difference;
    difference.cell = cell_;
    difference.code = KindOf(piece);
    difference.name = piece.name;
    difference.level = piece.level;
    difference.begin = row.offset;
    difference.place = place;
    difference.seen = seen;
    const uint64_t pc = piece.begin + row.offset;
    difference.instruction = DisassemblyOf(disassembler_, piece, pc, pc + row.size);
    auto& known = differences_[{difference.code, difference.name, difference.begin,
                                difference.place + difference.seen + difference.instruction}];
    difference.steps = known.steps + steps;
    known = std::move(difference);
  }

  const FrameDecoder& decoder_;
  const Disassembler& disassembler_;
  const StressJob& job_;
  const int64_t cell_;
  Predictions predictions_;
  const std::vector<uint64_t> no_return_;
  std::map<std::pair<std::string, std::string>, FramePlaceRow> places_;
  std::map<std::tuple<int, std::string, std::string>, FrameWalkerRow> walkers_;
  std::map<std::tuple<std::string, std::string, uint64_t, std::string>, FrameDifferenceRow>
      differences_;
};

// Compares an address at a distance from a register with where it was at `seen.steps` of `all`
// steps.
FrameComparison CompareAddress(FrameRegister reg, int32_t distance, const SeenAddress& seen,
                               uint64_t all, const FrameRules& rules) {
  const bool is_sp = reg == rules.sp;
  if (!is_sp && reg != rules.fp) return {};
  const bool is_first = distance == (is_sp ? seen.from_sp : seen.from_fp);
  const uint64_t agreed =
      is_first ? seen.steps - uint64_t{is_sp ? seen.other_sp : seen.other_fp} : 0;
  return {agreed, all - agreed};
}

}  // namespace

FrameMapRows FrameMap(CodeIndex& index, pid_t pid, const StressJob& job, int feature,
                      int64_t cell) {
  auto decoder = FrameDecoder::For(kElfMachine);
  auto disassembler = Disassembler::For(kElfMachine);
  if (!decoder.ok() || !disassembler.ok()) return {};
  std::vector<CodePiece>& all = index.generated();
  std::vector<uint64_t> no_return;  // ascending, as the pieces are
  for (const CodePiece& piece : all)
    if (NeverReturns(piece.name)) no_return.push_back(piece.begin);
  Mapper mapper(decoder.value(), disassembler.value(), job, feature, cell, std::move(no_return));
  for (size_t i = 0; i < all.size(); i++) {
    // Within a method there is at most what was there before.
    const bool holds_others =
        !all[i].kind.empty() && i + 1 < all.size() && all[i + 1].begin < all[i].end;
    mapper.Add(all[i], !holds_others, pid);
  }
  return mapper.Take();
}

FrameComparison Compare(const FrameRow& row, const SeenPlace& seen, const FrameRules& rules) {
  const uint64_t all = uint64_t{seen.steps} + seen.in_register;
  switch (row.place) {
    case FramePlace::kInMemory:
      return CompareAddress(row.reg, row.distance, seen, all, rules);
    case FramePlace::kInRegister: {
      if (row.replaced) return {};  // the calls know only what was pushed
      const bool holds = (seen.registers >> row.reg & 1) != 0;
      return holds ? FrameComparison{all, 0} : FrameComparison{0, all};
    }
    default:
      return {};
  }
}

FrameComparison CompareSender(const FrameSender& sender, const SeenSender& seen,
                              const FrameRules& rules) {
  if (sender.place == FramePlace::kInMemory && sender.reg == rules.fp &&
      sender.distance == SeenSender::kSlot && sender.beyond == 0)
    return {seen.in_frame, seen.steps - uint64_t{seen.in_frame}};
  if (sender.place != FramePlace::kInRegister) return {};
  if (sender.reg == rules.sp || sender.reg == rules.fp)
    return CompareAddress(sender.reg, sender.distance, seen, seen.steps, rules);
  if (sender.distance != 0) return {};
  const bool holds = (seen.registers >> sender.reg & 1) != 0;
  return holds ? FrameComparison{seen.steps, 0} : FrameComparison{0, seen.steps};
}

std::string SeenSenderText(const SeenSender& seen) {
  return fmt::format("sp{:+}{}", seen.from_sp, seen.other_sp > 0 ? " and others" : "");
}

std::string SeenText(const SeenPlace& seen) {
  std::string text;
  if (seen.steps > 0) {
    text = fmt::format("sp{:+}", seen.from_sp);
    if (seen.other_sp > 0) text += fmt::format(" or sp{:+}", seen.last_sp);
  }
  if (seen.in_register > 0) text += text.empty() ? "in a register" : " or in a register";
  return text;
}

}  // namespace walkhammer
