// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/step_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "harness/guard/arch.h"
#include "harness/ipc/line_state.h"

namespace walkhammer {
namespace {

constexpr uint64_t kLongestInstruction = 16;
constexpr char kWrong[] = "wrong", kContradicted[] = "contradicted";

// A stepped instruction, with the kind of code around it.
struct Stepped {
  const SteppedPc* counts;
  uint64_t pc, size;  // size 0: not known
  const char* kind;
};

std::string AnswerText(const WalkerInfo& walker, int32_t code) {
  if (code == kCodeCrash) return "crash";
  if (code == kCodeHang) return "hang";
  const char* name = CodeName(walker, code);
  return fmt::format("{} {}", code, name == nullptr ? "undeclared" : name);
}

// Reads all bytes of a compiled method; of other code, from the first stepped instruction to the
// end of the last.
void ReadStepped(pid_t pid, CodePiece& code) {
  const bool compiled = code.kind.empty();
  const uint64_t begin = compiled ? code.begin : code.pcs.front()->pc.load();
  const uint64_t last = code.pcs.back()->pc.load() + kLongestInstruction;
  ReadBytes(pid, begin, compiled ? code.end : std::min(code.end, last), code);
}

const char* KindOf(const CodePiece& code, CodeSection section) {
  if (!code.kind.empty()) return code.kind.c_str();
  return section == CodeSection::kPrologue   ? "prologue"
         : section == CodeSection::kEpilogue ? "epilogue"
                                             : "body";
}

// The stepped instructions of `code`, sorted by address.
std::vector<Stepped> InPlace(pid_t pid, const Disassembler& disassembler, CodePiece& code) {
  ReadStepped(pid, code);
  std::vector<uint64_t> starts;
  for (const SteppedPc* counts : code.pcs) starts.push_back(counts->pc.load());
  int strayed = 0;
  std::vector<Instruction> decoded =
      DecodeCode(disassembler, code.bytes, code.bytes_begin, starts, strayed);
  if (strayed > 0 && code.gone) {  // other code is there by now
    decoded.clear();
    code.bytes.clear();
  }
  const std::vector<CodeSection> sections = SectionsOf(decoded, code.complete);
  std::vector<Stepped> out;
  size_t i = 0;
  for (const SteppedPc* counts : code.pcs) {
    const uint64_t pc = counts->pc.load();
    while (i < decoded.size() && decoded[i].address < pc) i++;
    const bool known = i < decoded.size() && decoded[i].address == pc;
    const CodeSection section = known                ? sections[i]
                                : pc < code.complete ? CodeSection::kPrologue
                                                     : CodeSection::kBody;
    out.push_back({counts, pc, known ? decoded[i].size : uint64_t{0}, KindOf(code, section)});
  }
  return out;
}

// Number of steps at an instruction that gave `answer`, which is one of AnswersOf.
uint64_t StepsWith(const SteppedPc& counts, const WalkerInfo& walker, const std::string& answer) {
  if (answer == kWrong) return counts.wrong;
  if (answer == kContradicted) return counts.contradicted;
  return counts.failed > 0 && AnswerText(walker, counts.code) == answer ? counts.failed : 0;
}

std::vector<std::string> AnswersOf(const std::vector<Stepped>& stepped, const WalkerInfo& walker) {
  std::vector<std::string> answers;
  auto add = [&](std::string answer) {
    if (std::find(answers.begin(), answers.end(), answer) == answers.end())
      answers.push_back(std::move(answer));
  };
  for (const Stepped& at : stepped) {
    if (at.counts->failed > 0) add(AnswerText(walker, at.counts->code));
    if (at.counts->wrong > 0) add(kWrong);
    if (at.counts->contradicted > 0) add(kContradicted);
  }
  return answers;
}

bool Follows(const Stepped& before, const Stepped& at) {
  if (std::strcmp(before.kind, at.kind) != 0) return false;
  if (before.size != 0) return before.pc + before.size == at.pc;
  return at.pc - before.pc <= kLongestInstruction;
}

constexpr size_t kLongestEpilogue = 12;  // instructions from the frame's end to the return

using Kind = Instruction::Kind;

// Exclusive end of the instructions from `first` to the return or jump that leaves the method;
// `first` if none follows closely.
size_t EndOfExit(std::span<const Instruction> code, size_t first) {
  for (size_t i = first; i < code.size() && i < first + kLongestEpilogue; i++)
    if (code[i].kind == Kind::kReturn || code[i].kind == Kind::kJump) return i + 1;
  return first;
}

}  // namespace

void StepMap(CodeIndex& index, pid_t pid, const WalkerInfo& walker, int64_t cell,
             std::vector<StepRegionRow>& regions, std::vector<StepRangeRow>& ranges) {
  auto disassembler = Disassembler::For(kElfMachine);
  if (!disassembler.ok()) return;

  std::map<std::tuple<std::string, std::string, int>, StepRegionRow> by_region;
  // Identical copies of a compiled method give the same ranges, whose steps are added up.
  std::map<std::tuple<std::string, std::string, int, std::string, uint64_t, uint64_t, std::string>,
           uint64_t>
      by_range;
  index.ForEachStepped([&](CodePiece& code) {
    const std::vector<Stepped> stepped = InPlace(pid, disassembler.value(), code);
    for (const Stepped& at : stepped) {
      StepRegionRow& row = by_region[{at.kind, code.name, code.level}];
      row.pcs++;
      row.steps += at.counts->steps;
      row.answered += at.counts->answered;
      row.failed += at.counts->failed;
      row.wrong += at.counts->wrong;
      row.proven += at.counts->proven;
      row.contradicted += at.counts->contradicted;
    }
    for (const std::string& answer : AnswersOf(stepped, walker)) {
      for (size_t i = 0; i < stepped.size();) {
        uint64_t steps = StepsWith(*stepped[i].counts, walker, answer);
        const size_t first = i++;
        if (steps == 0) continue;
        for (; i < stepped.size() && Follows(stepped[i - 1], stepped[i]); i++) {
          const uint64_t more = StepsWith(*stepped[i].counts, walker, answer);
          if (more == 0) break;
          steps += more;
        }
        const Stepped& last = stepped[i - 1];
        const uint64_t begin = stepped[first].pc;
        const uint64_t end = last.pc + std::max<uint64_t>(last.size, 1);
        const std::string text =
            last.size == 0 ? "" : DisassemblyOf(disassembler.value(), code, begin, end);
        by_range[{stepped[first].kind, code.name, code.level, answer, begin - code.begin,
                  end - code.begin, text}] += steps;
      }
    }
  });
  for (auto& [key, row] : by_region) {
    std::tie(row.kind, row.name, row.level) = key;
    row.cell = cell;
    regions.push_back(std::move(row));
  }
  for (const auto& [key, steps] : by_range) {
    StepRangeRow row;
    std::tie(row.kind, row.name, row.level, row.answer, row.begin, row.end, row.disassembly) = key;
    row.cell = cell;
    row.steps = steps;
    ranges.push_back(std::move(row));
  }
}

std::vector<Instruction> DecodeCode(const Disassembler& disassembler,
                                    std::span<const uint8_t> bytes, uint64_t begin,
                                    std::span<const uint64_t> starts, int& strayed) {
  std::vector<Instruction> out;
  const uint64_t end = begin + bytes.size();
  auto next = starts.begin();
  // Sweeps from one known start to the next, so that each byte is decoded once even if decoding
  // strays.
  for (uint64_t at = begin; at < end;) {
    while (next != starts.end() && *next <= at) ++next;
    const uint64_t until = next == starts.end() ? end : std::min(*next, end);
    const auto part = disassembler.Sweep(bytes.subspan(at - begin, until - at), at);
    out.insert(out.end(), part.begin(), part.end());
    if (until < end && (part.empty() || part.back().end() != until)) strayed++;
    at = until;
  }
  return out;
}

std::vector<CodeSection> SectionsOf(std::span<const Instruction> code, uint64_t complete) {
  std::vector<CodeSection> sections(code.size(), CodeSection::kBody);
  for (size_t i = 0; i < code.size(); i++) {
    const Instruction& at = code[i];
    if (at.address < complete) {
      sections[i] = CodeSection::kPrologue;
      continue;
    }
    if (at.kind == Kind::kReturn) sections[i] = CodeSection::kEpilogue;
    if (!at.restores_frame) continue;
    const size_t end = EndOfExit(code, i);
    size_t first = i;
    if (i > 0 && code[i - 1].frees_stack && code[i - 1].address >= complete) first--;
    std::fill(sections.begin() + static_cast<ptrdiff_t>(first < end ? first : i),
              sections.begin() + static_cast<ptrdiff_t>(std::max(end, i)), CodeSection::kEpilogue);
    // A poll at the return has its slow path elsewhere, and that runs on the caller's frame, too.
    for (size_t k = i; k < end; k++) {
      if (code[k].kind != Kind::kBranch || code[k].target == 0) continue;
      auto slow = std::lower_bound(
          code.begin(), code.end(), code[k].target,
          [](const Instruction& one, uint64_t address) { return one.address < address; });
      if (slow == code.end() || slow->address != code[k].target || slow->address < complete)
        continue;
      const auto from = static_cast<size_t>(slow - code.begin());
      for (size_t s = from; s < EndOfExit(code, from); s++) sections[s] = CodeSection::kEpilogue;
    }
  }
  return sections;
}

}  // namespace walkhammer
