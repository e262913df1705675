// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/code_sections.h"

#include <algorithm>

namespace walkhammer {
namespace {

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
