// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/swept_function.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace walkhammer {
namespace {

// Limit of the backward search for the origin of a call's target, in visited pairs of instruction
// and register.
constexpr size_t kMaxLookBack = 2000;

}  // namespace

SweptFunction::SweptFunction(const ElfImage& image, const Disassembler& disassembler,
                             const ElfImage::Symbol& function)
    : begin_(function.address) {
  const auto bytes = image.Bytes(function.address);
  const size_t size = std::min<size_t>(bytes.size(), function.size);
  code_ = disassembler.Sweep(bytes.first(size), begin_);
  complete_ = size > 0 && !code_.empty() && end() == function.end();
  if (complete_) ReadJumpTables(image, function.name);
}

size_t SweptFunction::IndexOf(uint64_t address) const {
  const auto at = std::lower_bound(code_.begin(), code_.end(), address,
                                   [](const Instruction& i, uint64_t a) { return i.address < a; });
  if (at == code_.end() || at->address != address) return code_.size();
  return static_cast<size_t>(at - code_.begin());
}

bool SweptFunction::IsBoundary(uint64_t address) const { return IndexOf(address) < code_.size(); }

std::set<uint64_t> SweptFunction::LeadersWithin() const {
  std::set<uint64_t> leaders = {begin_};
  for (size_t i = 0; i < code_.size(); i++) {
    if (!code_[i].EndsBlock()) continue;
    size_t next = i + 1;
    // A nop after a branch is executed if the branch is not taken; a nop after a jump only aligns.
    if (!code_[i].FallsThrough())
      while (next < code_.size() && code_[next].padding) next++;
    if (next < code_.size()) leaders.insert(code_[next].address);
  }
  return leaders;
}

// Position-independent jump tables hold 32-bit differences: entry = case - table. Every address
// that the code points to is tried as the start of a table. That is safe: text and read-only data
// are far apart, so no other data looks like a difference that leads to an instruction of this
// function.
void SweptFunction::ReadJumpTables(const ElfImage& image, std::string_view name) {
  const bool jumps = std::any_of(code_.begin(), code_.end(), [](const Instruction& i) {
    return i.kind == Instruction::Kind::kJump && i.target == 0;
  });
  if (!jumps) return;
  std::set<uint64_t> targets;
  for (const Instruction& insn : code_) {
    if (insn.points_to == 0 || image.IsCode(insn.points_to)) continue;
    auto entries = image.Bytes(insn.points_to);
    for (int32_t entry; entries.size() >= sizeof entry; entries = entries.subspan(sizeof entry)) {
      std::memcpy(&entry, entries.data(), sizeof entry);
      const uint64_t target = insn.points_to + static_cast<uint64_t>(static_cast<int64_t>(entry));
      const ElfImage::Symbol* part = image.FunctionAt(target);
      const bool own = part != nullptr && part->address == begin_ && IsBoundary(target);
      const bool cold = part != nullptr && part->name.starts_with(name) &&
                        part->name.substr(name.size()).starts_with(".cold");
      if (!own && !cold) break;
      targets.insert(target);
    }
  }
  cases_.assign(targets.begin(), targets.end());
}

std::vector<const Instruction*> SweptFunction::WritersOf(Instruction::Register wanted,
                                                         size_t at) const {
  std::vector<const Instruction*> out;
  std::set<std::pair<size_t, Instruction::Register>> seen;
  std::vector<std::pair<size_t, Instruction::Register>> waiting;
  const auto look_before = [&](size_t index, Instruction::Register reg) {
    if (index > 0 && code_[index - 1].FallsThrough()) waiting.emplace_back(index - 1, reg);
    for (size_t i = 0; i < code_.size(); i++)
      if (code_[i].target == code_[index].address && code_[i].EndsBlock())
        waiting.emplace_back(i, reg);
  };
  look_before(at, wanted);
  while (!waiting.empty() && seen.size() < kMaxLookBack) {
    const auto [index, reg] = waiting.back();
    waiting.pop_back();
    if (!seen.insert({index, reg}).second) continue;
    const Instruction& insn = code_[index];
    if (insn.writes != reg)
      look_before(index, reg);
    else if (insn.copies != 0)
      look_before(index, insn.copies);
    else
      out.push_back(&insn);
  }
  return out;
}

void SweptFunction::AddMemory(const Instruction& insn, std::vector<IndirectTarget>& out) const {
  using Kind = IndirectTarget::Kind;
  if (insn.cell != 0) {
    out.push_back({Kind::kCell, insn.cell});
    return;
  }
  if (insn.base == 0) return;
  const auto offset = static_cast<uint64_t>(insn.offset);
  const auto at = static_cast<size_t>(&insn - code_.data());
  bool may_be_slot = true;
  for (const Instruction* writer : WritersOf(insn.base, at)) {
    if (writer->points_to == 0) continue;
    out.push_back({Kind::kCell, writer->points_to + offset});
    may_be_slot = false;
  }
  if (may_be_slot) out.push_back({Kind::kSlot, offset});
}

std::vector<IndirectTarget> SweptFunction::TargetsOf(size_t at) const {
  const Instruction& call = code_[at];
  std::vector<IndirectTarget> out;
  if (call.through == 0)
    AddMemory(call, out);
  else
    for (const Instruction* writer : WritersOf(call.through, at)) {
      if (writer->loads) AddMemory(*writer, out);
      if (writer->points_to != 0) out.push_back({IndirectTarget::Kind::kCode, writer->points_to});
    }
  return out;
}

}  // namespace walkhammer
