// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/block_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>
#include <unordered_map>

#include "harness/coverage/reach_rules.h"
#include "harness/coverage/swept_function.h"
#include "harness/elf/demangle.h"
#include "harness/elf/disassembler.h"
#include "harness/elf/elf_image.h"

namespace walkhammer {
namespace {

constexpr uint64_t kSlotBytes = 8;
constexpr uint64_t kFirstSlot = 16;  // of a _ZTV symbol: offset to top and type info come first

uint32_t CodeAt(const ElfImage& image, uint64_t address) {
  uint32_t code = 0;
  const auto bytes = image.Bytes(address);
  std::memcpy(&code, bytes.data(), std::min(sizeof code, bytes.size()));
  return code;
}

// Finds the functions that a walker reaches, breadth first, so that the limit drops the farthest.
class Builder {
 public:
  Builder(const ElfImage& image, const Disassembler& disassembler)
      : image_(image), disassembler_(disassembler) {
    for (const ElfImage::Symbol& vtable : image.vtables()) {
      constexpr std::string_view kPrefix = "vtable for ";
      const std::string demangled = Demangle(vtable.name);
      const std::string_view name = demangled;
      if (name.starts_with(kPrefix) && MayBeReceiver(name.substr(kPrefix.size())))
        receivers_.push_back(&vtable);
    }
  }

  void AddRoot(const ElfImage::Symbol& function) { Add(function, Reach::kRoot); }

  BlockMap Build() {
    while (!waiting_.empty()) {
      const ElfImage::Symbol* function = waiting_.front();
      waiting_.pop_front();
      Visit(*function);
    }
    DropMisread();
    return Finish();
  }

 private:
  struct Reached {
    Reach reach;
    std::string name;
    SweptFunction swept;
    std::set<uint64_t> leaders;
  };

  void LeaveOut(const std::string& name, const std::string& reason) {
    left_out_.emplace(name, reason);
  }

  void Add(const ElfImage::Symbol& function, Reach reach) {
    if (!seen_.insert(function.address).second) return;
    std::string name = Demangle(function.name);
    if (const char* reason = WhyNotFollowed(name); reason != nullptr && reach != Reach::kRoot)
      return LeaveOut(name, reason);
    order_.push_back(function.address);
    reached_[function.address] = {reach, std::move(name), {}, {}};
    waiting_.push_back(&function);
  }

  // Adds the target of a direct call, jump or branch: the target is a leader.
  void Follow(uint64_t target) {
    const ElfImage::Symbol* function = image_.FunctionAt(target);
    if (function == nullptr) return;  // the procedure linkage table: another library
    Add(*function, Reach::kDirect);
    targets_.insert(target);
  }

  void Visit(const ElfImage::Symbol& function) {
    Reached& reached = reached_[function.address];
    reached.swept = SweptFunction(image_, disassembler_, function);
    const SweptFunction& swept = reached.swept;
    if (!swept.complete()) {
      LeaveOut(reached.name, fmt::format("no instruction that Capstone knows at +{:#x}",
                                         swept.end() - function.address));
      swept_badly_.insert(function.address);
      return;
    }
    for (size_t i = 0; i < swept.code().size(); i++) {
      const Instruction& insn = swept.code()[i];
      if (insn.kind == Instruction::Kind::kOther || insn.kind == Instruction::Kind::kReturn)
        continue;
      if (insn.target != 0)
        Follow(insn.target);
      else
        FollowIndirect(reached, i);
    }
    // Symbols in assembly have no sizes, and their code may run on into the next symbol.
    if (function.runs_on && swept.code().back().FallsThrough() &&
        image_.FunctionAt(function.end()) != nullptr)
      Follow(function.end());
  }

  void FollowIndirect(const Reached& reached, size_t at) {
    const Instruction& insn = reached.swept.code()[at];
    size_t candidates = 0;
    if (insn.kind == Instruction::Kind::kJump) {
      for (const uint64_t target : reached.swept.cases()) Follow(target);
      candidates = reached.swept.cases().size();
    }
    for (const IndirectTarget& to : reached.swept.TargetsOf(at)) {
      switch (to.kind) {
        case IndirectTarget::Kind::kCode:
          candidates += FollowPointer(to.value, Reach::kDirect);
          break;
        case IndirectTarget::Kind::kCell:
          candidates += FollowPointer(image_.PointerAt(to.value), Reach::kDirect);
          break;
        case IndirectTarget::Kind::kSlot:
          candidates += FollowSlot(to.value);
      }
    }
    if (candidates == 0)
      LeaveOut(reached.name, fmt::format("an indirect call at +{:#x} whose target is not known",
                                         insn.address - reached.swept.begin()));
  }

  // FollowPointer, FollowMember and FollowSlot return how many functions they found.
  size_t FollowPointer(uint64_t target, Reach reach) {
    const ElfImage::Symbol* function = image_.FunctionAt(target);
    if (function == nullptr || function->address != target) return 0;
    Add(*function, reach);
    return 1;
  }

  // Adds the function that a vtable slot points to, if a walk may call it.
  size_t FollowMember(uint64_t target) {
    const ElfImage::Symbol* function = image_.FunctionAt(target);
    if (function == nullptr || !MayBeAsked(Demangle(function->name))) return 0;
    return FollowPointer(target, Reach::kVtable);
  }

  size_t FollowSlot(uint64_t offset) {
    if (offset % kSlotBytes != 0) return 0;
    size_t found = 0;
    for (const ElfImage::Symbol* vtable : receivers_) {
      const uint64_t slot = vtable->address + kFirstSlot + offset;
      if (slot >= vtable->address + kFirstSlot && slot + kSlotBytes <= vtable->end())
        found += FollowMember(image_.PointerAt(slot));
    }
    return found;
  }

  // Leaves out each function with a jump into the middle of one of its instructions: the sweep is
  // out of step there, and a trap inside of an instruction would change what the JVM does.
  void DropMisread() {
    for (const uint64_t target : targets_) {
      const ElfImage::Symbol* function = image_.FunctionAt(target);
      auto found = reached_.find(function->address);
      if (found == reached_.end() || swept_badly_.count(function->address) != 0) continue;
      if (found->second.swept.IsBoundary(target)) continue;
      LeaveOut(found->second.name, fmt::format("a jump leads into an instruction at +{:#x}",
                                               target - function->address));
      swept_badly_.insert(function->address);
    }
  }

  std::set<uint64_t> Leaders(const SweptFunction& swept) const {
    std::set<uint64_t> leaders = swept.LeadersWithin();
    leaders.insert(targets_.lower_bound(swept.begin()), targets_.lower_bound(swept.end()));
    return leaders;
  }

  BlockMap Finish() {
    BlockMap map;
    size_t total = 0;
    std::vector<uint64_t> kept;
    for (const uint64_t address : order_) {
      if (swept_badly_.count(address) != 0) continue;
      Reached& reached = reached_[address];
      reached.leaders = Leaders(reached.swept);
      if (total + reached.leaders.size() > BlockMap::kMaxBlocks) {
        LeaveOut(reached.name, fmt::format("the map holds at most {} blocks, and this function is "
                                           "farther from the roots than those in it",
                                           BlockMap::kMaxBlocks));
        continue;
      }
      total += reached.leaders.size();
      kept.push_back(address);
    }
    std::sort(kept.begin(), kept.end());
    for (const uint64_t address : kept) Append(reached_[address], map);
    for (const ElfImage::Symbol& f : image_.functions())
      if (IsDeathEntry(Demangle(f.name)))
        map.deaths.push_back({f.address, CodeAt(image_, f.address)});
    for (const auto& [name, reason] : left_out_) map.left_out.push_back({name, reason});
    return map;
  }

  void Append(const Reached& reached, BlockMap& map) const {
    const auto index = static_cast<uint32_t>(map.functions.size());
    map.functions.push_back({reached.name, reached.swept.begin(),
                             reached.swept.end() - reached.swept.begin(),
                             static_cast<uint32_t>(map.blocks.size()),
                             static_cast<uint32_t>(reached.leaders.size()), reached.reach});
    for (auto it = reached.leaders.begin(); it != reached.leaders.end(); ++it) {
      const auto next = std::next(it);
      const uint64_t end = next == reached.leaders.end() ? reached.swept.end() : *next;
      map.blocks.push_back({*it, static_cast<uint32_t>(end - *it), index, CodeAt(image_, *it)});
    }
  }

  const ElfImage& image_;
  const Disassembler& disassembler_;
  std::vector<const ElfImage::Symbol*> receivers_;
  std::set<uint64_t> seen_, swept_badly_;
  std::vector<uint64_t> order_;  // of discovery
  std::deque<const ElfImage::Symbol*> waiting_;
  std::unordered_map<uint64_t, Reached> reached_;
  std::set<uint64_t> targets_;  // of direct calls, jumps and branches, anywhere
  std::set<std::pair<std::string, std::string>> left_out_;
};

}  // namespace

int BlockMap::Find(uint64_t address) const {
  const auto at = std::lower_bound(blocks.begin(), blocks.end(), address,
                                   [](const Block& b, uint64_t a) { return b.address < a; });
  if (at == blocks.end() || at->address != address) return -1;
  return static_cast<int>(at - blocks.begin());
}

Result<BlockMap> FindBlocks(const std::string& path, const std::vector<std::string>& roots) {
  ASSIGN_OR_RETURN(auto image, ElfImage::Open(path));
  ASSIGN_OR_RETURN(auto disassembler, Disassembler::For(image.machine()));
  Builder builder(image, disassembler);
  for (const std::string& root : roots) {
    const ElfImage::Symbol* function = image.FunctionNamed(root);
    if (function == nullptr)
      return Unable(fmt::format("{} has no function {}, whose coverage was asked for", path, root));
    builder.AddRoot(*function);
  }
  return builder.Build();
}

}  // namespace walkhammer
