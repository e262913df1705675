#include "harness/supervise/code_sections.h"

#include <algorithm>

namespace walkhammer {
namespace {

constexpr size_t kLongestEpilogue = 12;  // instructions from the frame's end to the return

using Kind = Instruction::Kind;

// The end, exclusive, of what begins at `first` and leaves the method; `first` if it does not.
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
  uint64_t at = begin;
  auto next = starts.begin();
  while (at < end) {
    uint64_t resume = end;
    for (const Instruction& instruction : disassembler.Sweep(bytes.subspan(at - begin), at)) {
      while (next != starts.end() && *next <= instruction.address) ++next;
      if (next != starts.end() && *next < instruction.end()) break;
      out.push_back(instruction);
    }
    const uint64_t decoded = out.empty() ? begin : std::max(at, out.back().end());
    if (decoded >= end) break;
    while (next != starts.end() && *next < decoded) ++next;
    if (next != starts.end() && *next < end) resume = *next;
    if (resume == at && decoded == at) {  // nothing can be decoded here
      ++next;
      resume = next == starts.end() ? end : *next;
    }
    if (resume < end) strayed++;
    at = resume;
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
    // A poll at the return has its slow path elsewhere, on the caller's frame as well.
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
