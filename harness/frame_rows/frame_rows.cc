// SPDX-License-Identifier: Apache-2.0
#include "harness/frame_rows/frame_rows.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "harness/frame_rows/frame_state.h"

namespace walkhammer {
namespace {

using Flow = FrameInstruction::Flow;

class Analysis {
 public:
  Analysis(const FrameDecoder& decoder, const FrameCode& code)
      : decoder_(decoder), code_(code), places_() {}

  std::vector<FrameRow> Run() {
    do {
      Begin();
      for (const FrameCode::Entry& entry : code_.entries) Enter(entry.offset, entry.how);
      EnterBehindPatches();
      EnterElsewhere();
    } while (starts_anew_);
    return Rows();
  }

 private:
  static constexpr int32_t kUnseen = -1, kNoInstruction = -2;
  static constexpr uint64_t kEntries = 0;
  static constexpr size_t kMostAnew = 40;
  static constexpr int kMostReplaced = 64;  // afterwards, nothing that came is taken back
  static constexpr int kMostVisits = 1024;  // ends, whatever the code
  struct Node {
    FrameInstruction instruction;
    FrameState before;
    bool waits = false;  // in waiting_
    int visits = 0;
    // What came last from each instruction before. kEntries: from entries.
    std::vector<std::pair<uint64_t, FrameState>> incoming;
  };

  void Begin() {
    starts_anew_ = false;
    waiting_.clear();
    places_.assign(code_.bytes.size(), kUnseen);
    nodes_.clear();
  }

  std::span<const uint8_t> At(uint32_t offset) const { return code_.bytes.subspan(offset); }
  bool Holds(uint64_t address) const {
    return address >= code_.begin && address - code_.begin < code_.bytes.size();
  }
  uint32_t OffsetOf(uint64_t address) const { return static_cast<uint32_t>(address - code_.begin); }

  // True if an instruction is known to begin inside of these bytes.
  bool HoldsStart(uint32_t offset, uint32_t size) const {
    const auto next = std::upper_bound(code_.starts.begin(), code_.starts.end(), offset);
    return next != code_.starts.end() && *next < offset + size;
  }

  // The node of the instruction at `offset`; null: there is none.
  Node* NodeAt(uint32_t offset) {
    int32_t& place = places_[offset];
    if (place == kUnseen) {
      Node node;
      place = kNoInstruction;
      if (decoder_.Decode(At(offset), code_.begin + offset, node.instruction) &&
          !HoldsStart(offset, node.instruction.size)) {
        place = static_cast<int32_t>(nodes_.size());
        nodes_.push_back(node);
      }
    }
    return place < 0 ? nullptr : &nodes_[static_cast<size_t>(place)];
  }

  // `from`: address of the instruction before. What came from there earlier is replaced: it was
  // less true, and what it has in common with others is too little.
  void Flows(uint64_t address, const FrameState& state, uint64_t from = kEntries) {
    if (!Holds(address) || !state.reached()) return;
    Node* node = NodeAt(OffsetOf(address));
    if (node == nullptr || node->visits > kMostVisits) return;
    const FrameState joined = JoinedAt(*node, state, from);
    if (node->before == joined) return;
    node->before = joined;
    if (node->waits) return;
    node->waits = true;
    waiting_.push_back(OffsetOf(address));
  }

  FrameState JoinedAt(Node& node, const FrameState& state, uint64_t from) {
    auto known = std::find_if(node.incoming.begin(), node.incoming.end(),
                              [&](const auto& one) { return one.first == from; });
    const bool keeps = from == kEntries || node.visits++ >= kMostReplaced;
    if (known == node.incoming.end())
      node.incoming.emplace_back(from, state);
    else if (keeps)
      known->second.Join(state, decoder_.rules());
    else
      known->second = state;
    const FrameState& first = node.incoming[0].second;
    FrameState joined = first;
    if (node.visits > kMostReplaced) joined.Join(node.before, decoder_.rules());
    bool has_one_sp = true;
    for (size_t i = 1; i < node.incoming.size(); i++) {
      has_one_sp = has_one_sp && first.HasSpOf(node.incoming[i].second, decoder_.rules());
      joined.Join(node.incoming[i].second, decoder_.rules());
    }
    const uint32_t offset = OffsetOf(node.instruction.address);
    if (!has_one_sp && forgets_sp_.size() < kMostAnew && forgets_sp_.insert(offset).second)
      starts_anew_ = true;
    if (forgets_sp_.contains(offset)) joined.LoseSp(decoder_.rules());
    return joined;
  }

  void Enter(uint32_t offset, FrameEntry how) {
    Flows(code_.begin + offset, FrameState::Entered(how, code_, decoder_.rules()));
  }

  void Pass(const FrameInstruction& at, FrameState state) {
    if (at.flow == Flow::kCall) {
      if (at.target != 0)
        Flows(at.target, FrameState::Entered(FrameEntry::kCalled, code_, decoder_.rules()));
      if (std::binary_search(code_.no_return.begin(), code_.no_return.end(), at.target)) return;
      state.Call(decoder_.rules());
    } else {
      for (int i = 0; i < at.count; i++) state.Apply(at.effects[i], decoder_.rules());
    }
    if (at.flow == Flow::kJump || at.flow == Flow::kBranch) {
      if (at.target != 0) Flows(at.target, state, at.address);
      if (at.target == 0) has_indirect_ = true;
    }
    if (at.flow == Flow::kNext || at.flow == Flow::kBranch || at.flow == Flow::kCall)
      Flows(at.end(), state, at.address);
  }

  void Settle() {
    while (!waiting_.empty() && !starts_anew_) {
      Node& node = nodes_[static_cast<size_t>(places_[waiting_.front()])];
      waiting_.pop_front();
      node.waits = false;
      // Copies, as passing on may move the nodes.
      const FrameInstruction instruction = node.instruction;
      Pass(instruction, node.before);
    }
  }

  void EnterBehindPatches() {
    Settle();
    for (size_t i = 0, count = nodes_.size(); i < count; i++) {
      const FrameInstruction at = nodes_[i].instruction;
      if (code_.frame_words <= 0 || at.flow != Flow::kJump || Holds(at.target)) continue;
      bool has_frame = false;
      const uint32_t offset = OffsetOf(at.address);
      const size_t behind = decoder_.rules().behind_patch(At(offset), has_frame);
      if (behind == 0) continue;
      FrameState state = FrameState::Entered(FrameEntry::kCalled, code_, decoder_.rules());
      const FrameRegister sp = decoder_.rules().sp;
      if (has_frame)
        state.Apply({FrameEffect::Kind::kSet, sp, sp, 8, -8 * (code_.frame_words - 1)},
                    decoder_.rules());
      Flows(at.address + behind, state);
    }
    Settle();
  }

  // Enters, in ascending order, what nothing has led to so far.
  void EnterElsewhere() {
    for (uint32_t offset = 0; offset < code_.bytes.size() && !starts_anew_;) {
      if (const int32_t place = places_[offset]; place >= 0) {
        offset += nodes_[static_cast<size_t>(place)].instruction.size;
        continue;
      }
      FrameInstruction next;
      const bool is_code = decoder_.Decode(At(offset), code_.begin + offset, next) &&
                           !HoldsStart(offset, next.size) && !LeadsInto(offset, next.size);
      if (!is_code || next.padding) {
        offset += is_code ? next.size : 1;
        continue;
      }
      NodeAt(offset);
      FrameEntry how = code_.elsewhere;
      if (how == FrameEntry::kFramed &&
          (offset < code_.complete || decoder_.rules().is_called(At(offset))))
        how = FrameEntry::kCalled;
      else if (how == FrameEntry::kCalled && decoder_.rules().is_thrown(At(offset)))
        how = FrameEntry::kThrown;
      Enter(offset, how);
      Settle();
    }
  }

  // True if an instruction that is known begins inside of these bytes.
  bool LeadsInto(uint32_t offset, uint32_t size) const {
    for (uint32_t i = offset + 1; i < offset + size; i++)
      if (places_[i] >= 0) return true;
    return false;
  }

  std::vector<FrameRow> Rows() {
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
      return a.instruction.address < b.instruction.address;
    });
    std::vector<FrameRow> rows;
    rows.reserve(nodes_.size());
    for (const Node& node : nodes_) {
      FrameRow row;
      row.offset = OffsetOf(node.instruction.address);
      row.size = node.instruction.size;
      row.calls = node.instruction.flow == Flow::kCall;
      if (node.before.reached())
        node.before.Tell(decoder_.rules(), row);
      else
        row.why = has_indirect_ ? WhyUnknown::kBehindIndirect : WhyUnknown::kNotReached;
      rows.push_back(row);
    }
    return rows;
  }

  const FrameDecoder& decoder_;
  const FrameCode& code_;
  std::vector<int32_t> places_;  // of each byte: index into nodes_, or kUnseen, kNoInstruction
  std::vector<Node> nodes_;
  std::deque<uint32_t> waiting_;  // offsets of instructions whose state has changed
  bool has_indirect_ = false;
  // Where paths with different stack pointers meet, nothing is relative to the stack pointer of
  // before. What has been followed from there by then is wrong, also around loops, and so all is
  // followed anew.
  std::set<uint32_t> forgets_sp_;
  bool starts_anew_ = false;
};

}  // namespace

std::vector<FrameRow> FrameRowsOf(const FrameDecoder& decoder, const FrameCode& code) {
  return Analysis(decoder, code).Run();
}

const FrameRow* RowAt(std::span<const FrameRow> rows, uint32_t offset) {
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), offset,
                       [](const FrameRow& row, uint32_t offset) { return row.offset < offset; });
  return at != rows.end() && at->offset == offset ? &*at : nullptr;
}

}  // namespace walkhammer
